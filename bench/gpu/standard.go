package gpu

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// A standardRun runs a workflow of the standard set. Its result is a function that returns the
// figures to compare, outside the time.
type standardRun func(g inputs.Graph64, run apps.Run) (figures func() ([]float64, error), err error)

// gpuStandardCases are the rows of the standard set on a Run: the workflow on the device and,
// interleaved with it, on the host by its kernel for the host and all threads.
func gpuStandardCases() (list []gpuCase) {
	many := make([]int, 132)
	for k := range many {
		many[k] = k
	}
	add := func(name, input string, run standardRun) {
		list = append(list, gpuCase{name, Bar{Ratio: 1}, input, run.plan})
	}
	add("strong components directed18", "directed18", func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
		c, err := apps.StronglyConnectedComponents(g, apps.ComponentsOptions{Run: run})
		return func() ([]float64, error) { return listOf(c.Label, float64(c.Count), float64(c.Largest)) }, err
	})
	for _, in := range [][2]string{{"rmat18", "symmetric18"}, {"rmat20", "symmetric20"}, {"rmat22", "symmetric22"}, {"grid 2048²", "grid2048"}, {"renumbered grid 2048²", "renumbered2048"}} {
		add("core numbers "+in[0], in[1], func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
			c, err := apps.CoreNumbers(g, apps.CoreOptions{Run: run})
			return func() ([]float64, error) { return listOf(c.Number, float64(c.Max), float64(c.Inner)) }, err
		})
	}
	add("label propagation rmat18", "symmetric18", func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
		c, err := apps.LabelPropagation(g, apps.LabelPropagationOptions{Run: run})
		return func() ([]float64, error) { return listOf(c.Label, float64(c.Count), float64(c.Iterations)) }, err
	})
	for _, in := range [][2]string{{"rmat18", "symmetric18"}, {"rmat20", "symmetric20"}, {"rmat22", "symmetric22"}, {"grid 2048²", "grid2048"}} {
		for p, by := range []string{apps.RandomPriority: "", apps.DegreePriority: " by degree"} {
			add("independent set"+by+" "+in[0], in[1], func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
				c, err := apps.MaximalIndependentSet(g, apps.IndependentSetOptions{Run: run, Priority: apps.SetPriority(p)})
				return func() ([]float64, error) { return []float64{float64(c.NVals())}, nil }, err
			})
		}
	}
	add("local clustering rmat18", "symmetric18", func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
		c, err := apps.LocalClustering(g, apps.ClusteringOptions{Run: run})
		return func() ([]float64, error) { return listOf(c.Coefficient, c.Average) }, err
	})
	add("HITS directed18", "directed18", func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
		c, err := apps.HITS(g, apps.CentralityOptions{Run: run, Tolerance: 1e-7})
		return func() ([]float64, error) { return listOf(c.Hubs) }, err
	})
	add("similarity rmat14", "symmetric14", func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
		c, err := apps.Similarity(g, apps.SimilarityOptions{Run: run})
		return func() ([]float64, error) { return []float64{float64(c.NVals())}, nil }, err
	})
	for _, in := range [][2]string{{"rmat14", "symmetric14"}, {"rmat18", "symmetric18"}, {"rmat20", "symmetric20"}, {"grid 2048²", "grid2048"}} {
		add("colouring "+in[0], in[1], func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
			c, err := apps.Colouring(g, apps.ColouringOptions{Run: run})
			return func() ([]float64, error) { return listOf(c.Colour, float64(c.Count)) }, err
		})
	}
	for _, in := range [][2]string{{"rmat14", "symmetric14"}, {"rmat18", "symmetric18"}, {"rmat20", "symmetric20"}} {
		for _, k := range []int{1, 16, 132} {
			add(fmt.Sprintf("betweenness of %d sources %s", k, in[0]), in[1], func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
				n, _ := g.Dims()
				c, err := apps.Betweenness(g, apps.BetweennessOptions{Run: run, Sources: many[:min(k, n)]})
				return func() ([]float64, error) { return listOf(c.Centrality) }, err
			})
		}
		add("closeness of 132 vertices "+in[0], in[1], func(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
			n, _ := g.Dims()
			c, err := apps.Closeness(g, apps.ClosenessOptions{Run: run, Targets: many[:min(len(many), n)]})
			return func() ([]float64, error) { return listOf(c.Closeness) }, err
		})
	}
	for _, in := range [][2]string{{"rmat16", "symmetric16"}, {"rmat20", "symmetric20"}, {"rmat22", "symmetric22"}, {"grid 2048²", "grid2048"}} {
		list = append(list, gpuCase{"spanning forest " + in[0], Bar{Ratio: 1}, in[1], standardRun(spanningForest).weighted})
	}
	return list
}

// spanningForest is a standardRun.
func spanningForest(g inputs.Graph64, run apps.Run) (func() ([]float64, error), error) {
	f, err := apps.MinimumSpanningForest(g, apps.SpanningOptions{Run: run})
	return func() ([]float64, error) { return []float64{f.Weight, float64(f.Edges), float64(f.Trees)}, nil }, err
}

// plan prepares a row of a graph with ones as values.
func (run standardRun) plan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return run.of(b, in, "standard", func(g *gen.Graph) []float64 { return inputs.Values(g, func(uint64) float64 { return 1 }) })
}

// weighted prepares a row of a graph with whole numbers from 1 to 2²⁰ as values.
func (run standardRun) weighted(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return run.of(b, in, "weighted", func(g *gen.Graph) []float64 {
		val := make([]float64, g.NNZ())
		for p, w := range gen.UniformInts(g, 1, 1<<20, 3, true) {
			val[p] = float64(w)
		}
		return val
	})
}

// of prepares a row of a graph with values; kept is their name.
func (run standardRun) of(b *gpuBench, in *inputs.GPU, kept string, values func(g *gen.Graph) []float64) (*gpuPlan, error) {
	host, err := inputs.Kept(in, kept+" on the host", func() (inputs.Graph64, error) {
		g := in.Graph
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, values(g))
		if err == nil {
			a.IsSymmetric()
		}
		return a, err
	})
	if err != nil {
		return nil, err
	}
	there, err := inputs.Kept(in, kept+" on the device", func() (inputs.Graph64, error) {
		a := host.Clone()
		a.IsSymmetric()
		return a, a.Move(b.dev)
	})
	if err != nil {
		return nil, err
	}
	var r ran
	plan := &gpuPlan{}
	contender := func(name string, g inputs.Graph64) gpuside.Contender {
		return gpuside.Contender{Name: name, Clock: gpuside.Wall, Do: func() error {
			_, err := run(g, apps.Run{})
			return err
		}}
	}
	plan.ours = []gpuside.Contender{contender("hiveblas", there)}
	plan.ours[0].Method = r.method
	plan.others = []gpuside.Contender{contender("hiveblas on the host", host)}
	plan.check = func() (string, error) {
		got, err := figures(run(there, r.run()))
		if err != nil {
			return "", err
		}
		want, err := figures(run(host, apps.Run{}))
		if err != nil {
			return "", err
		}
		return differentFigures(got, want), nil
	}
	return plan, nil
}

// figures calls the result of a standardRun.
func figures(list func() ([]float64, error), err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return list()
}

// differentFigures says where two lists differ, "" if nowhere; sums may have another order.
func differentFigures(got, want []float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d figures, want %d", len(got), len(want))
	}
	for i, x := range want {
		if !(math.Abs(got[i]-x) <= 1e-6*max(1, math.Abs(x))) {
			return fmt.Sprintf("figure %d is %v, want %v", i, got[i], x)
		}
	}
	return ""
}

// listOf returns a vector and numbers as one list. The vector comes to the host.
func listOf[T int32 | float64](v *matrix.Vector[T], more ...float64) ([]float64, error) {
	if err := v.Move(nil); err != nil {
		return nil, err
	}
	list := make([]float64, v.Size(), v.Size()+len(more))
	for i, x := range v.All() {
		list[i] = float64(x)
	}
	return append(list, more...), nil
}
