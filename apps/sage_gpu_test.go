package apps

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// widened returns a model with layers of h1 and h2 columns.
func widened(a SAGEAggregator, d, h1, h2, classes int) *SAGEModel {
	n := newNet[float32](a, d, []int{h1, h2}, classes, 11)
	return n.model()
}

// hubbed is a star beside a path, so that a row is cut into pieces, with edges in one direction and
// vertices without any.
func hubbed(n int) sample {
	s := blank(n)
	for v := 1; v < n-3; v++ {
		s.edges = append(s.edges, edge{0, v, 1 + v%5})
		if v%3 > 0 {
			s.edges = append(s.edges, edge{v, (7*v + 1) % n, 2})
		}
		if v%4 == 1 {
			s.edges = append(s.edges, edge{v, 0, 1}, edge{v, n - 2, 3})
		}
	}
	return s
}

// Kernels give the embeddings of the host, to rounding.
func TestGraphSAGEOnDevice(t *testing.T) {
	t.Parallel()
	d := realOrEmulated(t)
	host := build[float64](t, hubbed(300), matrix.CSR)
	there := build[float64](t, hubbed(300), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	type width struct{ d, h1, h2 int }
	full := drawFeatures(t, 300, 12, 1, matrix.Full)
	cases := []struct {
		reason    string
		x         *matrix.Matrix[float32]
		w         width
		o         SAGEOptions
		tolerance float64
	}{
		{"all neighbours, narrow then wide", full, width{12, 4, 16}, SAGEOptions{}, 1e-4},
		{"wide first, and odd columns", full, width{12, 19, 5}, SAGEOptions{}, 1e-4},
		{"rows wider than a warp's", full, width{12, 140, 6}, SAGEOptions{}, 1e-4},
		{"odd features", drawFeatures(t, 300, 7, 1, matrix.Full), width{7, 8, 12}, SAGEOptions{}, 1e-4},
		{"features with gaps", drawFeatures(t, 300, 8, .5, matrix.Bitmap), width{8, 6, 3}, SAGEOptions{}, 1e-4},
		{"sparse features", drawFeatures(t, 300, 40, .1, matrix.CSR), width{40, 6, 8}, SAGEOptions{}, 1e-4},
		{"sparse features, wide", drawFeatures(t, 300, 10, .1, matrix.CSR), width{10, 150, 8}, SAGEOptions{}, 1e-4},
		{"samples", full, width{12, 4, 16}, SAGEOptions{Samples: []int{5, 8}, Seed: 3}, 1e-4},
		{"samples with replacement", full, width{12, 4, 16}, SAGEOptions{Samples: []int{3, 9}, Replace: true, Seed: 1 << 63}, 1e-4},
		{"samples by weight, on the host", full, width{12, 4, 16}, SAGEOptions{Samples: []int{3, 9}, Sampling: SampleByWeight}, 1e-4},
		{"samples by walks, on the host", full, width{12, 16, 4}, SAGEOptions{Samples: []int{3, 9}, Sampling: SampleByWalks}, 1e-4},
		{"some vertices", full, width{12, 4, 16}, SAGEOptions{Samples: []int{4, 4}, Vertices: []int{5, 0, 299, 5}}, 1e-4},
		{"TF32", full, width{12, 4, 16}, SAGEOptions{Precision: SAGETF32}, 3e-3},
		{"float16", full, width{12, 4, 16}, SAGEOptions{Precision: SAGEFloat16}, 5e-3},
		{"float16, samples, odd columns", full, width{12, 19, 5}, SAGEOptions{Samples: []int{5, 8}, Precision: SAGEFloat16}, 5e-3},
		{"bfloat16", drawFeatures(t, 300, 7, 1, matrix.Full), width{7, 20, 6}, SAGEOptions{Precision: SAGEBFloat16}, 4e-2},
	}
	for _, c := range cases {
		for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN} {
			if !longtest.Enabled() && d.e != nil && (c.w.d+c.w.h1+c.w.h2+int(a))%3 != 0 && a != AggregateMean {
				continue
			}
			what := fmt.Sprintf("%s, %v", c.reason, a)
			m := widened(a, c.w.d, c.w.h1, c.w.h2, 3)
			plain := c.o
			plain.Precision, plain.Method = SAGEFloat32, Auto
			want := must[*SAGEResult](t)(GraphSAGE(host, c.x, m, plain))
			c.o.Method = Fused
			got := must[*SAGEResult](t)(GraphSAGE(there, c.x, m, c.o))
			if got.Embeddings.Place() != matrix.Place(d.Device) || got.Logits.Place() != matrix.Place(d.Device) {
				t.Errorf("%s: the result lives at %v", what, got.Embeddings.Place())
			}
			near(t, what, got.Embeddings, table(want.Embeddings), c.tolerance)
			near(t, what+", logits", got.Logits, table(want.Logits), 4*c.tolerance)
			if got.ZeroRows != want.ZeroRows {
				t.Errorf("%s: %d rows of zeros, want %d", what, got.ZeroRows, want.ZeroRows)
			}
		}
	}
}
