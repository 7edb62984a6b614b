package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// plan is a case: its inputs and its settings.
type plan struct {
	*rand.Rand
	inputs  []input
	special bool // values such as NaN and the largest integer
	alias   bool // inputs are often one matrix
	lists   int  // the form of lists of indices; see runner.list
	set     settings
	notes   []string
}

func (p *plan) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *plan) methodName() string {
	if p.set.method == ops.Auto {
		return "auto"
	}
	return string(p.set.method)
}

// String prints the case so that a reader can rebuild it.
func (p *plan) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "  %s\n", p.set)
	if p.lists < 4 {
		fmt.Fprintf(&s, "  lists are vectors of form %d\n", p.lists)
	}
	for _, n := range p.notes {
		fmt.Fprintf(&s, "  %s\n", n)
	}
	for _, in := range p.inputs {
		fmt.Fprintf(&s, "  %s\n", in)
	}
	return s.String()
}

// input is an Input of any element type.
type input interface {
	cells() int
	drop(c int) (restore func())
	unchanged(r *runner) error
	derived(r *runner) error
	fmt.Stringer
}

// Input is a matrix or vector of a case: its entries and its storage.
type Input[T comparable] struct {
	name   string
	d      Dense[T]
	format matrix.Format
	vector bool
	both   bool // its transpose exists before the call
	roles  []string
}

func (in *Input[T]) cells() int { return len(in.d.Cell) }

// drop removes an entry; the result restores it.
func (in *Input[T]) drop(c int) func() {
	x, f := in.d.Cell[c], in.format
	if len(x) == 0 {
		return nil
	}
	in.d.Cell[c] = nil
	if f == matrix.Full {
		in.format = matrix.Bitmap
	}
	return func() { in.d.Cell[c], in.format = x, f }
}

// String prints dimensions, format, roles and entries.
func (in *Input[T]) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %d×%d %T %v", strings.Join(in.roles, " = "), in.d.Rows.N, in.d.Cols.N, *new(T), in.format)
	if in.vector {
		s.WriteString(" vector")
	}
	if in.both {
		s.WriteString(", with its transpose")
	}
	s.WriteString(" {")
	shown := 0
	in.d.each(func(i, j int, x []T) {
		if len(x) == 0 {
			return
		}
		if shown++; shown <= 60 {
			fmt.Fprintf(&s, " (%d,%d):%v", in.d.Rows.Pos(i), in.d.Cols.Pos(j), x[0])
		}
	})
	if shown > 60 {
		fmt.Fprintf(&s, " … %d entries", shown)
	}
	return s.String() + " }"
}

// runner is one run of a case, with the matrices made from its inputs.
type runner struct {
	b    Backend
	plan *plan
	made map[any]any
	dst  any // the input that is the destination
}

// list returns a list of positions of an axis as it is or, for half of the plans, as the values of
// a vector: at the place of the backend or on the host, full or with gaps.
func (r *runner) list(x ops.Indices, axis Axis, at []int) ops.Indices {
	form := r.plan.lists
	if form >= 4 {
		return x
	}
	step := 1 + form%2
	b := matrix.NewVectorBuilder[int32](step * len(at))
	for k, i := range at {
		b.Add(step*k, int32(axis.Pos(i)))
	}
	v, err := b.Build(nil)
	if err == nil && form < 2 {
		err = v.Move(r.b.Place())
	}
	if err != nil {
		panic(err)
	}
	return ops.ValuesOf(v)
}

// store returns fresh storage of an input.
func (in *Input[T]) store() *sparse.Typed[T] {
	b := matrix.NewBuilder[T](in.d.Rows.N, in.d.Cols.N)
	in.d.each(func(i, j int, x []T) {
		if len(x) > 0 {
			b.Add(in.d.Rows.Pos(i), in.d.Cols.Pos(j), x[0])
		}
	})
	m, err := b.Build(nil)
	if err == nil {
		err = m.SetFormat(in.format)
	}
	if err != nil {
		panic(err)
	}
	return access.Store(m)
}

// matrixOf returns the matrix of an input, one per run. The destination lives at the place of the
// backend.
func matrixOf[T comparable](r *runner, in *Input[T]) *matrix.Matrix[T] {
	if m, ok := r.made[in]; ok {
		return m.(*matrix.Matrix[T])
	}
	m := matrix.New[T](in.d.Rows.N, in.d.Cols.N)
	if r.dst == any(in) {
		m = matrix.New[T](in.d.Rows.N, in.d.Cols.N, matrix.On(r.b.Place()))
	}
	access.SetStore(m, in.store())
	if in.both {
		access.Cols(m.View())
	}
	r.made[in] = m
	return m
}

// vectorOf is matrixOf for vectors.
func vectorOf[T comparable](r *runner, in *Input[T]) *matrix.Vector[T] {
	if v, ok := r.made[in]; ok {
		return v.(*matrix.Vector[T])
	}
	v := matrix.NewVector[T](in.d.Cols.N)
	if r.dst == any(in) {
		v = matrix.NewVector[T](in.d.Cols.N, matrix.On(r.b.Place()))
	}
	access.SetVectorStore(v, in.store())
	r.made[in] = v
	return v
}

// stored returns the storage and the format of an input that has been made, or nil.
func (in *Input[T]) stored(r *runner) *sparse.Typed[T] {
	switch m := r.made[in].(type) {
	case *matrix.Matrix[T]:
		return access.Store(m)
	case *matrix.Vector[T]:
		return access.VectorStore(m)
	}
	return nil
}

// unchanged checks that an operand still equals its input.
func (in *Input[T]) unchanged(r *runner) error {
	st := in.stored(r)
	if st == nil || r.dst == any(in) {
		return nil
	}
	if matrix.Format(st.Format) != in.format && !(in.vector && in.format == matrix.Hypersparse) {
		return fmt.Errorf("operand %s was %v and became %v", in.name, in.format, st.Format)
	}
	if err := compare(st, in.d, true); err != nil {
		return fmt.Errorf("operand %s changed: %w", in.name, err)
	}
	return nil
}

// finish checks the destination and the operands.
func finish[C comparable](r *runner, c *Input[C], want Dense[C], exact bool) error {
	st := c.stored(r)
	if c.vector && st.Format == sparse.Hypersparse {
		return fmt.Errorf("a vector is stored hypersparse")
	}
	if err := compare(st, want, exact); err != nil {
		return err
	}
	for _, in := range r.plan.inputs {
		if err := in.unchanged(r); err != nil {
			return err
		}
	}
	if m, ok := r.made[c].(*matrix.Matrix[C]); ok && r.b.Place() == nil {
		if err := compare(access.Rows(m.T()), want.transpose(), exact); err != nil {
			return fmt.Errorf("the stored transpose of the destination is stale: %w", err)
		}
	}
	if r.b.Place() != nil {
		return nil
	}
	// The destination owns its storage: writing to it in place, as Set does, must not change an
	// operand or its derived forms.
	clear(st.Val)
	clear(st.Present)
	for _, in := range r.plan.inputs {
		if err := in.unchanged(r); err != nil {
			return fmt.Errorf("the destination shares storage: %w", err)
		}
		if err := in.derived(r); err != nil {
			return fmt.Errorf("the destination shares storage with a derived form of an operand: %w", err)
		}
	}
	return nil
}

// derived checks the derived forms of an operand.
func (in *Input[T]) derived(r *runner) error {
	m, ok := r.made[in].(*matrix.Matrix[T])
	if !ok || r.dst == any(in) {
		return nil
	}
	if err := compare(access.Rows(m.View()), in.d, true); err != nil {
		return fmt.Errorf("rows of %s: %w", in.name, err)
	}
	if !access.HasCols(m.View()) {
		return nil
	}
	if err := compare(access.Cols(m.View()), in.d.transpose(), true); err != nil {
		return fmt.Errorf("columns of %s: %w", in.name, err)
	}
	return nil
}

// compare checks storage against want. exact distinguishes −0 from 0.
func compare[T comparable](st *sparse.Typed[T], want Dense[T], exact bool) error {
	if st.NRows != want.Rows.N || st.NCols != want.Cols.N {
		return fmt.Errorf("result is %d×%d, want %d×%d", st.NRows, st.NCols, want.Rows.N, want.Cols.N)
	}
	if err := st.Check(len(st.Val), false); err != nil {
		return fmt.Errorf("storage invariant: %w", err)
	}
	rows := sparse.ToSparse(st)
	var found int64
	for k := range rows.Vecs() {
		for p := rows.Ptr[k]; p < rows.Ptr[k+1]; p++ {
			i, okI := want.Rows.Find(rows.RowID(k))
			j, okJ := want.Cols.Find(int(rows.Idx[p]))
			if !okI || !okJ || len(want.at(i, j)) == 0 {
				return fmt.Errorf("entry (%d, %d) = %v, want none", rows.RowID(k), rows.Idx[p], rows.Val[p])
			}
			if !among(rows.Val[p], want.at(i, j), exact) {
				return fmt.Errorf("entry (%d, %d) = %v, want %v", rows.RowID(k), rows.Idx[p], rows.Val[p], want.at(i, j))
			}
			found++
		}
	}
	if n := want.entries(); n != found {
		var miss error
		want.each(func(i, j int, x []T) {
			if len(x) == 0 || miss != nil {
				return
			}
			lo, hi := rows.Span(want.Rows.Pos(i))
			for _, c := range rows.Idx[lo:hi] {
				if int(c) == want.Cols.Pos(j) {
					return
				}
			}
			miss = fmt.Errorf("no entry at (%d, %d), want %v", want.Rows.Pos(i), want.Cols.Pos(j), x)
		})
		return miss
	}
	return nil
}

func among[T comparable](x T, right []T, exact bool) bool {
	for _, y := range right {
		if x != x && y != y {
			return true
		}
		if x == y && (!exact || negativeZero(x) == negativeZero(y)) {
			return true
		}
	}
	return false
}

func negativeZero(x any) bool {
	switch x := x.(type) {
	case float64:
		return x == 0 && math.Signbit(x)
	case float32:
		return x == 0 && math.Signbit(float64(x))
	}
	return false
}

func stack() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	if len(lines) > 40 {
		lines = lines[:40]
	}
	return strings.Join(lines, "\n")
}
