package auction

import (
	"math"
	"slices"
)

// Costs of a Monge array, c(i,j) + c(i+1,j+1) ≤ c(i,j+1) + c(i+1,j), such as products of two
// falling and rising lists or convex functions of differences, are least on the diagonal (Hoffman,
// Proc. Symposia in Pure Mathematics 7, 1963). The orders of rows and columns that make one of a
// matrix are found from the differences of two columns and two rows (Burkard, Klinz, Rudolf:
// Perspectives of Monge properties in optimization, Discrete Applied Mathematics 70, 1996).
// Searches need most steps for such costs: rows agree on which columns are cheap.

// mongeRows is the least order for which the orders are sought.
const mongeRows = 64

// mongeSlack is the part of the costs by which rounding may break an inequality.
const mongeSlack = 1e-12

// byMonge assigns a square instance without duals along the diagonal of a Monge array, if its costs
// are one in some orders of rows and columns, or but for a few. It checks its duals on all costs,
// and frees the rows that they do not prove. It returns false, and leaves the instance as it was,
// if the costs do not look so or if it frees many rows. O(n²).
func (s *paths[C]) byMonge(threads int) bool {
	n := s.in.n
	if n < mongeRows {
		return false
	}
	first := s.row(0)
	low, high := int32(0), int32(0)
	for j, c := range first {
		if c < first[low] {
			low = int32(j)
		}
		if c > first[high] {
			high = int32(j)
		}
	}
	rise := func(i, j int32) C { return s.row(i)[j] - s.row(i)[low] }
	byRise := func(a, b int32) int { return compare(rise(b, high), rise(a, high)) }
	some := make([]int32, 8) // rows that show soon that costs have no such orders
	for k := range some {
		some[k] = int32(k * (n - 1) / (len(some) - 1))
	}
	slices.SortFunc(some, byRise)
	byOther := func(a, b int32) int { return compare(rise(b, int32(n/2)), rise(a, int32(n/2))) }
	if !slices.IsSortedFunc(some, byOther) {
		return false
	}
	rows, columns := make([]int32, n), make([]int32, n)
	for k := range rows {
		rows[k], columns[k] = int32(k), int32(k)
	}
	slices.SortStableFunc(rows, byRise)
	top, bottom := s.row(rows[0]), s.row(rows[n-1])
	slices.SortStableFunc(columns, func(a, b int32) int { return compare(top[a]-bottom[a], top[b]-bottom[b]) })
	if !s.mongeDuals(rows, columns) {
		s.reset()
		return false
	}
	for k, i := range rows {
		s.colOf[i], s.rowOf[columns[k]] = columns[k], i
	}
	s.scanned += int64(n) * int64(n)
	s.dissatisfied(threads)
	if 8*len(s.free) > n {
		s.reset()
		return false
	}
	return true
}

// mongeDuals sets the duals of the columns so that along the diagonal of these orders no neighbour
// is better. It returns false where the inequality does not hold there.
func (s *paths[C]) mongeDuals(rows, columns []int32) bool {
	first, zero := s.row(rows[0]), columns[0]
	v := C(0)
	s.v[zero] = 0
	for k := 1; k < len(rows); k++ {
		before, row := s.row(rows[k-1]), s.row(rows[k])
		a, b := columns[k-1], columns[k]
		if exceeds(row[b]-row[a], before[b]-before[a], row[b], before[a]) {
			return false
		}
		least, most := row[b]-row[zero], first[b]-first[zero] // by the first row and column
		if exceeds(least, most, row[b], first[zero]) {
			return false
		}
		v += row[b] - row[a] + (before[b]-before[a]-(row[b]-row[a]))/2
		v = max(min(v, most), least)
		s.v[b] = v
	}
	return true
}

// exceeds reports whether x is above y by more than costs like a and b are rounded.
func exceeds[C cost](x, y, a, b C) bool {
	return x > y && float64(x)-float64(y) > mongeSlack*(math.Abs(float64(a))+math.Abs(float64(b)))
}
