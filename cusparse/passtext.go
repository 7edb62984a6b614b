package cusparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the kernel of a recorded loop; see kernels/pass.cu. Steps become stages: a chain
// of steps that compute position by position is one stage: over all positions, or over the list of
// a vector if the chain changes nothing where the vector has no entry.

// passKind is how the kernel holds a variable.
type passKind uint8

const (
	passMatrix  passKind = iota
	passUniform          // a scalar: every thread has it in a register
	passRead             // a vector that is only read: its values and a byte for each position
	passWritten          // a vector that the loop writes: an hb_vec
	passTemp             // the result of a product, before it enters the destination
)

// passVar is a variable of the kernel. The variables of the list are first, then come the results
// of products.
type passVar struct {
	kind    passKind
	typ     device.Type
	n       int
	full    bool   // it has an entry at every position throughout
	listed  bool   // it keeps a list
	marked  bool   // stages enter positions one by one, and need to know which are in the list
	counted bool   // its entries are counted
	deg     string // the offsets by which edges of the list are counted, "" for none
	pushes  int    // the matrix that has them
	rest    string // the value at positions without an entry
	word    int    // its first place in hb_words
	rows    bool   // of a matrix: its rows are read, beside the rows of the transpose
	sums    bool   // of a matrix: all terms of its rows are read
	at      int    // its number among the vectors with totals
	operand pass.Use
}

// passProgram is a list as text, with what a launch needs.
type passProgram struct {
	list   *pass.List
	vars   []passVar
	words  int // of hb_words
	totals int // vectors with totals
	parts  []passPart
	values []passValue
	limits []int  // the words of the passes of blocks
	plan   string // the list by stages
	p      *program
}

// passPart is room for the sums of blocks of a step.
type passPart struct{ word, size int }

// passValue is the place of an argument of a step among the words.
type passValue struct {
	word, step int
	second     bool // Y in place of X
}

// The words of a variable: for a vector, where its values, its bytes and its entries come from, and
// where they go. The bytes are written at the end; the loop works with bits.
const (
	wordFormat = iota // 0: no entries; 1: a list; 2: bytes; 3: everywhere; 4: one, in wordValFrom
	wordIdx
	wordHasFrom
	wordValFrom
	wordEntries
	wordVal
	wordHas
	wordBits
	wordMarks
	wordList
	wordParts
	vectorWords
)

// The words of a matrix: its rows, and the rows of its transpose.
const (
	wordRowPtr = iota
	wordRowIdx
	wordRowVal
	wordColPtr
	wordColIdx
	wordColVal
	wordNNZ
	wordPull // parts of long rows
	wordNParts
	wordLong  // entries of a row from which it is in parts
	wordLanes // that take a row
	matrixWords
)

// The first words of all.
const (
	wordLimit = iota // passes of the loop
	wordHost
	wordLog
	wordDecisions
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
	emptied []int // vectors to empty behind the open stage
	err     error
	notes   strings.Builder    // passProgram.plan under way
	deep    int                // blocks around the step under way
	synced  bool               // there is a barrier in the pass under way
	used    map[passUse]bool   // since the last barrier
	heads   []map[passUse]bool // what the end of a pass leaves used, of each block, and last of the loop
	// forward has the vectors that got entries since the last barrier, each with the vector that
	// bounds these entries; unset has the scalar that such a vector needs a value of, or None.
	forward, unset map[int]int
	stale          map[int]bool // variables with totals that changed since the last barrier
	swaps          map[int]bool // steps with results that take the place of the destination
	spares         map[int]int  // of the variable of such a result: a second one
	second         map[int]int  // of a vector that steps take from a list: an empty one to exchange it with first
	group          []int        // of a variable: another one that it exchanges contents with, or itself
	pulls          map[int]bool // products that may pull instead of push
	expands        map[int]int  // products with a mask that has their results at once: the step that gives it their values
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

// passHave is what the kernel depends on of a matrix as an operand. The kernel reads the rows of
// the transpose.
type passHave struct {
	rows bool // it may read the rows, too
}

// composePass writes the kernel of a list.
func composePass(l *pass.List, have func(u pass.Use) passHave) (*passProgram, error) {
	t := &passText{passProgram: &passProgram{list: l}, funcs: map[string]string{},
		pulls: map[int]bool{}, swaps: map[int]bool{}, spares: map[int]int{}, expands: map[int]int{}, second: map[int]int{}}
	for range len(l.Blocks) + 1 {
		t.heads = append(t.heads, map[passUse]bool{})
	}
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

// matrixVar returns the number of the matrix of a use. Each orientation has a number of its own.
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
			exact := s.Ring.Add.Exact || s.Ring.Add.Any
			if !exact {
				t.refuse(s, "the sum of "+s.Ring.Name+" depends on the order")
				return
			}
			t.pulls[i] = at.rows
			m := t.matrixVar(s.A)
			t.vars[m].rows = t.vars[m].rows || t.pulls[i]
			t.vars[m].sums = t.vars[m].sums || !s.Ring.Add.Any
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
	t.conditions()
	t.fullness()
	t.lists()
	t.expansions()
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
	if m.Any {
		m.Identity = "" // the first entry is the result
	}
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
			case pass.Gather: // an index out of range is an error
				made = full(s.A) && full(s.B)
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

// couples finds the products with results that take the place of the destination, and the variables
// that exchange their contents. Variables that do have the same parts, and the same value at
// positions without an entry.
func (t *passText) couples() {
	t.group = make([]int, len(t.vars))
	for i := range t.group {
		t.group[i] = i
	}
	for i := range t.list.Steps {
		if s := &t.list.Steps[i]; s.Kind == pass.Swap {
			t.join(s.Dst, s.A.Var)
		}
	}
	for i := range t.list.Steps {
		s := &t.list.Steps[i]
		if t.temps[i] < 0 || s.Accum.Text != "" || s.Mask.Var != pass.None && !s.Replace || t.vars[s.Dst].kind != passWritten {
			continue
		}
		d, x := &t.vars[t.root(s.Dst)], &t.vars[t.root(t.temps[i])]
		// A full vector has no bits, and results have.
		if d.typ == x.typ && (d.rest == "" || d.rest == x.rest) && !t.vars[s.Dst].full {
			t.swaps[i] = true
			t.join(s.Dst, t.temps[i])
			if _, ok := t.spares[t.temps[i]]; !ok {
				of := t.vars[t.temps[i]]
				t.vars = append(t.vars, passVar{kind: passTemp, typ: of.typ, n: of.n, rest: of.rest, operand: pass.NoUse})
				spare := len(t.vars) - 1
				t.group = append(t.group, spare)
				t.spares[t.temps[i]] = spare
				t.join(t.temps[i], spare)
			}
		}
	}
}

// root returns the variable that stands for those that v exchanges contents with.
func (t *passText) root(v int) int {
	for t.group[v] != v {
		v = t.group[v]
	}
	return v
}

// join couples two variables.
func (t *passText) join(a, b int) {
	if a, b = t.root(a), t.root(b); a == b {
		return
	}
	t.group[b] = a
	x, y := &t.vars[a], &t.vars[b]
	if x.rest == "" {
		x.rest = y.rest
	}
}

// lists chooses the vectors that keep a list: those that a product pushes from or to, and what is
// selected from them.
func (t *passText) lists() {
	t.couples()
	mark := func(v int) bool {
		x := &t.vars[t.root(v)]
		if k := t.vars[v].kind; x.listed || x.full || k != passWritten && k != passTemp {
			return false
		}
		x.listed = true
		return true
	}
	for v := range t.vars {
		if t.vars[v].counted {
			t.vars[t.root(v)].counted = true
		}
	}
	for i := range t.list.Steps {
		s := &t.list.Steps[i]
		if s.Kind == pass.Scatter {
			mark(t.temps[i])
		}
		if s.Kind != pass.Product {
			continue
		}
		mark(s.B.Var)
		mark(t.temps[i])
		x := &t.vars[t.root(s.B.Var)]
		if x.deg == "" {
			m := t.matrixVar(s.A)
			x = &t.vars[t.root(s.B.Var)]
			x.deg, x.pushes = fmt.Sprintf("m%d_cols", m), m
		}
		if t.pulls[i] {
			x.counted = true
		}
	}
	for again := true; again; {
		again = false
		for i := range t.list.Steps {
			s := &t.list.Steps[i]
			if s.Accum.Text != "" || s.Mask.Var != pass.None && !s.Replace || s.Dst == s.A.Var {
				continue
			}
			for _, a := range t.supports(s) {
				if t.vars[a].kind == passWritten && t.vars[t.root(a)].listed {
					again = mark(s.Dst) || again
				}
			}
		}
	}
	for i := range t.list.Steps {
		s := &t.list.Steps[i]
		if source := t.source(s); source >= 0 {
			if _, ok := t.second[s.Dst]; !ok {
				of := t.vars[t.root(s.Dst)]
				of.kind, of.operand = passTemp, pass.NoUse
				t.vars, t.group = append(t.vars, of), append(t.group, t.root(s.Dst))
				t.second[s.Dst] = len(t.vars) - 1
			}
		} else if !t.swaps[i] && s.Kind != pass.Swap {
			t.vars[t.root(s.Dst)].marked = true
		}
	}
	for v := range t.vars {
		if x, of := &t.vars[v], &t.vars[t.root(v)]; x != of {
			x.listed, x.counted, x.marked, x.deg, x.pushes, x.rest = of.listed, of.counted, of.marked, of.deg, of.pushes, of.rest
		}
	}
}

// supports are the operands of a step with the entries of its result among theirs.
func (t *passText) supports(s *pass.Step) []int {
	switch {
	case s.Kind == pass.Select, s.Kind == pass.Apply, s.Kind == pass.Assign:
		return []int{s.A.Var}
	case s.Kind == pass.EWise && s.How == device.Intersection:
		return []int{s.A.Var, s.B.Var}
	}
	return nil
}

// source returns the list that a step takes the entries of its destination from, if that begins
// empty, or −1. It goes along that list, and the destination is exchanged with an empty vector before.
func (t *passText) source(s *pass.Step) int {
	if s.Accum.Text != "" || s.Mask.Var != pass.None && !s.Replace || !t.vars[t.root(s.Dst)].listed || slices.Contains(uses(s), s.Dst) {
		return -1
	}
	for _, v := range t.supports(s) {
		if t.vars[t.root(v)].listed {
			return v
		}
	}
	return -1
}
