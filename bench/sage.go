package bench

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// sageShape is a network of two layers: features, columns of a layer for the vertex and for its
// neighbours. The peers draw the same graph, features and weights.
type sageShape struct{ features, hidden, out int }

var (
	sageReport = sageShape{64, 16, 64}    // of the report: an output of 64 + 64 columns
	sageWide   = sageShape{128, 128, 128} // of a network of a larger graph
)

// sageNumbers are n numbers of [−1, 1) by hash.
func sageNumbers(n int, seed uint64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(int64(gen.Hash(uint64(i), seed)>>40)-1<<23) / (1 << 23)
	}
	return x
}

func sageMatrix(rows, cols int, seed uint64, scale float64) (*matrix.Matrix[float32], error) {
	x := sageNumbers(rows*cols, seed)
	for i := range x {
		x[i] *= float32(scale)
	}
	return matrix.FromDense(rows, cols, x)
}

// model draws the weights.
func (s sageShape) model() (*apps.SAGEModel, error) {
	m := &apps.SAGEModel{}
	d := s.features
	for k, h := range []int{s.hidden, s.out} {
		scale := 1 / math.Sqrt(float64(d))
		wf, err := sageMatrix(d, h, uint64(40+2*k), scale)
		if err != nil {
			return nil, err
		}
		wa, err := sageMatrix(d, h, uint64(41+2*k), scale)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, apps.SAGELayer{Self: wf, Neighbour: wa})
		d = 2 * h
	}
	return m, nil
}

// sageChecked is the number of vertices whose embeddings are compared with the host's.
const sageChecked = 500

// gpuSAGE computes embeddings of all vertices of a graph on the device.
func gpuSAGE(shape sageShape, o apps.SAGEOptions) func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	return func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
		g := in.graph
		a, err := kept(in, "pattern", func() (*matrix.Matrix[bool], error) { return onDevice(b, g, values(g, always)) })
		if err != nil {
			return nil, err
		}
		x, err := kept(in, fmt.Sprint("features ", shape.features), func() (*matrix.Matrix[float32], error) {
			x, err := sageMatrix(g.NRows, shape.features, 39, 1)
			if err != nil {
				return nil, err
			}
			return x, x.Move(b.dev)
		})
		if err != nil {
			return nil, err
		}
		m, err := shape.model()
		if err != nil {
			return nil, err
		}
		var r ran
		embed := func(run apps.Run) error {
			o := o
			o.Run = run
			_, err := apps.GraphSAGE(a, x, m, o)
			return err
		}
		plan := &gpuPlan{}
		plan.ours = []gpuContender{{name: "hiveblas", once: true, clock: b.dev.Time, method: r.method,
			prepare: func() error { return embed(apps.Run{}) }, do: func() error { return embed(apps.Run{}) },
			after: runtime.GC}}
		plan.check = func() (string, error) {
			if err := embed(r.run()); err != nil {
				return "", err
			}
			var vertices []int
			for k := range sageChecked {
				vertices = append(vertices, int(gen.Hash(uint64(k), 38)%uint64(g.NRows)))
			}
			some := o
			some.Vertices = vertices
			got, err := apps.GraphSAGE(a, x, m, some)
			if err != nil {
				return "", err
			}
			here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, values(g, always))
			if err != nil {
				return "", err
			}
			features, err := sageMatrix(g.NRows, shape.features, 39, 1)
			if err != nil {
				return "", err
			}
			some.Precision = apps.SAGEFloat32
			want, err := apps.GraphSAGE(here, features, m, some)
			if err != nil {
				return "", err
			}
			tolerance := map[apps.SAGEPrecision]float64{apps.SAGEFloat32: 1e-4, apps.SAGETF32: 3e-3, apps.SAGEFloat16: 5e-3, apps.SAGEBFloat16: 4e-2}[o.Precision]
			return closeMatrices(got.Embeddings, want.Embeddings, tolerance)
		}
		return plan, nil
	}
}

// closeMatrices says where two full matrices differ by more than a tolerance, "" if nowhere.
func closeMatrices(got, want *matrix.Matrix[float32], tolerance float64) (string, error) {
	if err := got.Fetch(); err != nil {
		return "", err
	}
	m, n := want.Dims()
	for i := range m {
		for j := range n {
			x, _ := got.At(i, j)
			y, _ := want.At(i, j)
			if !(math.Abs(float64(x-y)) <= tolerance) {
				return fmt.Sprintf("item (%d, %d) is %v, want %v", i, j, x, y), nil
			}
		}
	}
	return "", nil
}

// gpuWalks is the time of the steps of walks from all vertices, and with tables that of their
// tables. Transfers are left out: the time is the difference between long and short walks, or
// between short walks with and without tables.
func gpuWalks(rule apps.SearchRule, length int, tables bool) func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	return func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
		a, err := undirectedOn(b, in)
		if err != nil {
			return nil, err
		}
		n := in.graph.NRows
		list := make([]float64, n)
		for v := range list {
			list[v] = unit[float64](gen.Hash(uint64(v), 51))
		}
		v, err := matrix.VectorOf(list)
		if err != nil {
			return nil, err
		}
		scores := apps.VertexScores(v)
		var r ran
		walk := func(run apps.Run, rule apps.SearchRule, length int) (*apps.SearchResult, error) {
			s := scores
			if rule == apps.SearchUniform && !tables {
				s = nil
			}
			return apps.GraphSearch(a, s, nil, apps.SearchOptions{Run: run, Rule: rule, Length: length, Seed: 5})
		}
		timed := func(rule apps.SearchRule, length int) (time.Duration, error) {
			return b.dev.Time(func() error {
				_, err := walk(apps.Run{}, rule, length)
				return err
			})
		}
		steps := int64(0)
		plan := &gpuPlan{}
		plan.ours = []gpuContender{{name: "hiveblas", method: r.method, timed: func() (time.Duration, error) {
			if tables {
				long, err := timed(rule, 1)
				if err != nil {
					return 0, err
				}
				short, err := timed(apps.SearchUniform, 1)
				return long - short, err
			}
			long, err := timed(rule, length)
			if err != nil {
				return 0, err
			}
			short, err := timed(rule, 1)
			return long - short, err
		}}}
		plan.check = func() (string, error) {
			got, err := walk(r.run(), rule, length)
			if err != nil {
				return "", err
			}
			steps = got.Steps
			here, err := matrix.FromCSR(n, n, in.graph.Ptr, in.graph.Idx, values(in.graph, always))
			if err != nil {
				return "", err
			}
			s := scores
			if rule == apps.SearchUniform && !tables {
				s = nil
			}
			want, err := apps.GraphSearch(here, s, nil, apps.SearchOptions{Rule: rule, Length: length, Seed: 5})
			if err != nil {
				return "", err
			}
			if got.Steps != want.Steps || got.Distinct != want.Distinct || got.ScoreSum != want.ScoreSum {
				return fmt.Sprintf("%d steps, %d vertices, sum %v; want %d, %d, %v", got.Steps, got.Distinct, got.ScoreSum,
					want.Steps, want.Distinct, want.ScoreSum), nil
			}
			return "", nil
		}
		plan.notes = func() []string {
			if tables {
				return nil
			}
			return []string{fmt.Sprintf("%d steps", steps)}
		}
		return plan, nil
	}
}
