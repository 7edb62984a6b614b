package cpu

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A decision sets keep for the entries lo … hi−1, which are in row i at the columns ci.
type decision = func(keep []uint8, i int, ci []int32, lo, hi int64)

// sift keeps the entries of a listed s for which decide sets keep to 1. It calls decide for pieces
// of a row. The entries of a pattern get the value True.
func sift(env Env, s *sparse.Store, decide decision) (*sparse.Store, error) {
	if smallRow(&s.Structure) {
		return siftRow(s, decide), nil
	}
	return siftLarge(env, s, decide)
}

func siftLarge(env Env, s *sparse.Store, decide decision) (*sparse.Store, error) {
	threads := parallel.Threads(env.Threads)
	p := pairing{per: 1, pa: s.Ptr, shape: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Format: s.Format, RowIDs: s.RowIDs}}
	p.refine(s.Idx, nil, threads)
	bounds := p.blocks(threads, 4)
	parts := len(bounds) - 1
	idx, val := fresh.Make[int32](s.NVals), s.Type.Make(s.NVals)
	ptr, lens := p.lengths()
	offset, kept := make([]int64, parts), make([]int64, parts)
	for w := range offset {
		offset[w] = p.pa[bounds[w]]
	}
	v := sieve{s: s, p: &p, decide: decide, idx: idx, lens: lens}
	err := parallel.Pieces(env.Ctx, threads, parts, func(_, w int) {
		kept[w] = v.block(bounds[w], bounds[w+1], offset[w], val)
	})
	if err != nil {
		return nil, err
	}
	return assemble(&p, offset, kept, ptr, lens, idx, s.Type, val, threads), nil
}

// A sieve is the state of siftLarge: the columns of the kept entries and the lengths of segments.
type sieve struct {
	s      *sparse.Store
	p      *pairing
	decide decision
	idx    []int32
	lens   []int64
}

// block writes the kept entries of the segments from … to−1 to the places from q on. It returns
// their number.
func (v *sieve) block(from, to int, q int64, val Values) int64 {
	t, in := v.s.Type, v.s.Val
	switch {
	case in.None():
		n := siftSegments[sparse.E1](v, from, to, q, nil, nil, nil)
		t.Fill(t.Slice(val, q, q+n), t.True)
		return n
	case t.Class == sparse.Bytes1:
		return siftSegments(v, from, to, q, sparse.SliceOf[sparse.E1](in), sparse.SliceOf[sparse.E1](val), nil)
	case t.Class == sparse.Bytes2:
		return siftSegments(v, from, to, q, sparse.SliceOf[sparse.E2](in), sparse.SliceOf[sparse.E2](val), nil)
	case t.Class == sparse.Bytes4:
		return siftSegments(v, from, to, q, sparse.SliceOf[sparse.E4](in), sparse.SliceOf[sparse.E4](val), nil)
	case t.Class == sparse.Bytes8:
		return siftSegments(v, from, to, q, sparse.SliceOf[sparse.E8](in), sparse.SliceOf[sparse.E8](val), nil)
	case t.Class == sparse.Bytes16:
		return siftSegments(v, from, to, q, sparse.SliceOf[sparse.E16](in), sparse.SliceOf[sparse.E16](val), nil)
	}
	var at []int32
	return siftSegments[sparse.E1](v, from, to, q, nil, nil, func(keep []uint8, lo, q int64) {
		at = sparse.AppendPresent(at[:0], keep)
		t.Move(t.Slice(val, q, q+int64(len(at))), nil, v.s.Part(lo, lo+int64(len(keep))), at)
	})
}

// siftSegments is sieve.block for the values in, which it writes to val. If there are none, it
// calls move, unless nil, for the kept entries of each piece: keep is for the entries from lo on,
// and they are placed from q on.
func siftSegments[E sparse.Sized](w *sieve, from, to int, q int64, in, val []E, move func(keep []uint8, lo, q int64)) int64 {
	const piece = 1 << 11
	var buf [piece]uint8
	s, p, first := w.s, w.p, q
	for seg := from; seg < to; seg++ {
		start := q
		row := s.RowID(seg / p.per)
		for lo := p.pa[seg]; lo < p.pa[seg+1]; lo += piece {
			hi := min(lo+piece, p.pa[seg+1])
			ci := s.Idx[lo:hi]
			keep := buf[:len(ci)]
			w.decide(keep, row, ci, lo, hi)
			out := w.idx[q:]
			n := 0
			for e, j := range ci {
				out[n] = j
				n += int(keep[e])
			}
			if in != nil {
				vo, v := val[q:], in[lo:hi]
				v = v[:len(keep)]
				n := 0
				for e := range keep {
					vo[n] = v[e]
					n += int(keep[e])
				}
			} else if move != nil {
				move(keep, lo, q)
			}
			q += int64(n)
		}
		w.lens[seg] = q - start
	}
	return q - first
}

// selectByValue keeps the entries of a CSR s by value, independent of position. It evaluates the
// predicate and counts over pieces of the entries that ignore row boundaries, and then writes the
// kept entries to their places. This is faster than sift, which goes by rows: squeeze tests nothing
// in its loop.
func selectByValue(env Env, s *sparse.Store, f chooser) (*sparse.Store, error) {
	const piece = 1 << 14
	total := int(s.Ptr[s.NRows])
	keep := fresh.Make[uint8](int64(total))
	ends := make([]int64, (total+piece-1)/piece+1)
	err := parallel.Range(env.Ctx, env.Threads, total, piece, func(_, lo, hi int) {
		k := keep[lo:hi]
		f.keep(k, nil, 0, nil, 0, int64(lo))
		ends[lo/piece+1] = retain(k, nil)
	})
	if err != nil {
		return nil, err
	}
	for k := range ends[1:] {
		ends[k+1] += ends[k]
	}
	kept := ends[len(ends)-1]
	out := &sparse.Store{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, NVals: kept}, Type: s.Type}
	out.Ptr = zeros[int64](env.Threads, s.NRows+1)
	out.Idx, out.Val = fresh.Make[int32](kept), s.Type.Make(kept)
	return out, parallel.Range(env.Ctx, env.Threads, total, piece, func(_, lo, hi int) {
		writeKept(out, s, keep, lo, hi, ends[lo/piece], ends[lo/piece+1])
	})
}

// writeKept writes the kept entries among lo … hi−1 of s to the places q … end−1 of out, and sets
// the offsets of the rows that end in (lo, hi].
func writeKept(out, s *sparse.Store, keep []uint8, lo, hi int, q, end int64) {
	val, in := out.Part(q, end), s.Val
	switch s.Type.Class {
	case sparse.Bytes1:
		keptRows(out, s, keep, lo, hi, q, end, sparse.SliceOf[sparse.E1](in), sparse.SliceOf[sparse.E1](val))
	case sparse.Bytes2:
		keptRows(out, s, keep, lo, hi, q, end, sparse.SliceOf[sparse.E2](in), sparse.SliceOf[sparse.E2](val))
	case sparse.Bytes4:
		keptRows(out, s, keep, lo, hi, q, end, sparse.SliceOf[sparse.E4](in), sparse.SliceOf[sparse.E4](val))
	case sparse.Bytes8:
		keptRows(out, s, keep, lo, hi, q, end, sparse.SliceOf[sparse.E8](in), sparse.SliceOf[sparse.E8](val))
	case sparse.Bytes16:
		keptRows(out, s, keep, lo, hi, q, end, sparse.SliceOf[sparse.E16](in), sparse.SliceOf[sparse.E16](val))
	default:
		at := sparse.AppendPresent(make([]int32, 0, hi-lo), keep[lo:hi])
		s.Type.Move(val, nil, s.Part(int64(lo), int64(hi)), at)
		keptRows[sparse.E1](out, s, keep, lo, hi, q, end, nil, nil)
	}
}

// keptRows is writeKept for the values in, unless nil, and the place ov of the kept ones.
func keptRows[E sparse.Sized](out, s *sparse.Store, keep []uint8, lo, hi int, q, end int64, in, ov []E) {
	// row contains entry lo.
	row := sort.Search(s.NRows, func(i int) bool { return s.Ptr[i+1] > int64(lo) })
	oi, n := out.Idx[q:end], 0
	last := lo + bytes.LastIndexByte(keep[lo:hi], 1) + 1 // none is kept from here on
	for at := lo; at < hi; {
		to := min(int(s.Ptr[row+1]), hi)
		if k := keep[at:max(at, min(to, last))]; len(k) > 0 && in != nil {
			n = squeeze(oi, ov, n, k, s.Idx[at:], in[at:])
		} else {
			for e, b := range k {
				if b != 0 {
					oi[n] = s.Idx[at+e]
					n++
				}
			}
		}
		for at = to; int(s.Ptr[row+1]) == to; row++ {
			out.Ptr[row+1] = q + int64(n)
			if row+1 == s.NRows {
				return
			}
		}
	}
}

// squeeze appends the kept entries to the n of oi and ov and returns their number. It writes each
// entry and keeps it by counting it, so after the last that is kept there must be none.
func squeeze[E sparse.Sized](oi []int32, ov []E, n int, keep []uint8, ci []int32, v []E) int {
	ov, ci, v = ov[:len(oi)], ci[:len(keep)], v[:len(keep)]
	for e, b := range keep {
		oi[n], ov[n] = ci[e], v[e]
		n += int(b)
	}
	return n
}

// selectDense keeps the entries of a bitmap or full s that satisfy the predicate. A vector that is
// not nearly full becomes a list; any other result is a bitmap.
func selectDense(env Env, s *sparse.Store, f chooser) (*sparse.Store, error) {
	cells, _ := s.Cells()
	t := s.Type
	out := &sparse.Store{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Format: sparse.Bitmap}, Type: t}
	var keep *keepBuffer
	if s.NRows == 1 { // the result is most often a list
		keep = getKeep(cells)
		defer func() {
			if keep != nil {
				keep.release()
			}
		}()
		out.Present = keep.bytes[:cells:cells]
	} else {
		out.Present = fresh.Make[uint8](int64(cells))
	}
	const grain = 1 << 16
	ends := make([]int64, (cells+grain-1)/grain+1)
	err := parallel.Range(env.Ctx, env.Threads, cells, grain, func(_, lo, hi int) {
		for p := lo; p < hi; {
			i, j := p/s.NCols, p%s.NCols
			n := min(s.NCols-j, hi-p)
			f.keep(out.Present[p:p+n], presence(s.Present, p, p+n), i, nil, j, int64(p))
			p += n
		}
		ends[lo/grain+1] = retain(out.Present[lo:hi], presence(s.Present, lo, hi))
	})
	if err != nil {
		return nil, err
	}
	for k := range ends[1:] {
		ends[k+1] += ends[k]
	}
	out.NVals = ends[len(ends)-1]
	if s.NRows != 1 || nearlyFull(out.NVals, int64(cells)) {
		if keep != nil && len(keep.bytes) == cells {
			keep = nil // it belongs to the result
		} else if keep != nil {
			out.Present = slices.Clone(out.Present)
		}
		out.Val = t.Make(int64(cells))
		if s.Val.None() {
			Fill(t, out.Val, t.True, env.Threads)
			return out, nil
		}
		return out, copyAll(env, t, out.Val, s.Val)
	}
	list := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: s.NCols, NVals: out.NVals, Ptr: []int64{0, out.NVals}}, Type: t}
	list.Idx, list.Val = fresh.Make[int32](out.NVals), t.Make(out.NVals)
	return list, parallel.Range(env.Ctx, env.Threads, cells, grain, func(_, lo, hi int) {
		listKept(list, s, out.Present[:hi], lo, ends[lo/grain], ends[lo/grain+1])
	})
}

// listKept writes the entries of the vector s at the positions from lo on where keep is 1 to the
// places q … end−1 of list.
func listKept(list, s *sparse.Store, keep []uint8, lo int, q, end int64) {
	idx, val := list.Idx[q:end], list.Part(q, end)
	t, in := s.Type, s.Val
	if in.None() {
		listPositions[sparse.E1](idx, nil, keep, lo, nil)
		t.Fill(val, t.True)
		return
	}
	switch t.Class {
	case sparse.Bytes1:
		listPositions(idx, sparse.SliceOf[sparse.E1](val), keep, lo, sparse.SliceOf[sparse.E1](in))
	case sparse.Bytes2:
		listPositions(idx, sparse.SliceOf[sparse.E2](val), keep, lo, sparse.SliceOf[sparse.E2](in))
	case sparse.Bytes4:
		listPositions(idx, sparse.SliceOf[sparse.E4](val), keep, lo, sparse.SliceOf[sparse.E4](in))
	case sparse.Bytes8:
		listPositions(idx, sparse.SliceOf[sparse.E8](val), keep, lo, sparse.SliceOf[sparse.E8](in))
	case sparse.Bytes16:
		listPositions(idx, sparse.SliceOf[sparse.E16](val), keep, lo, sparse.SliceOf[sparse.E16](in))
	default:
		listPositions[sparse.E1](idx, nil, keep, lo, nil)
		t.Move(val, nil, in, idx)
	}
}

// listPositions lists the positions from lo on where keep is 1 in idx, and their values, unless in
// is nil, in val.
func listPositions[E sparse.Sized](idx []int32, val []E, keep []uint8, lo int, in []E) {
	q := 0
	put := func(p int) {
		idx[q] = int32(p)
		if in != nil {
			val[q] = in[p]
		}
		q++
	}
	p := lo
	for ; p+8 <= len(keep); p += 8 { // most words are 0 if few entries are kept
		for word := binary.LittleEndian.Uint64(keep[p:]); word != 0; word &= word - 1 {
			put(p + bits.TrailingZeros64(word)/8)
		}
	}
	for ; p < len(keep); p++ {
		if keep[p] != 0 {
			put(p)
		}
	}
}

// keepBuffer holds one byte for each position of a vector. Its initial contents are undefined.
type keepBuffer struct{ bytes []uint8 }

// getKeep returns a buffer for n positions.
func getKeep(n int) *keepBuffer {
	k, ok := poolOf[keepBuffer]().Get().(*keepBuffer)
	if !ok || len(k.bytes) < n {
		k = &keepBuffer{fresh.Make[uint8](int64(n))}
	}
	return k
}

func (k *keepBuffer) release() { poolOf[keepBuffer]().Put(k) }

// selectBand keeps the entries with lo ≤ j−i ≤ hi, or with Off the others: two searches a row. It
// shares the structure of s if it keeps all entries.
func selectBand(env Env, s *sparse.Store, f *chooser) (*sparse.Store, error) {
	vecs := s.Vecs()
	from, off := make([]int64, vecs), f.f.Off
	out := &sparse.Store{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Format: s.Format, RowIDs: s.RowIDs}, Type: s.Type}
	out.Ptr = make([]int64, vecs+1)
	err := parallel.Range(env.Ctx, env.Threads, vecs, 4096, func(_, a, b int) {
		for k := a; k < b; k++ {
			ci := s.Idx[s.Ptr[k]:s.Ptr[k+1]]
			i := int64(s.RowID(k))
			first := search(ci, int(max(0, i+f.lo)))
			n := len(ci) - first
			if end := max(0, i+f.hi+1); n > 0 && end < int64(s.NCols) {
				n = max(0, seek(ci[first:], int32(end)))
			}
			if from[k] = s.Ptr[k] + int64(first); off {
				n = len(ci) - n
			}
			out.Ptr[k+1] = int64(n)
		}
	})
	if err != nil {
		return nil, err
	}
	parallel.Sum(env.Threads, out.Ptr)
	if out.NVals = out.Ptr[vecs]; out.NVals == s.NVals {
		return s.Own().Valued(), nil
	}
	out.Idx, out.Val = fresh.Make[int32](out.NVals), s.Type.Make(out.NVals)
	err = parallel.Range(env.Ctx, env.Threads, vecs, 4096, func(_, a, b int) { copyBand(out, s, from, off, a, b) })
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), err
}

// copyBand copies the entries from from[k] on, or with off the entries before and after these, to
// row k of out, for its stored rows a … b−1.
func copyBand(out, s *sparse.Store, from []int64, off bool, a, b int) {
	put := Copying(s.Type)
	if s.Val.None() {
		s.Type.Fill(out.Part(out.Ptr[a], out.Ptr[b]), s.Type.True)
	}
	for k := a; k < b; k++ {
		copied := func(q, p, n int64) {
			copy(out.Idx[q:q+n], s.Idx[p:p+n])
			if !s.Val.None() {
				put(out.Part(q, q+n), s.Part(p, p+n))
			}
		}
		q, n, p := out.Ptr[k], out.Ptr[k+1]-out.Ptr[k], from[k]
		if off {
			before := p - s.Ptr[k]
			copied(q, s.Ptr[k], before)
			q, n, p = q+before, n-before, s.Ptr[k+1]-(n-before)
		}
		copied(q, p, n)
	}
}

// retain clears the bytes of keep where present, if not nil, is 0. It returns the number of bytes
// that are 1; all others are 0.
func retain(keep, present []uint8) (kept int64) {
	p := 0
	for ; p+8 <= len(keep); p += 8 {
		word := binary.LittleEndian.Uint64(keep[p:])
		if present != nil {
			word &= binary.LittleEndian.Uint64(present[p:])
			binary.LittleEndian.PutUint64(keep[p:], word)
		}
		kept += int64(bits.OnesCount64(word))
	}
	for ; p < len(keep); p++ {
		if present != nil {
			keep[p] &= present[p]
		}
		kept += int64(keep[p])
	}
	return kept
}
