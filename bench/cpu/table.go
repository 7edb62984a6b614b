package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// cpuCases lists the rows of the table and their bars.
func cpuCases() []cpuCase {
	plus, times := semiring.Plus[inputs.F64](), semiring.Times[inputs.F64]()
	cases := []cpuCase{
		{name: "spgemm S·S f64 R-MAT 14", bar: .4, input: "rmat14", peer: []string{"spgemm_ss_f64"}, rounds: 9,
			ours: square(semiring.PlusTimes[inputs.F64]())},
		{name: "spgemm AᵀA plus_pair bipartite 1M", bar: .4, input: "bipartite1m", peer: []string{"ata_plus_pair"}, rounds: 9,
			ours: func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
				a, n := inputs.Bare(in.f64), in.graph.NCols
				return toMatrix(n, n, func(c *matrix.Matrix[int64]) error {
					return ops.MxM(c, semiring.PlusPair[int64](), a.Pattern().T(), a.Pattern(), ops.WithThreads(b.Threads))
				})
			}},
	}
	for _, in := range []string{"rmat16", "rmat18"} {
		cases = append(cases, cpuCase{name: "triangles " + in, bar: .4, input: in, ours: oursTriangles, rounds: map[string]int{"rmat18": 7}[in],
			peer: []string{"tricount_ll", "tricount_lut", "tricount_ll_sorted", "tricount_lut_sorted"}},
			cpuCase{name: "scan statistics " + in, bar: .45, input: in, ours: oursScan, rounds: map[string]int{"rmat18": 7}[in],
				peer: []string{"tricount_ll", "tricount_lut", "tricount_ll_sorted", "tricount_lut_sorted"}})
	}
	for _, in := range []string{"rmat18", "rmat20"} {
		cases = append(cases,
			cpuCase{name: "spmv plus_times f64 " + in, bar: 1, input: in, peer: []string{"spmv_f64"}, ours: spmv(semiring.PlusTimes[inputs.F64](), of64), bytes: spmvBytes(8)},
			cpuCase{name: "spmv plus_times f32 " + in, bar: 1, input: in, peer: []string{"spmv_f32"}, ours: spmv(semiring.PlusTimes[float32](), of32), bytes: spmvBytes(4), tolerance: 1e-5},
			cpuCase{name: "spmv min_plus f64 " + in, bar: .8, input: in, peer: []string{"spmv_minplus_f64"}, ours: spmv(semiring.MinPlus[inputs.F64](), of64), bytes: spmvBytes(8)},
		)
	}
	for _, n := range []string{"1000", "2000"} {
		cases = append(cases, cpuCase{name: "assignment dense " + n, bar: 1, input: "uniform" + n, ours: oursAssignment, peer: []string{"assignment"}})
	}
	for _, p := range []struct {
		name    string
		percent int
		masked  bool
		peer    string
	}{
		{"push 1 %", 1, false, "vxm_push_1"}, {"push 10 %", 10, false, "vxm_push_10"},
		{"push 1 % masked", 1, true, "vxm_push_1_masked"}, {"push 10 % masked", 10, true, "vxm_push_10_masked"},
	} {
		cases = append(cases, cpuCase{name: "vxm " + p.name + " rmat18", bar: .6, input: "rmat18", peer: []string{p.peer}, ours: push(p.percent, p.masked)})
	}
	cases = append(cases,
		cpuCase{name: "classify 1000 vertices 20135 edges", bar: .1, input: "ac1000", ours: oursClassify, peer: []string{"classify"}, tolerance: 1e-5},
		cpuCase{name: "geolocation rmat18", bar: 1.0 / 30, input: "rmat18", ours: geoBy(apps.Auto), pipeline: geoBy(apps.Pipeline), peer: []string{"geolocate"}, tolerance: 1e-6, rounds: 3},
		cpuCase{name: "uniform walks rmat20", bar: 1.0 / 3, input: "rmat20", ours: oursWalks, rival: plainWalks, rounds: 3},
		cpuCase{name: "graphsage citations2708", bar: 1, input: "citations2708", ours: sageBy(apps.Auto), pipeline: sageBy(apps.Pipeline), peer: []string{"sage_embed", "sage_embed_sparse"},
			args: sageArgs(sageCora.Out), tolerance: 1e-5},
		cpuCase{name: "graphsage epoch citations2708", bar: 1, input: "citations2708", ours: sageEpochBy(apps.Auto, apps.AggregateMean), pipeline: sageEpochBy(apps.Pipeline, apps.AggregateMean), peer: []string{"sage_epoch", "sage_epoch_sparse"},
			args: sageArgs(sageCoraClasses)},
		cpuCase{name: "graphsage attention epoch citations2708", input: "citations2708", ours: sageEpochBy(apps.Auto, apps.AggregateAttention),
			pipeline: sageEpochBy(apps.Pipeline, apps.AggregateAttention)},
		cpuCase{name: "graphsage LSTM epoch citations2708", input: "citations2708", ours: sageEpochBy(apps.Auto, apps.AggregateLSTM)},
		cpuCase{name: "local cluster a seed rmat16", input: "rmat16", ours: oursLocalCluster},
		cpuCase{name: "local cluster a seed rmat20", input: "rmat20", ours: oursLocalCluster},
		cpuCase{name: "louvain planted200k", bar: .25, input: "planted200k", rival: communitiesByHand(false), ours: communities(apps.CommunitiesOptions{}), peer: []string{"louvain"}, tolerance: .01, rounds: 3},
		cpuCase{name: "louvain rmat18", bar: .25, input: "rmat18", rival: communitiesByHand(false), ours: communities(apps.CommunitiesOptions{}), peer: []string{"louvain"}, tolerance: .01, rounds: 3},
		cpuCase{name: "louvain rmat18, 2 passes", bar: .25, input: "rmat18", ours: communities(apps.CommunitiesOptions{Passes: 2}), peer: []string{"louvain"}, tolerance: .02, rounds: 3},
		cpuCase{name: "leiden planted200k", bar: .25, input: "planted200k", rival: communitiesByHand(true), ours: communities(apps.CommunitiesOptions{Leiden: true}), peer: []string{"leiden"}, tolerance: .01, rounds: 2},
		cpuCase{name: "leiden rmat18", bar: .25, input: "rmat18", rival: communitiesByHand(true), ours: communities(apps.CommunitiesOptions{Leiden: true}), peer: []string{"leiden"}, tolerance: .01, rounds: 1},
		cpuCase{name: "louvain email-Enron", bar: .25, input: "data/email-Enron", rival: communitiesByHand(false), ours: communities(apps.CommunitiesOptions{}), peer: []string{"louvain"}, tolerance: .02, rounds: 5},
		cpuCase{name: "leiden email-Enron", bar: .25, input: "data/email-Enron", rival: communitiesByHand(true), ours: communities(apps.CommunitiesOptions{Leiden: true}), peer: []string{"leiden"}, tolerance: .02, rounds: 5},
		cpuCase{name: "louvain soc-Slashdot0902", bar: .25, input: "data/soc-Slashdot0902", rival: communitiesByHand(false), ours: communities(apps.CommunitiesOptions{}), peer: []string{"louvain"}, tolerance: .05, rounds: 3},
		cpuCase{name: "leiden soc-Slashdot0902", bar: .25, input: "data/soc-Slashdot0902", rival: communitiesByHand(true), ours: communities(apps.CommunitiesOptions{Leiden: true}), peer: []string{"leiden"}, tolerance: .05, rounds: 3},
		cpuCase{name: "build 10M tuples", bar: .7, input: "tuples10m", ours: oursBuild, peer: []string{"build"}},
		cpuCase{name: "transpose rmat18", bar: .7, input: "rmat18", peer: []string{"transpose"},
			ours: unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error { return ops.Transpose(c, a, with) })},
		cpuCase{name: "extract A(p,p) rmat18", bar: .7, input: "rmat18", peer: []string{"extract_pp"}, ours: oursExtract},
		cpuCase{name: "ewiseadd rmat18", bar: 1, input: "rmat18", other: "rmat18b", peer: []string{"ewiseadd"},
			ours: ewise(func(c, a, b *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.EWiseAdd(c, plus, a, b, with)
			})},
		cpuCase{name: "ewisemult rmat18", bar: 1, input: "rmat18", other: "rmat18b", peer: []string{"ewisemult"},
			ours: ewise(func(c, a, b *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.EWiseMult(c, times, a, b, with)
			})},
		cpuCase{name: "select tril rmat18", bar: 1, input: "rmat18", peer: []string{"select_tril"},
			ours: unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.Select(c, semiring.Tril[inputs.F64](-1), a, with)
			})},
		cpuCase{name: "select value rmat18", bar: 1, input: "rmat18", peer: []string{"select_value"},
			ours: unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.Select(c, semiring.ValueGT(.5), a, with)
			})},
		cpuCase{name: "apply ainv rmat18", bar: 1, input: "rmat18", peer: []string{"apply"},
			ours: unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.Apply(c, semiring.Ainv[inputs.F64](), a, with)
			})},
		cpuCase{name: "apply times 2.5 rmat18", bar: 1, input: "rmat18", peer: []string{"apply_bind2"},
			ours: unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.ApplySecond(c, times, a, 2.5, with)
			})},
		cpuCase{name: "reduce rows rmat18", bar: 1, input: "rmat18", peer: []string{"reduce_rows"},
			ours: reduce(func(w *matrix.Vector[inputs.F64], a *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.Reduce(w, plus, a, with)
			})},
		cpuCase{name: "reduce columns rmat18", bar: 1, input: "rmat18", peer: []string{"reduce_cols"},
			ours: reduce(func(w *matrix.Vector[inputs.F64], a *matrix.Matrix[inputs.F64], with ops.Option) error {
				return ops.Reduce(w, plus, a.T(), with)
			})},
	)
	cases = append(cases, byHandCases()...)
	cases = append(cases, atOnceCases()...)
	cases = append(cases, lassoCases()...)
	cases = append(cases, flowCases()...)
	cases = append(cases, standardCases()...)
	return append(cases,
		cpuCase{name: "user semiring, inlined: S·S R-MAT 14", bar: 1.4, input: "rmat14", ours: square(userPlusTimes()), rival: square(semiring.PlusTimes[inputs.F64]())},
		cpuCase{name: "user semiring, inlined: spmv rmat18", bar: 1.4, input: "rmat18", ours: spmv(userPlusTimes(), of64), rival: spmv(semiring.PlusTimes[inputs.F64](), of64)},
		cpuCase{name: "user semiring, closures: S·S R-MAT 14", input: "rmat14", ours: square(closurePlusTimes()), rival: square(semiring.PlusTimes[inputs.F64]())},
		cpuCase{name: "read .mtx rmat20", bar: .1, input: "rmat20", ours: readMTX, peer: []string{"mmread"}, file: mtxFile, rounds: 2, tolerance: 1e-9},
	)
}

// largeCases are cases with inputs that take a minute to make.
func largeCases() []cpuCase {
	return []cpuCase{
		{name: "vxm push 1 % rmat20", bar: .6, input: "rmat20", ours: push(1, false), peer: []string{"vxm_push_1"}},
		{name: "vxm push 10 % rmat20", bar: .6, input: "rmat20", ours: push(10, false), peer: []string{"vxm_push_10"}},
		{name: "spmv plus_times f64 rmat22", bar: .8, input: "rmat22", bytes: spmvBytes(8), rounds: 7,
			ours: spmv(semiring.PlusTimes[inputs.F64](), of64), peer: []string{"spmv_f64"}},
		{name: "spmv plus_times f32 rmat22", bar: .8, input: "rmat22", bytes: spmvBytes(4), rounds: 7,
			ours: spmv(semiring.PlusTimes[float32](), of32), peer: []string{"spmv_f32"}, tolerance: 1e-5},
		{name: "spmv min_plus f64 rmat22", bar: .8, input: "rmat22", bytes: spmvBytes(8), rounds: 7,
			ours: spmv(semiring.MinPlus[inputs.F64](), of64), peer: []string{"spmv_minplus_f64"}},
		{name: "bfs levels a source rmat22", bar: .9, input: "rmat22", ours: search(bfsBy(byDefault, false)), rival: search(bfsBy(byHand, false)), peer: []string{"bfs_level"}, perSource: true, rounds: 3},
		{name: "sssp a source weighted22", bar: .5, input: "weighted22", ours: search(ssspBy(byDefault)), rival: search(ssspBy(byHand)), peer: []string{"sssp"}, perSource: true,
			args: []string{inputs.SSSPDelta}, rounds: 3},
		{name: "spanning forest weighted21", bar: .8, input: "weighted21", peer: []string{"spanning"}, rounds: 3, ours: oursSpanning, rival: spanningByHand},
	}
}
