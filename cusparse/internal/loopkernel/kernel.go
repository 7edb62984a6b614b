package loopkernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the begin and the end of the kernel of a recorded loop: the variables, their
// contents, and what the host reads.

// layout gives the variables their words.
func (t *writer) layout() {
	t.Words = firstWord
	for i := range t.Vars {
		v := &t.Vars[i]
		v.Word = t.Words
		switch {
		case v.Kind == Matrix && v.Operand.Var == pass.None:
			continue
		case v.Kind == Matrix:
			t.Words += matrixWords
			continue
		case v.Kind == Written || v.Kind == Result:
			v.At = t.Totals
			t.Totals++
		}
		t.Words += vectorWords
	}
	for i := range t.List.Steps {
		s := &t.List.Steps[i]
		if s.Kind == pass.Reduce {
			t.Parts = append(t.Parts, Part{Word: t.Words, Size: s.Monoid.Out.Size})
			t.Words += 2
		}
		for k, b := range []pass.Bound{s.X, s.Y} {
			if b.Given() && b.Var == pass.None {
				t.Values = append(t.Values, Value{Word: t.Words, Step: i, Second: k == 1})
				t.Words += (b.Type.Size + 7) / 8
			}
		}
	}
	for i := range t.Vars {
		if v := &t.Vars[i]; v.Kind != Matrix && !slices.Contains(t.Sizes, v.N) {
			t.Sizes = append(t.Sizes, v.N)
		}
	}
	t.WordSizes = t.Words
	t.Words += len(t.Sizes)
	for range t.List.Blocks {
		t.Limits = append(t.Limits, t.Words)
		t.Words++
	}
	if t.Words > WordsMost {
		t.err = &pass.NotRecordable{Op: "the loop", Reason: fmt.Sprintf("its %d steps have too many operands", len(t.List.Steps))}
	}
}

// size is the expression of the size of a variable: the kernel is the same for all sizes.
func (t *writer) size(n int) string { return fmt.Sprintf("n_%d", slices.Index(t.Sizes, n)) }

// wordsOf is the number of words of bits of a variable.
func (t *writer) wordsOf(n int) string { return fmt.Sprintf("(hb_u32)(%s + 31) / 32", t.size(n)) }

// write writes the kernel.
func (t *writer) write() {
	// What the end of a pass leaves open decides about the barriers of its begin, so the passes are
	// written until they agree.
	body := ""
	for again := true; again && t.err == nil; {
		body, again = t.pass()
	}
	if t.err != nil {
		return
	}
	t.Plan = t.notes.String()
	var k strings.Builder
	k.WriteString(t.defs.String())
	k.WriteString("\nHB_KERNEL __launch_bounds__(HB_PASS_BLOCK, HB_PASS_BLOCKS) hb_pass(const hb_words W, hb_control *control) {\n\t__shared__ hb_u64 pending[HB_PASS_TOTALS + 1];\n\thb_grid g(control, pending);\n")
	t.declare(&k)
	fmt.Fprintf(&k, "\tconst hb_i64 limit = (hb_i64)W.w[%d];\n\tvolatile hb_i64 *host = (volatile hb_i64 *)W.w[%d];\n", WordLimit, WordHost)
	fmt.Fprintf(&k, "\tvolatile hb_u8 *log = (volatile hb_u8 *)W.w[%d];\n\tconst hb_u32 most = (hb_u32)W.w[%d];\n", WordLog, WordDecisions)
	k.WriteString("\thb_u32 decisions = 0;\n\thb_i64 passes = 0;\n\tfor (; passes < limit;) {\n")
	fmt.Fprintf(&k, "\t\tconst bool go = %s;\n\t\tHB_DECIDE(go)\n\t\tif (!go) break;\n\t\tpasses++;\n", t.condition(t.List.Cond, t.List.True))
	k.WriteString(body)
	k.WriteString("\t}\nends:\n")
	t.finish(&k)
	k.WriteString("}\n")
	t.Text = k.String()
}

// condition is a condition of a loop or a branch.
func (t *writer) condition(c int, value bool) string {
	v := &t.Vars[c]
	if value {
		return fmt.Sprintf("h%d && x%d", c, c)
	}
	switch v.Kind {
	case Uniform:
		return fmt.Sprintf("h%d", c)
	case Read:
		return fmt.Sprintf("W.w[%d] != 0", v.Word+WordEntries)
	}
	if v.Full {
		return fmt.Sprintf("v%d.n > 0", c)
	}
	return fmt.Sprintf("v%d.cnt > 0", c)
}

// declare writes the variables with their contents at the begin of the loop.
func (t *writer) declare(k *strings.Builder) {
	word := func(v *Var, w int) string { return fmt.Sprintf("W.w[%d]", v.Word+w) }
	for i := range t.Sizes {
		fmt.Fprintf(k, "\tconst hb_i32 n_%d = (hb_i32)W.w[%d];\n", i, t.WordSizes+i)
	}
	for i := range t.Vars {
		v := &t.Vars[i]
		T := v.Type.Name
		switch v.Kind {
		case Matrix:
			if v.Operand.Var == pass.None {
				continue
			}
			for w, name := range []string{"rows", "row_idx", "row_val", "cols", "col_idx", "col_val"} {
				typ := []string{"hb_i64", "hb_i32", T}[w%3]
				fmt.Fprintf(k, "\tconst %s *m%d_%s = (const %s *)%s;\n", typ, i, name, typ, word(v, w))
			}
			fmt.Fprintf(k, "\tconst hb_i64 m%d_nnz = (hb_i64)%s;\n\tconst hb_u32 m%d_nparts = (hb_u32)%s;\n\tconst hb_i32 m%d_long = (hb_i32)%s, m%d_lanes = (hb_i32)%s;\n", i, word(v, WordNNZ), i, word(v, WordNParts), i, word(v, WordLong), i, word(v, WordLanes))
			fmt.Fprintf(k, "\tconst hb_u64 *m%d_parts = (const hb_u64 *)%s;\n", i, word(v, WordPull))
			if v.Tiles {
				fmt.Fprintf(k, "\tconst hb_u32 *m%d_heads = (const hb_u32 *)%s;\n\tconst hb_i64 *m%d_tiles = (const hb_i64 *)%s;\n\tconst hb_i32 *m%d_tile_rows = (const hb_i32 *)%s;\n", i, word(v, WordHeads), i, word(v, WordTiles), i, word(v, WordTileRows))
			}
		case Uniform:
			fmt.Fprintf(k, "\tbool h%d = %s >= 3 || (%s == 2 && *(const hb_u8 *)%s);\n\t%s x%d = %s();\n\tif (h%d) x%d = %s == 4 ? *(const %s *)&%s : *(const %s *)%s;\n",
				i, word(v, WordFormat), word(v, WordFormat), word(v, WordHasFrom), T, i, T, i, i, word(v, WordFormat), T, word(v, WordValFrom), T, word(v, WordValFrom))
		case Read:
			fmt.Fprintf(k, "\tconst hb_i32 n%d = %s;\n\tconst hb_u8 *has%d = (const hb_u8 *)%s;\n\tconst %s *val%d = (const %s *)%s;\n",
				i, t.size(v.N), i, word(v, WordHasFrom), T, i, T, word(v, WordValFrom))
		case Written, Result:
			fmt.Fprintf(k, "\thb_vec<%s> v%d = {(%s *)%s, (hb_u32 *)%s, (hb_u32 *)%s, (hb_i32 *)%s, (hb_u64 *)%s, 0, %s, 0, 0, 0, %d, false};\n",
				T, i, T, word(v, WordVal), word(v, WordBits), word(v, WordMarks), word(v, WordList), word(v, WordParts), t.size(v.N), v.At)
		}
	}
	t.contents(k)
}

// contents writes how the vectors get their contents: bits and values, then the entries of lists.
func (t *writer) contents(k *strings.Builder) {
	word := func(v *Var, w int) string { return fmt.Sprintf("W.w[%d]", v.Word+w) }
	sync := false
	for i := range t.Vars {
		v := &t.Vars[i]
		if v.Kind != Written && v.Kind != Result {
			continue
		}
		sync = true
		T, whole, rest := v.Type.Name, v.rest != "" || v.Full, v.rest
		if rest == "" {
			rest = T + "()"
		}
		line := func(format string, args ...any) { fmt.Fprintf(k, "\t\t"+format+"\n", args...) }
		fmt.Fprintf(k, "\t{\n")
		line("const hb_i32 format = (hb_i32)%s;", word(v, WordFormat))
		line("%s value = %s();", T, T)
		line("if (format == 4) value = *(const %s *)&%s;", T, word(v, WordValFrom))
		also := "-1"
		if e := t.expanded(i); e >= 0 && t.ahead(e) {
			of := &t.Vars[t.List.Steps[e].Dst]
			also = fmt.Sprintf("%s == 4 ? (hb_i32)%s : -1", word(of, WordFormat), word(of, WordIdx))
		}
		line("const hb_i32 one = (hb_i32)%s;", word(v, WordIdx))
		line("const hb_i32 d = hb_begin<%s>(g.thread, g.threads, %s, format, one, (const hb_u8 *)%s, (const %s *)%s, value, v%d.val, v%d.bits, %v, %s, %s);",
			T, t.size(v.N), word(v, WordHasFrom), T, word(v, WordValFrom), i, i, whole, rest, also)
		if v.counted && !v.Full {
			line("g.add(%d, d);", Numbers*v.At+1)
		}
		if v.Listed {
			line("v%d.listed = format <= 1 || format == 4;", i)
			if v.Marked {
				line("hb_zero(g.thread, g.threads, v%d.marks, %s);", i, t.wordsOf(v.N))
			}
			line("if (format == 4) {")
			line("\tv%d.len = 1;", i)
			if v.Degrees != "" {
				line("\tv%d.deg = %s[one + 1] - %s[one];", i, v.Degrees, v.Degrees)
				line("\tv%d.hubs = v%d.deg > HB_PASS_HUB ? (v%d.deg + HB_PASS_CHUNK - 1) / HB_PASS_CHUNK : 0;", i, i, i)
			}
			line("\thb_one(g.thread, g.threads, one, v%d.list, v%d.marks, v%d.parts, v%d.hubs);", i, i, i, i)
			line("}")
		}
		k.WriteString("\t}\n")
	}
	if !sync {
		return
	}
	update := func() {
		k.WriteString("\tg.sync();\n")
		for i := range t.Vars {
			if v := &t.Vars[i]; (v.Kind == Written || v.Kind == Result) && (v.Listed || v.counted) {
				fmt.Fprintf(k, "\tv%d.update(g);\n", i)
			}
		}
	}
	update()
	lists := "false"
	for i := range t.Vars {
		v := &t.Vars[i]
		if v.Kind == Written {
			lists += fmt.Sprintf(" || %s == 1", word(v, WordFormat))
		}
	}
	fmt.Fprintf(k, "\tif (%s) {\n", lists)
	for i := range t.Vars {
		v := &t.Vars[i]
		if v.Kind != Written {
			continue
		}
		put, flush, mark := "", "", ""
		if v.Listed {
			put = fmt.Sprintf("\t\t\tconst hb_i32 one[1] = {j};\n\t\t\tlisted.put(g, v%d, in, one, %s);\n", i, t.degOf(i))
			flush = fmt.Sprintf("\t\tlisted.flush(g, v%d, %s);\n", i, t.degOf(i))
			if v.Marked {
				mark = fmt.Sprintf("\t\t\thb_enter(v%d.marks, j, true, in, in, true);\n", i)
			}
		}
		fmt.Fprintf(k, "\tif (%s == 1) {\n\t\tconst hb_i32 *idx = (const hb_i32 *)%s;\n\t\tconst %s *val = (const %s *)%s;\n\t\tconst hb_i64 n = (hb_i64)%s;\n",
			word(v, WordFormat), word(v, WordIdx), v.Type.Name, v.Type.Name, word(v, WordValFrom), word(v, WordEntries))
		fmt.Fprintf(k, "\t\thb_collector<0> listed;\n\t\thb_each(g, n, [&](hb_i32 e, bool in) {\n\t\t\tconst hb_i32 j = in ? idx[e] : 0;\n\t\t\tif (in) v%d.val[j] = val ? val[e] : (%s)1;\n\t\t\thb_enter(v%d.bits, j, true, in, in, true);\n%s%s\t\t});\n%s",
			i, v.Type.Name, i, mark, put, flush)
		if v.counted {
			fmt.Fprintf(k, "\t\tg.add(%d, g.thread == 0 ? n : 0);\n", Numbers*v.At+1)
		}
		k.WriteString("\t}\n")
	}
	update()
	k.WriteString("\t}\n")
	// Entries that wait for their values when the loop begins.
	for i := range t.List.Steps {
		if _, ok := t.expands[i]; ok && t.ahead(i) {
			s := &t.List.Steps[i]
			fmt.Fprintf(k, "\tif (%s != 4 && %s != 0) {\n\t\thb_join_bits(g.thread, g.threads, v%d.bits, v%d.bits, %s);\n\t\tg.sync();\n\t}\n",
				word(&t.Vars[s.Dst], WordFormat), word(&t.Vars[s.Dst], WordFormat), s.Mask.Var, s.Dst, t.wordsOf(t.Vars[s.Dst].N))
		}
	}
}

// finish writes what the loop leaves: bytes, scalars, and what the host reads.
func (t *writer) finish(k *strings.Builder) {
	k.WriteString("\tg.sync();\n")
	for i := range t.Vars {
		v := &t.Vars[i]
		if v.Kind != Written || v.Full {
			continue
		}
		less := "(const hb_u32 *)0" // entries that wait for their values
		if e := t.expanded(i); e >= 0 && t.ahead(e) {
			less = fmt.Sprintf("v%d.bits", t.List.Steps[e].Dst)
		}
		fmt.Fprintf(k, "\thb_bytes(g.thread, g.threads, v%d.bits, %s, (hb_u8 *)W.w[%d], %s);\n", i, less, v.Word+WordHas, t.size(v.N))
	}
	k.WriteString("\tif (g.thread == 0) {\n")
	for i := range t.List.Vars {
		v := &t.Vars[i]
		if !t.List.Vars[i].Written {
			continue
		}
		switch v.Kind {
		case Uniform:
			fmt.Fprintf(k, "\t\t*(%s *)W.w[%d] = x%d;\n\t\t*(hb_u8 *)W.w[%d] = h%d;\n\t\thost[%d] = h%d;\n", v.Type.Name, v.Word+WordVal, i, v.Word+WordHas, i, HostVars+2*i+1, i)
		case Written:
			count := "-1"
			switch {
			case v.Full:
				count = t.size(v.N)
			case v.counted:
				count = fmt.Sprintf("v%d.cnt", i)
			}
			fmt.Fprintf(k, "\t\thost[%d] = v%d.at;\n\t\thost[%d] = %s;\n", HostVars+2*i, i, HostVars+2*i+1, count)
		}
	}
	fmt.Fprintf(k, "\t\tfor (hb_i32 e = 0; e < 4; e++) host[%d + e] = (hb_i64)((volatile hb_u64 *)control->error)[e];\n", HostError)
	k.WriteString("\t\thost[1] = passes;\n\t\thost[2] = decisions;\n\t\t__threadfence_system();\n\t\thost[0] = 1;\n\t}\n\tg.ends();\n")
}

// The numbers that the host reads: the end, passes, decisions, the error, and of each variable the
// vector that it has at the end, and its entries.
const (
	HostEnded = iota
	HostPasses
	HostDecisions
	HostError
	HostVars = HostError + 4
)
