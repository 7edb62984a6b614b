package gpu

import (
	"fmt"
	"strings"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/semiring"
)

// gpuCases lists the rows of the table and their bars. Cases of one input are adjacent,
// since some inputs take long to make.
func gpuCases() []gpuCase {
	var cases []gpuCase
	add := func(name string, bar Bar, input string, plan func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error)) {
		cases = append(cases, gpuCase{name, bar, input, plan})
	}
	ratio := func(r float64) Bar { return Bar{Ratio: r} }
	ms := func(t float64) Bar { return Bar{Ms: t} }

	add("op on 1000 entries", ms(.030), "", gpuSmall)
	add("first use", ms(600), "", gpuFirstUse)
	for _, s := range []struct {
		size        string
		peer        bool
		pair, float Bar
	}{
		{"1m", true, ratio(.07), ratio(.12)},
		{"5m", false, ms(3.5), ms(9)},
		{"20m", false, ms(12), ms(40)},
	} {
		add("spgemm AᵀA plus_pair "+s.size, s.pair, "bipartite"+s.size, gpuSpGEMM{gram: true, pair: true, peer: s.peer}.plan)
		add("spgemm AᵀA fp32 "+s.size, s.float, "bipartite"+s.size, gpuSpGEMM{gram: true, peer: s.peer}.plan)
	}
	add("chunked AᵀA fp32 20m into host memory", ms(250), "bipartite20m", gpuChunked(0))
	add("chunked AᵀA fp32 20m within 1 GiB", Bar{Ratio: 2}, "bipartite20m", gpuChunked(gpuside.OneGiB))
	add("chunked AᵀA fp32 rmat18 into host memory", Bar{Ratio: 1.5, Ms: 3000}, "factor18", gpuChunked(0))
	add("spgemm S·S fp32 rmat16", ratio(.3), "symmetric16", gpuSpGEMM{peer: true}.plan)
	for _, c := range []struct {
		name, input    string
		single, double Bar
	}{
		{"grid2048", "grid2048", Bar{Ratio: .8, Ms: 1.5}, Bar{Ratio: .6, Ms: 1.5}},
		{"uniform 1m x8", "uniform1048576x8", ratio(.8), ratio(.5)},
		{"uniform 1m x16", "uniform1048576x16", ratio(.35), ratio(.35)},
		{"27 diagonals 1m", "stencil100", ratio(.2), ratio(.2)},
	} {
		add("spgemm A·A fp32 "+c.name, c.single, c.input, gpuSpGEMM{peer: true}.plan)
		add("spgemm A·A fp64 "+c.name, c.double, c.input, gpuSpGEMM{peer: true, double: true}.plan)
	}
	for _, scale := range []int{18, 20, 22} {
		input := fmt.Sprintf("directed%d", scale)
		name := func(s string) string { return fmt.Sprintf("spmv %s rmat%d", s, scale) }
		add(name("fp32 plain"), ratio(1), input, floatSpMV[float32](plainCSR))
		add(name("fp32 chosen"), ratio(map[int]float64{18: .9, 20: 1, 22: .93}[scale]), input, floatSpMV[float32](chosen))
		add(name("fp64 plain"), ratio(1), input, floatSpMV[float64](plainCSR))
		if scale == 18 {
			continue
		}
		add(name("fp32 columns"), ratio(.75), input, floatSpMV[float32](byColumns))
		add(name("fp32 rows+columns"), ratio(.65), input, floatSpMV[float32](byBoth))
		add(name("fp64 rows+columns"), ratio(.8), input, floatSpMV[float64](byBoth))
		add(name("pattern rows+columns"), ratio(.6), input, patternSpMV)
		if scale == 20 {
			add("spmm 64 columns fp32 rmat20", ratio(.8), input, gpuSpMM(64))
			continue
		}
		add(name("min_plus fp32"), ratio(1.1), input, semiringSpMV(semiring.MinPlus[float32](), inputs.Unit[float32], inputs.Unit[float32], inputs.Unit[float32]))
		add(name("user-defined fp32"), ratio(1.1), input, semiringSpMV(ratioSemiring(), inputs.Unit[float32], inputs.Unit[float32], inputs.Unit[float32]))
		add(name("masked fp32"), ratio(1.1), input, writingSpMV(true))
		add(name("accumulated fp32"), ratio(1.1), input, writingSpMV(false))
		add(name("lor_land"), ratio(1.1), input, semiringSpMV(semiring.LorLand(), odd, odd, oneByte))
		add("pagerank an iteration rmat22", ratio(1.1), input, gpuPageRank)
	}
	add("classify 1000 vertices 20135 edges", ms(2), "", gpuClassify(inputs.ACSmall))
	add("classify rmat18 shape", ms(15), "", gpuClassify(inputs.ACRMAT))
	add("local cluster near all vertices kron21", ms(100), "kron21", gpuLocalCluster)
	add("local cluster batch of 4096 rmat20", Bar{Ratio: 1.0 / 50}, "symmetric20", gpuClusterBatch)
	add("triangles rmat20", ms(2.5), "symmetric20", gpuTriangles)
	add("scan statistics rmat20", Bar{Ratio: 1.6, Ms: 3.1}, "symmetric20", gpuScan)
	add("scan statistics rmat22", Bar{Ratio: 1.6, Ms: 22}, "symmetric22", gpuScan)
	add("geolocation fp32 rmat22", ms(10.3), "symmetric22", gpuGeo(true, false))
	add("geolocation fp64 rmat22", ms(28), "symmetric22", gpuGeo(false, false))
	add("geolocation pass without result rmat22", ms(.15), "symmetric22", gpuGeo(false, true))
	for _, c := range []struct {
		name      string
		samples   []int
		fp32, f16 float64
	}{{"8x8", []int{8, 8}, 5.9, 3.4}, {"25x10", []int{25, 10}, 17, 11}, {"all", nil, 3.3, 1.7}} {
		o := apps.SAGEOptions{Samples: c.samples, Replace: true}
		const input = "uniform1632803x19"
		add("graphsage "+c.name+" fp32", ms(c.fp32), input, gpuSAGE(inputs.SageReport, o))
		o.Precision = apps.SAGEFloat16
		add("graphsage "+c.name+" fp16", ms(c.f16), input, gpuSAGE(inputs.SageReport, o))
	}
	add("graphsage wide all tf32", ms(44), "uniform4190000x16", gpuSAGE(inputs.SageWide, apps.SAGEOptions{Precision: apps.SAGETF32}))
	add("graphsage wide all fp16", ms(20), "uniform4190000x16", gpuSAGE(inputs.SageWide, apps.SAGEOptions{Precision: apps.SAGEFloat16}))
	add("graphsage epoch 2708", ms(.25), "uniform2708x4", gpuSAGETraining(1433, 64, 7, .0127))
	add("graphsage epoch 1632803", ms(10.5), "uniform1632803x19", gpuSAGETraining(64, 16, 16, 1))
	add("walks uniform rmat22", ms(2.7), "symmetric22", gpuWalks(apps.SearchOptions{Length: inputs.WalkLength}, false))
	add("walks uniform paths rmat22", ms(2.4), "symmetric22", gpuWalks(apps.SearchOptions{Length: inputs.WalkLength, Paths: true}, false))
	add("walks uniform rmat24", ms(7.4), "sparse24", gpuWalks(apps.SearchOptions{Length: inputs.WalkLength}, false))
	add("walks p q rmat22", ms(16), "symmetric22", gpuWalks(apps.SearchOptions{Length: inputs.WalkLength, Return: 2, InOut: .5}, false))
	add("walks stochastic rmat22", ms(2.9), "symmetric22", gpuWalks(apps.SearchOptions{Rule: apps.SearchStochastic, Length: inputs.WalkLength}, false))
	add("walks stochastic tables rmat22", ms(90), "symmetric22", gpuWalks(apps.SearchOptions{Rule: apps.SearchStochastic, Length: 1}, true))
	add("walks greedy tables rmat22", ms(1.3), "symmetric22", gpuWalks(apps.SearchOptions{Rule: apps.SearchGreedy, Length: 1}, true))
	add("walks greedy 128 rmat22", ms(.5), "symmetric22", gpuWalks(apps.SearchOptions{Rule: apps.SearchGreedy, Length: 128}, false))
	add("walks greedy 128 paths rmat22", ms(.5), "symmetric22", gpuWalks(apps.SearchOptions{Rule: apps.SearchGreedy, Length: 128, Paths: true}, false))
	for _, c := range []struct {
		input  string
		lambda float64
		most   float64
	}{
		{"planar213k", 1, 33}, {"planar213k", 5, 41}, {"taxi", 6, 44}, {"rmatsignal16", .1, 97}, {"rmatsignal16", .5, 103},
		{"planar1m", 1, 299}, {"grid1024", 1, 299},
	} {
		add(fmt.Sprintf("fused lasso %s λ₁ = %v", c.input, c.lambda), ms(c.most), c.input, gpuLasso(c.lambda))
	}
	add("fused lasso path of 20 λ₁ planar213k", Bar{Ratio: .4}, "planar213k", gpuLassoPath)
	add("fused lasso batch of 64 planar16k", Bar{Ratio: .3}, "planar16k", gpuLassoBatch)
	for _, name := range []string{"grid1024", "rmat18", "planar1m"} {
		add("maximum flow "+name, Bar{Ratio: .2}, "flow"+name, gpuFlow(name == "rmat18"))
	}
	for _, c := range []struct {
		name, input       string
		ms, fast          float64 // deterministic, and not
		least, leastFast  float64
		leiden, leidenMin float64
	}{
		{"planted 1m", "planted1000000", 16, 13.5, .685, .685, 33, .685},
		{"planted 4m", "planted4000000", 58, 41, .685, .685, 140, .685},
		{"rmat20", "symmetric20", 30, 12, .071, .072, 0, 0},
		{"grid 2048²", "grid2048", 34, 0, .9845, 0, 0, 0},
	} {
		o := apps.CommunitiesOptions{}
		add("louvain "+c.name, ms(c.ms), c.input, gpuLouvain{o, c.least, c.name == "rmat20"}.plan)
		if c.fast > 0 {
			o := apps.CommunitiesOptions{Nondeterministic: true}
			add("louvain "+c.name+", not deterministic", ms(c.fast), c.input, gpuLouvain{o, c.leastFast, false}.plan)
		}
		if c.name == "rmat20" {
			o := apps.CommunitiesOptions{Nondeterministic: true, Passes: 2}
			add("louvain "+c.name+", not deterministic, 2 passes", ms(21), c.input, gpuLouvain{o, .074, false}.plan)
		}
		if c.leiden > 0 {
			o := apps.CommunitiesOptions{Leiden: true, Passes: 1}
			add("leiden "+c.name, ms(c.leiden), c.input, gpuLouvain{o, c.leidenMin, false}.plan)
		}
	}
	add("leiden email-Enron, 2 passes", ms(21), inputs.DataInput+"email-Enron", gpuLouvain{apps.CommunitiesOptions{Leiden: true}, .622, true}.plan)
	cases = append(cases, gpuStandardCases()...)
	add("bfs rmat22", ms(.15), "symmetric22", gpuBFS)
	add("components rmat22", ms(5), "symmetric22", gpuComponents)
	add("sssp rmat22", ms(10), "symmetric22", gpuSSSP)
	for _, c := range []struct {
		input                 string
		bfs, sssp, components float64 // bars, against the fused form
	}{{"symmetric18", 2, 1.4, 1.5}, {"symmetric20", 1.5, 1.4, 1.5}, {"symmetric22", 1.5, 1.4, 1.5}, {"grid2048", .8, 0, 0}} {
		name := strings.Replace(c.input, "symmetric", "rmat", 1)
		add("loop bfs "+name, ratio(c.bfs), c.input, loopBFS)
		if strings.HasPrefix(c.input, "symmetric") && c.input != "symmetric22" {
			add("pipeline triangles "+name, ratio(1.5), c.input, pipelineTriangles)
			add("pipeline scan statistics "+name, ratio(2), c.input, pipelineScan)
		}
		if c.sssp > 0 {
			add("loop sssp "+name, ratio(c.sssp), c.input, loopSSSP)
			add("loop components "+name, ratio(c.components), c.input, loopComponents)
			add("loop delta-stepping "+name, ratio(c.sssp), c.input, loopDelta)
			add("loop cores "+name, ratio(1), c.input, loopCores)
			add("loop independent set "+name, ratio(1.5), c.input, loopSet)
		}
		if c.input == "symmetric22" {
			continue
		}
		hops, budget := int64(6), int32(64)
		if c.input == "grid2048" {
			hops, budget = 512, 4096
		}
		add("own k-hop "+name, ratio(1.5), c.input, ownReach(hops, budget))
		add("own spreading "+name, ratio(1.5), c.input, ownSpread)
		add("own jacobi "+name, ratio(1.5), c.input, ownJacobi)
		add("own k-means "+name, ratio(1.5), c.input, ownKMeans)
	}
	cases = append(cases, hostRowsCases()...)
	add("loop scc rmat18", ratio(1.3), "directed18", loopStrong)
	add("loop scc rmat20", ratio(1.3), "directed20", loopStrong)
	for _, g := range []struct {
		name, input              string
		bfs, sssp, hcc, pageRank float64 // bars in ms, 0 for none
	}{
		{"rmat22", "symmetric22", .22, 3.3, .75, 0},
		{"grid2048", "grid2048", 0, 0, 0, 0},
	} {
		bar := func(t float64) Bar { return Bar{Ratio: 1.15, Ms: t} }
		add("program bfs "+g.name, bar(g.bfs), g.input, programBFS)
		add("program sssp "+g.name, bar(g.sssp), g.input, programSSSP)
		add("program hcc "+g.name, bar(g.hcc), g.input, programHCC)
		add("program pagerank "+g.name, bar(g.pageRank), g.input, programPageRank)
		for _, face := range []string{"EdgeMessageVertex", "EdgeVertex"} {
			add("faces sssp "+g.name+" "+face, ratio(1.05), g.input, facesSSSP(face))
			add("faces pagerank "+g.name+" "+face, ratio(1.05), g.input, facesPageRank(face))
		}
	}
	for _, c := range []struct {
		name, input string
		diagonal    float64
	}{{"grid 1024²", "square1024", 4}, {"grid 100³", "cube100", 6}, {"rmat18", "symmetric18", 0}} {
		add("spsv lower fp64 "+c.name, ratio(1), c.input, triangleCase{diagonal: c.diagonal}.plan)
		add("spsv 16 columns lower fp64 "+c.name, ratio(1), c.input, triangleCase{c.diagonal, 16}.plan)
		add("solve cg ic0 "+c.name, ratio(1), c.input, gpuCG(c.diagonal))
	}
	add("assignment dense 4000", ratio(.2), "", denseAssign(4000).plan)
	add("assignment dense 10000", ratio(.1), "", denseAssign(10000).plan)
	add("assignment counts 16384 exact", ms(1000), "", countsAssign(0).plan)
	add("assignment counts 16384 ε=1", ms(100), "", countsAssign(1).plan)
	return cases
}
