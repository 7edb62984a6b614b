package cusparse

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the kernel of a recorded loop; see kernels/pass.cu. Steps become stages: a chain
// of steps that compute position by position is one stage, over all positions or over the list of a
// vector beyond whose entries the chain changes nothing.

// passKind is how the kernel holds a variable.
type passKind uint8

const (
	passMatrix  passKind = iota
	passUniform          // a scalar: every thread has it in a register
	passRead             // a vector that is only read: its values and a byte for each position
	passWritten          // a vector that the loop writes: an hb_vec
	passTemp             // the result of a product, before it enters the destination
)

// passVar is a variable of the kernel: those of the list, then those that hold results of products.
type passVar struct {
	kind    passKind
	typ     device.Type
	n       int
	full    bool   // it has an entry at every position throughout
	listed  bool   // it keeps a list
	counted bool   // its entries are counted
	deg     string // the offsets by which edges of the list are counted, "" for none
	rest    string // the value at positions without an entry
	word    int    // its first place in hb_words
	rows    bool   // of a matrix: the rows are read
	cols    bool   // of a matrix: the rows of the transpose are read
	at      int    // its number among the vectors with totals
	operand pass.Use
	lanes   int // of a matrix: the threads that share a row
}

// passProgram is a list as text, with what a launch needs.
type passProgram struct {
	list   *pass.List
	vars   []passVar
	words  int // of hb_words
	totals int // vectors with totals
	parts  []passPart
	values []passValue
	hubs   map[int]int // the words of the waiting rows of a product, by the matrix
	p      *program
}

// passPart is room for the sums of tiles of a step.
type passPart struct {
	word, size int
	n          int
}

// passValue is the place of an argument of a step among the words.
type passValue struct {
	word, step int
	second     bool // Y in place of X
}

// The words of a variable: for a vector, where its values, its bytes and its entries come from, and
// where they go.
const (
	wordFormat = iota // 0: no entries; 1: a list; 2: bytes; 3: everywhere; 4: one, in wordValFrom
	wordIdx
	wordHasFrom
	wordValFrom
	wordEntries
	wordVal
	wordHas
	wordList
	wordParts
	vectorWords
)

// The words of a matrix: its rows, and those of its transpose.
const (
	wordRowPtr = iota
	wordRowIdx
	wordRowVal
	wordColPtr
	wordColIdx
	wordColVal
	wordNNZ
	wordLongs
	wordNLongs
	wordHubs // 1 if a row of the transpose may have more than HB_PASS_HUB entries
	wordLater
	matrixWords
)

// The first words of all.
const (
	wordLimit = iota
	wordHost
	firstWord
)

// passNumbers is HB_PASS_NUMBERS of kernels/pass.cu.
const passNumbers = 4

// passWordsMost is the number of words that the arguments of a kernel hold.
const passWordsMost = 480

// passText is a passProgram while it is written.
type passText struct {
	*passProgram
	b       strings.Builder // the body under way
	defs    strings.Builder // functions of the operators
	funcs   map[string]string
	temps   []int // of each step, or −1
	open    []pointStep
	domain  passDomain
	err     error
	used    map[passUse]bool // since the last barrier
	given1  map[int]int      // of a vector in forward: the scalar that it got, or None
	forward map[int]int      // of a vector: that beyond whose entries it got entries since the last barrier
	stale   map[int]bool     // variables whose totals changed since the last barrier
	pulls   map[int]bool     // steps that may pull, and that may push
	pushes  map[int]bool
}

// passUse is a read or a write of a vector since the last barrier; how tells which thread has which
// position, and is "" if that is not known.
type passUse struct {
	v     int
	how   string
	write bool
}

// passDomain is the positions of a stage: the list of a variable, or all n.
type passDomain struct {
	list int // −1 for all
	n    int
}

func (d passDomain) how() string {
	if d.list >= 0 {
		return fmt.Sprintf("list %d", d.list)
	}
	return fmt.Sprintf("all %d", d.n)
}

// pointStep is a step, or a part of one, that computes position by position.
type pointStep struct {
	step  int
	from  int  // the variable of the result of a product, −1 for other steps
	clear int  // empties this variable; −1 for none
	bare  bool // the mask holds for the result already
}

// passHave says of a matrix as an operand whether its rows are at hand, or the rows of its transpose,
// and how many threads share a row.
type passHave struct {
	rows, cols bool
	lanes      int
}

// composePass writes the kernel of a list.
func composePass(l *pass.List, have func(u pass.Use) passHave) (*passProgram, error) {
	t := &passText{passProgram: &passProgram{list: l, hubs: map[int]int{}}, funcs: map[string]string{},
		pulls: map[int]bool{}, pushes: map[int]bool{}}
	t.classify(have)
	if t.err != nil {
		return nil, t.err
	}
	t.layout()
	t.write()
	if t.err != nil {
		return nil, t.err
	}
	return t.passProgram, nil
}

func (t *passText) refuse(s *pass.Step, reason string) {
	if t.err == nil {
		t.err = &pass.NotRecordable{Op: s.Op, Reason: reason}
	}
}

// matrixVar returns the number of the matrix of a use, whose orientations are apart.
func (t *passText) matrixVar(u pass.Use) int {
	for i := range t.vars {
		if t.vars[i].kind == passMatrix && t.vars[i].operand == u {
			return i
		}
	}
	t.vars = append(t.vars, passVar{kind: passMatrix, operand: u, typ: t.list.Vars[u.Var].Type})
	return len(t.vars) - 1
}

// uses lists the vectors that a step reads.
func uses(s *pass.Step) (list []int) {
	add := func(v int) {
		if v != pass.None {
			list = append(list, v)
		}
	}
	if s.Kind != pass.Product {
		add(s.A.Var)
	}
	add(s.B.Var)
	add(s.X.Var)
	add(s.Y.Var)
	add(s.Mask.Var)
	return list
}

// classify decides how the kernel holds the variables and runs the products.
func (t *passText) classify(have func(u pass.Use) passHave) {
	l := t.list
	t.vars = make([]passVar, len(l.Vars))
	for i, v := range l.Vars {
		t.vars[i] = passVar{kind: passRead, typ: v.Type, n: v.Cols, full: v.Full, operand: pass.NoUse}
		switch {
		case !v.Vector:
			t.vars[i].kind = passMatrix
			t.vars[i].operand = pass.Use{Var: pass.None}
		case v.Written:
			t.vars[i].kind = passWritten
		}
		if v.Type.Size != 1 && v.Type.Size != 2 && v.Type.Size != 4 && v.Type.Size != 8 && v.Vector {
			t.err = &pass.NotRecordable{Op: "the loop", Reason: "it has elements of " + v.Type.Go}
			return
		}
	}
	t.uniform()
	t.temps = make([]int, len(l.Steps))
	for i := range l.Steps {
		s := &l.Steps[i]
		t.temps[i] = -1
		t.check(s)
		if t.err != nil {
			return
		}
		switch s.Kind {
		case pass.Product:
			at := have(s.A)
			rows, cols := at.rows, at.cols
			exact := s.Ring.Add.Exact || s.Ring.Add.Any
			if !exact {
				t.refuse(s, "the sum of "+s.Ring.Name+" depends on the order")
				return
			}
			t.pulls[i], t.pushes[i] = rows, cols
			if !rows && !cols {
				t.pushes[i] = true
			}
			m := t.matrixVar(s.A)
			t.vars[m].lanes = at.lanes
			t.vars[m].rows = t.vars[m].rows || t.pulls[i]
			t.vars[m].cols = t.vars[m].cols || t.pushes[i]
			t.temps[i] = t.temp(s, s.Ring.Add)
		case pass.Scatter:
			if !s.Monoid.Exact && !s.Monoid.Any {
				t.refuse(s, "the sum by "+s.Monoid.Name+" depends on the order")
				return
			}
			t.temps[i] = t.temp(s, s.Monoid)
		case pass.Gather:
			if s.Dst == s.A.Var { // it is read at other positions than it is written at
				typ := t.vars[s.Dst].typ
				t.temps[i] = t.temp(s, device.Monoid{Func: device.Func{Out: typ}, Identity: typ.Name + "()"})
			}
		case pass.Reduce:
			if !s.Monoid.Exact && !s.Monoid.Any {
				t.refuse(s, "the sum by "+s.Monoid.Name+" depends on the order")
				return
			}
		case pass.Count:
			t.vars[s.A.Var].counted = true
		}
	}
	if !l.True {
		t.vars[l.Cond].counted = true
	}
	t.fullness()
	t.lists()
}

// check refuses what the kernel has no form for.
func (t *passText) check(s *pass.Step) {
	for _, u := range []pass.Use{s.A, s.B} {
		if u.Var == pass.None || s.Kind == pass.Product && u == s.A {
			continue
		}
		if !t.list.Vars[u.Var].Vector {
			t.refuse(s, "it reads a matrix")
		}
	}
	switch {
	case !t.list.Vars[s.Dst].Vector:
		t.refuse(s, "it writes a matrix")
	case s.Mask.Var != pass.None && !t.list.Vars[s.Mask.Var].Vector:
		t.refuse(s, "its mask is a matrix")
	}
	for _, b := range []pass.Bound{s.X, s.Y} {
		if b.Var != pass.None && t.vars[b.Var].kind != passUniform {
			t.refuse(s, "its scalar is an operand of a product")
		}
	}
	if (s.Kind == pass.Reduce || s.Kind == pass.Count) && t.vars[s.Dst].kind != passUniform {
		t.refuse(s, "its scalar is an operand of a product")
	}
}

// uniform finds the scalars that every thread may keep: vectors of size 1 that meet only such
// vectors, position by position.
func (t *passText) uniform() {
	keep := make([]bool, len(t.vars))
	for i := range t.vars {
		keep[i] = t.list.Vars[i].Vector && t.vars[i].n == 1
	}
	for again := true; again; {
		again = false
		for i := range t.list.Steps {
			s := &t.list.Steps[i]
			vs := append(uses(s), s.Dst)
			all := true
			switch s.Kind {
			case pass.Product, pass.Gather, pass.Scatter:
				all = false
			case pass.Reduce, pass.Count:
				continue
			}
			for _, v := range vs {
				bound := v == s.X.Var || v == s.Y.Var
				all = all && (keep[v] || bound)
			}
			for _, v := range vs {
				if v == s.X.Var || v == s.Y.Var {
					continue
				}
				if !all && keep[v] {
					keep[v], again = false, true
				}
			}
		}
	}
	for i := range keep {
		if keep[i] {
			t.vars[i].kind = passUniform
		}
	}
}

// temp returns the variable that holds the result of a step. Steps with equal results share one.
func (t *passText) temp(s *pass.Step, m device.Monoid) int {
	n := t.vars[s.Dst].n
	for i := len(t.list.Vars); i < len(t.vars); i++ {
		if v := &t.vars[i]; v.kind == passTemp && v.typ == m.Out && v.n == n && v.rest == m.Identity {
			return i
		}
	}
	t.vars = append(t.vars, passVar{kind: passTemp, typ: m.Out, n: n, rest: m.Identity, operand: pass.NoUse})
	return len(t.vars) - 1
}

// fullness finds the vectors that are full throughout.
func (t *passText) fullness() {
	full := func(u pass.Use) bool { return u.Var != pass.None && t.vars[u.Var].full }
	for again := true; again; {
		again = false
		for i := range t.list.Steps {
			s := &t.list.Steps[i]
			d := &t.vars[s.Dst]
			if s.Kind == pass.Swap {
				if a := &t.vars[s.A.Var]; a.full != d.full {
					a.full, d.full, again = false, false, true
				}
				continue
			}
			if !d.full {
				continue
			}
			made := false // T is full
			switch s.Kind {
			case pass.EWise:
				made = full(s.A) && full(s.B) || s.How != device.Intersection && (full(s.A) || full(s.B))
			case pass.Apply, pass.Assign:
				made = full(s.A)
			case pass.Fill:
				made = s.X.Var == pass.None
			}
			keeps := made || s.Accum.Text != ""
			if s.Mask.Var != pass.None && s.Replace || s.Replace && s.Mask.Var == pass.None && !made {
				keeps = false
			}
			if !keeps || d.kind == passUniform {
				d.full, again = false, true
			}
		}
	}
}

// swaps reports whether the result of a product takes the place of the destination.
func (t *passText) swaps(i int) bool {
	s := &t.list.Steps[i]
	d := &t.vars[s.Dst]
	return t.temps[i] >= 0 && s.Accum.Text == "" && (s.Mask.Var == pass.None || s.Replace) &&
		d.kind == passWritten && d.typ == t.vars[t.temps[i]].typ && (d.rest == "" || d.rest == t.vars[t.temps[i]].rest)
}

// lists chooses the vectors that keep a list: those that a product pushes from or to, and what is
// selected from them.
func (t *passText) lists() {
	mark := func(v int) bool {
		x := &t.vars[v]
		if x.listed || x.full || x.kind != passWritten && x.kind != passTemp {
			return false
		}
		x.listed = true
		return true
	}
	for i := range t.list.Steps {
		s := &t.list.Steps[i]
		if s.Kind == pass.Scatter {
			mark(t.temps[i])
		}
		if s.Kind != pass.Product || !t.pushes[i] {
			continue
		}
		mark(s.B.Var)
		mark(t.temps[i])
		if t.pulls[i] {
			x := &t.vars[s.B.Var]
			x.counted = true
			x.deg = fmt.Sprintf("m%d_cols", t.matrixVar(s.A))
		}
	}
	for again := true; again; {
		again = false
		for i := range t.list.Steps {
			s := &t.list.Steps[i]
			if t.swaps(i) {
				d, x := &t.vars[s.Dst], &t.vars[t.temps[i]]
				if d.rest == "" {
					d.rest, again = x.rest, true
				}
				again = x.listed && mark(s.Dst) || d.listed && mark(t.temps[i]) || again
				if d.deg != x.deg { // they exchange their lists
					if d.deg == "" {
						d.deg = x.deg
					}
					x.deg, again = d.deg, true
				}
				if d.counted != x.counted {
					d.counted, x.counted, again = true, true, true
				}
			}
			if s.Kind == pass.Swap {
				a, d := &t.vars[s.A.Var], &t.vars[s.Dst]
				again = a.listed && mark(s.Dst) || d.listed && mark(s.A.Var) || again
				if a.counted != d.counted {
					a.counted, d.counted, again = true, true, true
				}
				if a.deg != d.deg {
					if d.deg == "" {
						d.deg = a.deg
					}
					a.deg, again = d.deg, true
				}
				if a.rest != d.rest {
					if d.rest == "" {
						d.rest = a.rest
					}
					a.rest, again = d.rest, true
				}
			}
			if s.Accum.Text == "" && (s.Mask.Var == pass.None || s.Replace) && s.Dst != s.A.Var {
				switch s.Kind {
				case pass.Select, pass.Apply, pass.Assign:
					if t.vars[s.A.Var].listed && t.vars[s.A.Var].kind == passWritten {
						again = mark(s.Dst) || again
					}
				}
			}
		}
	}
}

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
			t.hubs[i] = t.totals
			t.totals++
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
			t.parts = append(t.parts, passPart{word: t.words, size: s.Monoid.Out.Size, n: t.vars[s.A.Var].n})
			t.words += 2
		}
		for k, b := range []pass.Bound{s.X, s.Y} {
			if b.Given() && b.Var == pass.None {
				t.values = append(t.values, passValue{word: t.words, step: i, second: k == 1})
				t.words += (b.Type.Size + 7) / 8
			}
		}
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
	if os.Getenv("HB_CLOCKS") != "" {
		p.define("HB_CLOCKS", 1)
	}
	p.define("HB_PASS_BLOCK", passBlock).define("HB_PASS_TOTALS", passNumbers*max(t.totals, 1)).define("HB_PASS_WORDS", t.words)
	for i := range t.vars {
		p.needs(t.vars[i].typ)
	}
	// A pass is written twice: what its end leaves open decides about the barriers of its begin.
	t.begin(nil)
	body := t.pass()
	if t.err == nil {
		t.begin(t.used)
		body = t.pass()
	}
	if t.err != nil {
		return
	}
	var k strings.Builder
	k.WriteString(t.defs.String())
	k.WriteString("\nHB_KERNEL __launch_bounds__(HB_PASS_BLOCK, HB_PASS_BLOCKS) hb_pass(const hb_words W, hb_control *control) {\n\t__shared__ hb_u64 pending[HB_PASS_TOTALS];\n\thb_grid g(control, pending);\n")
	fmt.Fprintf(&k, "\tg.clocks = (volatile hb_i64 *)W.w[%d];\n", wordHost)
	t.declare(&k)
	fmt.Fprintf(&k, "\tconst hb_i64 limit = (hb_i64)W.w[%d];\n\tvolatile hb_i64 *host = (volatile hb_i64 *)W.w[%d];\n", wordLimit, wordHost)
	k.WriteString("\tg.clocks = host;\n")
	k.WriteString("\thb_i64 passes = 0;\n\tfor (;;) {\n")
	fmt.Fprintf(&k, "\t\tif (!(%s) || passes >= limit || g.stopped()) break;\n", t.condition())
	k.WriteString("\t\tpasses++;\n\t\tif (g.thread == 0) host[1] = passes;\n")
	k.WriteString(body)
	k.WriteString("\t}\n")
	t.finish(&k)
	k.WriteString("}\n")
	p.own = k.String()
	p.define("HB_PASS_BLOCKS", passBlocks)
	t.p = p
}

// The launch shape of the kernel: threads of a block and blocks of a multiprocessor.
const (
	passBlock  = 1024
	passBlocks = 1
)

// condition is the condition of the loop.
func (t *passText) condition() string {
	c := t.list.Cond
	v := &t.vars[c]
	if t.list.True {
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
			fmt.Fprintf(k, "\tconst hb_i64 m%d_nnz = (hb_i64)%s, m%d_nlongs = (hb_i64)%s;\n", i, word(v, wordNNZ), i, word(v, wordNLongs))
			fmt.Fprintf(k, "\tconst hb_i32 *m%d_longs = (const hb_i32 *)%s;\n\tconst bool m%d_hubs = %s != 0;\n", i, word(v, wordLongs), i, word(v, wordHubs))
			fmt.Fprintf(k, "\thb_u64 *m%d_later = (hb_u64 *)%s;\n", i, word(v, wordLater))
		case passUniform:
			fmt.Fprintf(k, "\tbool h%d = %s >= 3 || (%s == 2 && *(const hb_u8 *)%s);\n\t%s x%d = %s();\n\tif (h%d) x%d = %s == 4 ? *(const %s *)&%s : *(const %s *)%s;\n",
				i, word(v, wordFormat), word(v, wordFormat), word(v, wordHasFrom), T, i, T, i, i, word(v, wordFormat), T, word(v, wordValFrom), T, word(v, wordValFrom))
		case passRead:
			fmt.Fprintf(k, "\tconst hb_i64 n%d = %d;\n\tconst hb_u8 *has%d = (const hb_u8 *)%s;\n\tconst %s *val%d = (const %s *)%s;\n",
				i, v.n, i, word(v, wordHasFrom), T, i, T, word(v, wordValFrom))
		case passWritten, passTemp:
			has := fmt.Sprintf("(hb_u8 *)%s", word(v, wordHas))
			fmt.Fprintf(k, "\thb_vec<%s> v%d = {(%s *)%s, %s, (hb_i32 *)%s, (hb_u64 *)%s, %d, 0, 0, 0, 0, %d, false};\n",
				T, i, T, word(v, wordVal), has, word(v, wordList), word(v, wordParts), v.n, v.at)
		}
	}
	// The contents: bytes and values, then the entries of lists.
	sync := false
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind != passWritten && v.kind != passTemp {
			continue
		}
		sync = true
		rest := v.rest
		if rest == "" {
			rest = v.typ.Name + "()"
		}
		hasSet, hasCount := "", ""
		if !v.full {
			hasSet = fmt.Sprintf(" v%d.has[p] = h;", i)
		}
		if v.counted && !v.full {
			hasCount = " d += h;"
		}
		fmt.Fprintf(k, "\t{\n\t\tconst hb_u64 format = %s;\n\t\tconst hb_u8 *has = (const hb_u8 *)%s;\n\t\tconst %s *val = (const %s *)%s;\n\t\thb_i64 d = 0;\n",
			word(v, wordFormat), word(v, wordHasFrom), v.typ.Name, v.typ.Name, word(v, wordValFrom))
		fmt.Fprintf(k, "\t\thb_each(g, %d, [&](hb_i64 p, bool in) {\n\t\t\tif (!in) return;\n\t\t\tconst bool h = format == 3 || (format == 2 && has[p]);%s%s\n\t\t\tv%d.val[p] = h ? (val ? val[p] : (%s)1) : %s;\n\t\t});\n",
			v.n, hasSet, hasCount, i, v.typ.Name, rest)
		if v.counted && !v.full {
			fmt.Fprintf(k, "\t\tg.add(%d, d);\n", passNumbers*v.at+1)
		}
		if v.listed {
			fmt.Fprintf(k, "\t\tv%d.listed = format <= 1 || format == 4;\n", i)
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
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind != passWritten {
			continue
		}
		put, flush := "", ""
		if v.listed {
			deg := "(const hb_i64 *)0"
			if v.deg != "" {
				deg = v.deg
			}
			put = fmt.Sprintf("\t\t\tlisted.put(g, v%d, in, j, %s);\n", i, deg)
			flush = fmt.Sprintf("\t\tlisted.flush(g, v%d, %s);\n", i, deg)
		}
		bits := 1
		if v.listed {
			bits = 3
		}
		fmt.Fprintf(k, "\tif (%s == 1 || %s == 4) {\n\t\tconst bool one = %s == 4;\n\t\tconst hb_i32 *idx = (const hb_i32 *)%s;\n\t\tconst %s *val = one ? (const %s *)&%s : (const %s *)%s;\n\t\tconst hb_i64 n = (hb_i64)%s;\n\t\thb_collector<0> listed;\n\t\thb_each(g, n, [&](hb_i64 e, bool in) {\n\t\t\tconst hb_i32 j = in ? one ? (hb_i32)%s : idx[e] : 0;\n\t\t\tif (in) {\n\t\t\t\tv%d.has[j] = %d;\n\t\t\t\tv%d.val[j] = val ? val[e] : (%s)1;\n\t\t\t}\n%s\t\t});\n%s",
			word(v, wordFormat), word(v, wordFormat), word(v, wordFormat), word(v, wordIdx), v.typ.Name, v.typ.Name, word(v, wordValFrom), v.typ.Name, word(v, wordValFrom), word(v, wordEntries), word(v, wordIdx), i, bits, i, v.typ.Name, put, flush)
		if v.counted {
			fmt.Fprintf(k, "\t\tg.add(%d, g.thread == 0 ? n : 0);\n", passNumbers*v.at+1)
		}
		k.WriteString("\t}\n")
	}
	update()
}

// finish writes what the loop leaves: bytes that are 0 or 1, scalars, and what the host reads.
func (t *passText) finish(k *strings.Builder) {
	k.WriteString("\tg.sync();\n")
	for i := range t.vars {
		v := &t.vars[i]
		if v.kind == passWritten && v.listed {
			fmt.Fprintf(k, "\tif (v%d.listed) hb_listed(g, v%d, [&](hb_i64 p, bool in) { if (in) v%d.has[p] &= 1; });\n", i, i, i)
		}
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
	k.WriteString("\t\thost[1] = passes;\n\t\t__threadfence_system();\n\t\thost[0] = 1;\n\t}\n\tg.ends();\n")
}

// The numbers that the host reads: the end, passes, the error, and of each variable the vector that
// it has at the end, and its entries.
const (
	hostEnded = iota
	hostPasses
	hostError
	hostVars = hostError + 4
)

// begin starts the text of a pass with what was done since the last barrier.
func (t *passText) begin(used map[passUse]bool) {
	t.b.Reset()
	t.used, t.stale, t.forward = map[passUse]bool{}, map[int]bool{}, map[int]int{}
	t.given1 = map[int]int{}
	for a := range used {
		t.used[a] = true
	}
	t.open = nil
}

// pass writes one pass.
func (t *passText) pass() string {
	for i := range t.list.Steps {
		if t.err != nil {
			return ""
		}
		t.step(i)
	}
	t.flush()
	if c := t.list.Cond; t.stale[c] && t.vars[c].kind == passWritten && !t.vars[c].full {
		t.sync()
	}
	if len(t.stale) > 0 { // their totals must be those of a barrier when the next pass begins
		t.sync()
	}
	return t.b.String()
}

func (t *passText) line(format string, args ...any) { fmt.Fprintf(&t.b, "\t\t"+format+"\n", args...) }

// sync writes a barrier.
func (t *passText) sync() {
	t.line("g.sync();")
	t.line("%s", t.updates())
	clear(t.stale)
	clear(t.used)
	clear(t.forward)
}

// updates takes what was added to the numbers since the barrier before the last one.
func (t *passText) updates() string {
	var list []int
	for v := range t.stale {
		list = append(list, v)
	}
	slices.Sort(list)
	text := ""
	for _, v := range list {
		text += fmt.Sprintf("v%d.update(g); ", v)
	}
	return text
}

// clashes reports whether an access needs a barrier before it.
func (t *passText) clashes(a passUse) bool {
	for b := range t.used {
		if b.v == a.v && (a.write || b.write) && (a.how != b.how || a.how == "") {
			return true
		}
	}
	return false
}

// needs writes a barrier if one of the accesses needs it, or if the totals of one of the variables
// are stale, and records the accesses.
func (t *passText) needs(list []passUse, totals ...int) {
	wait := slices.ContainsFunc(list, t.clashes)
	for _, v := range totals {
		wait = wait || t.stale[v]
	}
	if wait {
		t.sync()
	}
	for _, a := range list {
		t.used[a] = true
	}
}

// isVector reports whether a variable has a place for each position.
func (t *passText) isVector(v int) bool {
	k := t.vars[v].kind
	return v >= 0 && (k == passRead || k == passWritten || k == passTemp)
}

// step writes the text of a step, or adds it to the open stage.
func (t *passText) step(i int) {
	s := &t.list.Steps[i]
	switch s.Kind {
	case pass.Product:
		t.flush()
		t.product(i)
		t.enter(i)
	case pass.Scatter:
		t.flush()
		t.scatter(i)
		t.enter(i)
	case pass.Gather:
		if t.temps[i] < 0 {
			t.add(pointStep{step: i, from: -1, clear: -1})
			return
		}
		t.flush()
		t.gather(i)
		t.enter(i)
	case pass.Reduce:
		t.flush()
		t.reduce(i)
	case pass.Count:
		t.flush()
		v := &t.vars[s.A.Var]
		from := fmt.Sprintf("(hb_i64)%d", v.n)
		switch {
		case v.kind == passUniform:
			from = fmt.Sprintf("(hb_i64)h%d", s.A.Var)
		case v.kind == passRead:
			from = fmt.Sprintf("(hb_i64)W.w[%d]", v.word+wordEntries)
		case !v.full:
			t.needs(nil, s.A.Var)
			from = fmt.Sprintf("v%d.cnt", s.A.Var)
		}
		t.line("{ // %s", s.Op)
		t.line("\tconst bool tb = true;")
		t.line("\tconst %s tv = (%s)%s;", t.vars[s.Dst].typ.Name, t.vars[s.Dst].typ.Name, from)
		t.b.WriteString(t.frame(s, pointStep{step: i, from: -1, clear: -1}, "\t\t\t", nil))
		t.line("}")
	case pass.Swap:
		t.flush()
		t.swap(s.Dst, s.A.Var)
	default:
		if t.vars[s.Dst].kind == passUniform {
			t.flush()
			t.line("{ // %s", s.Op)
			t.b.WriteString(t.point(pointStep{step: i, from: -1, clear: -1}, "\t\t\t", nil))
			t.line("}")
			return
		}
		t.add(pointStep{step: i, from: -1, clear: -1})
	}
}

// swap exchanges the contents of two variables.
func (t *passText) swap(a, b int) {
	if a == b {
		return
	}
	if t.vars[a].kind == passUniform {
		t.line("hb_swap(h%d, h%d);", a, b)
		t.line("hb_swap(x%d, x%d);", a, b)
		return
	}
	t.line("hb_swap(v%d, v%d);", a, b)
	other := map[int]int{a: b, b: a}
	used := map[passUse]bool{}
	for x := range t.used {
		if o, ok := other[x.v]; ok {
			x.v = o
		}
		switch x.how {
		case passDomain{list: a}.how():
			x.how = passDomain{list: b}.how()
		case passDomain{list: b}.how():
			x.how = passDomain{list: a}.how()
		}
		used[x] = true
	}
	t.used = used
	sa, sb := t.stale[a], t.stale[b]
	delete(t.stale, a)
	delete(t.stale, b)
	if sa {
		t.stale[b] = true
	}
	if sb {
		t.stale[a] = true
	}
}

// bounds returns the variables beyond whose entries a step changes nothing.
func (t *passText) bounds(ps pointStep) (list []int) {
	if ps.clear >= 0 {
		return []int{ps.clear}
	}
	s := &t.list.Steps[ps.step]
	var support []int // T is within the entries of each
	switch {
	case ps.from >= 0:
		support = []int{ps.from}
	case s.Kind == pass.EWise:
		if s.How == device.Intersection {
			support = []int{s.A.Var, s.B.Var}
		} else if s.A.Var == s.B.Var {
			support = []int{s.A.Var}
		}
	case s.Kind == pass.Apply, s.Kind == pass.Select, s.Kind == pass.Assign:
		support = []int{s.A.Var}
	case s.Kind == pass.Gather:
		support = []int{s.B.Var}
	}
	masked := s.Mask.Var != pass.None && !s.Mask.Comp && !s.Replace
	switch {
	case s.Accum.Text != "" && !s.Replace:
		list = support
	case s.Accum.Text == "":
		if slices.Contains(support, s.Dst) {
			list = []int{s.Dst}
		}
	}
	if masked {
		list = append(list, s.Mask.Var)
	}
	return list
}

// add adds a step to the open stage, or begins one.
func (t *passText) add(ps pointStep) {
	s := &t.list.Steps[ps.step]
	n := t.vars[s.Dst].n
	if ps.clear >= 0 {
		n = t.vars[ps.clear].n
	}
	var listed []int
	for _, v := range t.bounds(ps) {
		if t.vars[v].listed {
			listed = append(listed, v)
		}
	}
	if len(t.open) > 0 && t.joins(ps, n, listed) {
		t.open = append(t.open, ps)
		return
	}
	t.flush()
	// A selection from a list into another vector empties that first.
	if ps.clear < 0 && len(listed) == 0 && t.vars[s.Dst].listed && s.Accum.Text == "" && (s.Mask.Var == pass.None || s.Replace) {
		source := -1
		switch {
		case ps.from >= 0 && t.vars[ps.from].listed:
			source = ps.from
		case (s.Kind == pass.Select || s.Kind == pass.Apply || s.Kind == pass.Assign) && t.vars[s.A.Var].listed:
			source = s.A.Var
		}
		if source >= 0 && source != s.Dst && !slices.Contains(uses(s), s.Dst) {
			t.add(pointStep{step: ps.step, from: -1, clear: s.Dst})
			t.flush()
			t.domain = passDomain{list: source, n: n}
			t.open = []pointStep{ps}
			return
		}
	}
	t.domain = passDomain{list: -1, n: n}
	if len(listed) > 0 {
		t.domain.list = listed[0]
	}
	t.open = []pointStep{ps}
}

// joins reports whether a step can be in the open stage.
func (t *passText) joins(ps pointStep, n int, listed []int) bool {
	if t.domain.n != n {
		return false
	}
	if t.domain.list >= 0 && !slices.Contains(listed, t.domain.list) {
		return false
	}
	if t.domain.list < 0 && len(listed) > 0 && ps.clear < 0 {
		return false // its list may be short
	}
	s := &t.list.Steps[ps.step]
	random := -1
	if ps.clear < 0 && s.Kind == pass.Gather {
		random = s.A.Var
	}
	for _, o := range t.open {
		dst := o.clear
		if dst < 0 {
			dst = t.list.Steps[o.step].Dst
		}
		if dst == random {
			return false
		}
		if so := &t.list.Steps[o.step]; o.clear < 0 && so.Kind == pass.Gather && (s.Dst == so.A.Var || ps.clear == so.A.Var) {
			return false
		}
	}
	return true
}

// forwards finds the vectors that a stage gives entries at the entries of another one, and changes
// nowhere else, if that is the only change since the last barrier. A product may read such a mask
// while it is written: a position is set if it is in one of the two.
func (t *passText) forwards(open []pointStep, list []passUse) {
	for _, ps := range open {
		s := &t.list.Steps[ps.step]
		if ps.clear >= 0 || ps.from >= 0 || s.Kind != pass.Fill || s.X.Var != pass.None && s.X.Var < 0 || s.Accum.Text != "" || s.Replace ||
			s.Mask.Var == pass.None || s.Mask.Comp || !s.Mask.Structural || !t.isVector(s.Mask.Var) || t.vars[s.Dst].kind != passWritten {
			continue
		}
		writes, masks := 0, 0
		for _, o := range open {
			dst := o.clear
			if dst < 0 {
				dst = t.list.Steps[o.step].Dst
			}
			if dst == s.Dst {
				writes++
			}
			if dst == s.Mask.Var {
				masks++
			}
		}
		changed := 0
		for u := range t.used {
			if u.v == s.Dst && u.write || u.v == s.Mask.Var && u.write {
				changed++
			}
		}
		if writes == 1 && masks == 0 && changed == 1 {
			t.forward[s.Dst] = s.Mask.Var
			t.given1[s.Dst] = s.X.Var
		}
	}
}

// enter takes the result of a product into the destination.
func (t *passText) enter(i int) {
	s, temp := &t.list.Steps[i], t.temps[i]
	if t.swaps(i) {
		t.sync()
		t.swap(s.Dst, temp)
		t.add(pointStep{step: i, from: -1, clear: temp})
		return
	}
	t.add(pointStep{step: i, from: temp, clear: -1, bare: s.Accum.Text != "" && !s.Replace})
	ps := pointStep{step: i, from: -1, clear: temp}
	if t.domain.list == temp || t.domain.list < 0 && t.domain.n == t.vars[temp].n {
		t.open = append(t.open, ps)
		return
	}
	t.add(ps)
}

// flush writes the open stage.
func (t *passText) flush() {
	if len(t.open) == 0 || t.err != nil {
		t.open = nil
		return
	}
	open, d := t.open, t.domain
	t.open = nil
	how := d.how()
	g := newPoint(t)
	var list []passUse
	for _, ps := range open {
		g.touch(ps)
	}
	for _, v := range g.order {
		x := g.vars[v]
		if x.write {
			list = append(list, passUse{v, how, true})
		} else {
			list = append(list, passUse{v, how, false})
		}
	}
	var totals []int
	if d.list >= 0 {
		list = append(list, passUse{d.list, how, false})
		totals = append(totals, d.list)
	}
	for _, ps := range open {
		if s := &t.list.Steps[ps.step]; ps.clear < 0 && s.Kind == pass.Gather && t.isVector(s.A.Var) {
			list = append(list, passUse{s.A.Var, "", false})
		}
	}
	for _, v := range g.order { // the length of a list that ends is known
		if x := g.vars[v]; x.cleared || x.write && t.vars[v].listed && d.list != v {
			totals = append(totals, v)
		}
	}
	t.needs(list, totals...)
	for _, v := range g.order {
		if g.vars[v].write {
			delete(t.forward, v)
			for of, by := range t.forward {
				if by == v {
					delete(t.forward, of)
				}
			}
		}
	}
	defer t.forwards(open, list)
	t.line("{ // %s", g.title(open))
	short := "true" // the stage goes along a list
	if d.list >= 0 {
		short = fmt.Sprintf("v%d.listed", d.list)
	} else {
		short = "false"
	}
	t.line("\tconst bool listed = %s;", short)
	for _, v := range g.order {
		if g.counts(v) {
			t.line("\thb_i64 d%d = 0;", v)
		}
	}
	g.collect(d)
	if d.list >= 0 {
		t.line("\thb_listed(g, v%d, [&](hb_i64 p, bool in) {", d.list)
	} else {
		t.line("\thb_each(g, %d, [&](hb_i64 p, bool in) {", d.n)
	}
	g.declare()
	t.line("\t\tif (in) {")
	g.load()
	for _, ps := range open {
		t.line("\t\t\t{")
		t.b.WriteString(t.point(ps, "\t\t\t\t\t\t", g))
		t.line("\t\t\t}")
	}
	g.store(d)
	t.line("\t\t}")
	g.put(d)
	t.line("\t});")
	g.flushed(d)
	for _, v := range g.order {
		x := g.vars[v]
		if !x.write {
			continue
		}
		if g.counts(v) {
			t.line("\tg.add(HB_PASS_NUMBERS * v%d.at + 1, d%d);", v, v)
			t.stale[v] = true
		}
		if !t.vars[v].listed {
			continue
		}
		switch {
		case x.cleared:
			t.line("\tv%d.unlist(true);", v)
		case d.list == v:
		case d.list < 0:
			t.line("\tv%d.unlist(false);", v)
		default:
			t.line("\tif (!listed) v%d.unlist(false);", v)
			t.stale[v] = true
		}
	}
	t.line("}")
}
