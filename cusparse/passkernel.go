package cusparse

import (
	"fmt"
	"strings"

	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the begin and the end of the kernel of a recorded loop: the variables, their
// contents, and what the host reads.

// layout gives the variables their words.
func (t *passText) layout() {
	t.words = firstWord
	for i := range t.vars {
		v := &t.vars[i]
		v.word = t.words
		switch {
		case v.kind == passMatrix && v.operand.Var == pass.None:
			continue
		case v.kind == passMatrix:
			t.words += matrixWords
			continue
		case v.kind == passWritten || v.kind == passTemp:
			v.at = t.totals
			t.totals++
		}
		t.words += vectorWords
	}
	for i := range t.list.Steps {
		s := &t.list.Steps[i]
		if s.Kind == pass.Reduce {
			t.parts = append(t.parts, passPart{word: t.words, size: s.Monoid.Out.Size})
			t.words += 2
		}
		for k, b := range []pass.Bound{s.X, s.Y} {
			if b.Given() && b.Var == pass.None {
				t.values = append(t.values, passValue{word: t.words, step: i, second: k == 1})
				t.words += (b.Type.Size + 7) / 8
			}
		}
	}
	for range t.list.Blocks {
		t.limits = append(t.limits, t.words)
		t.words++
	}
	if t.words > passWordsMost {
		t.err = &pass.NotRecordable{Op: "the loop", Reason: fmt.Sprintf("its %d steps have too many operands", len(t.list.Steps))}
	}
}

// write composes the program.
func (t *passText) write() {
	l := t.list
	p := compose("pass", fmt.Sprintf("a loop of %d steps", len(l.Steps)))
	p.parts = []string{"pass"}
	p.define("HB_PASS_BLOCK", passBlock).define("HB_PASS_TOTALS", passNumbers*max(t.totals, 1)).define("HB_PASS_WORDS", t.words)
	for i := range t.vars {
		p.needs(t.vars[i].typ)
	}
	// What the end of a pass leaves open decides about the barriers of its begin, so the passes are
	// written until they agree.
	body := ""
	for again := true; again && t.err == nil; {
		body, again = t.pass()
	}
	if t.err != nil {
		return
	}
	t.plan = t.notes.String()
	var k strings.Builder
	k.WriteString(t.defs.String())
	k.WriteString("\nHB_KERNEL __launch_bounds__(HB_PASS_BLOCK, HB_PASS_BLOCKS) hb_pass(const hb_words W, hb_control *control) {\n\t__shared__ hb_u64 pending[HB_PASS_TOTALS + 1];\n\thb_grid g(control, pending);\n")
	t.declare(&k)
	fmt.Fprintf(&k, "\tconst hb_i64 limit = (hb_i64)W.w[%d];\n\tvolatile hb_i64 *host = (volatile hb_i64 *)W.w[%d];\n", wordLimit, wordHost)
	fmt.Fprintf(&k, "\tvolatile hb_u8 *log = (volatile hb_u8 *)W.w[%d];\n\tconst hb_u32 most = (hb_u32)W.w[%d];\n", wordLog, wordDecisions)
	k.WriteString("\thb_u32 decisions = 0;\n\thb_i64 passes = 0;\n\tfor (; passes < limit;) {\n")
	fmt.Fprintf(&k, "\t\tconst bool go = %s;\n\t\tHB_DECIDE(go)\n\t\tif (!go) break;\n\t\tpasses++;\n", t.condition(t.list.Cond, t.list.True))
	k.WriteString(body)
	k.WriteString("\t}\nends:\n")
	t.finish(&k)
	k.WriteString("}\n")
	p.own = k.String()
	p.define("HB_PASS_BLOCKS", passBlocks)
	t.p = p
}

// The launch shape of the kernel: threads of a block and blocks of a multiprocessor.
const (
	passBlock  = 512
	passBlocks = 1
)

// condition is a condition of a loop or a branch.
func (t *passText) condition(c int, value bool) string {
	v := &t.vars[c]
	if value {
		return fmt.Sprintf("h%d && x%d", c, c)
	}
	switch v.kind {
	case passUniform:
		return fmt.Sprintf("h%d", c)
	case passRead:
		return fmt.Sprintf("W.w[%d] != 0", v.word+wordEntries)
	}
	if v.full {
		return fmt.Sprintf("v%d.n > 0", c)
	}
	return fmt.Sprintf("v%d.cnt > 0", c)
}

// declare writes the variables with their contents at the begin of the loop.
func (t *passText) declare(k *strings.Builder) {
	word := func(v *passVar, w int) string { return fmt.Sprintf("W.w[%d]", v.word+w) }
	for i := range t.vars {
		v := &t.vars[i]
		T := v.typ.Name
		switch v.kind {
		case passMatrix:
			if v.operand.Var == pass.None {
				continue
			}
			for w, name := range []string{"rows", "row_idx", "row_val", "cols", "col_idx", "col_val"} {
				typ := []string{"hb_i64", "hb_i32", T}[w%3]
				fmt.Fprintf(k, "\tconst %s *m%d_%s = (const %s *)%s;\n", typ, i, name, typ, word(v, w))
			}
			fmt.Fprintf(k, "\tconst hb_i64 m%d_nnz = (hb_i64)%s;\n\tconst hb_u32 m%d_nparts = (hb_u32)%s;\n\tconst hb_i32 m%d_long = (hb_i32)%s, m%d_lanes = (hb_i32)%s;\n", i, word(v, wordNNZ), i, word(v, wordNParts), i, word(v, wordLong), i, word(v, wordLanes))
			fmt.Fprintf(k, "\tconst hb_u64 *m%d_parts = (const hb_u64 *)%s;\n", i, word(v, wordPull))
		case passUniform:
			fmt.Fprintf(k, "\tbool h%d = %s >= 3 || (%s == 2 && *(const hb_u8 *)%s);\n\t%s x%d = %s();\n\tif (h%d) x%d = %s == 4 ? *(const %s *)&%s : *(const %s *)%s;\n",
				i, word(v, wordFormat), word(v, wordFormat), word(v, wordHasFrom), T, i, T, i, i, word(v, wordFormat), T, word(v, wordValFrom), T, word(v, wordValFrom))
		case passRead:
			fmt.Fprintf(k, "\tconst hb_i32 n%d = %d;\n\tconst hb_u8 *has%d = (const hb_u8 *)%s;\n\tconst %s *val%d = (const %s *)%s;\n",
				i, v.n, i, word(v, wordHasFrom), T, i, T, word(v, wordValFrom))
		case passWritten, passTemp:
			fmt.Fprintf(k, "\thb_vec<%s> v%d = {(%s *)%s, (hb_u32 *)%s, (hb_u32 *)%s, (hb_i32 *)%s, (hb_u64 *)%s, 0, %d, 0, 0, 0, %d, false};\n",
				T, i, T, word(v, wordVal), word(v, wordBits), word(v, wordMarks), word(v, wordList), word(v, wordParts), v.n, v.at)
		}
	}
	t.contents(k)
}

// contents writes how the vectors get their contents: bits and values, then the entries of lists.
func (t *passText) contents(k *strings.Builder) {
	word := func(v *passVar, w int) string { return fmt.Sprintf("W.w[%d]", v.word+w) }
	sync := false
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind != passWritten && v.kind != passTemp {
			continue
		}
		sync = true
		T, whole, rest := v.typ.Name, v.rest != "" || v.full, v.rest
		if rest == "" {
			rest = T + "()"
		}
		line := func(format string, args ...any) { fmt.Fprintf(k, "\t\t"+format+"\n", args...) }
		fmt.Fprintf(k, "\t{\n")
		line("const hb_i32 format = (hb_i32)%s;", word(v, wordFormat))
		line("%s value = %s();", T, T)
		line("if (format == 4) value = *(const %s *)&%s;", T, word(v, wordValFrom))
		also := "-1"
		if e := t.expanded(i); e >= 0 && t.ahead(e) {
			of := &t.vars[t.list.Steps[e].Dst]
			also = fmt.Sprintf("%s == 4 ? (hb_i32)%s : -1", word(of, wordFormat), word(of, wordIdx))
		}
		line("const hb_i32 one = (hb_i32)%s;", word(v, wordIdx))
		line("const hb_i32 d = hb_begin<%s>(g.thread, g.threads, %d, format, one, (const hb_u8 *)%s, (const %s *)%s, value, v%d.val, v%d.bits, %v, %s, %s);",
			T, v.n, word(v, wordHasFrom), T, word(v, wordValFrom), i, i, whole, rest, also)
		if v.counted && !v.full {
			line("g.add(%d, d);", passNumbers*v.at+1)
		}
		if v.listed {
			line("v%d.listed = format <= 1 || format == 4;", i)
			if v.marked {
				line("hb_zero(g.thread, g.threads, v%d.marks, %d);", i, (v.n+31)/32)
			}
			line("if (format == 4) {")
			line("\tv%d.len = 1;", i)
			if v.deg != "" {
				line("\tv%d.deg = %s[one + 1] - %s[one];", i, v.deg, v.deg)
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
		for i := range t.vars {
			if v := &t.vars[i]; (v.kind == passWritten || v.kind == passTemp) && (v.listed || v.counted) {
				fmt.Fprintf(k, "\tv%d.update(g);\n", i)
			}
		}
	}
	update()
	lists := "false"
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind == passWritten {
			lists += fmt.Sprintf(" || %s == 1", word(v, wordFormat))
		}
	}
	fmt.Fprintf(k, "\tif (%s) {\n", lists)
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind != passWritten {
			continue
		}
		put, flush, mark := "", "", ""
		if v.listed {
			put = fmt.Sprintf("\t\t\tconst hb_i32 one[1] = {j};\n\t\t\tlisted.put(g, v%d, in, one, %s);\n", i, t.degOf(i))
			flush = fmt.Sprintf("\t\tlisted.flush(g, v%d, %s);\n", i, t.degOf(i))
			if v.marked {
				mark = fmt.Sprintf("\t\t\thb_enter(v%d.marks, j, true, in, in, true);\n", i)
			}
		}
		fmt.Fprintf(k, "\tif (%s == 1) {\n\t\tconst hb_i32 *idx = (const hb_i32 *)%s;\n\t\tconst %s *val = (const %s *)%s;\n\t\tconst hb_i64 n = (hb_i64)%s;\n",
			word(v, wordFormat), word(v, wordIdx), v.typ.Name, v.typ.Name, word(v, wordValFrom), word(v, wordEntries))
		fmt.Fprintf(k, "\t\thb_collector<0> listed;\n\t\thb_each(g, n, [&](hb_i32 e, bool in) {\n\t\t\tconst hb_i32 j = in ? idx[e] : 0;\n\t\t\tif (in) v%d.val[j] = val ? val[e] : (%s)1;\n\t\t\thb_enter(v%d.bits, j, true, in, in, true);\n%s%s\t\t});\n%s",
			i, v.typ.Name, i, mark, put, flush)
		if v.counted {
			fmt.Fprintf(k, "\t\tg.add(%d, g.thread == 0 ? n : 0);\n", passNumbers*v.at+1)
		}
		k.WriteString("\t}\n")
	}
	update()
	k.WriteString("\t}\n")
	// Entries that wait for their values when the loop begins.
	for i := range t.list.Steps {
		if _, ok := t.expands[i]; ok && t.ahead(i) {
			s := &t.list.Steps[i]
			fmt.Fprintf(k, "\tif (%s != 4 && %s != 0) {\n\t\thb_join_bits(g.thread, g.threads, v%d.bits, v%d.bits, %d);\n\t\tg.sync();\n\t}\n",
				word(&t.vars[s.Dst], wordFormat), word(&t.vars[s.Dst], wordFormat), s.Mask.Var, s.Dst, (t.vars[s.Dst].n+31)/32)
		}
	}
}

// finish writes what the loop leaves: bytes, scalars, and what the host reads.
func (t *passText) finish(k *strings.Builder) {
	k.WriteString("\tg.sync();\n")
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind != passWritten || v.full {
			continue
		}
		less := "(const hb_u32 *)0" // entries that wait for their values
		if e := t.expanded(i); e >= 0 && t.ahead(e) {
			less = fmt.Sprintf("v%d.bits", t.list.Steps[e].Dst)
		}
		fmt.Fprintf(k, "\thb_bytes(g.thread, g.threads, v%d.bits, %s, (hb_u8 *)W.w[%d], %d);\n", i, less, v.word+wordHas, v.n)
	}
	k.WriteString("\tif (g.thread == 0) {\n")
	for i := range t.list.Vars {
		v := &t.vars[i]
		if !t.list.Vars[i].Written {
			continue
		}
		switch v.kind {
		case passUniform:
			fmt.Fprintf(k, "\t\t*(%s *)W.w[%d] = x%d;\n\t\t*(hb_u8 *)W.w[%d] = h%d;\n\t\thost[%d] = h%d;\n", v.typ.Name, v.word+wordVal, i, v.word+wordHas, i, hostVars+2*i+1, i)
		case passWritten:
			count := "-1"
			switch {
			case v.full:
				count = fmt.Sprint(v.n)
			case v.counted:
				count = fmt.Sprintf("v%d.cnt", i)
			}
			fmt.Fprintf(k, "\t\thost[%d] = v%d.at;\n\t\thost[%d] = %s;\n", hostVars+2*i, i, hostVars+2*i+1, count)
		}
	}
	fmt.Fprintf(k, "\t\tfor (hb_i32 e = 0; e < 4; e++) host[%d + e] = (hb_i64)((volatile hb_u64 *)control->error)[e];\n", hostError)
	k.WriteString("\t\thost[1] = passes;\n\t\thost[2] = decisions;\n\t\t__threadfence_system();\n\t\thost[0] = 1;\n\t}\n\tg.ends();\n")
}

// The numbers that the host reads: the end, passes, decisions, the error, and of each variable the
// vector that it has at the end, and its entries.
const (
	hostEnded = iota
	hostPasses
	hostDecisions
	hostError
	hostVars = hostError + 4
)
