package scan

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// scanByRanges divides the vertices among the ranks of a group: each counts for every p-th one in
// the order of degrees, which has about equally many of any degree. The counts of all ranks are
// added up, each block of vertices by one rank, which then looks for the maximum; devices do that
// where the group moves their memory. The result is nil if the vertices are not divided.
func scanByRanges(g *matrix.View[bool], n int, o ScanOptions) (*ScanResult, error) {
	if o.Hops == ScanDegree {
		return nil, nil
	}
	d, list, err := workflow.DivideGraph(o.Run, "ScanStatistics", g.Inside(), 0, func(d *workflow.Division) bool {
		return !d.Devices || o.Hops == ScanOneHop
	})
	if d == nil || err != nil {
		return nil, err
	}
	graph := make([]*matrix.View[bool], len(list))
	for k, v := range list {
		graph[k] = matrix.ViewOf[bool](v)
	}
	workflow.Report(o.Run, "scan statistics", 0, int64(n))
	if d.Devices && d.Group.MovesDeviceMemory() && n > 0 {
		if res, err := scanOnDevices(d, graph, n, o); res != nil || err != nil {
			return res, err
		}
	}
	var r *ranked // of all ranks on the host
	err = d.Shared(func(all workflow.Run) error {
		a, err := workflow.UndirectedPattern(graph[0], all, n)
		if err == nil {
			r, err = rankByDegree(&access.Rows(a).Structure, n, all)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p := d.Group.Size()
	size := (n + p - 1) / p // of a block
	counts, edges := make([][]int64, len(graph)), make([]int64, len(graph))
	err = d.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
		counts[k], edges[k], err = rankCounts(d, k, c.Rank(), graph[k], n, r, run, o)
		counts[k] = append(counts[k], make([]int64, p*size-n)...)
		return err
	})
	if err != nil {
		return nil, err
	}
	own := make([][]int64, len(graph))
	err = d.Each(func(k int, c comm.Comm) error {
		own[k] = make([]int64, size)
		return c.Reduce(d.Wait, comm.Host(own[k]), comm.Host(counts[k]), comm.Sum, true)
	})
	if err != nil {
		return nil, err
	}
	cuts := make([]int64, p+1)
	for k := range cuts {
		cuts[k] = int64(min(n, k*size))
	}
	imbalance := 0.0
	if r != nil {
		imbalance = r.imbalance(p)
	}
	res, err := scanOfBlocks(d, own, cuts, edges[0], o)
	if err != nil {
		return nil, err
	}
	d.Done("scan statistics", int64(n), 2*res.Edges, int64(n), imbalance)
	return res, nil
}

// rankCounts returns the statistics that local rank k counts, on its device or on the host by r,
// and the number of edges.
func rankCounts(d *workflow.Division, k, rank int, g *matrix.View[bool], n int, r *ranked, run workflow.Run, o ScanOptions) (counts []int64, edges int64, err error) {
	if at := device.Of(d.PlaceOf(k)); at != nil {
		var res *ScanResult
		if res, err = scanPart(at, g, n, run, rank, d.Group.Size()); err != nil {
			return nil, 0, err
		}
		if counts, err = res.Statistic.Dense(0); err != nil {
			return nil, 0, err
		}
		edges = res.Edges
	} else {
		count := r.corners
		if o.Hops == ScanTwoHops {
			count = r.twoHops
		}
		counts, err = count(run, rank, d.Group.Size())
		edges = r.ptr[n] / 2
	}
	return counts, edges, err
}

// scanPart counts for a part of the vertices on a device.
func scanPart(at device.Runner, g *matrix.View[bool], n int, run workflow.Run, part, parts int) (*ScanResult, error) {
	a, err := workflow.UndirectedPattern(g, run, n)
	if err != nil {
		return nil, err
	}
	return fusedScan(at, a, n, ScanOptions{Run: run}, part, parts)
}

// scanOnDevices counts on the devices of a group. The devices exchange the counts, 8 bytes a
// vertex, and keep the statistics of their blocks. The result is nil if they cannot add.
func scanOnDevices(d *workflow.Division, graph []*matrix.View[bool], n int, o ScanOptions) (*ScanResult, error) {
	p := d.Group.Size()
	size := (n + p - 1) / p // of a block
	counts := make([]device.Buffer, len(graph))
	defer func() {
		for _, b := range counts {
			b.Release()
		}
	}()
	edges := make([]int64, len(graph))
	err := d.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		at := device.Of(d.PlaceOf(k))
		a, err := workflow.UndirectedPattern(graph[k], run, n)
		if err != nil {
			return err
		}
		g, err := access.Operand(a, at)
		if err != nil {
			return err
		}
		g.Pattern = true
		return at.Run(workflow.Call(run, d.Op), func(s *device.Session) {
			whole := s.Zeros(8 * int64(p*size))
			if r := cornersAt(s, g, n, workflow.Tuning(run, codesOf(n)), c.Rank(), p, whole, s.Zeros(8*scanStates)); r != nil {
				counts[k], edges[k] = s.Retain(whole), r.edges
			}
		})
	})
	if err != nil {
		return nil, err
	}
	able, err := workflow.ReduceBlocks(d, comm.Int64, size, comm.Sum, func(k int) device.Buffer { return counts[k] })
	if !able || err != nil {
		return nil, err
	}
	cuts := make([]int, p+1)
	for r := range cuts {
		cuts[r] = min(n, r*size)
	}
	homes, facts, lists := make([]device.Store, len(graph)), make([][]int64, len(graph)), make([][]int32, len(graph))
	err = d.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		return device.Of(d.PlaceOf(k)).Run(workflow.Call(run, d.Op), func(s *device.Session) {
			first, items := cuts[c.Rank()], cuts[c.Rank()+1]-cuts[c.Rank()]
			own, state := s.NewFull(1, items, workflow.LongType), s.Zeros(8*scanStates)
			s.Copy(own.Val, counts[k].At(8*int64(c.Rank()*size)), 8*int64(items))
			s.Each(s.Kernel(s.Program("apps: scan", scanProgram), "hb_scan_block"), int64(items), int64(items), own.Val, state)
			found := scanMost(s, own.Val, items, state)
			facts[k], lists[k] = []int64{found.sum, found.most}, found.list
			if found.list == nil && s.Err() == nil {
				all := make([]int64, items)
				s.Download(unsafe.Pointer(unsafe.SliceData(all)), own.Val, 8*int64(items))
				lists[k] = positionsOf(all, found.most)
			}
			for i := range lists[k] {
				lists[k][i] += int32(first)
			}
			homes[k] = s.Result(own, int64(items))
		})
	})
	if err != nil {
		return nil, err
	}
	res, err := scanOfFacts(d, facts, edges[0], o, func(k int, most int64) []int32 {
		if facts[k][1] != most {
			return nil
		}
		slices.Sort(lists[k])
		return lists[k]
	})
	if err != nil {
		return nil, err
	}
	res.Statistic = matrix.NewVector[int64](n, matrix.On(d.Group))
	access.SetVectorBlocks(res.Statistic, d.Group, cuts, homes)
	d.Done("scan statistics", int64(n), 2*res.Edges, int64(n), 0)
	return res, nil
}

// positionsOf returns where x is.
func positionsOf(list []int64, x int64) (at []int32) {
	for i, y := range list {
		if y == x {
			at = append(at, int32(i))
		}
	}
	return at
}

// imbalance is the largest share of the edges of every p-th vertex, times p.
func (r *ranked) imbalance(p int) float64 {
	shares := make([]int64, p)
	for x := range r.n {
		shares[x%p] += r.ptr[x+1] - r.ptr[x]
	}
	cuts := make([]int64, p+1)
	for k := range p {
		cuts[k+1] = int64(k + 1)
	}
	return spmd.Unevenness(cuts, func(lo, _ int64) int64 { return shares[lo] })
}

// scanOfBlocks makes the result of blocks of statistics; rank r has the vertices cuts[r] …
// cuts[r+1]−1.
func scanOfBlocks(d *workflow.Division, own [][]int64, cuts []int64, edges int64, o ScanOptions) (*ScanResult, error) {
	facts := make([][]int64, len(own)) // the sum and the maximum
	for k, c := range d.Group.Ranks() {
		own[k] = own[k][:cuts[c.Rank()+1]-cuts[c.Rank()]]
		facts[k] = make([]int64, 2)
		for _, x := range own[k] {
			facts[k][0], facts[k][1] = facts[k][0]+x, max(facts[k][1], x)
		}
	}
	res, err := scanOfFacts(d, facts, edges, o, func(k int, most int64) []int32 {
		list := positionsOf(own[k], most)
		for i := range list {
			list[i] += int32(cuts[d.Group.Ranks()[k].Rank()])
		}
		return list
	})
	if err != nil {
		return nil, err
	}
	res.Statistic, err = workflow.EntriesOn(d, int(cuts[len(cuts)-1]), cuts, own)
	return res, err
}

// scanOfFacts makes the result, but for the statistics, of the sum and the maximum of each rank of
// this process. tops returns the vertices of one with the maximum of all, in their order.
func scanOfFacts(d *workflow.Division, facts [][]int64, edges int64, o ScanOptions, tops func(k int, most int64) []int32) (*ScanResult, error) {
	all, err := spmd.GatherAll(d.Session, facts)
	if err != nil {
		return nil, err
	}
	res := &ScanResult{Edges: edges, Triangles: -1, ArgMax: []int{}}
	for r := 0; r < len(all); r += 2 {
		res.Sum, res.Max = res.Sum+all[r], max(res.Max, all[r+1])
	}
	lists := make([][]int32, len(facts))
	for k := range lists {
		lists[k] = tops(k, res.Max)
	}
	list, _, err := spmd.GatherAllLists(d.Session, lists)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		res.ArgMax = append(res.ArgMax, int(v))
	}
	if o.Hops == ScanOneHop {
		res.Triangles = (res.Sum - 2*edges) / 3
	}
	return res, nil
}
