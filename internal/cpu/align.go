package cpu

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// pairing aligns two listed matrices of the same shape. Segment s of a is a.Idx[pa[s]:pa[s+1]], and
// likewise for b, if there is one. A segment is a whole row, or one of several column ranges of a
// row if there are too few rows for the threads.
type pairing struct {
	shape  sparse.Structure // dimensions, format and row list of the result
	pa, pb []int64
	per    int // segments per row
}

// pair aligns the rows of a and b.
func pair(a, b *sparse.Structure, threads int) pairing {
	p := pairing{per: 1}
	p.shape = sparse.Structure{NRows: a.NRows, NCols: a.NCols}
	switch {
	case a.Format == sparse.CSR && b.Format == sparse.CSR:
		p.pa, p.pb = a.Ptr, b.Ptr
	case a.Format == sparse.Hypersparse && b.Format == sparse.Hypersparse:
		p.shape.Format = sparse.Hypersparse
		p.mergeRowLists(a, b)
	case a.Format == sparse.CSR:
		p.pa, p.pb = a.Ptr, sparse.CSRShape(b).Ptr
	default:
		p.pa, p.pb = sparse.CSRShape(a).Ptr, b.Ptr
	}
	p.refine(a.Idx, b.Idx, threads)
	return p
}

// mergeRowLists merges the row lists of two hypersparse matrices.
func (p *pairing) mergeRowLists(a, b *sparse.Structure) {
	n := len(a.RowIDs) + len(b.RowIDs)
	ids := make([]int32, 0, n)
	p.pa, p.pb = make([]int64, 1, n+1), make([]int64, 1, n+1)
	i, j := 0, 0
	for i < len(a.RowIDs) || j < len(b.RowIDs) {
		takeA := j == len(b.RowIDs) || i < len(a.RowIDs) && a.RowIDs[i] <= b.RowIDs[j]
		takeB := i == len(a.RowIDs) || j < len(b.RowIDs) && b.RowIDs[j] <= a.RowIDs[i]
		if takeA {
			ids = append(ids, a.RowIDs[i])
			i++
		} else {
			ids = append(ids, b.RowIDs[j])
		}
		if takeB {
			j++
		}
		p.pa, p.pb = append(p.pa, a.Ptr[i]), append(p.pb, b.Ptr[j])
	}
	p.shape.RowIDs = ids
}

// segmentEntries is the number of entries from which rows are split, so that threads share the
// entries of a vector.
const segmentEntries = 1 << 15

// refine splits every row at the same columns of a and b if there are too few rows for the threads.
func (p *pairing) refine(ai, bi []int32, threads int) {
	rows := len(p.pa) - 1
	total := p.pa[rows]
	if p.pb != nil {
		total += p.pb[rows]
	}
	if rows == 0 || rows >= 4*threads || threads == 1 || total < segmentEntries {
		return
	}
	if p.pb == nil { // one matrix
		p.pb = make([]int64, rows+1)
	}
	per := min(4*threads, int(total/(segmentEntries/8)))
	pa, pb := make([]int64, 1, rows*per+1), make([]int64, 1, rows*per+1)
	for r := range rows {
		ra, rb := ai[p.pa[r]:p.pa[r+1]], bi[p.pb[r]:p.pb[r+1]]
		longer := ra
		if len(rb) > len(ra) {
			longer = rb
		}
		for s := 1; s <= per; s++ {
			if s == per || len(longer) == 0 {
				pa, pb = append(pa, p.pa[r+1]), append(pb, p.pb[r+1])
				continue
			}
			c := int(longer[len(longer)*s/per])
			pa = append(pa, p.pa[r]+int64(search(ra, c)))
			pb = append(pb, p.pb[r]+int64(search(rb, c)))
		}
	}
	p.pa, p.pb, p.per = pa, pb, per
}

// blocks cuts the segments into blocks of about equal work. Each block is one task and writes one
// contiguous part of the result. Each of many threads shall have so many.
func (p *pairing) blocks(threads, each int) []int {
	n := len(p.pa) - 1
	work := func(s int) int64 {
		w := p.pa[s] - p.pa[0]
		if p.pb != nil {
			w += p.pb[s] - p.pb[0]
		}
		return w
	}
	if work(n) < segmentEntries/4 {
		threads = 1
	}
	pieces := threads
	if threads > 2 { // more blocks than threads, which may be delayed
		pieces = min(each*threads, int(work(n)/segmentEntries)+1)
	}
	return parallel.CutAt(threads, n, pieces, func(s int) int64 { return work(s) + 2*int64(s) })
}

// lengths returns an array for the offsets of the result's rows, the first of them 0, and the array
// of the lengths of segments, which [assemble] takes. Both are uninitialised. If segments are rows,
// the lengths are the offsets after the first.
func (p *pairing) lengths() (ptr, lens []int64) {
	rows := (len(p.pa) - 1) / p.per
	ptr = fresh.Make[int64](int64(rows) + 1)
	ptr[0] = 0
	if p.per == 1 {
		return ptr, ptr[1:]
	}
	return ptr, fresh.Make[int64](int64(len(p.pa) - 1))
}

// assemble makes a matrix from the blocks' results in idx and val. Block w starts at offset[w] and
// has kept[w] entries. ptr and lens are the arrays of lengths, filled.
func assemble(p *pairing, offset, kept, ptr, lens []int64, idx []int32, t *sparse.Type, val Values, threads int) *sparse.Store {
	out := &sparse.Store{Structure: p.shape, Type: t}
	out.Ptr = ptr
	if p.per != 1 {
		clear(ptr)
		for s, n := range lens {
			ptr[s/p.per+1] += n
		}
	}
	parallel.Sum(threads, out.Ptr)
	out.Idx, out.Val = sparse.Join(t, threads, idx, val, offset, kept)
	out.NVals = int64(len(out.Idx))
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle()
}
