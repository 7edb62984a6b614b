package cusparse

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

var doubleType, _ = device.TypeOf[float64]()

// plusSecond is the semiring of an iteration of PageRank.
var plusSecond = device.Semiring{
	Name: "plus_second",
	Add: device.Monoid{Identity: "((double)0)", Func: device.Func{
		Name: "plus", Text: "x + y", X: doubleType, Y: doubleType, Out: doubleType, UsesX: true, UsesY: true}},
	Mul: device.Func{Name: "second", Text: "y", X: boolType, Y: doubleType, Out: doubleType, UsesY: true},
}

// ahead returns how many iterations of PageRank are queued before the host
// looks whether they have converged: as many as take longer than looking, and
// are no great loss if they come too late.
func ahead(entries int64) int { return int(min(max((4<<20)/(entries+1), 1), 16)) }

// PageRank iterates on the device; the host learns now and then how far it is.
func (d *Device) PageRank(c device.Call, a device.Operand, w device.Walk) (out device.Ranks, err error) {
	f := d.begin(c)
	defer f.end()
	a.Pattern = true
	edges := f.csr(f.rows(a))
	back := f.csr(f.cols(a))
	if f.err != nil {
		return out, f.err
	}
	n := edges.m
	p := f.once("pagerank", func() *program { return compose("pagerank", "PageRank").typ("HB_T", doubleType) })
	step := f.kernel(p, "hb_pagerank_step")
	grid, block := [3]uint32{f.resident(step), 1, 1}, [3]uint32{threads, 1, 1}
	rank, share := f.vertices(n, sparse.Full, doubleType), f.vertices(n, sparse.Full, doubleType)
	factor, partial := f.alloc(8*max(int64(n), 1)), f.alloc(16*int64(grid[0]))
	sums, state := f.alloc(16), f.zeros(16)
	told, toldPtr := f.results()
	result := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(told))), 2)
	f.launch(f.kernel(p, "hb_pagerank_start"), grid, block, 0, int32(n), edges.ptr, w.Damping, rank.val, share.val, factor, partial, sums, state)
	out.Ran = device.Ran{Method: "pull"}
	var done int
	for batch := ahead(edges.known()); done < w.MaxIterations && n > 0 && f.err == nil; {
		for k := 0; k < batch && done < w.MaxIterations && f.err == nil; k++ {
			temps, made := len(f.temps), len(f.made)
			y, _ := f.pull(plusSecond, false, back, share, nil, &out.Ran)
			if f.err != nil {
				break
			}
			f.launch(step, grid, block, 0, int32(n), w.Damping, w.Tolerance, y.val, y.present, factor, rank.val, partial, sums, state, toldPtr)
			// y is the next share; what it was made with goes.
			f.freeSince(temps)
			for _, s := range f.made[made:] {
				if s != y && !s.keep {
					s.drop()
				}
			}
			share.drop()
			share = f.full(y)
			done++
		}
		f.sync()
		if out.Iterations = int(result[1]); result[0] <= w.Tolerance {
			break
		}
	}
	f.drain()
	if f.err != nil {
		return device.Ranks{}, f.err
	}
	out.Change, out.Ran.Work = result[0], int64(out.Iterations)*edges.known()
	out.Rank = f.result(rank)
	return out, nil
}

// full takes all positions of a dense vector for entries.
func (f *frame) full(s *store) *store {
	s.present.release()
	s.present, s.format = nil, sparse.Full
	s.count.Store(s.cells())
	return s
}
