package sage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
)

// randomModel returns a model of two layers with drawn weights.
func randomModel(a SAGEAggregator, d, h, classes int, seed uint64) *SAGEModel {
	heads, hidden := 1, []int{h, h + 1}
	if a == AggregateAttention && h%2 == 0 {
		heads, hidden = 2, []int{h, h + 2}
	}
	n := neural.Random[float32](neural.Aggregator(a), heads, d, hidden, classes, seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, p := range n.All {
		if p.Dims == 1 {
			for i := range p.Value.Val {
				p.Value.Val[i] = float32(rng.NormFloat64()) / 4
			}
		}
	}
	return modelOf(n)
}

func vectorTimes(x []float64, w [][]float64) []float64 {
	y := make([]float64, len(w[0]))
	for i := range w {
		for j := range y {
			y[j] += x[i] * w[i][j]
		}
	}
	return y
}

// attendNaively returns the sum of the rows of neighbours, weighed by attention, head by head.
func attendNaively(m *SAGEModel, l SAGELayer, own []float64, rows [][]float64, list []samples.Arc) []float64 {
	y, size := make([]float64, len(own)), len(own)/m.Heads
	for c := range m.Heads {
		weight, total := make([]float64, len(rows)), 0.0
		for k, row := range rows {
			e := 0.0
			for j := c * size; j < (c+1)*size; j++ {
				e += own[j]*float64(l.AttendSelf[j]) + row[j]*float64(l.AttendNeighbour[j])
			}
			weight[k] = list[k].Weight * math.Exp(max(e, .2*e))
			total += weight[k]
		}
		for k, row := range rows {
			for j := c * size; j < (c+1)*size; j++ {
				y[j] += weight[k] / total * row[j]
			}
		}
	}
	return y
}

// ordered returns the neighbours of v in the order of an LSTM for a seed.
func ordered(v int, list []samples.Arc, seed uint64) []samples.Arc {
	key := func(u int) float64 {
		x, _ := philox.Block(uint64(v)|uint64(u)<<32, 1<<60, seed)
		return philox.Unit(x)
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b samples.Arc) int { return cmp.Compare(key(a.To), key(b.To)) })
	return list
}

// readNaively returns the last state of an LSTM over rows, number by number.
func readNaively(l SAGELayer, rows [][]float64) []float64 {
	wx, wh := samples.Rows64(l.Gates), samples.Rows64(l.Recurrent)
	h, c := make([]float64, len(wh)), make([]float64, len(wh))
	sigma := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, row := range rows {
		next := make([]float64, len(h))
		for j := range h {
			var z [4]float64
			for q := range z {
				z[q] = float64(l.GateBias[q*len(h)+j])
				for k, x := range row {
					z[q] += x * wx[k][q*len(h)+j]
				}
				for k, x := range h {
					z[q] += x * wh[k][q*len(h)+j]
				}
			}
			c[j] = sigma(z[1])*c[j] + sigma(z[0])*math.Tanh(z[2])
			next[j] = sigma(z[3]) * math.Tanh(c[j])
		}
		h = next
	}
	return h
}

// sageNaively computes the embedding of v by recursion over its neighbours, vertex by vertex, as
// the paper writes it: the aggregate first, then the product.
func sageNaively(near func(layer, v int) []samples.Arc, x [][]float64, m *SAGEModel, layer int, v int) []float64 {
	if layer == 0 {
		return x[v]
	}
	l := m.Layers[layer-1]
	own := sageNaively(near, x, m, layer-1, v)
	list := near(layer, v)
	if len(list) == 0 {
		list = []samples.Arc{{To: v, Weight: 1}}
	}
	var y []float64
	switch m.Aggregator {
	case AggregatePool:
		var most []float64
		for k, u := range list {
			p := vectorTimes(sageNaively(near, x, m, layer-1, u.To), samples.Rows64(l.Pool))
			for j := range p {
				p[j] = max(0, p[j]+float64(l.PoolBias[j]))
				if k > 0 {
					p[j] = max(p[j], most[j])
				}
			}
			most = p
		}
		y = append(vectorTimes(own, samples.Rows64(l.Self)), vectorTimes(most, samples.Rows64(l.Neighbour))...)
	case AggregateLSTM:
		var rows [][]float64
		for _, u := range list {
			rows = append(rows, sageNaively(near, x, m, layer-1, u.To))
		}
		y = append(vectorTimes(own, samples.Rows64(l.Self)), vectorTimes(readNaively(l, rows), samples.Rows64(l.Neighbour))...)
	case AggregateAttention:
		w := samples.Rows64(l.Neighbour)
		var rows [][]float64
		for _, u := range list {
			rows = append(rows, vectorTimes(sageNaively(near, x, m, layer-1, u.To), w))
		}
		y = append(vectorTimes(own, samples.Rows64(l.Self)), attendNaively(m, l, vectorTimes(own, w), rows, list)...)
	default:
		mean, total := make([]float64, len(own)), 0.0
		if m.Aggregator == AggregateGCN {
			list = append(slices.Clone(list), samples.Arc{To: v, Weight: 1})
		}
		for _, u := range list {
			total += u.Weight
			for j, z := range sageNaively(near, x, m, layer-1, u.To) {
				mean[j] += u.Weight * z
			}
		}
		for j := range mean {
			mean[j] /= total
		}
		if m.Aggregator == AggregateGCN {
			y = vectorTimes(mean, samples.Rows64(l.Self))
		} else {
			y = append(vectorTimes(own, samples.Rows64(l.Self)), vectorTimes(mean, samples.Rows64(l.Neighbour))...)
		}
	}
	sum := 0.0
	for j := range y {
		y[j] = max(0, y[j])
		sum += y[j] * y[j]
	}
	for j := range y {
		if sum > 0 {
			y[j] /= math.Sqrt(sum)
		}
	}
	return y
}

func TestGraphSAGE(t *testing.T) {
	t.Parallel()
	for _, run := range []workflow.Run{{}, {Method: workflow.Pipeline}} {
		testGraphSAGE(t, run)
	}
}

func testGraphSAGE(t *testing.T, run workflow.Run) {
	s := samples.DirectedHub()
	g := samples.Build[float64](t, s, matrix.CSR)
	arcs := s.Arcs()
	for v := range arcs {
		for k := range arcs[v] {
			arcs[v][k].Weight = 1
		}
	}
	for _, f := range []struct {
		share  float64
		format matrix.Format
	}{{1, matrix.Full}, {.2, matrix.CSR}, {.2, matrix.Hypersparse}, {.6, matrix.Bitmap}} {
		x := samples.DrawFeatures(t, 14, 6, f.share, f.format)
		for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN, AggregateAttention, AggregateLSTM} {
			m := randomModel(a, 6, 4, 3, 5)
			want := make([][]float64, 14)
			zeros := 0
			for v := range want {
				want[v] = sageNaively(func(_, v int) []samples.Arc { return ordered(v, arcs[v], 0) }, samples.Rows64(x), m, 2, v)
				if slices.Max(want[v]) == 0 {
					zeros++
				}
			}
			all, err := GraphSAGE(g, x, m, SAGEOptions{Run: run})
			if err != nil {
				t.Fatal(err)
			}
			samples.SameRows(t, fmt.Sprint(a, f), all.Embeddings, want, 1e-5)
			if all.ZeroRows != zeros {
				t.Errorf("%v: %d zero rows, want %d", a, all.ZeroRows, zeros)
			}
			logits := samples.Rows64(all.Logits)
			for v, z := range want {
				for j, y := range vectorTimes(z, samples.Rows64(m.Classifier)) {
					if math.Abs(logits[v][j]-y-float64(m.Bias[j])) > 1e-5 {
						t.Errorf("%v: logits %v of vertex %d", a, logits[v], v)
					}
				}
			}
			for _, list := range [][]int{{13}, {2, 0, 2}, {}} { // trees
				some, err := GraphSAGE(g, x, m, SAGEOptions{Run: run, Vertices: list, Batch: 2})
				if err != nil {
					t.Fatal(err)
				}
				picked := [][]float64{}
				for _, v := range list {
					picked = append(picked, want[v])
				}
				samples.SameRows(t, fmt.Sprint(a, list), some.Embeddings, picked, 1e-5)
			}
			// Samples: as many as the largest degree are all; both roads choose alike.
			every, err := GraphSAGE(g, x, m, SAGEOptions{Run: run, Samples: []int{14, 14}})
			if err != nil {
				t.Fatal(err)
			}
			samples.SameRows(t, "all by samples", every.Embeddings, want, 1e-5)
			for _, o := range []SAGEOptions{{Replace: true}, {Sampling: SampleByDegree}, {Sampling: SampleByWeight, Replace: true}, {Sampling: SampleByWalks}, {}} {
				o.Run, o.Samples, o.Seed = run, []int{2, 3}, 9
				layers, err := GraphSAGE(g, x, m, o)
				if err != nil {
					t.Fatal(err)
				}
				o.Vertices, o.Threads = []int{3}, 1
				tree, err := GraphSAGE(g, x, m, o)
				if err != nil {
					t.Fatal(err)
				}
				samples.SameRows(t, fmt.Sprint("a tree of ", o.Sampling), tree.Embeddings, samples.Rows64(layers.Embeddings)[3:4], 1e-5)
			}
		}
	}
}

// Trees of their own: by recursion over their choices, which differ between trees.
func TestGraphSAGEPerSource(t *testing.T) {
	t.Parallel()
	g := samples.Build[float64](t, samples.DirectedHub(), matrix.CSR)
	x := samples.DrawFeatures(t, 14, 6, 1, matrix.Full)
	for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateAttention, AggregateLSTM} {
		m := randomModel(a, 6, 4, 3, 5)
		for _, o := range []SAGEOptions{{Replace: true}, {Sampling: SampleByWalks}, {Sampling: SampleByWeight}, {}} {
			o.PerSource, o.Samples, o.Seed = true, []int{2, 3}, 9
			at, err := sampled.NewGraph("test", g, workflow.Run{}, sampled.Rule(o.Sampling), o.Replace, o.Seed, neural.Aggregator(a))
			if err != nil {
				t.Fatal(err)
			}
			different := false
			choices := func(owner int) func(layer, v int) []samples.Arc {
				return func(layer, v int) (list []samples.Arc) {
					var c, d sampled.Choice
					at.Choose(int32(v), uint64(owner)+1, layer-1, o.Samples[2-layer], &c)
					at.Choose(int32(v), 0, layer-1, o.Samples[2-layer], &d)
					different = different || !slices.Equal(c.At, d.At)
					for k, u := range c.At {
						list = append(list, samples.Arc{To: int(u)})
						if a != AggregateLSTM {
							list[k].Weight = c.Weight[k]
						}
					}
					if a == AggregateLSTM && !slices.Equal(list, ordered(v, list, o.Seed)) {
						t.Errorf("the neighbours of %d have the order %v", v, list)
					}
					return list
				}
			}
			for _, vertices := range [][]int{nil, {0, 5, 0, 13}} {
				o.Vertices, o.Batch = vertices, 3
				list := vertices
				for v := 0; vertices == nil && v < 14; v++ {
					list = append(list, v)
				}
				var want [][]float64
				for _, v := range list {
					want = append(want, sageNaively(choices(v), samples.Rows64(x), m, 2, v))
				}
				for _, o.Method = range []workflow.Method{workflow.Auto, workflow.Pipeline} {
					got, err := GraphSAGE(g, x, m, o)
					if err != nil {
						t.Fatal(err)
					}
					samples.SameRows(t, fmt.Sprint(a, " ", o.Sampling, vertices, o.Method), got.Embeddings, want, 1e-5)
				}
			}
			if !different {
				t.Errorf("%v: the choices of a tree are those of all", o.Sampling)
			}
		}
	}
	var p *workflow.ParameterError
	m := randomModel(AggregateMean, 6, 4, 3, 5)
	if _, err := GraphSAGE(g, x, m, SAGEOptions{PerSource: true}); !errors.As(err, &p) || p.Arg != "the option PerSource" {
		t.Errorf("without samples: %v", err)
	}
}

// The roads are visible in the trace.
func TestGraphSAGERoads(t *testing.T) {
	t.Parallel()
	g := samples.Build[float64](t, samples.Path(300).Both(), matrix.CSR)
	x := samples.DrawFeatures(t, 300, 3, 1, matrix.Full)
	for _, c := range []struct {
		vertices []int
		want     ops.Method
	}{{nil, "layers"}, {[]int{5}, "trees"}} {
		var got ops.Method
		run := workflow.Run{Trace: func(tr ops.Trace) {
			if tr.Op == "GraphSAGE" {
				got = tr.Method
			}
		}}
		if _, err := GraphSAGE(g, x, randomModel(AggregateMean, 3, 4, 0, 1), SAGEOptions{Run: run, Vertices: c.vertices}); err != nil || got != c.want {
			t.Errorf("%v: road %q, want %q (%v)", c.vertices, got, c.want, err)
		}
	}
}

func TestSAGEModelFiles(t *testing.T) {
	t.Parallel()
	for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN, AggregateAttention, AggregateLSTM} {
		for classes := range 2 {
			m := randomModel(a, 5, 3, classes, 2)
			if classes > 0 {
				m.Classes = []string{"théorie"}
			}
			var b bytes.Buffer
			if err := m.Write(&b); err != nil {
				t.Fatal(err)
			}
			got, err := ReadSAGEModel(bytes.NewReader(b.Bytes()), "m.npz")
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := got.Write(&again); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) || got.Aggregator != a || got.Heads != m.Heads || len(got.Layers) != 2 || !slices.Equal(got.Classes, m.Classes) {
				t.Errorf("%v: another model is read (%v)", a, err)
			}
		}
	}
	wrong := randomModel(AggregateMean, 5, 3, 2, 2)
	wrong.Classes = []string{"one"}
	var dimension *matrix.DimensionError
	if err := wrong.Write(io.Discard); !errors.As(err, &dimension) {
		t.Errorf("one name for two classes: %v", err)
	}
	wrong.Classes = []string{"one", "\xff"}
	if err := wrong.Write(io.Discard); err == nil {
		t.Error("a name that is not UTF-8 is written")
	}
	array := func(m, n int) *npy.Array { return &npy.Array{Rows: m, Cols: n, Dims: 2, Val: make([]float64, m*n)} }
	number := func(x float64) *npy.Array { return &npy.Array{Rows: 1, Cols: 1, Dims: 1, Val: []float64{x}} }
	for reason, all := range map[string]map[string]*npy.Array{
		"no weights":                    {"x": array(1, 1)},
		"no weights of neighbours":      {"wf1": array(3, 4)},
		"neighbours of other features":  {"wf1": array(3, 4), "wa1": array(2, 4)},
		"a second layer of other input": {"wf1": array(3, 4), "wa1": array(3, 4), "wf2": array(7, 2), "wa2": array(8, 2)},
		"NaN":                           {"wf1": array(3, 4), "wa1": {Rows: 3, Cols: 4, Dims: 2, Val: slices.Repeat([]float64{math.NaN()}, 12)}},
		"a classifier without bias":     {"wf1": array(3, 4), "wa1": array(3, 4), "wc": array(8, 2)},
		"an LSTM without recurrence":    {"wf1": array(3, 4), "wa1": array(2, 4), "lx1": array(3, 8), "aggregator": number(4), "lb1": array(1, 8)},
		"weights of an LSTM for means":  {"wf1": array(3, 4), "wa1": array(3, 4), "lx1": array(3, 8), "lh1": array(2, 8), "lb1": array(1, 8)},
		"pools for an LSTM":             {"wf1": array(3, 4), "wa1": array(2, 4), "wp1": array(3, 2), "bp1": array(1, 2), "aggregator": number(4)},
		"heads of an LSTM":              {"wf1": array(3, 4), "wa1": array(2, 4), "lx1": array(3, 8), "lh1": array(2, 8), "lb1": array(1, 8), "aggregator": number(4), "heads": number(2)},
		"an unknown aggregator":         {"wf1": array(3, 4), "wa1": array(3, 4), "aggregator": number(9)},
	} {
		var b bytes.Buffer
		if err := (&npy.Zip{Arrays: all}).Write(&b, func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		var e *graphio.ParseError
		if _, err := ReadSAGEModel(&b, "m.npz"); !errors.As(err, &e) || !strings.Contains(err.Error(), "m.npz") {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestReadFeatures(t *testing.T) {
	t.Parallel()
	var array bytes.Buffer
	if err := npy.Write(&array, &npy.Array{Rows: 2, Cols: 2, Dims: 2, Val: []float64{1, 2.5, -3, 4}}, true); err != nil {
		t.Fatal(err)
	}
	arrayOf := func(list ...float64) string {
		var b bytes.Buffer
		if err := npy.Write(&b, &npy.Array{Rows: 1, Cols: len(list), Dims: 2, Val: list}, true); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	nan, infinite, large := arrayOf(1, math.NaN()), arrayOf(math.Inf(-1), math.NaN()), arrayOf(1, 2, 1e300)
	want := [][]float64{{1, 2.5}, {-3, 4}}
	for _, c := range []struct{ reason, name, text, err string }{
		{"commas", "x.csv", "1,2.5\n-3, 4\n", ""},
		{"a header", "x.csv", "a,b\r\n1,2.5\r\n-3,4\r\n", ""},
		{"a column of vertices", "x.csv", "vertex,a,b\n1,-3,4\n0,1,2.5\n", ""},
		{"a vertex twice", "x.csv", "vertex,a\n0,1\n0,2\n", "row 1 is of vertex 0, which has another row"},
		{"a vertex too many", "x.csv", "vertex,a\n0,1\n2,2\n", "row 1 is of vertex 2"},
		{"no vertex", "x.csv", "vertex,a\n0,1\n-1,2\n", `x.csv:3: the graph has no vertex "-1"`},
		{"tabs", "x.tsv", "# c\n1\t2.5\n\n-3\t4", ""},
		{"Matrix Market, sparse", "x.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2.5\n2 1 -3\n2 2 4\n", ""},
		{"Matrix Market, array", "x.MTX", "%%MatrixMarket matrix array real general\n2 2\n1\n-3\n2.5\n4\n", ""},
		{"NumPy", "x.npy", array.String(), ""},
		{"a short row", "x.csv", "1,2\n3\n", "x.csv:2: the line has 1 numbers, and lines before have 2"},
		{"a row unlike the header", "x.csv", "a,b,c\n3,1\n", "x.csv:2: the line has 2 numbers, and lines before have 3"},
		{"a word", "x.csv", "1,2\n3,x\n", `x.csv:2: number 2: "x" is not a finite number`},
		{"a decimal comma", "x.csv", "1;2,5\n-3;4\n", `x.csv:1: number 2: "2,5" has a decimal comma`},
		{"beyond float32", "x.csv", "1,1e39\n", "does not fit float32"},
		{"NaN in an array", "x.npy", nan, "item 1 of the array is NaN"},
		{"infinite in an array", "x.npy", infinite, "item 0 of the array is -Inf"},
		{"beyond float32 in an array", "x.npy", large, "item 2 of the array is 1e+300"},
		{"an infinity", "x.csv", "1,inf\n", `x.csv:1: number 2: "inf" is not a finite number`},
		{"a cut array", "x.npy", array.String()[:90], "x.npy"},
		{"a matrix that is none", "x.mtx", "1 2\n", "x.mtx"},
	} {
		a, err := ReadFeatures(strings.NewReader(c.text), FeatureOptions{Name: c.name})
		var e *graphio.ParseError
		switch {
		case c.err != "":
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.reason, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.reason, err)
		default:
			samples.SameRows(t, c.reason, a, want, 0)
		}
	}
	var param *workflow.ParameterError
	if _, err := ReadFeatures(strings.NewReader(""), FeatureOptions{Name: "x.xls"}); !errors.As(err, &param) {
		t.Errorf("another format: %v", err)
	}
	if a, err := ReadFeatures(strings.NewReader(""), FeatureOptions{Format: "csv"}); err != nil || a.NVals() != 0 {
		t.Errorf("an empty file: %v", err)
	}
}

func FuzzReadFeatures(f *testing.F) {
	f.Add("a,b\n1,2\n", true)
	f.Add("\x93NUMPY\x01\x00", false)
	f.Fuzz(func(t *testing.T, text string, table bool) {
		format := "npy"
		if table {
			format = "csv"
		}
		if a, err := ReadFeatures(strings.NewReader(text), FeatureOptions{Format: format}); err == nil {
			if m, n := a.Dims(); int64(m)*int64(n) != a.NVals() {
				t.Errorf("%q: %d×%d with %d entries", text, m, n, a.NVals())
			}
		}
	})
}

func FuzzReadSAGEModel(f *testing.F) {
	var b bytes.Buffer
	if err := randomModel(AggregatePool, 2, 2, 2, 1).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadSAGEModel(bytes.NewReader(data), "m.npz")
		if err == nil {
			if err := m.Write(&bytes.Buffer{}); err != nil {
				t.Errorf("read, and then %v", err)
			}
		}
	})
}

// An LSTM: weights of other shapes and of other aggregators, and the order of neighbours, which
// depends on the seed.
func TestLSTM(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	x := samples.DrawFeatures(t, 34, 3, 1, matrix.Full)
	model := func() *SAGEModel { return randomModel(AggregateLSTM, 3, 4, 0, 1) }
	var dim *matrix.DimensionError
	var param *workflow.ParameterError
	for _, c := range []struct {
		reason string
		change func(m *SAGEModel)
		want   any
		text   string
	}{
		{"gates of other features", func(m *SAGEModel) { m.Layers[0].Gates = samples.DrawFeatures(t, 4, 16, 1, matrix.Full) }, &dim, "lx1 is 4×16, want 3×16"},
		{"three gates", func(m *SAGEModel) { m.Layers[0].Recurrent = samples.DrawFeatures(t, 4, 12, 1, matrix.Full) }, &dim, "lh1 is 4×12, want 4×16"},
		{"a bias of three gates", func(m *SAGEModel) { m.Layers[1].GateBias = m.Layers[1].GateBias[:15] }, &dim, "lb2 is 15 numbers, want 20"},
		{"no recurrence", func(m *SAGEModel) { m.Layers[1].Recurrent = nil }, new(*matrix.InvalidError), "lh2 is nil"},
		{"weights of neighbours for other states", func(m *SAGEModel) { m.Layers[0].Neighbour = m.Layers[0].Self }, &dim, "wa1 is 3×4, want 4×any"},
		{"heads", func(m *SAGEModel) { m.Heads = 2 }, &param, "the heads is 2 with the aggregator lstm"},
		{"pools", func(m *SAGEModel) { m.Layers[1].Pool = m.Layers[1].Self }, &param, "Pool of layer 2"},
		{"means", func(m *SAGEModel) { m.Aggregator = AggregateMean }, &param, "Gates and Recurrent of layer 1"},
	} {
		m := model()
		c.change(m)
		if _, err := GraphSAGE(g, x, m); !errors.As(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	var last []float32
	for seed := range uint64(3) {
		z := sure.Get(sure.Get(GraphSAGE(g, x, model(), SAGEOptions{Seed: seed})).Embeddings.Dense(0))
		if slices.Equal(z, last) {
			t.Errorf("seed %d gives the order of another one", seed)
		}
		last = z
	}
}

func TestGraphSAGEErrors(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	x := samples.DrawFeatures(t, 34, 3, 1, matrix.Full)
	m := randomModel(AggregateMean, 3, 4, 0, 1)
	var dim *matrix.DimensionError
	var param *workflow.ParameterError
	for _, c := range []struct {
		reason string
		x      *matrix.Matrix[float32]
		m      *SAGEModel
		o      SAGEOptions
		want   any
		text   string
	}{
		{"features of other vertices", samples.DrawFeatures(t, 33, 3, 1, matrix.Full), m, SAGEOptions{}, &dim, "33×3, want 34×3"},
		{"other features", samples.DrawFeatures(t, 34, 5, 1, matrix.Full), m, SAGEOptions{}, &dim, "wf1 is 3×4, want 5×any"},
		{"no model", x, nil, SAGEOptions{}, &param, "without layers"},
		{"no samples", x, m, SAGEOptions{Samples: []int{0, 1}}, &param, "samples"},
		{"samples of one layer", x, m, SAGEOptions{Samples: []int{1}}, &param, "one for each layer"},
		{"all by walks", x, m, SAGEOptions{Sampling: SampleByWalks}, &param, "SampleByWalks"},
		{"an unknown sampling", x, m, SAGEOptions{Sampling: 9}, &param, "SAGESampling(9)"},
		{"a batch", x, m, SAGEOptions{Batch: -1}, &param, "batch"},
		{"a precision on the host", x, m, SAGEOptions{Precision: SAGEFloat16}, &param, "fp16 on the host"},
		{"an unknown precision", x, m, SAGEOptions{Precision: 9}, &param, "SAGEPrecision(9)"},
		{"fused on the host", x, m, SAGEOptions{Run: workflow.Run{Method: workflow.Fused}}, &param, "fused"},
		{"a vertex", x, m, SAGEOptions{Vertices: []int{40}}, new(*matrix.IndexError), "40"},
	} {
		if _, err := GraphSAGE(g, c.x, c.m, c.o); !errors.As(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	if _, err := GraphSAGE(g, (*matrix.Matrix[float32])(nil), m); err == nil {
		t.Error("nil features are taken")
	}
	signed := samples.Own(t, testdata.Karate)
	sure.Do(signed.Set(0, 1, 0))
	var weight *workflow.WeightError
	if _, err := GraphSAGE(signed, x, m, SAGEOptions{Sampling: SampleByWeight}); !errors.As(err, &weight) || weight.Col != 1 {
		t.Errorf("an edge of weight 0: %v", err)
	}
}
