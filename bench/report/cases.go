package report

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// reportCase is one row of the report.
type reportCase struct {
	name     string // begins with the name of its table
	original string // the figure of the original report and its hardware; "" if none
	make     func(b *reportBench) (*reportTask, error)
}

// reportTask is a case prepared on the host.
type reportTask struct {
	input Input
	// ready moves the input to a place and returns a function that runs the workflow there.
	ready func(at matrix.Place, with apps.Run) (reportRun, error)
	files []peerFile          // what peers load; the first is what they run on
	peers map[string]peerCall // by column; the others have no such workflow
	// cusparse is the same by cuSPARSE, or nil.
	cusparse  func(s *gpuside.Peers) ([]gpuside.Contender, func(), error)
	slow      bool    // the host is left out beside a device
	tolerance float64 // of the check figures; 0 means 1e-9, below 0 that they differ
	notes     []string
	closers   []func()
}

// reportRun runs a workflow once by the clock. With look it also computes the
// figures by which results are compared, outside the time.
type reportRun func(clock func(func() error) (time.Duration, error), look bool) (outcome, error)

// outcome is the figures of a result.
type outcome struct {
	took   time.Duration
	check  float64
	result string  // its size, in words
	bytes  float64 // least number read and written; 0 if unknown
}

type peerFile struct {
	name  string
	write func(path string) error
}

type peerCall struct {
	name string
	args []string
	left string // why it is left out, "" if it runs
}

func (t *reportTask) finally(f func()) { t.closers = append(t.closers, f) }

func (t *reportTask) close() {
	for _, f := range t.closers {
		f()
	}
}

// reportCases lists the rows. The published figures are from Gunrock's HIVE report (2018) on its
// own data.
func reportCases() []reportCase {
	var cases []reportCase
	add := func(name, original string, make func(b *reportBench) (*reportTask, error)) {
		cases = append(cases, reportCase{name, original, make})
	}
	for _, size := range []string{"100k", "1m", "5m", "20m"} {
		original := map[string]string{
			"1m":  "60 ms, GraphBLAS 366 ms (P100), 9.06 s (OpenMP, 64 threads), SciPy 2.49 s: MovieLens, 63M entries",
			"5m":  "335 ms, GraphBLAS 1.22 s (P100), 29 s (OpenMP, 64 threads), SciPy 10.1 s: MovieLens, 157M entries",
			"20m": "GraphBLAS 5.01 s, Gunrock out of memory (P100), 103 s (OpenMP, 32 threads), SciPy 39 s: MovieLens, 287M entries",
		}[size]
		add("projection "+size, original, func(b *reportBench) (*reportTask, error) { return projectionTask(b, "bipartite"+size) })
	}
	for _, n := range []int{1 << 10, 1 << 12, 1 << 14, 1 << 15} {
		original := map[int]string{
			1 << 10: "182 ms (P100), 242 ms (Python): Kasios", 1 << 12: "1.03 s (P100), 6.5 s (Python): Kasios",
			1 << 14: "4.9 s (P100), 118 s (Python): Kasios", 1 << 15: "out of memory (P100), 479 s (Python): Kasios",
		}[n]
		add(fmt.Sprintf("sgm permuted %d", n), original, func(b *reportBench) (*reportTask, error) { return sgmPermuted(b, n) })
	}
	for _, size := range [][2]int{{16_784, 446_000}, {72_784, 2_400_000}} {
		original := map[int]string{
			16_784: "42.2 s with ε = 1, 121 s with .5 (P100), 920 s (Python): DS16784", 72_784: "out of memory (P100): DS72784",
		}[size[0]]
		add(fmt.Sprintf("sgm soft %d", size[0]), original, func(b *reportBench) (*reportTask, error) { return sgmSoft(b, size[0], size[1]) })
	}
	add("ac 1000", "42.5 ms (P100), 546 ms (OpenMP)", func(b *reportBench) (*reportTask, error) {
		return acTask("uniform ends", "n=1000 m=20135", inputs.ACSmall(b.shrink), 1)
	})
	add("ac social 5157", "451 ms (P100), 17.1 s (OpenMP, 32 threads): JohnsHopkins, 12 and 16 features, a pattern of a neighbourhood", func(b *reportBench) (*reportTask, error) {
		return acTask("R-MAT below 5157", "scale 13, 186572 edges", inputs.ACSocial(b.shrink), 0)
	})
	add("ac rmat18", "828 ms (P100/V100), 82.5 s (OpenMP, 64 threads)", func(b *reportBench) (*reportTask, error) {
		return acTask("R-MAT, and one vertex more", "scale 18, the first 2008660 edges", inputs.ACRMAT(b.shrink), 0)
	})
	for _, scale := range []int{16, 20} {
		add(fmt.Sprintf("lgc seed rmat%d", scale), "", func(b *reportBench) (*reportTask, error) { return lgcSeed(b, scale) })
	}
	for _, m := range []apps.ClusterMethod{apps.ClusterPush, apps.ClusterFISTA} {
		add("lgc near all kron21 "+m.String(), "628 ms (GPU), 89.4 s (CPU), 110 s (the HIVE reference): kron_g500-logn21", func(b *reportBench) (*reportTask, error) { return lgcNearAll(b, "kron21", m) })
	}
	for _, s := range louvainShapes {
		add("louvain "+s.name, s.original, func(b *reportBench) (*reportTask, error) { return s.task(b, apps.CommunitiesOptions{}) })
		if s.name == "coAuthorsDBLP" {
			add("louvain leiden "+s.name, "", func(b *reportBench) (*reportTask, error) { return s.task(b, apps.CommunitiesOptions{Leiden: true}) })
		}
	}
	return append(cases, moreCases()...)
}

// moreCases are the rows from vertex nomination on.
func moreCases() []reportCase {
	var cases []reportCase
	add := func(name, original string, make func(b *reportBench) (*reportTask, error)) {
		cases = append(cases, reportCase{name, original, make})
	}
	for _, scale := range []int{16, 18, 20} {
		for _, seeds := range []int{1, 100} {
			original := map[int]string{20: "13.8 ms (GPU), 2035 ms (CPU): hollywood-2009, 1.14M vertices, 57.5M edges"}[scale]
			add(fmt.Sprintf("vn %d seeds rmat%d", seeds, scale), original, func(b *reportBench) (*reportTask, error) { return vnTask(b.shrunk(scale), seeds) })
		}
	}
	for _, c := range []struct {
		scale, factor int
		original      string
	}{
		{14, 4, "0.461 ms (P100), 21.0 ms (OpenMP): Enron, 15k vertices, 57k edges"},
		{19, 4, "1.35 ms (P100), 101 ms (OpenMP): Amazon, 549k vertices, 1.85M edges"},
		{21, 6, "112 ms (P100), 64.7 s (OpenMP): as-Skitter, 1.70M vertices, 22.2M entries"},
		{20, 16, "202 ms (P100), 16.3 s (OpenMP): pokec, 1.63M vertices, 30.6M entries"},
	} {
		add(fmt.Sprintf("scan rmat%d", c.scale), c.original, func(b *reportBench) (*reportTask, error) { return scanTask(b, c.scale, c.factor) })
	}
	add("geo rmat18", "", func(b *reportBench) (*reportTask, error) { return geoTask(b, 18, 16) })
	add("geo rmat22", "15.1 ms (P100), 1590 ms (CPU), 8009 ms (OpenMP, 16 threads): Instagram, 23.7M vertices, 82.7M edges",
		func(b *reportBench) (*reportTask, error) { return geoTask(b, 22, 4) })
	add("search uniform rmat22", "630 ms (GPU), 3186 ms (OpenMP, 64 threads): Twitter, 9.29M vertices, 21.7M edges",
		func(b *reportBench) (*reportTask, error) { return searchTask(b, apps.SearchUniform, 22, 4) })
	add("search greedy rmat22", "64 ms (GPU), 236 ms (OpenMP, 64 threads): Twitter, directed",
		func(b *reportBench) (*reportTask, error) { return searchTask(b, apps.SearchGreedy, 22, 4) })
	for _, c := range []struct {
		features, samples int
		original          string
	}{
		{64, 10, "602 ms (V100), 1745 ms (P100), 17.1 s (OpenMP): pokec"},
		{64, 25, "1379 ms (V100), 3806 ms (P100), 34.5 s (OpenMP): pokec"},
		{128, 10, "1000 ms (V100), 2951 ms (P100), 29.0 s (OpenMP): pokec"},
		{128, 25, "2366 ms (V100), 6792 ms (P100), 63.9 s (OpenMP): pokec"},
	} {
		add(fmt.Sprintf("sage %d features %d×%d", c.features, c.samples, c.samples), c.original,
			func(b *reportBench) (*reportTask, error) { return sageTask(b, c.features, c.samples, true) })
	}
	add("sage 64 features 10×10 shared", "", func(b *reportBench) (*reportTask, error) { return sageTask(b, 64, 10, false) })
	for _, c := range []struct{ name, original string }{
		{"taxi2", "4.98 s (GPU), .11 s (serial Graphtv): NY taxi, 8922 vertices, 20349 edges"},
		{"taxi24", "144 s (GPU), 8.71 s (serial Graphtv): NY taxi, 107064 vertices, 293259 edges"},
		{"taxi", "211 s (GPU), 104 s (serial Graphtv): NY taxi, 213360 vertices, 588211 edges"},
	} {
		add("lasso "+c.name+" λ₁ = 6", c.original, func(b *reportBench) (*reportTask, error) { return lassoTask(b, c.name, 6) })
	}
	add("lasso taxi λ₁ = 1", "", func(b *reportBench) (*reportTask, error) { return lassoTask(b, "taxi", 1) })
	return cases
}

// shrunk is a binary logarithm of a size, smaller where the report is.
func (b *reportBench) shrunk(scale int) int { return max(scale-b.shrink, 5) }

// graphFile writes a graph for the peers.
func graphFile(g *gen.Graph, val []float64) []peerFile {
	return []peerFile{{"graph", func(path string) error { return peers.WriteGraph(path, g, val) }}}
}

// ones makes a matrix of a graph at a place.
func ones[T semiring.Number](g *gen.Graph, at matrix.Place) (*matrix.Matrix[T], error) {
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, func(uint64) T { return 1 }))
	if err != nil {
		return nil, err
	}
	return a, a.Move(at)
}

// projectionTask counts shared neighbours of the columns, the diagonal
// included, as AᵀA of a pattern.
func projectionTask(b *reportBench, name string) (*reportTask, error) {
	in, err := inputs.MakeGPU(name, b.shrink)
	if err != nil {
		return nil, err
	}
	g := in.Graph
	t := projectionOf(g, Input{Generator: "gen.Bipartite", Parameters: fmt.Sprintf("%d×%d, %d entries", g.NRows, g.NCols, g.NNZ()), Seed: 1})
	t.files = graphFile(g, nil)
	t.peers = map[string]peerCall{"SciPy": {name: "ata_plus_pair"}, "SuiteSparse": {name: "ata_plus_pair"}, "NetworkX": {name: "ata_plus_pair"}}
	if g.NNZ() > 6_000_000 {
		for _, column := range []string{"SciPy", "SuiteSparse"} {
			t.peers[column] = peerCall{left: "it takes minutes"}
		}
	}
	if g.NNZ() > 10_000 {
		t.peers["NetworkX"] = peerCall{left: "it takes minutes above 10⁴ entries"}
	}
	t.notes = []string{"Projections: ours counts in int32 on a device and in int64 on the host, as SciPy and SuiteSparse do; cuSPARSE multiplies in fp32"}
	if name == "bipartite100k" || name == "bipartite1m" {
		t.cusparse = func(s *gpuside.Peers) ([]gpuside.Contender, func(), error) {
			val := inputs.Values(g, func(uint64) float32 { return 1 })
			left, lval := inputs.Flipped(g, val)
			return gpuside.SpgemmPeers(s, left, g, lval, val)
		}
	}
	return t, nil
}

func projectionOf(g *gen.Graph, in Input) *reportTask {
	return &reportTask{input: in.of(g), ready: func(at matrix.Place, with apps.Run) (reportRun, error) {
		if at == nil {
			return projectionAt[int64](g, at, with)
		}
		return projectionAt[int32](g, at, with)
	}}
}

func projectionAt[T semiring.Number](g *gen.Graph, at matrix.Place, with apps.Run) (reportRun, error) {
	a, err := ones[T](g, at)
	if err != nil {
		return nil, err
	}
	return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
		var p *matrix.Matrix[T]
		in := inputs.Bare(a) // its transpose is part of the work
		if err := in.Move(at); err != nil {
			return o, err
		}
		o.took, err = clock(func() (err error) {
			p, err = apps.Projection(in, apps.ProjectionOptions{Run: with, Weighting: apps.WeightCount, Diagonal: true})
			return err
		})
		if err != nil || !look {
			return o, err
		}
		o.result = fmt.Sprintf("%d entries", p.NVals())
		o.bytes = 8*float64(g.NNZ()) + 8*float64(2*g.NRows+g.NCols) + float64(4+inputs.WidthOf[T]())*float64(p.NVals())
		o.check = inputs.CheckMatrix(p)
		return o, nil
	}, nil
}

// acTask matches the pattern of 10 vertices and 20 edges. SciPy's is NumPy's.
func acTask(generator, parameters string, t gen.Tuples, seed uint64) (*reportTask, error) {
	task := &reportTask{tolerance: 1e-5, input: Input{Generator: generator, Parameters: parameters + ", 13 and 17 features, a pattern of 10 and 20", Seed: seed,
		Rows: t.NRows, Cols: t.NCols, Entries: int64(t.Len())}}
	task.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		data, err := inputs.Attributed(t, 1)
		if err != nil {
			return nil, err
		}
		pattern, err := inputs.ACPattern()
		if err != nil {
			return nil, err
		}
		for _, g := range []*apps.Attributed{data, pattern} {
			if err := g.Move(at); err != nil {
				return nil, err
			}
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var mu *matrix.Matrix[float32]
			o.took, err = clock(func() (err error) {
				mu, err = apps.Classify(data, pattern, apps.ClassifyOptions{Run: with, Trusted: true})
				return err
			})
			if err != nil || !look {
				return o, err
			}
			n, np := mu.Dims()
			o.result, o.bytes, o.check = fmt.Sprintf("%d×%d", n, np), inputs.ACBytes(t), inputs.CheckMatrix(mu)
			return o, nil
		}, nil
	}
	task.files = []peerFile{{"tuples", func(path string) error { return peers.WriteTuples(path, t, make([]float64, t.Len())) }}}
	task.peers = map[string]peerCall{"SciPy": {name: "classify"}}
	if t.Len() > 1<<20 {
		task.peers["SciPy"] = peerCall{left: "it takes 30 to 60 s"}
	}
	return task, nil
}

// lgcSeed clusters around one vertex; the support is about 1000 at full size.
func lgcSeed(b *reportBench, scale int) (*reportTask, error) {
	rho := map[int]float64{16: 2e-6, 20: inputs.LGCRho}[scale] * float64(int(1)<<b.shrink)
	s := b.shrunk(scale)
	g := gen.CSR(gen.Symmetrise(gen.RMAT(s, 16, gen.RMATOptions{})))
	return lgcOf(g, symmetricRMAT(s, 16), apps.LocalClusterOptions{Rho: rho}), nil
}

func symmetricRMAT(scale, factor int) Input {
	return Input{Generator: "gen.RMAT, gen.Symmetrise", Parameters: fmt.Sprintf("scale %d, edge factor %d, a=.57 b=.19 c=.19", scale, factor)}
}

// lgcNearAll has a penalty so small that nearly all vertices are found.
func lgcNearAll(b *reportBench, name string, m apps.ClusterMethod) (*reportTask, error) {
	in, err := inputs.MakeGPU(name, b.shrink)
	if err != nil {
		return nil, err
	}
	return lgcOf(in.Graph, symmetricRMAT(max(21-b.shrink, 5), 22), nearAll(in.Graph, m)), nil
}

func nearAll(g *gen.Graph, m apps.ClusterMethod) apps.LocalClusterOptions {
	return apps.LocalClusterOptions{Rho: 1 / (100 * float64(g.NNZ())), Epsilon: 1e-2, Method: m}
}

func lgcOf(g *gen.Graph, in Input, o apps.LocalClusterOptions) *reportTask {
	in.Parameters += fmt.Sprintf("; α=0.15 ρ=%.3g, %v", o.Rho, o.Method)
	seed := inputs.SourcesOf(g, 1)
	t := &reportTask{input: in.of(g), tolerance: 1e-3}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float32](g, nil)
		if err != nil {
			return nil, err
		}
		a.IsSymmetric()
		if err := a.Move(at); err != nil {
			return nil, err
		}
		o := o
		o.Run = with
		c, err := apps.NewClusterer(a, with)
		if err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (out outcome, err error) {
			var res *apps.LocalClusterResult
			out.took, err = clock(func() (err error) { res, err = c.Cluster(seed, o); return err })
			if err != nil || !look {
				return out, err
			}
			out.result, out.check = fmt.Sprintf("support %d, %d iterations", res.Support, res.Iterations), res.Objective
			if 2*res.Support > int64(g.NRows) {
				out.bytes = float64(res.Iterations) * (4*float64(g.NNZ()) + 100*float64(g.NRows))
			}
			return out, nil
		}, nil
	}
	return t
}

// louvainShape is a graph of the report's chapter on communities, and what stands for it: planted
// communities with its vertices and edges, or R-MAT of the nearest scale. Web graphs, roads of
// whole continents and geometric graphs of its size have no generator here.
type louvainShape struct {
	name     string
	n, m     int     // vertices, edges in one direction
	mixing   float64 // share of the edges between communities; 0: R-MAT of scale n and edge factor m
	original string
}

var louvainShapes = []louvainShape{
	{"preferentialAttachment", 17, 4, 0, "76 ms (V100), 96 ms (OpenMP), 235 ms (serial); Q .176, .229, .285"},
	{"caidaRouterLevel", 192_244, 609_066, .15, "63 ms (V100), 65 ms (OpenMP), 229 ms (serial); Q .850, .836, .844"},
	{"amazon", 548_551, 925_872, .07, "122 ms (V100), 198 ms (OpenMP), 631 ms (serial); Q .909, .926, .926"},
	{"coAuthorsDBLP", 299_067, 977_676, .2, "82 ms (V100), 133 ms (OpenMP), 414 ms (serial); Q .809, .814, .827"},
	{"citationCiteseer", 268_495, 1_156_647, .2, "74 ms (V100), 111 ms (OpenMP), 432 ms (serial); Q .789, .761, .803"},
	{"as-Skitter", 21, 6, 0, "376 ms (V100), 660 ms (OpenMP), 2.48 s (serial); Q .837, .822, .813"},
	{"coPapersDBLP", 540_486, 15_240_729, .15, "358 ms (V100), 437 ms (OpenMP), 1.86 s (serial); Q .849, .844, .849"},
	{"pokec", 20, 16, 0, "624 ms (V100), 1.08 s (OpenMP), 6.11 s (serial); Q .674, .676, .695"},
	{"coPapersCiteseer", 434_102, 16_036_720, .1, "353 ms (V100), 391 ms (OpenMP), 1.59 s (serial); Q .908, .906, .911"},
	{"soc-LiveJournal1", 22, 8, 0, "1.55 s (V100), 4.02 s (OpenMP), 16.3 s (serial); Q .734 (V100)"},
}

func (s louvainShape) task(b *reportBench, o apps.CommunitiesOptions) (*reportTask, error) {
	if s.mixing == 0 {
		scale := b.shrunk(s.n)
		return louvainOf(gen.CSR(gen.Symmetrise(gen.RMAT(scale, s.m, gen.RMATOptions{}))), symmetricRMAT(scale, s.m), o), nil
	}
	n, m := max(s.n>>b.shrink, 100), max(s.m>>b.shrink, 300)
	t, _ := gen.Planted(n, m, s.mixing, 1)
	in := Input{Generator: "gen.Planted, gen.Symmetrise", Parameters: fmt.Sprintf("%d vertices, %d edges, mixing %v", n, m, s.mixing), Seed: 1}
	return louvainOf(gen.CSR(gen.Symmetrise(t)), in, o), nil
}

// louvainOf partitions a graph; the check figure is the modularity.
func louvainOf(g *gen.Graph, in Input, o apps.CommunitiesOptions) *reportTask {
	t := &reportTask{input: in.of(g), tolerance: .1, files: graphFile(g, nil)}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float32](g, at)
		if err != nil {
			return nil, err
		}
		o := o
		o.Run = with
		return func(clock func(func() error) (time.Duration, error), look bool) (out outcome, err error) {
			var res *apps.CommunitiesResult
			out.took, err = clock(func() (err error) { res, err = apps.Communities(a.View().Pattern(), o); return err })
			if err != nil || !look {
				return out, err
			}
			out.result = fmt.Sprintf("%d communities, modularity %.4f", res.Count, res.Modularity)
			out.check = res.Modularity
			return out, nil
		}, nil
	}
	switch {
	case o.Leiden:
	case g.NNZ() > 1_000_000:
		t.peers = map[string]peerCall{"NetworkX": {left: "it takes minutes"}}
	default:
		t.peers = map[string]peerCall{"NetworkX": {name: "louvain"}}
	}
	return t
}

// vnTask finds the distance of every vertex to the nearest of some seeds.
func vnTask(scale, seeds int) (*reportTask, error) {
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 16, gen.RMATOptions{})))
	weights := gen.UniformInts(g, 1, 255, 3, true)
	val, wide := make([]float32, len(weights)), make([]float64, len(weights))
	for p, w := range weights {
		val[p], wide[p] = float32(w), float64(w)
	}
	from := inputs.SourcesOf(g, seeds)
	in := symmetricRMAT(scale, 16)
	in.Parameters += "; weights 1…255, seed 3"
	t := &reportTask{input: in.of(g), files: graphFile(g, wide)}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
		if err != nil {
			return nil, err
		}
		a.IsSymmetric()
		if err := a.Move(at); err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var d *matrix.Vector[float32]
			o.took, err = clock(func() (err error) {
				d, err = apps.VertexNomination(a, from, apps.VertexNominationOptions[float32]{Run: with})
				return err
			})
			if err != nil || !look {
				return o, err
			}
			o.result, o.check = fmt.Sprintf("%d reached", d.NVals()), inputs.CheckVector(d)
			o.bytes = 8*float64(g.NNZ()) + 12*float64(g.NRows)
			return o, nil
		}, nil
	}
	args := make([]string, len(from))
	for k, v := range from {
		args[k] = fmt.Sprint(v)
	}
	t.peers = map[string]peerCall{"SciPy": {name: "nominate", args: args}, "NetworkX": {name: "nominate", args: args}}
	if g.NNZ() > 6_000_000 {
		t.peers["NetworkX"] = peerCall{left: "it takes minutes"}
	}
	if seeds == 1 { // its workflow has one source
		t.peers["SuiteSparse"] = peerCall{name: "sssp", args: []string{args[0], inputs.SSSPDelta}}
	}
	return t, nil
}
