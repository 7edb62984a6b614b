package cusparse

import (
	"slices"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// The shape of kernels/scan.cu.
const (
	scanBlock = 256
	scanTile  = 16 * scanBlock
)

// scan returns the n+1 exclusive sums, as 64-bit numbers, of n items of size
// bytes: 1 (hb_u8), 4 (hb_i32) or 8 (hb_i64).
func (f *frame) scan(items *mem, n int64, size int) *mem {
	out := f.alloc(8 * (n + 1))
	if n == 0 {
		f.fill(out, 0, 8)
		return out
	}
	type scanKey struct{ size int }
	p := f.once(scanKey{size}, func() *program {
		item := map[int]string{1: "hb_u8", 4: "hb_i32", 8: "hb_i64"}[size]
		return compose("scan", "counts").define("HB_T", item).define("HB_BLOCK", scanBlock)
	})
	// Up to here one launch of a block beats three of many.
	if n <= 8192 {
		f.blocks(f.kernel(p, "hb_scan_small"), 1, scanBlock, items, n, out)
		return out
	}
	tiles := (n + scanTile - 1) / scanTile
	sums := f.alloc(8 * tiles)
	f.blocks(f.kernel(p, "hb_scan_tiles"), tiles, scanBlock, items, n, sums)
	few := tiles <= scanBlock
	if !few {
		f.blocks(f.kernel(p, "hb_scan_sums"), 1, scanBlock, sums, tiles, out.ptr()+driver.Ptr(8*n))
	}
	f.blocks(f.kernel(p, "hb_scan_write"), tiles, scanBlock, items, n, flagOf(few), sums, out)
	return out
}

// sort sorts n keys of size bytes (4 or 8) by their low bits, stably, and
// returns them with the former place of each: 32-bit unless n is too large.
func (f *frame) sort(keys *mem, n int64, size, bits int) (sorted, num *mem) {
	return f.sortRange(keys, n, size, 0, bits, nil)
}

// sortRange sorts by bits lo to hi only. num is the places so far, or nil.
func (f *frame) sortRange(keys *mem, n int64, size, lo, hi int, num *mem) (*mem, *mem) {
	if n == 0 || f.err != nil {
		return keys, f.alloc(8)
	}
	wide := int64(4)
	if n > 1<<32-1 {
		wide = 8
	}
	word := map[int]string{4: "hb_u32", 8: "hb_u64"}
	type sortKey struct {
		size int
		wide int64
	}
	p := f.once(sortKey{size, wide}, func() *program {
		return compose("sort", "keys").define("HB_KEY", word[size]).define("HB_NUM", word[int(wide)])
	})
	tiles := (n + 2047) / 2048
	counts := f.alloc(4 * 256 * tiles)
	var spareKeys, spareNum *mem
	from := keys
	for shift := lo; shift < hi; shift += 8 {
		f.check()
		toKeys, toNum := spareKeys, spareNum
		if toKeys == nil {
			toKeys, toNum = f.alloc(n*int64(size)), f.alloc(n*wide)
		}
		f.blocks(f.kernel(p, "hb_sort_count"), tiles, 256, from, n, int32(shift), counts, tiles)
		starts := f.scan(counts, 256*tiles, 4)
		first := int32(0)
		if num == nil {
			first = 1
		}
		f.blocks(f.kernel(p, "hb_sort_move"), tiles, 256, from, num, n, int32(shift), starts, tiles, first, toKeys, toNum)
		f.free(starts)
		if from != keys {
			spareKeys, spareNum = from, num
		}
		from, num = toKeys, toNum
	}
	for _, m := range []*mem{counts, spareKeys, spareNum} {
		f.free(m)
	}
	return from, num
}

// free gives a temporary back before the end of the operation.
func (f *frame) free(m *mem) {
	for i := len(f.temps) - 1; i >= 0; i-- {
		if f.temps[i] == m {
			f.temps = append(f.temps[:i], f.temps[i+1:]...)
			m.release()
			return
		}
	}
}

// freeSince gives back the temporaries allocated after there were mark of
// them, but for those named.
func (f *frame) freeSince(mark int, but ...*mem) {
	if f.err != nil {
		return
	}
	kept := f.temps[:mark:mark]
	for _, m := range f.temps[mark:] {
		if slices.Contains(but, m) {
			kept = append(kept, m)
		} else {
			m.release()
		}
	}
	f.temps = kept
}

// sortKeys sorts 64-bit keys of row and column by the bits that can differ.
func (f *frame) sortKeys(keys *mem, n int64, rows, cols int) (sorted, num *mem) {
	sorted, num = f.sortRange(keys, n, 8, 0, bitsFor(cols), nil)
	if rows > 1 {
		sorted, num = f.sortRange(sorted, n, 8, 32, 32+bitsFor(rows), num)
	}
	return sorted, num
}

// runs finds the runs of equal keys among n > 0 sorted ones: where each
// begins (and the end), its key, and how many there are.
func (f *frame) runs(keys *mem, n int64) (starts, runKeys *mem, count int64) {
	p := f.once("segment", func() *program { return compose("segment", "equal keys") })
	flag := f.alloc(n)
	f.each(f.kernel(p, "hb_key_heads"), n, keys, n, flag)
	at := f.scan(flag, n, 1)
	count = f.read(at, n)
	starts, runKeys = f.alloc(8*(count+1)), f.alloc(8*max(count, 1))
	f.each(f.kernel(p, "hb_key_runs"), n, keys, n, flag, at, starts, runKeys)
	f.free(flag)
	f.free(at)
	return starts, runKeys, count
}

// sums adds up values run by run: val[num[t]] for t in each run. exact keeps
// the order, for operators that are no monoid.
func (f *frame) sums(m device.Monoid, exact bool, starts *mem, runs, n int64, num, val *mem) *mem {
	t := m.Out
	out := f.alloc(runs * int64(t.Size))
	word := "hb_u32"
	if n > 1<<32-1 {
		word = "hb_u64"
	}
	type sumsKey struct {
		m     device.Monoid
		word  string
		exact bool
	}
	p := f.once(sumsKey{m, word, exact}, func() *program {
		return compose("sums", m.Name).typ("HB_C", t).define("HB_NUM", word).flag("HB_SPLIT", !exact).monoid(m)
	})
	f.each(f.kernel(p, "hb_sum_runs"), runs, starts, runs, num, val, out)
	if !exact && n > 512 {
		f.blocks(f.kernel(p, "hb_sum_long"), min(runs, int64(f.d.props.Multiprocessors)*8), 256, starts, runs, num, val, out)
	}
	return out
}

// keyed returns the listed matrix of entries with ascending 64-bit keys.
func (f *frame) keyed(m, n int, t device.Type, keys *mem, count int64, val *mem) *store {
	if count == 0 || f.err != nil {
		return f.empty(m, n, t)
	}
	out := f.newStore(m, n, 0, t, count)
	rows := f.alloc(4 * count)
	out.idx = f.alloc(4 * count).share()
	f.each(f.shape(1, "hb_split"), count, keys, count, rows, out.idx)
	out.val = val.share()
	f.offsets(out, rows)
	return out
}

// keptTile is HB_TILE of kernels/compact.cu.
const keptTile = 1024

// compaction is kernels/compact.cu for flags of a byte and values of a size.
func (f *frame) compaction(size int) *program {
	type compactionKey struct{ size int }
	return f.once(compactionKey{size}, func() *program {
		return compose("compact", "entries").lump("HB_V", size).define("HB_IN", "HB_V").define("HB_FLAG", "hb_u8").define("HB_TILE", keptTile)
	})
}

// marks tells which of n entries are kept: a bit of each, and how many before each tile.
type marks struct {
	p        *program
	n, count int64
	bits, at *mem
}

// marked marks the entries of n with a flag that is not 0.
func (f *frame) marked(p *program, flag *mem, n int64) *marks {
	k := &marks{p: p, n: n}
	tiles := (n + keptTile - 1) / keptTile
	if n == 0 || f.err != nil {
		return k
	}
	k.bits = f.alloc(4 * keptTile / 32 * tiles)
	counts, one := f.alloc(4*tiles), f.alloc(16)
	f.blocks(f.kernel(p, "hb_marks"), tiles, 256, n, flag, k.bits, counts, one)
	if k.at = one; tiles > 1 {
		k.at = f.scan(counts, tiles, 4)
	}
	k.count = f.read(k.at, tiles)
	return k
}

// move moves what is kept of columns and values; idx nil: the numbers of the entries.
func (k *marks) move(f *frame, idx, idxOut, val, valOut *mem) {
	f.blocks(f.kernel(k.p, "hb_kept"), (k.n+keptTile-1)/keptTile, 256, k.n, flagOf(4*k.count > k.n), k.bits, k.at, idx, idxOut, val, valOut)
}

// compacted returns the entries of a listed store with their flags set; val may be nil for a
// pattern, and replaces the store's values. If all are set, the result shares the structure.
func (f *frame) compacted(s *store, flag *mem, t device.Type, val *mem) *store {
	n := s.known()
	if n == 0 || f.err != nil {
		return f.empty(s.m, s.n, t)
	}
	k := f.marked(f.compaction(t.Size), flag, n)
	if k.count < n || f.err != nil {
		return f.moved(k, s, t, val)
	}
	out := f.structure(s)
	out.typ, out.val = t, val.share()
	return out
}

// compactedBy is compacted by a program of flags and values of other types.
func (f *frame) compactedBy(p *program, s *store, flag *mem, t device.Type, val *mem) *store {
	if s.known() == 0 || f.err != nil {
		return f.empty(s.m, s.n, t)
	}
	return f.moved(f.marked(p, flag, s.known()), s, t, val)
}

// moved returns the entries of s that are marked, with values from val.
func (f *frame) moved(k *marks, s *store, t device.Type, val *mem) *store {
	out := f.newStore(s.m, s.n, s.format, t, k.count)
	out.nvec = s.nvec
	out.rowids = s.rowids.share()
	out.ptr = f.alloc(8 * int64(s.nvec+1)).share()
	out.idx = f.alloc(4 * max(k.count, 1)).share()
	if val != nil {
		out.val = f.alloc(int64(t.Size) * max(k.count, 1)).share()
	}
	f.each(f.kernel(k.p, "hb_kept_rows"), int64(s.nvec+1), int64(s.nvec+1), s.ptr, k.bits, k.at, out.ptr)
	k.move(f, s.idx, out.idx, val, out.val)
	return out
}
