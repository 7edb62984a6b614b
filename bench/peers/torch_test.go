package peers

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// sageNaive is the check of sage_embed by loops in float64.
func sageNaive(g *gen.Graph, d, hidden, out int, share float64) float64 {
	number := func(i int, seed uint64) float64 {
		return float64(int64(gen.Hash(uint64(i), seed)>>40)-1<<23) / (1 << 23)
	}
	h := make([][]float64, g.NRows)
	for v := range h {
		h[v] = make([]float64, d)
		for c := range d {
			if float64(gen.Hash(uint64(v*d+c), 36)>>40+1)/(1<<24) <= share {
				h[v][c] = 1
			}
		}
	}
	for k, width := range []int{hidden, out} {
		rows := len(h[0])
		times := func(x []float64, seed uint64) []float64 {
			y := make([]float64, width)
			for i, a := range x {
				for j := range y {
					y[j] += a * number(i*width+j, seed) / math.Sqrt(float64(rows))
				}
			}
			return y
		}
		next := make([][]float64, len(h))
		for v := range h {
			near := g.Idx[g.Ptr[v]:g.Ptr[v+1]]
			if len(near) == 0 {
				near = []int32{int32(v)}
			}
			mean := make([]float64, rows)
			for _, u := range near {
				for j, x := range h[u] {
					mean[j] += x / float64(len(near))
				}
			}
			z := append(times(h[v], uint64(40+2*k)), times(mean, uint64(41+2*k))...)
			length := 0.0
			for j, x := range z {
				z[j] = max(x, 0)
				length += z[j] * z[j]
			}
			for j := range z {
				z[j] /= math.Sqrt(max(length, 1e-24))
			}
			next[v] = z
		}
		h = next
	}
	check := 0.0
	for v, row := range h {
		for j, x := range row {
			check += x * float64(1+j%5) * float64(1+v%7)
		}
	}
	return check
}

// The PyTorch peer has the protocol of the others: cases, threads, inputs, errors that do not end
// it.
func TestTorch(t *testing.T) {
	p := startFor(t, Torch)
	for _, name := range []string{"sage_embed", "sage_embed_sparse", "sage_epoch", "sage_epoch_sparse"} {
		if !p.Has(name) {
			t.Errorf("no case %s", name)
		}
	}
	if err := SetThreads(p, 1); err != nil || p.Threads() != 1 {
		t.Errorf("%d threads, want 1 (%v)", p.Threads(), err)
	}
	g := gen.CSR(gen.RMAT(7, 4, gen.RMATOptions{Seed: 1})) // has vertices without neighbours
	path := filepath.Join(t.TempDir(), "graph")
	sure.Do(WriteGraph(path, g, gen.UniformFloats(g, 11, false)), p.Load("graph", path))
	want := sageNaive(g, 30, 8, 5, .2)
	for _, form := range []string{"", "_sparse"} {
		for range 2 { // the second run has the features of the first
			got, err := p.Run("sage_embed"+form, "graph", "30", "8", "5", "0.2")
			if err != nil || !(math.Abs(got.Check-want) <= 1e-4*math.Abs(want)) || !(got.Ms > 0) {
				t.Errorf("sage_embed%s: check %v after %v ms, want %v (%v)", form, got.Check, got.Ms, want, err)
			}
		}
		got, err := p.Run("sage_epoch"+form, "graph", "30", "8", "3", "0.2")
		if err != nil || got.Check != float64(g.NRows) || !(got.Ms > 0) {
			t.Errorf("sage_epoch%s: check %v after %v ms, want %d (%v)", form, got.Check, got.Ms, g.NRows, err)
		}
	}
	for reason, do := range map[string]func() error{
		"no such case":     func() error { _, err := p.Run("nonsense", "graph"); return err },
		"no such graph":    func() error { _, err := p.Run("sage_embed", "nonsense", "30", "8", "5", "0.2"); return err },
		"no number":        func() error { _, err := p.Run("sage_embed", "graph", "x", "8", "5", "0.2"); return err },
		"arguments missed": func() error { _, err := p.Run("sage_embed", "graph"); return err },
	} {
		if do() == nil {
			t.Errorf("%s: no error", reason)
		}
	}
	if _, err := p.Run("sage_embed", "graph", "30", "8", "5", "0.2"); err != nil {
		t.Errorf("after the errors: %v", err)
	}
	if err := p.Free("graph"); err != nil {
		t.Error(err)
	}
	if _, err := p.Run("sage_embed", "graph", "30", "8", "5", "0.2"); err == nil {
		t.Error("a graph that was freed is there")
	}
}
