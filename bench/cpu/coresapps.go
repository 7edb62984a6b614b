package cpu

import (
	"math"
	"math/bits"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// workflowCases are workflows, assignment problems, graph programs and products in blocks beside
// the cases of [Run].
func workflowCases() []cpuCase {
	app := func(name, in string, run ours) cpuCase {
		return cpuCase{name: workflowGroup + name + " " + in, input: in, ours: run}
	}
	loose := func(c cpuCase, tolerance float64) cpuCase {
		c.tolerance = tolerance
		return c
	}
	walks := func(rule apps.SearchRule) ours {
		return standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			n, _ := g.Dims()
			list := make([]float64, n)
			for v := range list {
				list[v] = drawn(v, 51)
			}
			scores, err := matrix.VectorOf(list)
			if err != nil {
				return nil, err
			}
			res, err := apps.GraphSearch(g, apps.VertexScores(scores), nil, apps.SearchOptions{Run: run, Rule: rule, Length: 16, Visits: true})
			if err != nil {
				return nil, err
			}
			return func() float64 { return float64(res.Steps) + res.ScoreSum }, nil
		})
	}
	return []cpuCase{
		app("5-truss", "rmat14", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			c, err := apps.KTruss(g, 5, apps.KTrussOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return func() float64 { return inputs.CheckMatrix(c) }, nil
		})),
		app("chunked S·S, counted", "rmat14", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			var n int64
			return trial{func() error {
				_, err := chunked.MxM(b.ctx, chunked.Count[inputs.F64](&n), semiring.PlusTimes[inputs.F64](), in.f64, in.f64, chunked.Threads(b.Threads))
				return err
			}, func() (float64, error) { return float64(n), nil }}, nil
		})),
		app("64 betweenness sources", "rmat14", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			c, err := apps.Betweenness(g, apps.BetweennessOptions{Run: run, Samples: 64, Undirected: true})
			if err != nil {
				return nil, err
			}
			return func() float64 { return inputs.CheckVector(c.Centrality) }, nil
		})),
		app("closeness to 256 targets", "rmat16", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			c, err := apps.Closeness(g, apps.ClosenessOptions{Run: run, Samples: 256})
			if err != nil {
				return nil, err
			}
			return func() float64 { return inputs.CheckVector(c.Distances) }, nil
		})),
		app("modularity of 16 classes", "rmat18", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			n, _ := g.Dims()
			of := make([]int32, n)
			for v := range of {
				of[v] = int32(v % 16)
			}
			membership, err := matrix.VectorOf(of)
			if err != nil {
				return nil, err
			}
			q, err := apps.Modularity(g, membership, apps.ModularityOptions{Run: run})
			return func() float64 { return q }, err
		})),
		app("128 local clusters", "rmat16", oursClusterBatch),
		app("scan series of 64 windows", "rmat16", oursScanSeries),
		app("generate R-MAT", "rmat18", confined(func(b *cpuBench, in *input) (trial, error) {
			n := in.graph.NRows
			g, err := generate.RMAT(bits.Len(uint(n-1)), 16*int64(n), generate.RMATOptions{Seed: 7})
			var a *matrix.Matrix[inputs.F64]
			return trial{func() (err error) {
				a, err = generate.Matrix[inputs.F64](g, generate.Undirected(), generate.Simple())
				return err
			}, func() (float64, error) { return entriesOf(a, -1) }}, err
		})),
		app("weighted pagerank", "rmat18", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			c, err := apps.WeightedPageRank(g, apps.PageRankOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return func() float64 { return inputs.CheckVector(c.Rank) }, nil
		})),
		app("reverse Cuthill-McKee", "rmat18", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			order, err := apps.ReverseCuthillMcKee(g, apps.OrderOptions{Run: run})
			return func() (sum float64) {
				for k, v := range order {
					sum += float64(v) * float64(1+k%7)
				}
				return sum
			}, err
		})),
		app("nomination by pagerank", "rmat18", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			n, _ := g.Dims()
			c, err := apps.NominateVertices(g, workload.SeedsOf(0, n), apps.NominateOptions{Run: run, Context: apps.ContextPageRank})
			if err != nil {
				return nil, err
			}
			return func() float64 { return inputs.CheckVector(c.Score) }, nil
		})),
		app("greedy walks by score", "rmat18", walks(apps.SearchGreedy)),
		app("stochastic walks by score", "rmat18", walks(apps.SearchStochastic)),
		app("graph program pagerank, 20 supersteps", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			in.f64.IsSymmetric()
			p := examples.PageRank(.85, -1)
			p.Supersteps = 20
			steps := 0
			return trial{func() error {
				res, err := program.Run(b.ctx, in.f64.Pattern(), p, program.Options{Threads: b.Threads})
				if err == nil {
					steps = res.Supersteps
				}
				return err
			}, func() (float64, error) { return float64(steps), fact("supersteps", int64(steps), 20) }}, nil
		})),
		app("graph program hcc", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			in.f64.IsSymmetric()
			steps := 0
			return trial{func() error {
				res, err := program.Run(b.ctx, in.f64.Pattern(), examples.HCC(), program.Options{Threads: b.Threads})
				if err == nil {
					steps = res.Supersteps
				}
				return err
			}, func() (float64, error) { return float64(steps), nil }}, nil
		})),
		loose(app("graphsage, all neighbours", "rmat18", sageCase(nil)), 1e-5),
		loose(app("graphsage, 25 and 10 neighbours", "rmat18", sageCase([]int{25, 10})), 1e-5),
		app("nomination by distance", "weighted18", standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
			n, _ := g.Dims()
			d, err := apps.VertexNomination(g, workload.SeedsOf(0, n), apps.VertexNominationOptions[inputs.F64]{Run: run})
			if err != nil {
				return nil, err
			}
			return func() float64 { return inputs.CheckVector(d) }, nil
		})),
		app("projection by ratio", "bipartite1m", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			a := inputs.Bare(in.f64)
			var p *matrix.Matrix[inputs.F64]
			return trial{func() (err error) {
				p, err = apps.Projection(a, apps.ProjectionOptions{Run: apps.Run{Threads: b.Threads, Context: b.ctx}, Weighting: apps.WeightRatio})
				return err
			}, func() (float64, error) { return entriesOf(p, -1) }}, nil
		})),
		app("graph matching", "pair10", trials(matchTrial)),
		app("graph matching", "pair12", trials(matchTrial)),
		app("fused lasso of 16 observations", "planar16k", lassoMany(16, false)),
		app("fused lasso path of 8", "planar16k", lassoMany(8, true)),
		app("auction, one bid at a time", "uniform1000", auctionCase(auction.GaussSeidel)),
		app("auction, all bids at once", "uniform1000", auctionCase(auction.Jacobi)),
		app("batch of 256 assignments", "costs8", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			var sum float64
			return trial{func() error {
				list, err := auction.SolveBatch(in.more["problems"].([]*auction.Problem), auction.Options{Context: b.ctx, Threads: b.Threads})
				sum = 0
				for _, r := range list {
					sum += r.Value
				}
				return err
			}, func() (float64, error) { return sum, nil }}, nil
		})),
	}
}

// oursClusterBatch clusters around seeds of a prepared graph.
func oursClusterBatch(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	run := apps.Run{Threads: b.Threads, Context: b.ctx}
	c, err := apps.NewClusterer(in.f64, run)
	if err != nil {
		return 0, 0, err
	}
	seeds := inputs.SourcesOf(in.graph, min(128, in.graph.NRows))
	var all *apps.ClusterBatch
	d, err := timed(func() (err error) {
		all, err = c.Batch(seeds, 0, apps.LocalClusterOptions{Run: run, Rho: .131 / float64(in.graph.NRows)}) // 2e-6 of R-MAT 16
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, inputs.CheckMatrix(all.P), nil
}

// oursScanSeries draws a time for each edge.
func oursScanSeries(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	e := memo(in, "times", func() *apps.TimedEdges {
		e := &apps.TimedEdges{Vertices: in.graph.NRows}
		for i := range in.graph.NRows {
			for _, j := range in.graph.Row(i) {
				if i < int(j) {
					e.Source, e.Target = append(e.Source, int32(i)), append(e.Target, j)
					e.Time = append(e.Time, 64*drawn(len(e.Time), 92))
				}
			}
		}
		return e
	})
	var res *apps.ScanSeriesResult
	d, err := timed(func() (err error) {
		res, err = apps.ScanSeries(e, apps.ScanSeriesOptions{Run: apps.Run{Threads: b.Threads, Context: b.ctx}, Window: 1})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, float64(len(res.Windows)), nil
}

// sageCase embeds all vertices by the network of the report.
func sageCase(samples []int) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		x, err := made(in, "dense features", func() (*matrix.Matrix[float32], error) {
			return workload.Floats(in.graph.NRows, inputs.SageReport.Features, 39, 1)
		})
		if err != nil {
			return 0, 0, err
		}
		m, err := inputs.SageReport.Model()
		if err != nil {
			return 0, 0, err
		}
		var res *apps.SAGEResult
		d, err := timed(func() (err error) {
			res, err = apps.GraphSAGE(in.f64, x, m, apps.SAGEOptions{Run: apps.Run{Threads: b.Threads, Context: b.ctx}, Samples: samples, Seed: 3})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, inputs.CheckMatrix(res.Embeddings), nil
	}
}

func matchTrial(b *cpuBench, in, _ *input) (trial, error) {
	var res *apps.SGMResult
	return trial{func() (err error) {
		res, err = apps.SGM(in.more["a"].(*matrix.Matrix[float32]), in.more["b"].(*matrix.Matrix[float32]), in.more["seeds"].([]apps.SeedPair),
			apps.SGMOptions{Run: apps.Run{Threads: b.Threads, Context: b.ctx}})
		return err
	}, func() (float64, error) { return res.After, nil }}, nil
}

// lassoMany solves many fused lassos of one graph in a call: of several observations, or of λ₁ from
// .1 to 10.
func lassoMany(count int, path bool) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		values := in.more["values"].([]float64)
		all := make([]float64, len(values)*count)
		lambdas := make([]float64, count)
		for k := range lambdas {
			lambdas[k] = .1 * math.Pow(100, float64(k)/float64(count-1))
			for v, x := range values {
				all[v*count+k] = x + drawn(v, 70+k) - .5
			}
		}
		ys, err := matrix.FromDense(len(values), count, all)
		if err != nil {
			return 0, 0, err
		}
		y, err := matrix.VectorOf(append([]float64(nil), values...))
		if err != nil {
			return 0, 0, err
		}
		o := apps.FusedLassoOptions{Run: apps.Run{Threads: b.Threads, Context: b.ctx}, Exact: true, Lambda1: 1}
		sum := 0.0
		d, err := timed(func() error {
			var list []*apps.FusedLassoResult
			var err error
			if path {
				o.Lambda1 = 0
				list, err = apps.FusedLassoPath(inputs.Bare(in.f64), y, lambdas, o)
			} else {
				list, err = apps.FusedLassoBatch(inputs.Bare(in.f64), ys, o)
			}
			for _, r := range list {
				sum += r.Objective
			}
			return err
		})
		return d, sum, err
	}
}

// auctionCase solves by bids.
func auctionCase(bidding auction.Bidding) ours {
	return trials(func(b *cpuBench, in, _ *input) (trial, error) {
		costs, err := made(in, "costs", func() (*matrix.Matrix[inputs.F64], error) {
			return matrix.FromDense(in.graph.NRows, in.graph.NCols, in.val)
		})
		var res *auction.Result
		return trial{func() (err error) {
			res, err = auction.Solve(auction.Dense[inputs.F64](costs), auction.Options{Context: b.ctx, Threads: b.Threads, Method: auction.MethodAuction, Bidding: bidding})
			return err
		}, func() (float64, error) { return res.Value, fact("gap", int64(res.Gap), 0) }}, err
	})
}
