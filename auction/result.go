package auction

import (
	"math"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// sum adds up costs: integers without rounding, floats with Neumaier's
// compensation.
type sum struct {
	whole           int64
	main, lost, abs float64
}

func (s *sum) float(x float64) {
	t := s.main + x
	if math.Abs(s.main) >= math.Abs(x) {
		s.lost += s.main - t + x
	} else {
		s.lost += x - t + s.main
	}
	s.main = t
	s.abs += math.Abs(x)
}

func (s *sum) value() float64 { return float64(s.whole) + s.main + s.lost }

func add[C cost](s *sum, x C) {
	if C(1)/2 == 0 {
		s.whole += int64(x)
	} else {
		s.float(float64(x))
	}
}

// longOffsets returns the offsets of the longer side as costs to be minimised,
// nil where they make no difference.
func longOffsets[C cost](k *task) []C {
	from := k.p.col
	if k.flip {
		from = k.p.row
	}
	if from == nil || k.m == k.n {
		return nil
	}
	out := make([]C, len(from))
	for j, x := range from {
		if k.o.Maximize {
			x = -x
		}
		out[j] = C(x)
	}
	return out
}

// complete fills in the result from what was assigned and the duals, which
// count in units of 1/scale: what is missed by less than one integer is not
// missed.
func complete[C cost](k *task, s *paths[C], scale int64, res *Result) {
	in := s.in
	var chosen sum
	for i, j := range s.colOf {
		if j >= 0 {
			add(&chosen, in.at(int32(i), j))
			if in.col != nil {
				add(&chosen, in.col[j])
			}
		}
	}
	bound := s.bound(parallel.Threads(k.o.Threads))
	res.Gap = max(0, float64((chosen.whole-bound.whole)/scale)+((chosen.main-bound.main)+(chosen.lost-bound.lost)))
	if C(1)/2 != 0 { // half an ulp for each difference that was added up
		res.Gap += 0x1p-51 * (chosen.abs + bound.abs)
	}
	res.Row, res.Col = s.colOf, s.rowOf
	if k.flip {
		res.Row, res.Col = s.rowOf, s.colOf
	}
	res.Prices = make([]float64, in.n)
	for j, v := range s.v {
		if v != 0 {
			res.Prices[j] = -float64(v) / float64(scale)
		}
	}
	chosen.whole /= scale
	k.value(chosen, in.col != nil, res)
}

// value is the sum of the assigned costs, in the caller's sign, with the
// offsets that are not in it yet.
func (k *task) value(chosen sum, long bool, res *Result) {
	if k.o.Maximize {
		chosen.whole, chosen.main, chosen.lost = -chosen.whole, -chosen.main, -chosen.lost
	}
	row, col := k.p.row, k.p.col
	if long && k.flip {
		row = nil
	} else if long {
		col = nil
	}
	res.Integer = k.integer
	offset := func(list []float64, partner []int32) {
		for i, x := range list {
			switch {
			case partner[i] < 0:
			case res.Integer && exactInteger(x):
				chosen.whole += int64(x)
			default:
				res.Integer = false
				chosen.float(x)
			}
		}
	}
	offset(row, res.Row)
	offset(col, res.Col)
	res.Value = chosen.value()
	if res.Integer {
		res.Sum = chosen.whole
	}
}

// length returns the number of costs listed for row i.
func (in *instance[C]) length(i int32) int64 {
	if in.dense() {
		return int64(in.n)
	}
	return in.ptr[i+1] - in.ptr[i]
}

// at returns the cost of an allowed pair.
func (in *instance[C]) at(i, j int32) C {
	if in.dense() {
		return in.val[int(i)*in.n+int(j)]
	}
	lo, hi := in.ptr[i], in.ptr[i+1]
	if k, ok := slices.BinarySearch(in.idx[lo:hi], j); ok {
		return in.val[lo+int64(k)]
	}
	return in.def
}

// bound returns a lower bound of the value of every assignment, by the duals v,
// whatever they are: with u(i) = min c(i,j) − v(j) it is
//
//	Σ u(i) + the m least of v(j) + col(j)
func (s *paths[C]) bound(threads int) sum {
	in := s.in
	var total sum
	byDual := s.byDual()
	least := make([]C, in.m)
	// The context is not asked: an assignment that was found is not thrown away.
	_ = parallel.Range(nil, threads, in.m, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			least[i] = s.leastOf(int32(i), byDual)
		}
	})
	for _, u := range least {
		add(&total, u)
	}
	full := s.v
	if in.m < in.n {
		full = slices.Clone(s.v)
		for j := range in.col {
			full[j] += in.col[j]
		}
		slices.Sort(full)
		full = full[:in.m]
	}
	for _, v := range full {
		add(&total, v)
	}
	return total
}

// byDual returns the columns of an implicit instance by descending dual.
func (s *paths[C]) byDual() []int32 {
	if !s.in.implicit {
		return nil
	}
	list := make([]int32, s.in.n)
	for j := range list {
		list[j] = int32(j)
	}
	slices.SortStableFunc(list, func(a, b int32) int { return compare(s.v[b], s.v[a]) })
	return list
}

// leastOf returns the least reduced cost of row i.
func (s *paths[C]) leastOf(i int32, byDual []int32) C {
	if s.in.dense() {
		row := s.row(i)
		v := s.v[:len(row)]
		least := row[0] - v[0]
		for j, c := range row {
			least = min(least, c-v[j])
		}
		return least
	}
	idx, val := s.in.idx[s.in.ptr[i]:s.in.ptr[i+1]], s.in.val[s.in.ptr[i]:s.in.ptr[i+1]]
	var least C
	some := false
	for k, j := range idx {
		if h := val[k] - s.v[j]; !some || h < least {
			least, some = h, true
		}
	}
	for _, j := range byDual {
		if k := sort.Search(len(idx), func(k int) bool { return idx[k] >= j }); k < len(idx) && idx[k] == j {
			continue
		}
		if h := s.in.def - s.v[j]; !some || h < least {
			least = h
		}
		break
	}
	return least
}
