package auction

import "slices"

// Whole numbers of a small range have many equal costs. The least reduced costs of the rows then
// hold an assignment of most rows, which a maximum matching finds in little time.

// tightLeast is the least number of columns of least reduced cost in a row, by a sample, from which
// the matching pays.
const tightLeast = 4

// matchTight assigns as many rows as the columns of least reduced costs allow.
func (s *paths[C]) matchTight() error {
	if len(s.free) == 0 || C(1)/2 != 0 {
		return nil
	}
	var idx []int32
	sample := 0
	for k := range 16 {
		idx = s.tight(int32(k*s.in.m/16), idx[:0])
		sample += len(idx)
	}
	if sample < 16*tightLeast {
		return nil
	}
	idx = idx[:0]
	ptr := make([]int64, s.in.m+1)
	for i := range s.in.m {
		idx = s.tight(int32(i), idx)
		ptr[i+1] = int64(len(idx))
	}
	s.scanned += int64(s.in.m) * int64(s.in.n)
	g := &matching{ptr: ptr, idx: idx, row: s.rowOf, col: s.colOf, level: make([]int32, s.in.m), next: make([]int64, s.in.m)}
	if err := g.maximise(s.ctx); err != nil {
		return err
	}
	s.free = slices.DeleteFunc(s.free, func(i int32) bool { return s.colOf[i] != none })
	return nil
}

// tight appends the columns of the least reduced cost of row i to list.
func (s *paths[C]) tight(i int32, list []int32) []int32 {
	row := s.row(i)
	v := s.v[:len(row)]
	first, least := len(list), row[0]-v[0]
	for j, c := range row {
		h := c - v[j]
		if h > least {
			continue
		}
		if h < least {
			list, least = list[:first], h
		}
		list = append(list, int32(j))
	}
	return list
}
