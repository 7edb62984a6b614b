// Package scan computes scan statistics: the edges around each vertex, and their anomalies in a
// series of graphs.
package scan

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ScanHops is the radius of the neighbourhoods of a scan statistic.
type ScanHops int

const (
	// ScanOneHop counts the edges among a vertex and its neighbours: the default.
	ScanOneHop ScanHops = iota
	// ScanDegree counts the edges of the vertex itself, its degree: radius 0.
	ScanDegree
	// ScanTwoHops counts the edges among the vertices at most two edges away.
	ScanTwoHops
)

// String returns the radius as a number.
func (h ScanHops) String() string {
	switch h {
	case ScanOneHop:
		return "1"
	case ScanDegree:
		return "0"
	case ScanTwoHops:
		return "2"
	}
	return fmt.Sprintf("ScanHops(%d)", int(h))
}

// check returns the error of an unknown radius.
func (h ScanHops) check(app string) error {
	if h < ScanOneHop || h > ScanTwoHops {
		return &workflow.ParameterError{App: app, Arg: "the radius", Got: h.String(), Want: "ScanOneHop, ScanDegree or ScanTwoHops"}
	}
	return nil
}

// ScanOptions are the settings of ScanStatistics.
type ScanOptions struct {
	workflow.Run
	Hops ScanHops
}

// ScanResult is the result of ScanStatistics.
type ScanResult struct {
	Statistic *matrix.Vector[int64] // of every vertex, where the graph lives
	Max       int64                 // the scan statistic of the graph; 0 without vertices
	ArgMax    []int                 // all vertices with that value, ascending
	Sum       int64
	Edges     int64 // undirected edges, without self-loops
	Triangles int64 // of the graph; −1 unless Hops is ScanOneHop
}

// ScanStatistics returns the locality statistic of every vertex of g and their maximum, the scan
// statistic (Priebe, Conroy, Marchette, Park: Scan statistics on Enron graphs, Computational and
// Mathematical Organization Theory 11, 2005): the number of edges of the subgraph that the vertices
// within k hops of v induce, v included. g counts as a simple undirected graph: directions, values
// and self-loops are ignored.
//
// With one hop that is the degree of v plus the triangles through v. With A the pattern of g:
//
//	C⟨tril A⟩ = A +.pair A;   s = A·1 + ½ (C + Cᵀ)·1
//
// and with two hops, over the pattern R of I + A + A², for blocks of rows at a time:
//
//	C⟨R⟩ = R +.pair A;   s = ½ C·1
//
// The product is computed at the entries of its mask alone. On the host with Method Auto, one hop
// visits each triangle once, in a graph oriented by degree as in TriangleCount, and counts it for
// its three corners: O(edges^1.5) at most, and 12 bytes for each vertex and thread; two hops mark
// the neighbourhood of each vertex and read its edges: O(Σ edges within two hops). On a device the
// fused form of one hop does the same. On a group each rank has the whole graph and counts for
// every p-th vertex in the order of degrees; the counts are added up where the vertices are, and
// the maximum is reduced. Two hops on devices, and degrees, are pipelines there. The pipeline takes
// six times as many products. The results are integers and do not depend on the form, the threads
// or the device.
func ScanStatistics[T comparable](g matrix.Source[T], opts ...ScanOptions) (*ScanResult, error) {
	return scanStatistics(workflow.Pattern(g), opts)
}

func scanStatistics(g *matrix.View[bool], opts []ScanOptions) (*ScanResult, error) {
	o, err := workflow.Only("ScanStatistics", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("ScanStatistics", g)
	if err != nil {
		return nil, err
	}
	if err := o.Hops.check("ScanStatistics"); err != nil {
		return nil, err
	}
	if o.Method == workflow.Fused && o.Hops != ScanOneHop {
		return nil, &workflow.ParameterError{App: "ScanStatistics", Arg: "the method", Got: "fused with other hops than one", Want: "auto or pipeline"}
	}
	if res, err := scanByRanges(g, n, o); res != nil || err != nil {
		return res, err
	}
	at, err := workflow.FusedOn(o.Run, "ScanStatistics", g.Place())
	if err != nil {
		return nil, err
	}
	workflow.Report(o.Run, "scan statistics", 0, int64(n))
	a, err := workflow.UndirectedPattern(g, o.Run, n)
	if err != nil {
		return nil, err
	}
	var res *ScanResult
	switch {
	case at != nil && o.Hops == ScanOneHop:
		res, err = fusedScan(at, a, n, o, 0, 1)
	case o.Method == workflow.Auto && a.Place() == nil && o.Hops != ScanDegree:
		res, err = scanOnHost(a, n, o)
	default:
		res, err = scanPipeline(a, n, o)
	}
	if err != nil {
		return nil, err
	}
	workflow.Report(o.Run, "scan statistics", int64(n), int64(n))
	return res, nil
}

// scanPipeline computes the statistics by operations, where a lives.
func scanPipeline(a *matrix.View[bool], n int, o ScanOptions) (*ScanResult, error) {
	here := matrix.On(a.Place())
	b := matrix.New[bool](n, n, here)
	if err := ops.Select(b, semiring.Offdiag[bool](0), a, workflow.With(o.Run)); err != nil {
		return nil, err
	}
	if err := b.SetFormat(matrix.CSR); err != nil { // ops.Dot cannot list a bitmap
		return nil, err
	}
	var s *matrix.Vector[int64]
	var err error
	switch o.Hops {
	case ScanDegree:
		s, err = workflow.DegreesOf(b, n, o.Run)
	case ScanTwoHops:
		s, err = scanTwoHops(b, n, o.Run)
	default:
		s, err = scanOneHop(b, n, o.Run)
	}
	if err != nil {
		return nil, err
	}
	edges := b.NVals() / 2
	b.Clear()
	return scanResult(s, edges, o.Hops, o.Run)
}

// scanOneHop is s = A·1 + ½ (C + Cᵀ)·1 with C⟨tril A⟩ = A +.pair A: C counts the triangles on each
// edge, once for both directions.
func scanOneHop(b *matrix.Matrix[bool], n int, run workflow.Run) (*matrix.Vector[int64], error) {
	here, with, plus := matrix.On(b.Place()), workflow.With(run), semiring.Plus[int64]()
	s, err := workflow.DegreesOf(b, n, run)
	if err != nil {
		return nil, err
	}
	lower := matrix.New[bool](n, n, here)
	c, twice := matrix.New[int64](n, n, here), matrix.NewVector[int64](n, here)
	one, err := workflow.FullVector(b.Place(), n, true, with)
	if err != nil {
		return nil, err
	}
	var steps ops.Steps
	steps.Do(ops.Select(lower, semiring.Tril[bool](-1), b, with))
	steps.Do(lower.SetFormat(matrix.CSR)) // ops.Dot cannot list a bitmap
	steps.Do(ops.MxM(c.Masked(lower.Structure()), semiring.PlusPair[int64](), b.Pattern(),
		b.Pattern().T(), ops.Using(ops.Dot), with))
	steps.Do(ops.Reduce(twice, plus, c, with))
	steps.Do(ops.VxM(twice.Accum(plus), semiring.PlusSecond[int64](), one.Pattern(), c, ops.Using(ops.Push), with)) // the transpose would serve once
	steps.Do(ops.ApplySecond(s.Accum(plus), semiring.Div[int64](), twice, 2, with))
	lower.Clear() // gives memory of a device back before the collector runs
	c.Clear()
	return s, steps.Err()
}

// scanBlock bounds the entries of a block of R = I + A + A² of scanTwoHops.
const scanBlock = 16 << 20

// scanTwoHops is s = ½ C·1 with C⟨R⟩ = R +.pair A, R = I + A + A², by blocks of rows.
func scanTwoHops(b *matrix.Matrix[bool], n int, run workflow.Run) (*matrix.Vector[int64], error) {
	here, with, plus := matrix.On(b.Place()), workflow.With(run), semiring.Plus[int64]()
	s, err := workflow.FullVector(b.Place(), n, int64(0), with)
	if err != nil {
		return nil, err
	}
	rows := max(1, scanBlock/max(n, 1))
	for lo := 0; lo < n; lo += rows {
		workflow.Report(run, "scan statistics", int64(lo), int64(n))
		hi := min(lo+rows, n)
		k := hi - lo
		own := matrix.NewBuilder[bool](k, n)
		for v := lo; v < hi; v++ {
			own.Add(v-lo, v, true)
		}
		identity, err := own.Build(nil)
		if err != nil {
			return nil, err
		}
		near, r := matrix.New[bool](k, n, here), matrix.New[bool](k, n, here)
		c, twice := matrix.New[int64](k, n, here), matrix.NewVector[int64](k, here)
		var steps ops.Steps
		lor := semiring.Lor()
		steps.Do(ops.Extract(near, b, ops.Span(lo, hi), ops.All(), with))
		steps.Do(ops.EWiseAdd(r, lor, near, identity, with))
		steps.Do(ops.MxM(r.Accum(lor), semiring.AnyPair[bool](), near.Pattern(), b.Pattern(), with))
		if steps.OK() {
			steps.Do(r.SetFormat(matrix.CSR))
		}
		steps.Do(ops.MxM(c.Masked(r.Structure()), semiring.PlusPair[int64](), r.Pattern(),
			b.Pattern().T(), ops.Using(ops.Dot), with))
		steps.Do(ops.Reduce(twice, plus, c, with))
		steps.Do(ops.ApplySecond(twice, semiring.Div[int64](), twice, 2, with))
		steps.Do(ops.AssignVector(s.Accum(plus), twice, ops.Span(lo, hi), with))
		if !steps.OK() {
			return nil, steps.Err()
		}
	}
	return s, nil
}

// scanResult finds the maximum of the statistics, which have an entry for every vertex.
func scanResult(s *matrix.Vector[int64], edges int64, hops ScanHops, run workflow.Run) (*ScanResult, error) {
	res := &ScanResult{Statistic: s, Edges: edges, Triangles: -1, ArgMax: []int{}}
	if s.Size() > 0 {
		with, tops := workflow.With(run), matrix.NewVector[int64](s.Size(), matrix.On(s.Place()))
		var err error
		if res.Sum, err = ops.ReduceScalar(semiring.Plus[int64](), s, with); err != nil {
			return nil, err
		}
		if res.Max, err = ops.ReduceScalar(semiring.Max[int64](), s, with); err != nil {
			return nil, err
		}
		if err = ops.Select(tops, semiring.ValueEQ(res.Max), s, with); err != nil {
			return nil, err
		}
		list, err := tops.AllChecked()
		if err != nil {
			return nil, err
		}
		for v := range list {
			res.ArgMax = append(res.ArgMax, v)
		}
	}
	if hops == ScanOneHop {
		res.Triangles = (res.Sum - 2*edges) / 3
	}
	return res, nil
}
