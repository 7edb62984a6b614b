package auction

import (
	"fmt"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// cost is the type of costs in the algorithms: 32 bits where no sum of costs can
// overflow them, else 64, and doubles unless all costs are integers.
type cost interface{ int32 | int64 | float64 }

// costs is a matrix of costs, of numbers of any type.
type costs struct {
	view  rep.View
	def   sparse.Values // cost of a pair without an entry, none: such pairs are forbidden
	loops loops
}

// operand is a matrix.Source without its element type.
type operand interface{ Inside() rep.View }

func newCosts(c operand, def sparse.Values) *costs {
	v := c.Inside()
	return &costs{v, def, loopsOf(access.Kind(v))}
}

// reading says how to convert the costs into an instance.
type reading struct {
	flip      bool // columns become rows
	negate    bool
	forbidden bool // leave out infinities
	threads   int
}

// instance is a problem in the form of the algorithms: to be minimised, with at most
// as many rows as columns.
type instance[C cost] struct {
	m, n     int
	ptr      []int64 // nil: dense, all positions of val row by row
	idx      []int32
	val      []C
	shared   bool // val is the caller's
	def      C    // cost of a pair without an entry
	implicit bool
	col      []C // added to each cost of a column, or nil
}

func (in *instance[C]) dense() bool { return in.ptr == nil }

// everywhere reports whether pairs without an entry are allowed too.
func (p *costs) everywhere() bool { return !p.def.None() }

// missing returns the cost of a pair without an entry.
func (p *costs) missing() float64 {
	var x [1]float64
	if p.everywhere() {
		p.loops.float64s.pack(x[:], p.def, nil, false)
	}
	return x[0]
}

func (p *costs) asInt32(how reading) *instance[int32] { return read(p, how, p.loops.int32s) }
func (p *costs) asInt64(how reading) *instance[int64] { return read(p, how, p.loops.int64s) }
func (p *costs) asFloat64(how reading) *instance[float64] {
	return read(p, how, p.loops.float64s)
}

// text prints a value.
func (p *costs) text(x sparse.Values) string {
	return fmt.Sprint(reflect.NewAt(sparse.GoType(p.view.Type()), x.Pointer()).Elem())
}

// scan summarises all costs, and counts infinities on the forbidden side.
func (p *costs) scan(maximize bool, threads int) (summary, error) {
	s := summary{integers: true}
	st := p.view.Stored()
	if err := p.view.Err(); err != nil { // a copy from a device may fail
		return s, err
	}
	all := seen{integers: true, bad: -1}
	if p.everywhere() {
		all = p.loops.summarise(p.def, nil, 0, 1, maximize)
		if all.bad >= 0 || all.forbidden > 0 {
			return s, &CostError{Arg: "the default cost", Row: -1, Col: -1, Got: p.text(p.def), Want: "a finite number of at most 63 bits"}
		}
		all.entries = 0
	}
	const grain = 1 << 15
	n := st.Val.Len()
	parts := make([]seen, max(1, (n+grain-1)/grain))
	err := parallel.Pieces(nil, threads, len(parts), func(_, k int) {
		lo := k * grain
		parts[k] = p.loops.summarise(st.Val, st.Present, lo, min(lo+grain, n), maximize)
	})
	if err != nil {
		return s, err
	}
	for _, part := range parts {
		if all.join(part); all.bad >= 0 {
			break
		}
	}
	s.entries, s.forbidden, s.integers = all.entries, all.forbidden, all.integers
	if bad := all.bad; bad >= 0 {
		i, j := p.at(st, bad)
		return s, &CostError{Arg: "the cost", Row: i, Col: j, Got: p.text(st.ValueAt(bad)), Want: all.want}
	}
	if p.everywhere() && s.forbidden > 0 {
		return s, &CostError{Arg: "an entry", Row: -1, Col: -1, Got: "infinite", Want: "finite costs beside a default; leave forbidden pairs out of a problem without one"}
	}
	s.lo, s.hi = all.lo, all.hi
	return s, nil
}

// seen is a summary of some stored costs.
type seen struct {
	lo, hi             float64 // of the finite ones
	any                bool    // there is a finite one
	integers           bool    // all are integers that int64 holds exactly
	entries, forbidden int64
	bad                int64  // the first that cannot be used, or −1
	want               string // what is expected in its place
}

// join adds the summary of later costs.
func (s *seen) join(t seen) {
	switch {
	case !t.any:
	case !s.any:
		s.lo, s.hi, s.any = t.lo, t.hi, true
	default:
		s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
	}
	s.integers = s.integers && t.integers
	s.entries, s.forbidden, s.bad, s.want = s.entries+t.entries, s.forbidden+t.forbidden, t.bad, t.want
}

// members returns the row, or the column, of each allowed pair.
func (p *costs) members(columns bool) []int32 {
	st := p.view.Stored()
	keep := p.allowed(st, 1)
	columns = columns != p.view.Transposed
	var list []int32
	for k := range st.Vecs() {
		lo, hi := slots(&st.Structure, k)
		for q := lo; q < hi; q++ {
			switch {
			case keep[q] == 0:
			case !columns:
				list = append(list, int32(st.RowID(k)))
			case st.Sparse():
				list = append(list, st.Idx[q])
			default:
				list = append(list, int32(q-lo))
			}
		}
	}
	return list
}

// allowed marks the stored values that are entries and finite.
func (p *costs) allowed(st *sparse.Store, threads int) []uint8 {
	keep := make([]uint8, st.Val.Len())
	_ = parallel.Range(nil, threads, len(keep), 1<<15, func(_, lo, hi int) {
		p.loops.finite(keep, st.Val, st.Present, lo, hi)
	})
	return keep
}

// slots returns the range of the values of stored row k.
func slots(st *sparse.Structure, k int) (lo, hi int64) {
	if st.Sparse() {
		return st.Ptr[k], st.Ptr[k+1]
	}
	return int64(k) * int64(st.NCols), int64(k+1) * int64(st.NCols)
}

// at returns the position, in the problem, of stored value k.
func (p *costs) at(st *sparse.Store, k int64) (i, j int) {
	if st.Sparse() {
		v := 0
		for st.Ptr[v+1] <= k {
			v++
		}
		i, j = st.RowID(v), int(st.Idx[k])
	} else {
		i, j = int(k)/st.NCols, int(k)%st.NCols
	}
	if p.view.Transposed {
		i, j = j, i
	}
	return i, j
}

// read copies the costs into an instance.
func read[C cost](p *costs, how reading, by conversion[C]) *instance[C] {
	st := p.view.Stored()
	if cells, ok := st.Cells(); ok && st.Sparse() && int64(cells) == st.NVals && !how.forbidden {
		// every position is listed, in order
		st = st.With(&sparse.Structure{NRows: st.NRows, NCols: st.NCols, Format: sparse.Full})
	}
	flip := p.view.Transposed != how.flip
	in := &instance[C]{m: st.NRows, n: st.NCols, implicit: p.everywhere()}
	if flip {
		in.m, in.n = in.n, in.m
	}
	if in.implicit {
		var def [1]C
		by.pack(def[:], p.def, nil, how.negate)
		in.def = def[0]
	}
	if st.Format == sparse.Full && !how.forbidden {
		in.implicit = false
		if reflect.TypeFor[C]().Kind() == access.Kind(p.view) && !flip && !how.negate {
			in.val, in.shared = sparse.SliceOf[C](st.Val), true
		} else {
			in.val = readFull(st, flip, how, by)
		}
		return in
	}
	keep := st.Present
	if how.forbidden {
		keep = p.allowed(st, how.threads)
	}
	in.ptr, in.idx, in.val = readRows(st, keep, how, by)
	if flip {
		t := sparse.Of(sparse.Structure{NRows: in.n, NCols: in.m, Format: sparse.CSR,
			Ptr: in.ptr, Idx: in.idx, NVals: int64(len(in.idx))}, in.val)
		t = sparse.ToCSR(sparse.Transpose(t, how.threads))
		in.ptr, in.idx, in.val = t.Ptr, t.Idx, t.Val
	}
	return in
}

// readRows converts the entries, row by row: those that keep marks, all of a listed store if it is
// nil.
func readRows[C cost](st *sparse.Store, keep []uint8, how reading, by conversion[C]) (ptr []int64, idx []int32, val []C) {
	vecs := st.Vecs()
	ptr = make([]int64, st.NRows+1)
	grain := 1 + vecs/(16*parallel.Threads(how.threads))
	_ = parallel.Range(nil, how.threads, vecs, grain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			from, to := slots(&st.Structure, k)
			n := to - from
			if keep != nil {
				n = 0
				for _, b := range keep[from:to] {
					n += int64(b)
				}
			}
			ptr[st.RowID(k)+1] = n
		}
	})
	for i := range st.NRows {
		ptr[i+1] += ptr[i]
	}
	idx, val = make([]int32, ptr[st.NRows]), make([]C, ptr[st.NRows])
	_ = parallel.Range(nil, how.threads, vecs, grain, func(_, lo, hi int) {
		first, _ := slots(&st.Structure, lo)
		_, last := slots(&st.Structure, hi-1)
		at := ptr[st.RowID(lo)]
		kept := keep
		if keep != nil {
			kept = keep[first:last]
		}
		by.pack(val[at:], st.Part(first, last), kept, how.negate)
		if keep == nil { // all are listed
			copy(idx[at:], st.Idx[first:last])
			return
		}
		for k := lo; k < hi; k++ {
			from, to := slots(&st.Structure, k)
			for q := from; q < to; q++ {
				if keep[q] == 0 {
					continue
				}
				idx[at] = int32(q - from)
				if st.Sparse() {
					idx[at] = st.Idx[q]
				}
				at++
			}
		}
	})
	return ptr, idx, val
}

// readFull converts all positions, transposed if flip.
func readFull[C cost](st *sparse.Store, flip bool, how reading, by conversion[C]) []C {
	m, n := st.NRows, st.NCols
	out := make([]C, m*n)
	if !flip {
		_ = parallel.Range(nil, how.threads, len(out), 1<<15, func(_, lo, hi int) {
			by.pack(out[lo:], st.Part(int64(lo), int64(hi)), nil, how.negate)
		})
		return out
	}
	_ = parallel.Range(nil, how.threads, m, tile, func(_, i0, i1 int) {
		by.flip(out, st.Val, m, n, i0, i1, how.negate)
	})
	return out
}
