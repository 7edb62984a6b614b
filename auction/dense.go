package auction

import "context"

// paths is the state of shortest augmenting paths on an instance. v are the column duals; an
// assigned pair (i, j) has the least reduced cost c(i,j) − v(j) of its row. Where columns outnumber
// rows, a column without a row has v(j) equal to −col(j), and the other columns have no more.
type paths[C cost] struct {
	in    *instance[C]
	v     []C
	colOf []int32 // of each row, −1 for none
	rowOf []int32 // of each column
	free  []int32 // rows without a column
	warm  bool    // the duals are given
	// partial says that the instance is a part of another: a row without a path to a
	// free column stays free.
	partial bool
	ctx     context.Context
	report  func(done, total int64)

	steps, searches int64
	scanned         int64 // costs read

	d       []C     // of each column in a search: its distance
	pred    []int32 // and the row before it
	columns []int32 // all columns, settled ones first
}

const none = -1

func newPaths[C cost](in *instance[C], ctx context.Context) *paths[C] {
	s := &paths[C]{in: in, ctx: ctx, v: make([]C, in.n), colOf: make([]int32, in.m), rowOf: make([]int32, in.n)}
	s.reset()
	return s
}

// reset clears the assignment and gives all columns the duals of columns without a row.
func (s *paths[C]) reset() {
	clear(s.v)
	for j, c := range s.in.col {
		s.v[j] = -c
	}
	s.free = s.free[:0]
	for i := range s.colOf {
		s.colOf[i] = none
		s.free = append(s.free, int32(i))
	}
	for j := range s.rowOf {
		s.rowOf[j] = none
	}
}

// denseJV solves a dense instance (Jonker and Volgenant: A shortest augmenting
// path algorithm for dense and sparse linear assignment problems, Computing 38,
// 1987), from given duals if there are any.
func (s *paths[C]) denseJV(threads int) error {
	square := s.in.m == s.in.n
	if square && !s.warm && s.byMonge(threads) {
		return s.finishDense()
	}
	if square && !s.warm {
		s.scanned += 2 * int64(s.in.m) * int64(s.in.n)
		s.free = s.free[:0]
		s.columnReduction()
		s.reductionTransfer()
		if err := s.matchTight(); err != nil {
			return err
		}
	}
	if s.in.m >= coreRows && square && 16*len(s.free) > s.in.m {
		return s.denseByCore(threads)
	}
	return s.finishDense()
}

// finishDense assigns a column to each free row.
func (s *paths[C]) finishDense() error {
	if err := s.bidDense(); err != nil {
		return err
	}
	return s.augmentDense()
}

// bidDense lets free rows take columns, and lowers the duals of these.
func (s *paths[C]) bidDense() error {
	for range 2 {
		if s.in.n < 2 { // there is no second best
			return nil
		}
		if err := s.augmentingRowReduction(8, s.twoBest, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *paths[C]) row(i int32) []C {
	n := s.in.n
	return s.in.val[int(i)*n:][:n:n]
}

// columnReduction sets the dual of each column to its least cost, and assigns the column to the row
// of that cost, from the last column on, if the row has none yet.
func (s *paths[C]) columnReduction() {
	n := s.in.n
	if n == 0 {
		return
	}
	v, at := s.v, make([]int32, n)
	copy(v, s.row(0))
	for i := int32(1); i < int32(n); i++ {
		row := s.row(i)
		v, at := v[:len(row)], at[:len(row)]
		for j, c := range row {
			if c < v[j] {
				v[j], at[j] = c, i
			}
		}
	}
	for j := n - 1; j >= 0; j-- {
		if i := at[j]; s.colOf[i] == none {
			s.colOf[i], s.rowOf[j] = int32(j), i
		} else if s.colOf[i] >= 0 {
			s.colOf[i] = -2 - s.colOf[i] // marks a row with more than one such column
		}
	}
}

// reductionTransfer lowers the dual of a column if its row has no other column at the same reduced
// cost, as far as the row stays content with the column.
func (s *paths[C]) reductionTransfer() {
	for i, j1 := range s.colOf {
		switch {
		case j1 == none:
			s.free = append(s.free, int32(i))
		case j1 < 0:
			s.colOf[i] = -2 - j1
		case s.in.n > 1:
			row := s.row(int32(i))
			v := s.v[:len(row)]
			first := 0
			if j1 == 0 {
				first = 1
			}
			least := row[first] - v[first]
			for j, c := range row {
				if h := c - v[j]; h < least && j != int(j1) {
					least = h
				}
			}
			v[j1] -= least - (row[j1] - v[j1])
		}
	}
}

// augmentingRowReduction lets each free row take its best column and lower the column's dual until
// the second best is as good. A row that loses its column goes next if the dual changed, and in the
// next pass if it was a tie. best returns the two columns of the least reduced costs of a row; rows
// with fewer stay free. lowered, if not nil, is called for each dual that changed. Price wars end
// after 1024 steps and effort steps for each row; the searches resolve them.
func (s *paths[C]) augmentingRowReduction(effort int, best func(i int32) (j1, j2 int32, least, second C), lowered func(j int32)) error {
	turn := s.free
	waiting := make([]int32, 0, len(turn))
	most := effort*len(turn) + 1024
	for k := 0; k < len(turn); most-- {
		if most <= 0 {
			waiting = append(waiting, turn[k:]...)
			break
		}
		if most&255 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		i := turn[k]
		k++
		s.steps++
		s.scanned += s.in.length(i)
		j1, j2, least, second := best(i)
		if j2 == none {
			waiting = append(waiting, i)
			continue
		}
		old, won := s.rowOf[j1], false
		if v := s.v[j1] - (second - least); v < s.v[j1] {
			s.v[j1], won = v, true
			if lowered != nil {
				lowered(j1)
			}
		} else if old != none {
			j1, old = j2, s.rowOf[j2]
		}
		s.colOf[i], s.rowOf[j1] = j1, i
		if old == none {
			continue
		}
		s.colOf[old] = none
		if won {
			k--
			turn[k] = old
		} else {
			waiting = append(waiting, old)
		}
	}
	s.free = waiting
	return nil
}

// twoBest returns the columns of the least reduced costs in row i.
func (s *paths[C]) twoBest(i int32) (j1, j2 int32, least, second C) {
	row := s.row(i)
	v := s.v[:len(row)]
	j1, j2 = 0, 1
	least, second = row[0]-v[0], row[1]-v[1]
	if second < least {
		j1, j2, least, second = 1, 0, second, least
	}
	for j := 2; j < len(row) && j < len(v); j++ {
		if h := row[j] - v[j]; h < second {
			if h < least {
				j1, j2, least, second = int32(j), j1, h, least
			} else {
				j2, second = int32(j), h
			}
		}
	}
	return j1, j2, least, second
}

// augmentDense finds a shortest path of reduced costs from each free row to a
// column without a row, and exchanges the pairs along it.
func (s *paths[C]) augmentDense() error {
	n := s.in.n
	s.d, s.pred, s.columns = make([]C, n), make([]int32, n), make([]int32, n)
	for j := range s.columns {
		s.columns[j] = int32(j)
	}
	for k, i := range s.free {
		if k&15 == 0 {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			s.progress(len(s.free) - k)
		}
		s.searches++
		s.exchange(i, s.searchDense(i))
	}
	s.free = nil
	return nil
}

func (s *paths[C]) progress(left int) {
	if s.report != nil {
		s.report(int64(s.in.m-left), int64(s.in.m))
	}
}

// exchange gives the columns along the path to their rows before, which ends
// at column j and began at row from.
func (s *paths[C]) exchange(from, j int32) {
	for {
		i := s.pred[j]
		s.rowOf[j] = i
		j, s.colOf[i] = s.colOf[i], j
		if i == from {
			return
		}
	}
}

// searchDense runs Dijkstra's algorithm from row i, updates the duals of the
// columns settled, and returns the free column found. columns[:settled] are
// settled, columns[settled:low] are at distance least and next to be settled, and
// columns[low:] are farther.
func (s *paths[C]) searchDense(from int32) int32 {
	row := s.row(from)
	d, v, pred, columns := s.d[:len(row)], s.v[:len(row)], s.pred[:len(row)], s.columns[:len(row)]
	for j, c := range row {
		d[j] = c - v[j]
		pred[j] = from
	}
	s.scanned += int64(len(row))
	settled, low := 0, 0
	var least C
	end := int32(none)
	for end == none {
		if settled == low {
			low, least = s.nearest(low)
			for _, j := range columns[settled:low] {
				if s.rowOf[j] == none {
					end = j
					break
				}
			}
			if end != none {
				break
			}
		}
		j1 := columns[settled]
		settled++
		i := s.rowOf[j1]
		row := s.row(i)
		h := row[j1] - v[j1] - least
		s.scanned += int64(len(columns) - low)
		for k := low; k < len(columns); k++ {
			j := columns[k]
			if uint(j) >= uint(len(row)) { // never true; it saves four bounds checks
				break
			}
			through := row[j] - v[j] - h
			if through >= d[j] {
				continue
			}
			d[j], pred[j] = through, i
			if through > least {
				continue
			}
			if s.rowOf[j] == none {
				end = j
				break
			}
			columns[k], columns[low] = columns[low], j
			low++
		}
	}
	// A column settled at distance d is nearer than the end by least − d.
	for _, j := range columns[:settled] {
		v[j] += d[j] - least
	}
	return end
}

// nearest moves the columns of the least distance among columns[low:] to its
// front, and returns their end.
func (s *paths[C]) nearest(low int) (int, C) {
	columns, d := s.columns, s.d
	least := d[columns[low]]
	end := low + 1
	for k := end; k < len(columns); k++ {
		j := columns[k]
		if h := d[j]; h <= least {
			if h < least {
				end, least = low, h
			}
			columns[k], columns[end] = columns[end], j
			end++
		}
	}
	return end, least
}
