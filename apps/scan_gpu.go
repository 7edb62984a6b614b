package apps

import (
	_ "embed"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/scan.cu
var scanText string

// Constants of kernels/scan.cu.
const (
	scanBits     = 32768
	scanCounters = 4096
	scanLanes    = 4
	scanChunk    = 256
	scanShared   = 4*scanCounters + scanBits/8*(graphBlock/32)
	scanStates   = 4
)

// scanMarks bounds the marks in global memory, in bytes.
const scanMarks = 1 << 30

// scanTops is the number of vertices with the maximum that are listed on the device.
const scanTops = 1024

func scanProgram() device.Program {
	return graphProgram("scan", "scan statistics", scanText, map[string]any{
		"HB_SCAN_BITS": scanBits, "HB_SCAN_COUNTERS": scanCounters, "HB_SCAN_LANES": scanLanes,
		"HB_SCAN_CHUNK": scanChunk,
	})
}

// rankedAt is a graph numbered by degree on a device, kept with the matrix.
type rankedAt struct {
	ptr, out, adj, order device.Buffer
	first, owner         device.Buffer // of units of edges
	entries, units       int64
}

// Drop frees the buffers.
func (r *rankedAt) Drop() {
	for _, b := range []*device.Buffer{&r.ptr, &r.out, &r.adj, &r.order, &r.first, &r.owner} {
		b.Release()
		*b = device.Buffer{}
	}
}

// newRankedAt numbers the vertices of a graph by degree.
func newRankedAt(s *device.Session, code device.Code, rows device.View, n int) *rankedAt {
	kernel := func(name string) device.Kernel { return s.Kernel(code, "hb_scan_"+name) }
	keys, rank := s.Alloc(4*int64(n)), s.Alloc(4*int64(n))
	s.Each(kernel("keys"), int64(n), int32(n), rows.Ptr, keys)
	_, order := s.Sort(keys, int64(n), 4, 32)
	s.Each(kernel("rank"), int64(n), int32(n), order, rank)
	length, out := s.Alloc(4*int64(n)), s.Alloc(4*int64(n))
	warps := min((int64(n)+graphBlock/32-1)/(graphBlock/32), int64(s.Multiprocessors())*64)
	s.Blocks(kernel("lengths"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, order, rank, length, out)
	ptr := s.Scan(length, int64(n), 4)
	entries := s.Read(ptr, int64(n))
	adj := s.Alloc(4 * max(entries, 1))
	s.Blocks(kernel("fill"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, order, rank, ptr, out, adj)
	parts := s.Alloc(4 * int64(n))
	s.Each(kernel("parts"), int64(n), int32(n), ptr, out, parts)
	first := s.Scan(parts, int64(n), 4)
	units := s.Read(first, int64(n))
	owner := s.Alloc(4 * max(units, 1))
	s.Each(kernel("units"), int64(n), int32(n), first, owner)
	if s.Err() != nil {
		return &rankedAt{}
	}
	return &rankedAt{s.Retain(ptr), s.Retain(out), s.Retain(adj), s.Retain(order), s.Retain(first), s.Retain(owner), entries, units}
}

// fusedScan is ScanStatistics of one hop on a device. a is symmetric.
func fusedScan(at device.Runner, a matrix.View[bool], n int, o ScanOptions) (*ScanResult, error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	res := &ScanResult{ArgMax: []int{}}
	var found device.Store
	ran := device.Ran{Method: "corners"}
	err = at.Run(o.call("ScanStatistics"), func(s *device.Session) {
		g.Pattern = true
		statistic := s.NewFull(1, n, longType)
		if n == 0 {
			found = s.Result(statistic, 0)
			return
		}
		code := s.Program("apps: scan", scanProgram)
		kernel := func(name string) device.Kernel { return s.Kernel(code, "hb_scan_"+name) }
		kept := s.Kept(g, "apps: numbered by degree", func() device.Dropper {
			return newRankedAt(s, code, s.Rows(g), n)
		})
		r, ok := kept.(*rankedAt)
		if !ok || s.Err() != nil {
			return
		}
		corners := kernel("corners")
		words := max(0, (int64(n)-scanBits+31)/32)
		blocks := max(1, min(int64(s.Multiprocessors())*4, (r.units+graphBlock/32-1)/(graphBlock/32)))
		if words > 0 {
			blocks = max(1, min(blocks, scanMarks/(4*words*(graphBlock/32))))
		}
		marks := s.Zeros(4 * max(1, words*blocks*(graphBlock/32)))
		count, state := s.Zeros(8*int64(n)), s.Zeros(8*scanStates)
		s.Launch(corners, [3]uint32{uint32(blocks), 1, 1}, [3]uint32{graphBlock, 1, 1}, scanShared,
			int32(n), r.ptr, r.out, r.adj, r.units, r.first, r.owner, marks, words, count, state)
		s.Each(kernel("finish"), int64(n), int32(n), r.ptr, r.order, count, statistic.Val, state)
		list := s.Alloc(4 * scanTops)
		s.Each(kernel("top"), int64(n), int32(n), statistic.Val, int32(scanTops), list, state)
		var numbers [scanStates]int64
		s.Download(unsafe.Pointer(&numbers), state, 8*scanStates)
		res.Sum, res.Max, res.Edges = numbers[1], numbers[2], r.entries/2
		res.Triangles = (res.Sum - r.entries) / 3
		if tops := numbers[3]; tops <= scanTops && s.Err() == nil {
			vertices := make([]int32, max(tops, 1))
			s.Download(unsafe.Pointer(&vertices[0]), list, 4*tops)
			for _, v := range vertices[:tops] {
				res.ArgMax = append(res.ArgMax, int(v))
			}
		}
		ran.Work = r.entries
		found = s.Result(statistic, int64(n))
	})
	if err != nil {
		return nil, err
	}
	res.Statistic = placed[int64](at, n, found)
	if len(res.ArgMax) == 0 && n > 0 { // too many to list there
		for v, x := range res.Statistic.Dense(0) {
			if x == res.Max {
				res.ArgMax = append(res.ArgMax, v)
			}
		}
	}
	slices.Sort(res.ArgMax)
	o.traceRan(at, "ScanStatistics", ran, int64(n))
	return res, nil
}
