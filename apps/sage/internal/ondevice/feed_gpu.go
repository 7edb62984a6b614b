package ondevice

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// sagePieceBytes bounds a piece of features: copies of this size reach the rate of the bus, and two
// of them are under way.
const sagePieceBytes = 64 << 20

// sageFed is features in host memory; a device receives their rows in pieces, once for each use. A
// piece of full rows has its values; one of entries has offsets, columns and values, each at a
// multiple of 16 bytes.
type sageFed struct {
	x       neural.Input[float32]
	entries *sparse.Typed[float32] // of x.sparse
	threads int
	bounds  []int // rows of the pieces
	bytes   int64 // of the largest piece
}

// Feed returns features that are copied to a device in pieces, nil for features that are or fit
// there, beside the products of the first layer and the result.
func Feed(at device.Runner, features *matrix.View[float32], net *neural.Net[float32], n int, dense bool, memory int64, precision device.Precision, threads int) (*sageFed, error) {
	if access.HasRemote(features, at) {
		return nil, nil
	}
	_, cols := features.Dims()
	bytes := 8*features.NVals() + 8*int64(n+1)
	if dense {
		bytes = 4 * int64(n) * int64(cols)
	}
	room := memory
	if room == 0 {
		s, ok := at.(device.Streamer)
		if !ok {
			return nil, nil
		}
		free, _, err := s.Free()
		if err != nil {
			return nil, err
		}
		widest := 0
		for k := range net.Layers {
			widest = max(widest, net.Layers[k].Width())
		}
		last := net.Layers[len(net.Layers)-1].Width()
		room = max(int64(free)-4*int64(n)*int64(2*widest+last), 0)
		if precision == device.Float16 || precision == device.BFloat16 {
			bytes += bytes / 2 // a copy of half the size
		}
	}
	if bytes <= room {
		return nil, nil
	}
	x, err := sampled.FeaturesOf(features, n)
	if err != nil {
		return nil, err
	}
	f := &sageFed{x: x, threads: threads, bounds: []int{0}}
	if x.Sparse != nil {
		f.entries = x.Sparse
	}
	most := min(sagePieceBytes, room/2)
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && f.size(lo, hi+1) <= most {
			hi++
		}
		f.bounds = append(f.bounds, hi)
		f.bytes = max(f.bytes, f.size(lo, hi))
		lo = hi
	}
	return f, nil
}

// Count returns the number of pieces.
func (f *sageFed) Count() int { return len(f.bounds) - 1 }

// size returns the bytes of rows lo to hi.
func (f *sageFed) size(lo, hi int) int64 {
	if f.entries == nil {
		return 4 * int64(hi-lo) * int64(f.x.Full.Cols)
	}
	_, _, end := f.parts(lo, hi)
	return end
}

// parts returns the places of columns and of values in a piece, and its end.
func (f *sageFed) parts(lo, hi int) (columns, values, end int64) {
	first, _ := f.entries.Span(lo)
	_, last := f.entries.Span(hi - 1)
	even := func(n int64) int64 { return (n + 15) &^ 15 }
	columns = even(8 * int64(hi-lo+1))
	values = columns + even(4*(last-first))
	return columns, values, values + even(4*(last-first))
}

// fill writes piece k.
func (f *sageFed) fill(k int, to []byte) {
	lo, hi := f.bounds[k], f.bounds[k+1]
	if f.entries == nil {
		cols := f.x.Full.Cols
		f.copy(to, raw(f.x.Full.Val[lo*cols:hi*cols]))
		return
	}
	columns, values, _ := f.parts(lo, hi)
	first, _ := f.entries.Span(lo)
	_, last := f.entries.Span(hi - 1)
	ptr := unsafe.Slice((*int64)(unsafe.Pointer(&to[0])), hi-lo+1)
	for v := lo; v < hi; v++ {
		begin, end := f.entries.Span(v)
		ptr[v-lo], ptr[v-lo+1] = begin-first, end-first
	}
	f.copy(to[columns:], raw(f.entries.Idx[first:last]))
	f.copy(to[values:], raw(f.entries.Val[first:last]))
}

// raw returns the bytes of a list.
func raw[T int32 | float32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// copy copies bytes by several threads.
func (f *sageFed) copy(to, from []byte) {
	const grain = 1 << 20
	_ = parallel.Range(nil, f.threads, (len(from)+grain-1)/grain, 1, func(_, lo, hi int) {
		copy(to[lo*grain:], from[lo*grain:min(hi*grain, len(from))])
	})
}

// each queues use for each piece, a panel that begins at row first.
func (f *sageFed) each(d *Device, x Panel, use func(part Panel, first int)) {
	var whole Panel // items with rows that begin at multiples of 16 bytes
	step := d.Padded(x.Cols)
	direct := f.entries != nil || d.ItemSize() == 4 && step == x.Cols
	if !direct {
		most := 0
		for k := range f.Count() {
			most = max(most, f.bounds[k+1]-f.bounds[k])
		}
		whole = d.Alloc(most, step)
	}
	d.S.Feed(f.Count(), f.bytes, f.fill, func(k int, at device.Buffer) {
		lo, rows := f.bounds[k], f.bounds[k+1]-f.bounds[k]
		part := Panel{At: at, Rows: rows, Cols: x.Cols, Step: step, Kind: d.Kind}
		switch {
		case f.entries != nil:
			columns, values, _ := f.parts(lo, lo+rows)
			part.At = device.Buffer{}
			part.Sparse = device.View{Rows: rows, Cols: x.Cols, Ptr: at, Idx: at.At(columns), Val: at.At(values)}
		case !direct:
			part.At = whole.At
			d.S.Each(d.KernelOfAnyWidth("convert"), int64(rows)*int64(step), int64(rows), int32(x.Cols), at, device.Buffer{}, whole.At, int32(step))
		}
		use(part, lo)
	})
	d.Free(whole)
}
