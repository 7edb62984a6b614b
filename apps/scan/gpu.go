package scan

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/scan.cu
var scanText string

// Constants of kernels/scan.cu.
const (
	scanCounters = 4096
	scanGroup    = 4
	scanChunk    = 1024
	scanLight    = 256
	scanFill     = 0xffff
	scanStates   = 5
)

// scanCodes are how many of the first numbers have a code of their own, and how many codes the
// others share.
type scanCodes struct{ exact, spread uint32 }

// codesOf returns the codes of the numbers of n vertices.
func codesOf(n int) scanCodes {
	if n <= scanFill {
		return scanCodes{scanFill, 1}
	}
	return scanCodes{0xe000, scanFill - 0xe000}
}

// scanTops is the number of vertices with the maximum that are listed on the device.
const scanTops = 1024

func init() { device.Describe("scan", device.AnyType(scanProgram)) }

func scanProgram() device.Program {
	return workflow.GraphProgram("scan", "scan statistics", scanText, map[string]any{
		"HB_SCAN_COUNTERS": scanCounters, "HB_SCAN_GROUP": scanGroup, "HB_SCAN_CHUNK": scanChunk,
		"HB_SCAN_LIGHT": scanLight,
	})
}

// rankedAt is a graph numbered by degree on a device, and the tasks of its edges, kept with the
// matrix.
type rankedAt struct {
	degree, order        device.Buffer
	at, adj, packed      device.Buffer // lower neighbours
	first                device.Buffer // the tasks of an owner
	other, from, eights  device.Buffer // of a task
	units, light         device.Buffer
	exact                uint32
	edges, parts, owners int64
}

func (r *rankedAt) buffers() []*device.Buffer {
	return []*device.Buffer{&r.degree, &r.order, &r.at, &r.adj, &r.packed, &r.first, &r.other, &r.from,
		&r.eights, &r.units, &r.light}
}

// Drop frees the buffers.
func (r *rankedAt) Drop() {
	for _, b := range r.buffers() {
		b.Release()
		*b = device.Buffer{}
	}
}

// newRankedAt numbers the vertices of a graph by degree and assigns its edges to owners.
// One of several parts gets its share of the tasks.
func newRankedAt(s *device.Session, code device.Code, rows device.View, vertices int, codes scanCodes, part, parts int) *rankedAt {
	kernel := func(name string) device.Kernel { return s.Kernel(code, "hb_scan_"+name) }
	n, size := int32(vertices), int64(vertices)
	warps := min((size+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), int64(s.Multiprocessors())*64)
	free := func(list ...device.Buffer) {
		for _, b := range list {
			s.Free(b)
		}
	}
	r := &rankedAt{}
	keys, rank := s.Alloc(4*size), s.Alloc(4*size)
	s.Each(kernel("keys"), size, n, rows.Ptr, keys)
	sorted, order := s.Sort(keys, size, 4, 32)
	s.Each(kernel("rank"), size, n, order, rank)
	r.order, r.degree = order, s.Alloc(4*size)
	out := s.Alloc(4 * size)
	s.Blocks(kernel("lengths"), warps, workflow.GraphBlock, n, rows.Ptr, rows.Idx, order, rank, r.degree, out)
	r.at = s.Scan(out, size, 4)
	r.edges = s.Read(r.at, size)
	m, width := r.edges, int32(bits.Len(uint(vertices-1)))
	pairs := s.Alloc(8 * max(m, 1))
	s.Blocks(kernel("pairs"), warps, workflow.GraphBlock, n, rows.Ptr, rows.Idx, order, rank, r.at, width, pairs)
	free(keys, sorted, rank, out)
	if m > 0 {
		sorted, places := s.Sort(pairs, m, 8, int(2*width))
		free(pairs, places)
		pairs = sorted
	}
	r.exact = codes.exact
	packed := 16 * ((m+7*size)/8 + 1)
	r.adj, r.packed = s.Alloc(4*max(m, 1)), s.Alloc(packed)
	s.Fill(r.packed, 0xff, packed)
	s.Each(kernel("lists"), m, m, pairs, width, r.at, r.exact, codes.spread, r.adj, r.packed)
	s.Free(pairs)
	tasks, work := s.Zeros(8*size), s.Zeros(8*size)
	s.Blocks(kernel("count"), warps, workflow.GraphBlock, n, r.at, r.adj, r.degree, int32(part), int32(parts), tasks, work)
	r.first = s.Scan(tasks, size, 8)
	s.Copy(tasks, r.first, 8*size) // from now on, the next free place
	all := max(s.Read(r.first, size), 1)
	r.other, r.from, r.eights = s.Alloc(4*all), s.Alloc(4*all), s.Alloc(4*all)
	s.Blocks(kernel("fill"), warps, workflow.GraphBlock, n, r.at, r.adj, r.degree, int32(part), int32(parts), tasks,
		r.other, r.from, r.eights)
	r.units, r.light = s.Alloc(16*(size+all/scanChunk)), s.Alloc(4*size)
	sizes := s.Zeros(16)
	s.Each(kernel("split"), size, n, r.first, work, r.units, r.light, sizes)
	r.parts, r.owners = s.Read(sizes, 0), s.Read(sizes, 1)
	free(tasks, work, sizes)
	if s.Err() != nil {
		return &rankedAt{}
	}
	for _, b := range r.buffers() {
		*b = s.Retain(*b)
	}
	return r
}

// cornersAt stores the statistics of n vertices, with their sum and maximum in state. It returns
// nil if the session has failed.
func cornersAt(s *device.Session, g device.Operand, n int, codes scanCodes, part, parts int, statistic, state device.Buffer) *rankedAt {
	code := s.Program("apps: scan", scanProgram)
	kernel := func(name string) device.Kernel { return s.Kernel(code, "hb_scan_"+name) }
	key := "apps: numbered by degree"
	if parts > 1 {
		key = fmt.Sprintf("%s, part %d of %d", key, part, parts)
	}
	kept := s.Kept(g, key, func() device.Dropper {
		return newRankedAt(s, code, s.Rows(g), n, codes, part, parts)
	})
	r, ok := kept.(*rankedAt)
	if !ok || s.Err() != nil {
		return nil
	}
	count := s.Zeros(8 * int64(n))
	grid, block := workflow.ResidentGrid(s, kernel("corners"))
	s.Launch(kernel("corners"), grid, block, 0, int32(n), r.exact, r.at, r.adj, r.packed, r.first, r.other,
		r.from, r.eights, r.units, r.parts, r.light, r.owners, count, state)
	degree := r.degree
	if part > 0 {
		degree = device.Buffer{}
	}
	s.Each(kernel("finish"), int64(n), int32(n), degree, r.order, count, statistic, state)
	return r
}

// scanned are the sum and the maximum of statistics, and the vertices that have it: none if they
// are more than scanTops.
type scanned struct {
	sum, most int64
	list      []int32
}

// scanMost reads the state of n statistics.
func scanMost(s *device.Session, statistic device.Buffer, n int, state device.Buffer) (found scanned) {
	list := s.Alloc(4 * scanTops)
	s.Each(s.Kernel(s.Program("apps: scan", scanProgram), "hb_scan_top"), int64(n), int32(n), statistic, int32(scanTops), list, state)
	var numbers [scanStates]int64
	s.Download(unsafe.Pointer(&numbers), state, 8*scanStates)
	found.sum, found.most = numbers[2], numbers[3]
	if tops := numbers[4]; tops <= scanTops && s.Err() == nil {
		found.list = make([]int32, max(tops, 1))
		s.Download(unsafe.Pointer(&found.list[0]), list, 4*tops)
		found.list = found.list[:tops]
	}
	return found
}

// fusedScan is ScanStatistics of one hop on a device. a is symmetric. One of several parts counts
// the triangles of its share of the tasks, and part 0 adds the degrees.
func fusedScan(at device.Runner, a *matrix.View[bool], n int, o ScanOptions, part, parts int) (*ScanResult, error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	res := &ScanResult{ArgMax: []int{}}
	var found device.Store
	ran := device.Ran{Method: "corners"}
	err = at.Run(workflow.Call(o.Run, "ScanStatistics"), func(s *device.Session) {
		g.Pattern = true
		statistic := s.NewFull(1, n, workflow.LongType)
		if n == 0 {
			found = s.Result(statistic, 0)
			return
		}
		state := s.Zeros(8 * scanStates)
		r := cornersAt(s, g, n, workflow.Tuning(o.Run, codesOf(n)), part, parts, statistic.Val, state)
		if r == nil {
			return
		}
		tops := scanMost(s, statistic.Val, n, state)
		res.Sum, res.Max, res.Edges = tops.sum, tops.most, r.edges
		res.Triangles = (res.Sum - 2*r.edges) / 3
		for _, v := range tops.list {
			res.ArgMax = append(res.ArgMax, int(v))
		}
		ran.Work = 2 * r.edges
		found = s.Result(statistic, int64(n))
	})
	if err != nil {
		return nil, err
	}
	res.Statistic = workflow.Placed[int64](at, n, found)
	if len(res.ArgMax) == 0 && n > 0 && parts == 1 { // too many to list there
		counts, err := res.Statistic.Dense(0)
		if err != nil {
			return nil, err
		}
		for v, x := range counts {
			if x == res.Max {
				res.ArgMax = append(res.ArgMax, v)
			}
		}
	}
	slices.Sort(res.ArgMax)
	workflow.TraceRan(o.Run, at, "ScanStatistics", ran, int64(n))
	return res, nil
}
