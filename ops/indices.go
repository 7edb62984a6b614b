package ops

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Indices is a list of rows, columns or positions.
type Indices struct {
	list   []int
	short  []int32 // the list, if it is not nil
	all    bool
	span   bool // lo … hi−1
	lo, hi int
	values rep.View // has no matrix for nil
	vector bool     // the list is values
}

// All returns the list of all indices, in ascending order.
func All() Indices { return Indices{all: true} }

// Of returns the list of the given indices.
func Of(list ...int) Indices { return Indices{list: list} }

// Span returns the list lo, lo+1, …, hi−1, which is empty if hi ≤ lo. It is kept as a range and
// takes O(1) memory, except where the operation runs on a device or a group.
func Span(lo, hi int) Indices { return Indices{span: true, lo: lo, hi: hi} }

// ValuesOf returns the list of the values of v, in the order of their positions; positions without
// an entry are left out. The list is read when the operation runs. If v and the destination are on
// devices, Extract, ExtractVector, ExtractRow, Scatter and ScatterVector read it there, and on a
// group of devices ExtractVector, Scatter and ScatterVector. The assignments copy it to the host,
// where they check that no index repeats.
func ValuesOf(v matrix.VectorSource[int32]) Indices {
	out := Indices{vector: true}
	if v != nil {
		out.values = v.Inside()
	}
	return out
}

// indices is a checked list: of the host, or a vector on the device of the operation, which checks
// it. N is its length.
type indices struct {
	cpu.Indices
	values *rep.View
	from   int    // the first of the values that are the list
	arg    string // the name of the list
}

// onlyRow is the rows of a vector.
var onlyRow = indices{Indices: cpu.Indices{N: 1}}

// resolve checks that the indices are less than n. A vector stays where it is if the operation runs
// on a device at a place, or on a group of devices where that reads it there.
func (x Indices) resolve(c *call, arg string, n int, at matrix.Place) (indices, error) {
	out := indices{arg: arg}
	switch {
	case x.all:
		out.N = n
		return out, nil
	case x.span:
		return x.resolveSpan(c, arg, n, at)
	case x.vector:
		v := x.values
		if v.Matrix == nil {
			return out, c.isNil(arg)
		}
		if err := v.Err(); err != nil {
			return out, c.naming(arg, err)
		}
		onDevice := device.Of(at) != nil
		if c.loop != nil && c.loop.Records() && onDevice && v.Place() != nil {
			// A list takes the vector for full, and does not run if it is not.
			_, out.N = v.Dims()
			out.values = &v
			return out, nil
		}
		if onDevice && v.Place() != nil {
			out.N, out.values = int(v.NVals()), &v
			if l := c.local; l.items {
				out.from, out.N = l.shift, l.extent
			}
			return out, v.Err()
		}
		if g, ok := at.(*comm.Group); ok && placeOf(v.Matrix) == at && c.listsOnDevices() && computesOnDevices(g) {
			out.N, out.values = int(v.NVals()), &v
			return out, v.Err()
		}
		if err := v.Fetched(); err != nil {
			return out, err
		}
		out.List = valuesOf(v)
		if p := checked(c, out.List, nil, n); p >= 0 {
			return out, c.outside(arg, p, int64(out.List[p]), n)
		}
	case x.short != nil:
		out.List = x.short
		if p := checked(c, out.List, nil, n); p >= 0 {
			return out, c.outside(arg, p, int64(out.List[p]), n)
		}
	default:
		out.List = fresh.Make[int32](int64(len(x.list)))
		if p := checked(c, x.list, out.List, n); p >= 0 {
			return out, c.outside(arg, p, int64(x.list[p]), n)
		}
	}
	out.N = len(out.List)
	return out, nil
}

// resolveSpan is resolve of a range: a list where the operation runs on a device or a group, unless
// it is all of the n indices.
func (x Indices) resolveSpan(c *call, arg string, n int, at matrix.Place) (indices, error) {
	out := indices{arg: arg}
	switch {
	case x.hi <= x.lo:
		out.List = []int32{}
		return out, nil
	case x.lo < 0 || x.lo >= n:
		return out, c.outside(arg, 0, int64(x.lo), n)
	case x.hi > n:
		return out, c.outside(arg, n-x.lo, int64(n), n)
	}
	out.Lo, out.N = x.lo, x.hi-x.lo
	if at == nil || out.All(n) {
		return out, nil
	}
	err := c.room(arg+" as a list", int64(out.N), 4)
	if err == nil {
		out.Indices = out.Listed()
	}
	return out, err
}

// checked copies a list to out, if that is not nil, and returns the first place with an index that
// is not less than n, or −1.
func checked[I int | int32](c *call, list []I, out []int32, n int) int {
	const grain = 1 << 15
	if len(list) <= grain {
		return checkedPart(list, out, n)
	}
	var first atomic.Int64
	first.Store(int64(len(list)))
	_ = parallel.Range(nil, c.env().Threads, len(list), grain, func(_, lo, hi int) {
		var part []int32
		if out != nil {
			part = out[lo:hi]
		}
		if bad := checkedPart(list[lo:hi], part, n); bad >= 0 {
			parallel.Lower(&first, int64(lo+bad))
		}
	})
	if p := int(first.Load()); p < len(list) {
		return p
	}
	return -1
}

func checkedPart[I int | int32](list []I, out []int32, n int) int {
	if out == nil {
		return slices.IndexFunc(list, func(i I) bool { return uint(i) >= uint(n) })
	}
	out = out[:len(list)]
	for p, i := range list {
		if uint(i) >= uint(n) {
			return p
		}
		out[p] = int32(i)
	}
	return -1
}

func (c *call) outside(arg string, at int, index int64, n int) error {
	return &matrix.IndexError{Op: c.op, Arg: fmt.Sprintf("%s[%d] =", arg, at), Index: index,
		Limit: int64(n)}
}

// valuesOf copies the values of a vector on the host.
func valuesOf(v rep.View) []int32 {
	st := sparse.As[int32](v.Stored())
	if !st.Sparse() && st.Present != nil {
		list := make([]int32, 0, st.NVals)
		for p, b := range st.Present {
			if b != 0 {
				list = append(list, st.Val[p])
			}
		}
		return list
	}
	return append(make([]int32, 0, len(st.Val)), st.Val...)
}

// distinct checks that the indices are less than n and that none repeats. The list is on the host.
// It is a range only if the operation runs there too.
func (x Indices) distinct(c *call, arg string, n int, at matrix.Place) (cpu.Indices, error) {
	if x.all {
		return cpu.Indices{N: n}, nil
	}
	if x.vector {
		at = nil
	}
	out, err := x.resolve(c, arg, n, at)
	list := out.List
	if err != nil || list == nil {
		return out.Indices, err
	}
	if cpu.Rising(list) {
		return out.Indices, nil
	}
	if len(list) >= n/64 && cpu.AllDiffer(list, n, c.threads) {
		return out.Indices, nil
	}
	seen := make(map[int32]int, len(list)) // names the first that repeats
	for p, i := range list {
		if q, ok := seen[i]; ok {
			return out.Indices, &matrix.InvalidError{Op: c.op,
				Reason: fmt.Sprintf("%s lists %d twice, at %d and %d; each position can be assigned once",
					arg, i, q, p)}
		}
		seen[i] = p
	}
	return out.Indices, nil
}
