// Package warm knows which kernels programs commonly need: it runs the
// workflows and operations on a device that only notes what is composed.
package warm

import (
	"context"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Compositions returns what the command line composes for its float64 graphs,
// and with all what the workflows and the usual operations do for four types,
// on a GPU of the given properties.
func Compositions(p driver.Properties, all bool) ([]cusparse.Composition, error) {
	return cusparse.Compositions(p, func(at matrix.Place) {
		workflows[float64](at)
		classify(at)
		if !all {
			return
		}
		operations[float64](at)
		for _, use := range []func(matrix.Place){
			workflows[float32], operations[float32], workflows[int32], operations[int32], workflows[int64], operations[int64],
		} {
			use(at)
		}
	})
}

// Properties returns those of a usual GPU of compute capability major.minor,
// as far as kernels depend on them.
func Properties(major, minor int) driver.Properties {
	p := driver.Properties{Name: "any GPU", Major: major, Minor: minor, Multiprocessors: 100, SharedPerBlock: 99 << 10, L2: 40 << 20,
		ThreadsPerSM: 2048, AsyncAlloc: true}
	switch {
	case major == 7 && minor == 5:
		p.SharedPerBlock = 64 << 10
	case major == 7:
		p.SharedPerBlock = 96 << 10
	case major == 8 && minor%7 == 0:
		p.SharedPerBlock = 163 << 10
	case major == 9 || major == 10:
		p.SharedPerBlock = 227 << 10
	}
	p.SharedPerSM = p.SharedPerBlock + 1<<10
	return p
}

// graphs are sizes that different methods are for. Their entries are claimed:
// nobody reads them.
var graphs = []struct {
	n       int
	entries int64
}{{1000, 10000}, {1 << 18, 4 << 20}, {1 << 20, 24 << 20}}

// claimed returns a matrix at a place that is none, which says that it has so
// many entries.
func claimed[T semiring.Number](at matrix.Place, n int, entries int64) *matrix.Matrix[T] {
	a := matrix.New[T](n, n, matrix.On(at))
	t, err := device.TypeOf[T]()
	if err != nil {
		return a
	}
	var one T
	s, err := at.(device.Backend).Upload(device.Host{
		Structure: sparse.Structure{NRows: n, NCols: n, Ptr: make([]int64, n+1), Idx: []int32{0}, NVals: entries},
		Type:      t, Val: unsafe.Pointer(&one), N: 1,
	})
	if err == nil {
		access.SetRemote(a, s)
	}
	return a
}

// attempt runs f, which may fail over results that mean nothing.
func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

func workflows[T semiring.Number](at matrix.Place) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	run := apps.Run{Context: ctx}
	for _, size := range graphs {
		for _, f := range []func(g *matrix.Matrix[T]){
			func(g *matrix.Matrix[T]) { _, _ = apps.Projection(g, apps.ProjectionOptions{Run: run}) },
			func(g *matrix.Matrix[T]) {
				_, _ = apps.Projection(g, apps.ProjectionOptions{Run: run, Weighting: apps.WeightCount, Onto: apps.OntoRows})
			},
			func(g *matrix.Matrix[T]) {
				_, _ = apps.Projection(g, apps.ProjectionOptions{Run: run, Weighting: apps.WeightRatio})
			},
			func(g *matrix.Matrix[T]) {
				_, _ = apps.VertexNomination(g, []int{0}, apps.VertexNominationOptions[T]{Run: run})
			},
			func(g *matrix.Matrix[T]) {
				_, _ = apps.VertexNomination(g, []int{0, 1}, apps.VertexNominationOptions[T]{Run: run, Unit: true})
			},
			func(g *matrix.Matrix[T]) { _, _ = apps.BFS(g, 0, apps.BFSOptions{Run: run, Parents: true}) },
			func(g *matrix.Matrix[T]) { _, _ = apps.BFS(g.T(), 0, apps.BFSOptions{Run: run, Parents: true}) },
			func(g *matrix.Matrix[T]) { _, _ = apps.SSSP(g, []int{0}, apps.SSSPOptions[T]{Run: run}) },
			func(g *matrix.Matrix[T]) { _, _ = apps.PageRank(g, apps.PageRankOptions{Run: run}) },
			func(g *matrix.Matrix[T]) { _, _ = apps.ConnectedComponents(g, apps.ComponentsOptions{Run: run}) },
			func(g *matrix.Matrix[T]) { _, _ = apps.TriangleCount(g, apps.TriangleOptions{Run: run}) },
			func(g *matrix.Matrix[T]) { _, _ = apps.KTruss(g, 3, apps.KTrussOptions{Run: run}) },
			func(g *matrix.Matrix[T]) { // the kernels of assignment are all in the program that looks at the costs
				if a, err := access.Operand(g.View(), at.(device.Backend)); err == nil {
					_, _ = at.(device.Assigner).Survey(device.Call{Context: ctx}, a)
				}
			},
			func(g *matrix.Matrix[T]) {
				_, _ = apps.LocalCluster(g, []int{0}, apps.LocalClusterOptions{Run: run, Sweep: true, MaxIterations: 2})
			},
			func(g *matrix.Matrix[T]) {
				_, _ = apps.LocalCluster(g, []int{0}, apps.LocalClusterOptions{Run: run, Method: apps.ClusterFISTA, MaxIterations: 2})
			},
		} {
			attempt(func() { f(claimed[T](at, size.n, size.entries)) })
		}
	}
}

// classify matches a pattern of one edge in itself.
func classify(at matrix.Place) {
	one := func() *matrix.Matrix[float32] {
		x, _ := matrix.NewFull[float32](1, 1, 1)
		return x
	}
	if g, err := apps.NewAttributed(one(), one(), []int32{0}, []int32{0}); err == nil && g.Move(at) == nil {
		attempt(func() { _, _ = apps.Classify(g, g, apps.ClassifyOptions{}) })
	}
}

func operations[T semiring.Number](at matrix.Place) {
	here := matrix.On(at)
	semirings := []semiring.Semiring[T, T, T]{semiring.PlusTimes[T](), semiring.MinPlus[T](), semiring.MaxPlus[T](), semiring.MaxMin[T]()}
	for _, size := range graphs {
		n := size.n
		a, b := claimed[T](at, n, size.entries), claimed[T](at, n, size.entries)
		full, _ := matrix.NewFullVector[T](n, 1)
		few := matrix.NewVector[T](n)
		_ = few.Set(0, 1)
		v, c := matrix.NewVector[T](n, here), matrix.New[T](n, n, here)
		for _, s := range semirings {
			for _, f := range []func(){
				func() { _ = ops.MxV(v, s, a, full) }, func() { _ = ops.VxM(v, s, full, a) },
				func() { _ = ops.MxV(v, s, a, few) }, func() { _ = ops.VxM(v, s, few, a) },
				func() { _ = ops.MxM(c, s, a, b) }, func() { _ = ops.MxM(c.Masked(a.Structure()), s, a, b.T()) },
				func() { _ = ops.Reduce(v, s.Add(), a) }, func() { _, _ = ops.ReduceScalar(s.Add(), a) },
				func() { _ = ops.EWiseAdd(c, s.Add(), a, b) }, func() { _ = ops.EWiseMult(c, s.Mul(), a, b) },
			} {
				attempt(f)
			}
		}
		for _, f := range []func(){
			func() { _ = ops.Transpose(c, a) }, func() { _ = ops.Apply(c, semiring.Abs[T](), a) },
			func() { _ = ops.Select(c, semiring.Tril[T](0), a) }, func() { _ = ops.Select(c, semiring.ValueGT[T](0), a) },
			func() { _ = ops.Extract(c, a, ops.All(), ops.All()) }, func() { _ = ops.Assign(c, a, ops.All(), ops.All()) },
		} {
			attempt(f)
		}
	}
}
