package cpu

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/matrix"
)

// makeInput makes the input of a name: rmatN is R-MAT of scale N, edge factor 16, symmetrised, with
// symmetric weights in [0, 1); rmatNb another of the same; directedN is not symmetrised, and dagN
// has its edges towards the greater vertex; ringsN is a chain of N rings; weighted… are in
// weightedInput; bipartite1m is 6743×13950 with 1M entries; citationsN has N vertices and 2N edges
// with ends drawn alike; uniformN is N×N of uniform integers below 1000; tuples10m are 10M tuples
// of R-MAT 18 with their duplicates; ac1000 are the edges of a graph in the shape of the HIVE
// classification data; planted200k has communities in 200,000 vertices, of mean degree 17.6 and
// mixing .3. data/NAME is a graph of the folder data, simple and undirected. The signals of the
// fused lasso have the values of their vertices in more["values"]. flow… are networks with the
// source and the sink as their last two vertices. coresInput has further inputs.
func makeInput(name, data string) (*input, error) {
	if in, ok, err := coresInput(name); ok {
		return in, err
	}
	in := &input{name: name, more: map[string]any{}}
	var scale, n int
	switch {
	case inputs.Scan(name, "uniform%d", &n):
		in.graph = allOf(n)
		for k := range n * n {
			in.val = append(in.val, float64(gen.Hash(uint64(k), 1)%1000))
		}
	case inputs.Scan(name, "citations%d", &n):
		in.graph = gen.CSR(gen.Symmetrise(gen.Edges(n, 2*n, 7)))
		in.val = ones64(int(in.graph.NNZ()))
	case name == "bipartite1m":
		in.graph = gen.CSR(gen.Bipartite(6743, 13950, 1_000_000, 1), gen.KeepLoops)
		in.val = gen.UniformFloats(in.graph, 3, false)
	case name == "bipartite10k": // a hundredth of it
		in.graph = gen.CSR(gen.Bipartite(674, 1395, 10_000, 1), gen.KeepLoops)
		in.val = gen.UniformFloats(in.graph, 3, false)
	case name == "ac1000":
		in.tuples = inputs.ACSmall(0)
		in.val = make([]float64, in.tuples.Len())
		return in, nil
	case name == "tuples10m":
		t := gen.RMAT(18, 39, gen.RMATOptions{})
		t.Rows, t.Cols = t.Rows[:10_000_000], t.Cols[:10_000_000]
		in.tuples = t
		in.val = make([]float64, t.Len())
		for p := range in.val {
			in.val[p] = float64(gen.Hash(uint64(p), 9) % 1024)
		}
		return in, nil
	case strings.HasPrefix(name, inputs.DataInput):
		g, err := inputs.UndirectedFile(filepath.Join(data, strings.TrimPrefix(name, inputs.DataInput)+".mtx.gz"))
		if err != nil {
			return nil, err
		}
		in.graph, in.val = g, ones64(int(g.NNZ()))
	case strings.HasPrefix(name, "flow"):
		g, val, ok := inputs.FlowNetwork(name, 0)
		if !ok {
			return nil, fmt.Errorf("bench: no network is called %q", name)
		}
		in.graph, in.val = g, val
	case name == "planted200k":
		t, _ := gen.Planted(200_000, 1_760_000, .3, 1)
		in.graph = gen.CSR(gen.Symmetrise(t))
		in.val = gen.UniformFloats(in.graph, 3, true)
	case inputs.Scan(name, "directed%d", &scale):
		in.graph = gen.CSR(gen.RMAT(scale, 16, gen.RMATOptions{}))
		in.val = gen.UniformFloats(in.graph, 3, false)
	case inputs.Scan(name, "rings%d", &n):
		in.graph = gen.CSR(rings(n))
		in.val = ones64(int(in.graph.NNZ()))
	case inputs.Scan(name, "dag%d", &scale):
		t := gen.RMAT(scale, 16, gen.RMATOptions{})
		for k, u := range t.Rows {
			t.Rows[k], t.Cols[k] = min(u, t.Cols[k]), max(u, t.Cols[k])
		}
		in.graph = gen.CSR(t) // without loops
		in.val = gen.UniformFloats(in.graph, 3, false)
	case strings.HasPrefix(name, "weighted"):
		var err error
		if in, err = weightedInput(name); err != nil {
			return nil, err
		}
	case inputs.Scan(name, "rmat%db", &scale):
		in.graph = gen.CSR(gen.Symmetrise(gen.RMAT(scale, 16, gen.RMATOptions{Seed: 77})))
		in.val = gen.UniformFloats(in.graph, 4, true)
	case inputs.Scan(name, "rmat%d", &scale):
		in.graph = gen.CSR(gen.Symmetrise(gen.RMAT(scale, 16, gen.RMATOptions{})))
		in.val = gen.UniformFloats(in.graph, 3, true)
	default:
		signal, ok := inputs.LassoSignal(name, 0)
		if !ok {
			return nil, fmt.Errorf("bench: no input is called %q", name)
		}
		in.graph, in.val = signal.Graph, ones64(int(signal.NNZ()))
		in.more["values"] = signal.Y
	}
	g := in.graph
	var err error
	if in.f64, err = matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, in.val); err != nil {
		return nil, err
	}
	val32 := fresh.Make[float32](int64(len(in.val)))
	for p, v := range in.val {
		val32[p] = float32(v)
	}
	if in.f32, err = matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val32); err != nil {
		return nil, err
	}
	return in, nil
}

// allOf is the pattern of all positions of an n×n matrix.
func allOf(n int) *gen.Graph {
	g := &gen.Graph{NRows: n, NCols: n, Ptr: make([]int64, n+1), Idx: make([]int32, n*n)}
	for i := range n {
		g.Ptr[i+1] = int64(n) * int64(i+1)
		for j := range n {
			g.Idx[i*n+j] = int32(j)
		}
	}
	return g
}
