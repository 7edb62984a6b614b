package cpu

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/reference"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/matrix"
)

// byHandCases are workflows beside loops written by hand (package reference) and beside the same
// workflow by operations alone, on undirected graphs with weights of 1…255.
func byHandCases() (cases []cpuCase) {
	for _, g := range []struct {
		name, input   string
		rounds, paths int // paths: rounds of searches
	}{
		{"rmat16", "weighted16", 9, 9}, {"rmat18", "weighted18", 9, 9}, {"uniform18", "weighteduniform18", 9, 5},
		{"grid1024", "weightedgrid1024", 5, 2}, {"path100000", "weightedpath100000", 9, 2},
	} {
		row := func(name string, c cpuCase, run func(by contender) ours) {
			c.name, c.input = name, g.input
			c.ours, c.pipeline, c.rival = run(byDefault), run(byOperations), run(byHand)
			cases = append(cases, c)
		}
		levels := cpuCase{bar: 1, rounds: g.paths, peer: []string{"bfs_level"}, perSource: true}
		row("bfs levels a source "+g.name, levels, func(by contender) ours { return search(bfsBy(by, false)) })
		row("bfs parents a source "+g.name, cpuCase{bar: 1.3, rounds: g.paths}, func(by contender) ours { return search(bfsBy(by, true)) })
		row("sssp a source "+g.input, cpuCase{bar: 1.5, rounds: g.paths, peer: []string{"sssp"}, perSource: true, args: []string{inputs.SSSPDelta}},
			func(by contender) ours { return search(ssspBy(by)) })
		row("components "+g.name, cpuCase{bar: 1.2, rounds: g.rounds}, componentsBy)
		for _, single := range []bool{false, true} {
			row("pagerank "+map[bool]string{true: "float32 "}[single]+g.name, cpuCase{bar: 1, rounds: g.rounds, tolerance: 2e-3},
				func(by contender) ours { return pageRankBy(by, single) })
		}
	}
	return cases
}

// contender is the form of a workflow in a row of byHandCases.
type contender int

const (
	byDefault contender = iota
	byOperations
	byHand
)

func (c contender) run(b *cpuBench) apps.Run {
	run := apps.Run{Threads: b.Threads, Context: b.ctx}
	if c == byOperations {
		run.Method = apps.Pipeline
	}
	return run
}

func plainGraph(in *input) reference.Graph {
	return reference.Graph{Ptr: in.graph.Ptr, Idx: in.graph.Idx}
}

// checkList is inputs.CheckVector of a list with absent values below 0.
func checkList[T int32 | float32 | float64](list []T) (sum float64) {
	for i, x := range list {
		if x >= 0 {
			sum += float64(x) * float64(1+i%7)
		}
	}
	return sum
}

func bfsBy(by contender, parents bool) func(b *cpuBench, in *input, source int) (float64, time.Duration, error) {
	if by == byHand {
		return func(b *cpuBench, in *input, source int) (float64, time.Duration, error) {
			var level, parent []int32
			d, _ := timed(func() error {
				if parents {
					level, parent = reference.Parents(plainGraph(in), source, b.Threads)
				} else {
					level = reference.Levels(plainGraph(in), source, b.Threads)
				}
				return nil
			})
			return checkList(level) + checkList(parent), d, nil
		}
	}
	return func(b *cpuBench, in *input, source int) (check float64, d time.Duration, err error) {
		var res *apps.BFSResult
		d, err = timed(func() error {
			res, err = apps.BFS(in.f64, source, apps.BFSOptions{Run: by.run(b), Parents: parents})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		if parents {
			check = inputs.CheckVector(res.Parent)
		}
		return check + inputs.CheckVector(res.Level), d, nil
	}
}

// ssspBy skips the check of the weights, as the peer does.
func ssspBy(by contender) func(b *cpuBench, in *input, source int) (float64, time.Duration, error) {
	return func(b *cpuBench, in *input, source int) (check float64, d time.Duration, err error) {
		if by == byHand {
			var dist []float64
			d, _ = timed(func() error {
				dist = reference.Distances(plainGraph(in), in.val, source, 32, b.Threads)
				return nil
			})
			return checkDistances(dist), d, nil
		}
		var dist *matrix.Vector[inputs.F64]
		d, err = timed(func() error {
			dist, err = apps.SSSP(in.f64, []int{source}, apps.SSSPOptions[inputs.F64]{Run: by.run(b), Trusted: true})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return inputs.CheckVector(dist), d, nil
	}
}

// checkDistances is checkList without infinite distances.
func checkDistances(list []float64) float64 {
	for v, x := range list {
		if x > 1e300 {
			list[v] = -1
		}
	}
	return checkList(list)
}

func componentsBy(by contender) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		if by == byHand {
			var label []int32
			d, _ := timed(func() error {
				label = reference.Components(plainGraph(in), b.Threads)
				return nil
			})
			return d, checkList(label), nil
		}
		in.f64.IsSymmetric()
		var res *apps.Components
		d, err := timed(func() (err error) {
			res, err = apps.ConnectedComponents(in.f64, apps.ComponentsOptions{Run: by.run(b)})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, inputs.CheckVector(res.Label), nil
	}
}

// pageRankBy stops when the ranks change by 1e-4, after 20 iterations at most.
func pageRankBy(by contender, single bool) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		const tolerance, most = 1e-4, 20
		if by == byHand {
			var rank []float32
			d, _ := timed(func() error {
				rank = reference.PageRank(plainGraph(in), tolerance, most, b.Threads)
				return nil
			})
			return d, checkList(rank), nil
		}
		in.f64.IsSymmetric()
		var res *apps.PageRankResult
		d, err := timed(func() (err error) {
			res, err = apps.PageRank(in.f64, apps.PageRankOptions{Run: by.run(b), Tolerance: tolerance, MaxIterations: most, Single: single})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, inputs.CheckVector(res.Rank), nil
	}
}

// weightedInput makes the inputs of byHandCases: R-MAT of scale N (weightedN), as many edges with
// ends drawn alike (weighteduniformN), a grid of N×N and a path of N vertices.
func weightedInput(name string) (*input, error) {
	var n int
	var t gen.Tuples
	switch {
	case inputs.Scan(name, "weighted%d", &n):
		t = gen.RMAT(n, 16, gen.RMATOptions{})
	case inputs.Scan(name, "weighteduniform%d", &n):
		t = gen.Edges(1<<n, 16<<n, 7)
	case inputs.Scan(name, "weightedgrid%d", &n):
		t = gen.Grid2D(n, n)
	case inputs.Scan(name, "weightedpath%d", &n):
		t = gen.Grid2D(1, n)
	default:
		return nil, fmt.Errorf("bench: no input is called %q", name)
	}
	in := &input{name: name, more: map[string]any{}, graph: gen.CSR(gen.Symmetrise(t))}
	in.val = fresh.Make[float64](in.graph.NNZ())
	for p, w := range gen.UniformInts(in.graph, 1, 255, 3, true) {
		in.val[p] = float64(w)
	}
	return in, nil
}
