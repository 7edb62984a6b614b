package auction

import (
	"fmt"
	"math"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// cost is the type of costs in the algorithms: 32 bits where no sum of costs can
// overflow them, else 64, and doubles unless all costs are integers.
type cost interface{ int32 | int64 | float64 }

// source is a matrix of costs of any type.
type source interface {
	dims() (m, n int)
	place() matrix.Place
	everywhere() bool // pairs without an entry are allowed too
	device() device.Runner
	operand(at device.Backend) (device.Operand, error)
	element() reflect.Type
	missing() float64 // cost of a pair without an entry
	// scan summarises all costs, and counts infinities on the forbidden side.
	scan(maximize bool, threads int) (summary, error)
	// members returns the row, or the column, of each allowed pair.
	members(columns bool) []int32
	asInt32(how reading) *instance[int32]
	asInt64(how reading) *instance[int64]
	asFloat64(how reading) *instance[float64]
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

// typed is a matrix of costs of type T.
type typed[T semiring.Number] struct {
	view     matrix.View[T]
	def      T
	implicit bool
}

func (p *typed[T]) dims() (m, n int)    { return p.view.Dims() }
func (p *typed[T]) place() matrix.Place { return p.view.Place() }
func (p *typed[T]) everywhere() bool    { return p.implicit }

func (p *typed[T]) asInt32(how reading) *instance[int32]     { return read[T, int32](p, how) }
func (p *typed[T]) asInt64(how reading) *instance[int64]     { return read[T, int64](p, how) }
func (p *typed[T]) asFloat64(how reading) *instance[float64] { return read[T, float64](p, how) }

func (p *typed[T]) scan(maximize bool, threads int) (summary, error) {
	s := summary{integers: true}
	st := access.Stored(p.view)
	if err := p.view.Err(); err != nil { // a copy from a device may fail
		return s, err
	}
	if p.implicit {
		if bad := unusable(p.def, maximize); bad != "" || math.IsInf(float64(p.def), 0) {
			return s, &CostError{Arg: "the default cost", Row: -1, Col: -1, Got: fmt.Sprint(p.def), Want: "a finite number of at most 63 bits"}
		}
	}
	const grain = 1 << 15
	parts := make([]seen[T], max(1, (len(st.Val)+grain-1)/grain))
	err := parallel.Pieces(nil, threads, len(parts), func(_, k int) {
		lo := k * grain
		parts[k] = summarise(st, lo, min(lo+grain, len(st.Val)), maximize)
	})
	if err != nil {
		return s, err
	}
	all := seen[T]{integers: true, bad: -1}
	if p.implicit {
		all = seen[T]{lo: p.def, hi: p.def, any: true, integers: T(1)/2 == 0 || exactInteger(float64(p.def)), bad: -1}
	}
	for _, part := range parts {
		if all.join(part); all.bad >= 0 {
			break
		}
	}
	s.entries, s.forbidden, s.integers = all.entries, all.forbidden, all.integers
	if bad := all.bad; bad >= 0 {
		i, j := p.at(st, bad)
		return s, &CostError{Arg: "the cost", Row: i, Col: j, Got: fmt.Sprint(st.Val[bad]), Want: unusable(st.Val[bad], maximize)}
	}
	if p.implicit && s.forbidden > 0 {
		return s, &CostError{Arg: "an entry", Row: -1, Col: -1, Got: "infinite", Want: "finite costs beside a default; leave forbidden pairs out of a problem without one"}
	}
	s.lo, s.hi = float64(all.lo), float64(all.hi)
	return s, nil
}

// seen is a summary of some stored costs.
type seen[T semiring.Number] struct {
	lo, hi             T    // of the finite ones
	any                bool // there is a finite one
	integers           bool // all are integers that int64 holds exactly
	entries, forbidden int64
	bad                int64 // the first that cannot be used, or −1
}

// summarise returns the summary of the stored costs lo … hi−1.
func summarise[T semiring.Number](st *sparse.Typed[T], lo, hi int, maximize bool) seen[T] {
	s := seen[T]{integers: true, bad: -1}
	for k, x := range st.Val[lo:hi] {
		if st.Present != nil && st.Present[lo+k] == 0 {
			continue
		}
		s.entries++
		if x >= s.lo && x <= s.hi && s.any && (T(1)/2 == 0 || !s.integers) {
			continue // most of them
		}
		if unusable(x, maximize) != "" {
			s.bad = int64(lo + k)
			return s
		}
		if math.IsInf(float64(x), 0) {
			s.forbidden++
			continue
		}
		if !s.any {
			s.lo, s.hi, s.any = x, x, true
		}
		s.lo, s.hi = min(s.lo, x), max(s.hi, x)
		s.integers = s.integers && (T(1)/2 == 0 || exactInteger(float64(x)))
	}
	return s
}

// join adds the summary of later costs.
func (s *seen[T]) join(t seen[T]) {
	switch {
	case !t.any:
	case !s.any:
		s.lo, s.hi, s.any = t.lo, t.hi, true
	default:
		s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
	}
	s.integers = s.integers && t.integers
	s.entries, s.forbidden, s.bad = s.entries+t.entries, s.forbidden+t.forbidden, t.bad
}

func (p *typed[T]) members(columns bool) []int32 {
	st := access.Stored(p.view)
	var list []int32
	eachEntry(st, func(i, j int, x T) {
		if math.IsInf(float64(x), 0) {
			return
		}
		if columns != p.view.Transposed() {
			i = j
		}
		list = append(list, int32(i))
	})
	return list
}

// unusable says what is expected in place of a cost that cannot be used, or returns "".
func unusable[T semiring.Number](x T, maximize bool) string {
	f := float64(x)
	switch {
	case x != x:
		return "a number"
	case T(1)/2 == 0 && (f > 1<<62 || f < -(1<<62)):
		return "an integer of at most 62 bits"
	case math.IsInf(f, 1) && maximize:
		return "less than +Inf when maximising; −Inf forbids a pair"
	case math.IsInf(f, -1) && !maximize:
		return "more than −Inf when minimising; +Inf forbids a pair"
	}
	return ""
}

// at returns the position, in the problem, of stored value k.
func (p *typed[T]) at(st *sparse.Typed[T], k int64) (i, j int) {
	if st.Sparse() {
		v := 0
		for st.Ptr[v+1] <= k {
			v++
		}
		i, j = st.RowID(v), int(st.Idx[k])
	} else {
		i, j = int(k)/st.NCols, int(k)%st.NCols
	}
	if p.view.Transposed() {
		i, j = j, i
	}
	return i, j
}

// read copies the costs into an instance.
func read[T semiring.Number, C cost](p *typed[T], how reading) *instance[C] {
	st := access.Stored(p.view)
	if cells, ok := st.Cells(); ok && st.Sparse() && int64(cells) == st.NVals && !how.forbidden {
		all := &sparse.Typed[T]{Structure: sparse.Structure{NRows: st.NRows, NCols: st.NCols, Format: sparse.Full}, Val: st.Val}
		st = all // every position is listed, in order
	}
	flip := p.view.Transposed() != how.flip
	in := &instance[C]{m: st.NRows, n: st.NCols, implicit: p.implicit, def: C(p.def)}
	if flip {
		in.m, in.n = in.n, in.m
	}
	if how.negate {
		in.def = -in.def
	}
	if st.Format == sparse.Full && !how.forbidden {
		in.implicit = false
		if val, same := any(st.Val).([]C); same && !flip && !how.negate {
			in.val, in.shared = val, true
		} else {
			in.val = readFull[T, C](st, flip, how.negate, how.threads)
		}
		return in
	}
	in.ptr, in.idx, in.val = readRows[T, C](st, how)
	if flip {
		t := sparse.Transpose(&sparse.Typed[C]{Structure: sparse.Structure{NRows: in.n, NCols: in.m, Format: sparse.CSR,
			Ptr: in.ptr, Idx: in.idx, NVals: int64(len(in.idx))}, Val: in.val}, how.threads)
		t = sparse.ToCSR(t)
		in.ptr, in.idx, in.val = t.Ptr, t.Idx, t.Val
	}
	return in
}

// readRows converts the entries, row by row.
func readRows[T semiring.Number, C cost](st *sparse.Typed[T], how reading) (ptr []int64, idx []int32, val []C) {
	vecs, rowID := st.NRows, func(k int) int { return k }
	if st.Sparse() {
		vecs, rowID = st.Vecs(), st.RowID
	}
	// each calls f for the entries of stored row k.
	each := func(k int, f func(j int32, x T)) {
		lo, hi := int64(k)*int64(st.NCols), int64(k+1)*int64(st.NCols)
		if st.Sparse() {
			lo, hi = st.Ptr[k], st.Ptr[k+1]
		}
		for q := lo; q < hi; q++ {
			j := int32(q - lo)
			if st.Sparse() {
				j = st.Idx[q]
			} else if st.Present != nil && st.Present[q] == 0 {
				continue
			}
			if x := st.Val[q]; !how.forbidden || !math.IsInf(float64(x), 0) {
				f(j, x)
			}
		}
	}
	ptr = make([]int64, st.NRows+1)
	grain := 1 + vecs/(16*parallel.Threads(how.threads))
	_ = parallel.Range(nil, how.threads, vecs, grain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			if st.Sparse() && !how.forbidden {
				ptr[rowID(k)+1] = st.Ptr[k+1] - st.Ptr[k]
				continue
			}
			n := int64(0)
			each(k, func(int32, T) { n++ })
			ptr[rowID(k)+1] = n
		}
	})
	for i := range st.NRows {
		ptr[i+1] += ptr[i]
	}
	idx, val = make([]int32, ptr[st.NRows]), make([]C, ptr[st.NRows])
	_ = parallel.Range(nil, how.threads, vecs, grain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			at := ptr[rowID(k)]
			each(k, func(j int32, x T) {
				c := C(x)
				if how.negate {
					c = -c
				}
				idx[at], val[at] = j, c
				at++
			})
		}
	})
	return ptr, idx, val
}

// eachEntry calls f for the entries of st row by row.
func eachEntry[T any](st *sparse.Typed[T], f func(i, j int, x T)) {
	if st.Sparse() {
		for k := range st.Vecs() {
			i := st.RowID(k)
			for q := st.Ptr[k]; q < st.Ptr[k+1]; q++ {
				f(i, int(st.Idx[q]), st.Val[q])
			}
		}
		return
	}
	for i := range st.NRows {
		row := st.Val[i*st.NCols : (i+1)*st.NCols]
		for j, x := range row {
			if st.Present == nil || st.Present[i*st.NCols+j] != 0 {
				f(i, j, x)
			}
		}
	}
}

// readFull converts all positions, transposed in tiles if flip.
func readFull[T semiring.Number, C cost](st *sparse.Typed[T], flip, negate bool, threads int) []C {
	m, n := st.NRows, st.NCols
	out := make([]C, m*n)
	sign := C(1)
	if negate {
		sign = -1
	}
	if !flip {
		_ = parallel.Range(nil, threads, len(out), 1<<15, func(_, lo, hi int) {
			for k, x := range st.Val[lo:hi] {
				out[lo+k] = sign * C(x)
			}
		})
		return out
	}
	const tile = 32
	_ = parallel.Range(nil, threads, m, tile, func(_, i0, i1 int) {
		for j0 := 0; j0 < n; j0 += tile {
			for i := i0; i < i1; i++ {
				for j := j0; j < min(j0+tile, n); j++ {
					out[j*m+i] = sign * C(st.Val[i*n+j])
				}
			}
		}
	})
	return out
}
