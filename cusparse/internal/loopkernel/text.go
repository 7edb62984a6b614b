package loopkernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
)

// Kind is how the kernel holds a variable.
type Kind uint8

const (
	Matrix  Kind = iota
	Uniform      // a scalar: every thread has it in a register
	Read         // a vector that is only read: its values and a byte for each position
	Written      // a vector that the loop writes: an hb_vec
	Result       // the result of a product, before it enters the destination
)

// Var is a variable of the kernel. The variables of the list are first, then come the results
// of products.
type Var struct {
	Kind    Kind
	Type    device.Type
	N       int
	Full    bool   // it has an entry at every position throughout
	Listed  bool   // it keeps a list
	Marked  bool   // stages enter positions one by one, and need to know which are in the list
	counted bool   // its entries are counted
	Degrees string // the offsets by which edges of the list are counted, "" for none
	Pushes  int    // the matrix that has them
	rest    string // the value at positions without an entry
	Word    int    // its first place in hb_words
	Rows    bool   // of a matrix: its rows are read, beside the rows of the transpose
	Sums    bool   // of a matrix: all terms of its rows are read
	Tiles   bool   // of a matrix: all terms of all its rows are read
	At      int    // its number among the vectors with totals
	Operand pass.Use
}

// Program is the kernel of a list, with what a launch needs.
type Program struct {
	List      *pass.List
	Vars      []Var
	Words     int // of hb_words
	Totals    int // vectors with totals
	Parts     []Part
	Values    []Value
	Limits    []int // the words of the passes of blocks
	Sizes     []int // of vectors, which are the words from WordSizes on
	WordSizes int
	Plan      string // the list by stages
	Text      string // the functions of the operators, and the kernel hb_pass
}

// Part is room for the sums of blocks of a step.
type Part struct{ Word, Size int }

// Value is the place of an argument of a step among the words.
type Value struct {
	Word, Step int
	Second     bool // Y in place of X
}

// The words of a variable: for a vector, where its values, its bytes and its entries come from, and
// where they go. The bytes are written at the end; the loop works with bits.
const (
	WordFormat = iota // 0: no entries; 1: a list; 2: bytes; 3: everywhere; 4: one, in WordValFrom
	WordIdx
	WordHasFrom
	WordValFrom
	WordEntries
	WordVal
	WordHas
	WordBits
	WordMarks
	WordList
	WordParts
	vectorWords
)

// The words of a matrix: its rows, and the rows of its transpose.
const (
	WordRowPtr = iota
	WordRowIdx
	WordRowVal
	WordColPtr
	WordColIdx
	WordColVal
	WordNNZ
	WordPull // parts of long rows
	WordNParts
	WordLong  // entries of a row from which it is in parts
	WordLanes // that take a row
	WordHeads // of rows, among the entries; 0 if rows are pulled one by one
	WordTiles
	WordTileRows
	matrixWords
)

// The first words of all.
const (
	WordLimit = iota // passes of the loop
	WordHost
	WordLog
	WordDecisions
	firstWord
)

// Numbers is HB_PASS_NUMBERS of kernels/pass.cu.
const Numbers = 4

// WordsMost is the number of words that the arguments of a kernel hold.
const WordsMost = 480

// writer is a Program while it is written.
type writer struct {
	*Program
	b       strings.Builder // the body under way
	defs    strings.Builder // functions of the operators
	funcs   map[string]string
	temps   []int // of each step, or −1
	open    []pointStep
	domain  domain
	emptied []int // vectors to empty behind the open stage
	err     error
	notes   strings.Builder   // Program.Plan under way
	deep    int               // blocks around the step under way
	synced  bool              // there is a barrier in the pass under way
	used    map[access]bool   // since the last barrier
	heads   []map[access]bool // what the end of a pass leaves used, of each block, and last of the loop
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

// access is a read or a write of a vector since the last barrier; how tells which thread has which
// position, and is "" if that is not known.
type access struct {
	v     int
	how   string
	write bool
}

// domain is the positions of a stage: the list of a variable, or all n.
type domain struct {
	list int // −1 for all
	n    int
}

func (d domain) how() string {
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

// Compose writes the kernel of a list. The kernel reads the rows of the transpose of a matrix; rows
// reports whether it may read the rows of the matrix, too. The error is a *pass.NotRecordable if
// the kernel has no form for a step.
func Compose(l *pass.List, rows func(u pass.Use) bool) (*Program, error) {
	t := &writer{Program: &Program{List: l}, funcs: map[string]string{},
		pulls: map[int]bool{}, swaps: map[int]bool{}, spares: map[int]int{}, expands: map[int]int{}, second: map[int]int{}}
	for range len(l.Blocks) + 1 {
		t.heads = append(t.heads, map[access]bool{})
	}
	t.classify(rows)
	if t.err != nil {
		return nil, t.err
	}
	t.layout()
	t.write()
	if t.err != nil {
		return nil, t.err
	}
	return t.Program, nil
}

func (t *writer) refuse(s *pass.Step, reason string) {
	if t.err == nil {
		t.err = &pass.NotRecordable{Op: s.Op, Reason: reason}
	}
}

// matrixVar returns the number of the matrix of a use. Each orientation has a number of its own.
func (t *writer) matrixVar(u pass.Use) int {
	for i := range t.Vars {
		if t.Vars[i].Kind == Matrix && t.Vars[i].Operand == u {
			return i
		}
	}
	t.Vars = append(t.Vars, Var{Kind: Matrix, Operand: u, Type: t.List.Vars[u.Var].Type})
	return len(t.Vars) - 1
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
func (t *writer) classify(rows func(u pass.Use) bool) {
	l := t.List
	t.Vars = make([]Var, len(l.Vars))
	for i, v := range l.Vars {
		t.Vars[i] = Var{Kind: Read, Type: v.Type, N: v.Cols, Full: v.Full, Operand: pass.NoUse}
		switch {
		case !v.Vector:
			t.Vars[i].Kind = Matrix
			t.Vars[i].Operand = pass.Use{Var: pass.None}
		case v.Written:
			t.Vars[i].Kind = Written
		}
		if v.Type.Size != 1 && v.Type.Size != 2 && v.Type.Size != 4 && v.Type.Size != 8 && v.Vector {
			t.err = &pass.NotRecordable{Op: "the loop", Reason: "it has elements of " + v.Type.Go}
			return
		}
	}
	t.uniform()
	t.fullness()
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
			exact := s.Ring.Add.Exact || s.Ring.Add.Any
			if !exact {
				t.refuse(s, "the sum of "+s.Ring.Name+" depends on the order")
				return
			}
			t.pulls[i] = rows(s.A)
			m := t.matrixVar(s.A)
			t.Vars[m].Rows = t.Vars[m].Rows || t.pulls[i]
			t.Vars[m].Sums = t.Vars[m].Sums || !s.Ring.Add.Any
			t.Vars[m].Tiles = t.Vars[m].Tiles || t.pulls[i] && tiled(s)
			t.temps[i] = t.target(s, s.Ring.Add)
		case pass.Scatter:
			if !s.Monoid.Exact && !s.Monoid.Any {
				t.refuse(s, "the sum by "+s.Monoid.Name+" depends on the order")
				return
			}
			t.temps[i] = t.target(s, s.Monoid)
		case pass.Gather:
			if s.Dst == s.A.Var { // it is read at other positions than it is written at
				typ := t.Vars[s.Dst].Type
				t.temps[i] = t.temp(s, device.Monoid{Func: device.Func{Out: typ}, Identity: typ.Name + "()"})
			}
		case pass.Reduce:
			if !s.Monoid.Exact && !s.Monoid.Any {
				t.refuse(s, "the sum by "+s.Monoid.Name+" depends on the order")
				return
			}
		case pass.Count:
			t.Vars[s.A.Var].counted = true
		}
	}
	t.conditions()
	t.lists()
	t.expansions()
}

// check refuses what the kernel has no form for.
func (t *writer) check(s *pass.Step) {
	for _, u := range []pass.Use{s.A, s.B} {
		if u.Var == pass.None || s.Kind == pass.Product && u == s.A {
			continue
		}
		if !t.List.Vars[u.Var].Vector {
			t.refuse(s, "it reads a matrix")
		}
	}
	switch {
	case !t.List.Vars[s.Dst].Vector:
		t.refuse(s, "it writes a matrix")
	case s.Mask.Var != pass.None && !t.List.Vars[s.Mask.Var].Vector:
		t.refuse(s, "its mask is a matrix")
	}
	for _, b := range []pass.Bound{s.X, s.Y} {
		if b.Var != pass.None && t.Vars[b.Var].Kind != Uniform {
			t.refuse(s, "its scalar is an operand of a product")
		}
	}
	if (s.Kind == pass.Reduce || s.Kind == pass.Count) && t.Vars[s.Dst].Kind != Uniform {
		t.refuse(s, "its scalar is an operand of a product")
	}
}

// uniform finds the scalars that every thread may keep: vectors of size 1 that meet only such
// vectors, position by position.
func (t *writer) uniform() {
	keep := make([]bool, len(t.Vars))
	for i := range t.Vars {
		keep[i] = t.List.Vars[i].Vector && t.Vars[i].N == 1
	}
	for again := true; again; {
		again = false
		for i := range t.List.Steps {
			s := &t.List.Steps[i]
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
			t.Vars[i].Kind = Uniform
		}
	}
}

// target returns the variable that a product or a scatter adds to by m: the destination, if that is
// full and accumulates by the same operation, which an instruction does in any order, else one for
// results.
func (t *writer) target(s *pass.Step, m device.Monoid) int {
	if d := &t.Vars[s.Dst]; d.Full && d.Kind == Written && d.Type == m.Out && nativeJoin(m) != "" && s.Accum.Text == m.Text &&
		s.Accum.X == m.Out && s.Accum.Y == m.Out && s.Mask.Var == pass.None && !s.Replace && !slices.Contains(uses(s), s.Dst) {
		return s.Dst
	}
	return t.temp(s, m)
}

// direct reports whether a product or a scatter adds to its destination.
func (t *writer) direct(i int) bool { return t.temps[i] == t.List.Steps[i].Dst }

// temp returns the variable that holds the result of a step. Steps with equal results share one.
func (t *writer) temp(s *pass.Step, m device.Monoid) int {
	n := t.Vars[s.Dst].N
	if m.Any {
		m.Identity = "" // the first entry is the result
	}
	for i := len(t.List.Vars); i < len(t.Vars); i++ {
		if v := &t.Vars[i]; v.Kind == Result && v.Type == m.Out && v.N == n && v.rest == m.Identity {
			return i
		}
	}
	t.Vars = append(t.Vars, Var{Kind: Result, Type: m.Out, N: n, rest: m.Identity, Operand: pass.NoUse})
	return len(t.Vars) - 1
}

// fullness finds the vectors that are full throughout.
func (t *writer) fullness() {
	full := func(u pass.Use) bool { return u.Var != pass.None && t.Vars[u.Var].Full }
	for again := true; again; {
		again = false
		for i := range t.List.Steps {
			s := &t.List.Steps[i]
			d := &t.Vars[s.Dst]
			if s.Kind == pass.Swap {
				if a := &t.Vars[s.A.Var]; a.Full != d.Full {
					a.Full, d.Full, again = false, false, true
				}
				continue
			}
			if !d.Full {
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
			if !keeps || d.Kind == Uniform {
				d.Full, again = false, true
			}
		}
	}
}

// couples finds the products with results that take the place of the destination, and the variables
// that exchange their contents. Variables that do have the same parts, and the same value at
// positions without an entry.
func (t *writer) couples() {
	t.group = make([]int, len(t.Vars))
	for i := range t.group {
		t.group[i] = i
	}
	for i := range t.List.Steps {
		if s := &t.List.Steps[i]; s.Kind == pass.Swap {
			t.join(s.Dst, s.A.Var)
		}
	}
	for i := range t.List.Steps {
		s := &t.List.Steps[i]
		if t.temps[i] < 0 || s.Accum.Text != "" || s.Mask.Var != pass.None && !s.Replace || t.Vars[s.Dst].Kind != Written {
			continue
		}
		d, x := &t.Vars[t.root(s.Dst)], &t.Vars[t.root(t.temps[i])]
		// A full vector has no bits, and results have.
		if d.Type == x.Type && (d.rest == "" || d.rest == x.rest) && !t.Vars[s.Dst].Full {
			t.swaps[i] = true
			t.join(s.Dst, t.temps[i])
			if _, ok := t.spares[t.temps[i]]; !ok {
				of := t.Vars[t.temps[i]]
				t.Vars = append(t.Vars, Var{Kind: Result, Type: of.Type, N: of.N, rest: of.rest, Operand: pass.NoUse})
				spare := len(t.Vars) - 1
				t.group = append(t.group, spare)
				t.spares[t.temps[i]] = spare
				t.join(t.temps[i], spare)
			}
		}
	}
}

// root returns the variable that stands for those that v exchanges contents with.
func (t *writer) root(v int) int {
	for t.group[v] != v {
		v = t.group[v]
	}
	return v
}

// join couples two variables.
func (t *writer) join(a, b int) {
	if a, b = t.root(a), t.root(b); a == b {
		return
	}
	t.group[b] = a
	x, y := &t.Vars[a], &t.Vars[b]
	if x.rest == "" {
		x.rest = y.rest
	}
}

// lists chooses the vectors that keep a list: those that a product pushes from or to, and what is
// selected from them.
func (t *writer) lists() {
	t.couples()
	mark := func(v int) bool {
		x := &t.Vars[t.root(v)]
		if k := t.Vars[v].Kind; x.Listed || x.Full || k != Written && k != Result {
			return false
		}
		x.Listed = true
		return true
	}
	for v := range t.Vars {
		if t.Vars[v].counted {
			t.Vars[t.root(v)].counted = true
		}
	}
	for i := range t.List.Steps {
		s := &t.List.Steps[i]
		if s.Kind == pass.Scatter {
			mark(t.temps[i])
		}
		if s.Kind != pass.Product {
			continue
		}
		mark(s.B.Var)
		mark(t.temps[i])
		x := &t.Vars[t.root(s.B.Var)]
		if x.Degrees == "" {
			m := t.matrixVar(s.A)
			x = &t.Vars[t.root(s.B.Var)]
			x.Degrees, x.Pushes = fmt.Sprintf("m%d_cols", m), m
		}
		if t.pulls[i] {
			x.counted = true
		}
	}
	for again := true; again; {
		again = false
		for i := range t.List.Steps {
			s := &t.List.Steps[i]
			if s.Accum.Text != "" || s.Mask.Var != pass.None && !s.Replace || s.Dst == s.A.Var {
				continue
			}
			for _, a := range t.supports(s) {
				if t.Vars[a].Kind == Written && t.Vars[t.root(a)].Listed {
					again = mark(s.Dst) || again
				}
			}
		}
	}
	for i := range t.List.Steps {
		s := &t.List.Steps[i]
		if source := t.source(s); source >= 0 {
			if _, ok := t.second[s.Dst]; !ok {
				of := t.Vars[t.root(s.Dst)]
				of.Kind, of.Operand = Result, pass.NoUse
				t.Vars, t.group = append(t.Vars, of), append(t.group, t.root(s.Dst))
				t.second[s.Dst] = len(t.Vars) - 1
			}
		} else if !t.swaps[i] && s.Kind != pass.Swap {
			t.Vars[t.root(s.Dst)].Marked = true
		}
	}
	for v := range t.Vars {
		if x, of := &t.Vars[v], &t.Vars[t.root(v)]; x != of {
			x.Listed, x.counted, x.Marked, x.Degrees, x.Pushes, x.rest = of.Listed, of.counted, of.Marked, of.Degrees, of.Pushes, of.rest
		}
	}
}

// supports are the operands of a step with the entries of its result among theirs.
func (t *writer) supports(s *pass.Step) []int {
	switch {
	case s.Kind == pass.Select, s.Kind == pass.Apply, s.Kind == pass.Assign:
		return []int{s.A.Var}
	case s.Kind == pass.EWise && s.How == device.Intersection:
		return []int{s.A.Var, s.B.Var}
	}
	return nil
}

// source returns the list that a step takes the entries of its destination from, if that begins
// empty, or −1. It goes along that list, and the destination is exchanged with an empty vector
// before.
func (t *writer) source(s *pass.Step) int {
	if s.Accum.Text != "" || s.Mask.Var != pass.None && !s.Replace || !t.Vars[t.root(s.Dst)].Listed || slices.Contains(uses(s), s.Dst) {
		return -1
	}
	for _, v := range t.supports(s) {
		if t.Vars[t.root(v)].Listed {
			return v
		}
	}
	return -1
}
