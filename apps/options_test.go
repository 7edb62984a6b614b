package apps

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
)

// calls runs every workflow with the settings that a case gives: none, one value, or two.
func calls(t *testing.T, g *matrix.Matrix[float64], c *Clusterer, a *Attributed, times int) map[string]error {
	t.Helper()
	got := map[string]error{}
	keep := func(name string, err error) { got[name] = err }
	_, err := BFS(g, 0, make([]BFSOptions, times)...)
	keep("BFS", err)
	_, err = ConnectedComponents(g, make([]ComponentsOptions, times)...)
	keep("ConnectedComponents", err)
	_, err = Classify(a, a, make([]ClassifyOptions, times)...)
	keep("Classify", err)
	_, err = KTruss(g, 3, make([]KTrussOptions, times)...)
	keep("KTruss", err)
	_, err = LocalCluster(g, []int{0}, make([]LocalClusterOptions, times)...)
	keep("LocalCluster", err)
	_, err = NewClusterer(g, make([]Run, times)...)
	keep("NewClusterer", err)
	_, err = c.Cluster([]int{0}, make([]LocalClusterOptions, times)...)
	keep("Cluster", err)
	_, err = c.Batch([]int{0}, 0, make([]LocalClusterOptions, times)...)
	keep("Batch", err)
	_, err = PageRank(g, make([]PageRankOptions, times)...)
	keep("PageRank", err)
	_, err = Projection(g, make([]ProjectionOptions, times)...)
	keep("Projection", err)
	n, _ := g.Dims()
	_, err = ProjectionTo(chunked.Into(matrix.New[float64](n, n)), g, make([]ProjectionOptions, times)...)
	keep("ProjectionTo", err)
	l, err := NewLocations(n, []int{0}, []float64{1}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Geolocate(g, l, make([]GeolocateOptions, times)...)
	keep("Geolocate", err)
	_, err = ReadLocations(strings.NewReader("0 1 2"), n, make([]LocationOptions, times)...)
	keep("ReadLocations", err)
	_, err = GraphSearch(g, nil, nil, make([]SearchOptions, times)...)
	keep("GraphSearch", err)
	_, err = ReadScores(strings.NewReader(strings.Repeat("1\n", n)), n, make([]ScoreFileOptions, times)...)
	keep("ReadScores", err)
	x, err := matrix.NewFull[float32](n, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = GraphSAGE(g, x, meanModel(3, 2), make([]SAGEOptions, times)...)
	keep("GraphSAGE", err)
	few := slices.Repeat([]SAGETrainOptions{{Epochs: 1, Hidden: []int{2}}}, max(times, 1))
	_, err = TrainGraphSAGE(g, x, nil, SAGESplit{}, few...)
	keep("TrainGraphSAGE", err)
	_, err = ReadFeatures(strings.NewReader("1"), slices.Repeat([]FeatureOptions{{Format: "csv"}}, max(times, 1))...)
	keep("ReadFeatures", err)
	_, err = ScanStatistics(g, make([]ScanOptions, times)...)
	keep("ScanStatistics", err)
	_, err = ScanSeries(&TimedEdges{}, slices.Repeat([]ScanSeriesOptions{{Window: 1}}, max(times, 1))...)
	keep("ScanSeries", err)
	_, err = SGM(g, g, FirstSeeds(4), make([]SGMOptions, times)...)
	keep("SGM", err)
	_, err = MaxFlow(g, 0, 1, make([]MaxFlowOptions, times)...)
	keep("MaxFlow", err)
	y := matrix.NewVector[float64](0)
	if err := errors.Join(y.Resize(n), ops.AssignVectorScalar(y, 1, ops.All())); err != nil {
		t.Fatal(err)
	}
	_, err = FusedLasso(g, y, make([]FusedLassoOptions, times)...)
	keep("FusedLasso", err)
	_, err = FusedLassoPath(g, y, []float64{1}, make([]FusedLassoOptions, times)...)
	keep("FusedLassoPath", err)
	ys, err := matrix.NewFull[float64](n, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = FusedLassoBatch(g, ys, make([]FusedLassoOptions, times)...)
	keep("FusedLassoBatch", err)
	_, err = ReadValues(strings.NewReader("1"), 1, make([]ValueOptions, times)...)
	keep("ReadValues", err)
	_, err = SSSP(g, []int{0}, make([]SSSPOptions[float64], times)...)
	keep("SSSP", err)
	_, err = TriangleCount(g, make([]TriangleOptions, times)...)
	keep("TriangleCount", err)
	_, err = StronglyConnectedComponents(g, make([]ComponentsOptions, times)...)
	keep("StronglyConnectedComponents", err)
	_, err = CoreNumbers(g, make([]CoreOptions, times)...)
	keep("CoreNumbers", err)
	_, err = Betweenness(g, make([]BetweennessOptions, times)...)
	keep("Betweenness", err)
	_, err = Closeness(g, make([]ClosenessOptions, times)...)
	keep("Closeness", err)
	_, err = LocalClustering(g, make([]ClusteringOptions, times)...)
	keep("LocalClustering", err)
	_, err = LabelPropagation(g, make([]LabelPropagationOptions, times)...)
	keep("LabelPropagation", err)
	_, err = MaximalIndependentSet(g, make([]IndependentSetOptions, times)...)
	keep("MaximalIndependentSet", err)
	_, err = Colouring(g, make([]ColouringOptions, times)...)
	keep("Colouring", err)
	_, err = WeightedPageRank(g, make([]PageRankOptions, times)...)
	keep("WeightedPageRank", err)
	_, err = HITS(g, make([]CentralityOptions, times)...)
	keep("HITS", err)
	_, err = EigenvectorCentrality(g, make([]CentralityOptions, times)...)
	keep("EigenvectorCentrality", err)
	_, err = KatzCentrality(g, make([]CentralityOptions, times)...)
	keep("KatzCentrality", err)
	_, err = Similarity(g, make([]SimilarityOptions, times)...)
	keep("Similarity", err)
	_, err = MinimumSpanningForest(g, make([]SpanningOptions, times)...)
	keep("MinimumSpanningForest", err)
	_, err = BipartiteMatching(g, make([]MatchingOptions, times)...)
	keep("BipartiteMatching", err)
	_, err = Diameter(g, make([]DiameterOptions, times)...)
	keep("Diameter", err)
	_, err = TopologicalOrder(matrix.New[float64](n, n), make([]TopologicalOptions, times)...)
	keep("TopologicalOrder", err)
	_, err = NominateVertices(g, []int{0}, make([]NominateOptions, times)...)
	keep("NominateVertices", err)
	_, err = VertexNomination(g, []int{0}, make([]VertexNominationOptions[float64], times)...)
	keep("VertexNomination", err)
	return got
}

// The settings of every workflow may be left out or given once; two values are an error.
func TestSettingsOnce(t *testing.T) {
	g := own(t, testdata.Karate)
	c, err := NewClusterer(g)
	if err != nil {
		t.Fatal(err)
	}
	vertices, e1 := matrix.FromDense(1, 2, []float32{1, 2})
	edges, e2 := matrix.FromDense(1, 1, []float32{3})
	a, e3 := NewAttributed(vertices, edges, []int32{0}, []int32{1})
	if err := errors.Join(e1, e2, e3); err != nil {
		t.Fatal(err)
	}
	for times := range 2 {
		for name, err := range calls(t, g, c, a, times) {
			if err != nil {
				t.Errorf("%s with %d values of its settings: %v", name, times, err)
			}
		}
	}
	for name, err := range calls(t, g, c, a, 2) {
		if parameter := new(*ParameterError); !errors.As(err, parameter) {
			t.Errorf("%s with two values of its settings: %v, want a *ParameterError", name, err)
		}
	}
	if _, err := ReadAttributedFiles("", "", Run{}, Run{}); !errors.As(err, new(*ParameterError)) {
		t.Errorf("ReadAttributedFiles with two values: %v, want a *ParameterError", err)
	}
	if _, err := Projection(g, ProjectionOptions{Blocks: []chunked.Option{chunked.OffDiagonal()}}); !errors.As(err, new(*ParameterError)) {
		t.Errorf("Projection in blocks: %v, want a *ParameterError", err)
	}
}

// Nil and zero arguments give errors, not panics.
func TestZeroArguments(t *testing.T) {
	var none *Clusterer
	_, e1 := none.Cluster([]int{0})
	_, e2 := new(Clusterer).Batch([]int{0}, 0)
	_, e3 := Classify(nil, nil)
	_, e4 := Classify(new(Attributed), new(Attributed))
	_, e5 := NewAttributed(nil, nil, nil, nil)
	_, e6 := ReadAttributed(nil, nil)
	_, e7 := ProjectionTo[float64](nil, matrix.New[float64](2, 2))
	_, e8 := BFS[float64](nil, 0)
	_, e9 := SGM[float64](nil, nil, nil)
	_, e10 := LocalCluster[float64](nil, nil)
	_, e11 := Projection[float64](nil)
	_, e12 := ScanStatistics[float64](nil)
	_, e13 := ScanSeries(nil)
	_, e14 := Geolocate[float64](nil, nil)
	_, e15 := Geolocate(matrix.New[float64](2, 2), nil)
	_, e16 := ReadLocations(nil, 0)
	_, e17 := NewLocations(-1, nil, nil, nil)
	_, e18 := MaxFlow[float64](nil, 0, 1)
	_, e19 := FusedLasso[float64](nil, nil)
	_, e20 := FusedLassoPath[float64](nil, nil, nil)
	_, e21 := FusedLassoBatch[float64](nil, nil)
	_, e22 := FusedLassoBatch(matrix.New[float64](2, 2), nil)
	_, e23 := ReadValues(nil, 0)
	var lost *Attributed
	for k, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23, lost.Move(nil), new(Attributed).Move(nil)} {
		if err == nil {
			t.Errorf("call %d has no error", k+1)
		}
	}
	if n, m := lost.Dims(); n != 0 || m != 0 || lost.Place() != nil {
		t.Error("a nil *Attributed has vertices, edges or a place")
	}
	if n, m := new(Attributed).Dims(); n != 0 || m != 0 || new(Attributed).Place() != nil {
		t.Error("a zero Attributed has vertices, edges or a place")
	}
	if least, all := ClassifyMemory(nil, new(Attributed)); least != 0 || all != 0 {
		t.Errorf("ClassifyMemory of nothing is %d and %d", least, all)
	}
	if list := Rank[float64](nil); len(list) != 0 {
		t.Errorf("the ranks of a nil vector are %v", list)
	}
	if list := FirstSeeds(-1); len(list) != 0 {
		t.Errorf("%d negative seeds", len(list))
	}
}

// Errors of graphs and threads name the workflow and the argument.
func TestErrorsNameArguments(t *testing.T) {
	t.Parallel()
	var none *matrix.Matrix[float64]
	_, missing := PageRank[float64](none)
	_, missing2 := PageRank[float64](nil)
	_, threads := PageRank(matrix.New[float64](2, 2), PageRankOptions{Run: Run{Threads: -5}})
	for _, err := range []error{missing, missing2} {
		if !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "PageRank: the graph is nil") {
			t.Errorf("no graph: %v", err)
		}
	}
	var e *ParameterError
	if !errors.As(threads, &e) || !strings.Contains(threads.Error(), "PageRank: Threads is -5") {
		t.Errorf("threads: %v", threads)
	}
}
