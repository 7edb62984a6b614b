package apps

import (
	"context"
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// fusedStandard are the workflows of the standard set with fused forms.
var fusedStandard = []string{"StronglyConnectedComponents", "CoreNumbers", "LabelPropagation", "MaximalIndependentSet"}

// cycles is a chain of directed cycles of the given lengths, each with an edge to the next one.
func cycles(lengths ...int) samples.Sample {
	n := 0
	for _, l := range lengths {
		n += l
	}
	s := samples.Blank(n)
	at := 0
	for _, l := range lengths {
		for k := range l {
			s.Edges = append(s.Edges, samples.Edge{From: at + k, To: at + (k+1)%l, Weight: 1})
		}
		if at+l < n {
			s.Edges = append(s.Edges, samples.Edge{From: at + l - 1, To: at + l, Weight: 1})
		}
		at += l
	}
	return s
}

// The fused forms of the standard set give what the kernels of the host do.
func TestStandardFused(t *testing.T) {
	d := samples.RealOrEmulated(t)
	for k, c := range []struct {
		reason string
		samples.Sample
	}{
		{"rows of several items", samples.Star(700).Both()},
		{"many components of several sizes", cycles(3, 1, 5, 2, 40, 1, 1, 7, 2, 2)},
		{"long paths, one way", samples.Path(150)},
		{"long paths, both ways", samples.Path(150).Both()},
		{"directed, sparse", samples.Random(400, 700, 5, false)},
		{"directed, dense", samples.Random(300, 4000, 6, false)},
		{"undirected, many cores", samples.Random(300, 5000, 7, true)},
		{"no edges", samples.Blank(70)},
		{"one vertex", samples.Blank(1)},
		{"no vertex", samples.Blank(0)},
	} {
		if d.E != nil && !longtest.Enabled() && k%3 != longtest.Turn()%3 && k > 1 {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			for _, hub := range []bool{false, true} {
				s := c.Sample
				if hub && s.N > 2 { // loops, and edges of a hub to and from a part of the others
					for v := range s.N {
						switch v % 4 {
						case 0:
							s.Edges = append(s.Edges, samples.Edge{From: s.N / 2, To: v, Weight: 1})
						case 1:
							s.Edges = append(s.Edges, samples.Edge{From: v, To: s.N / 2, Weight: 1})
						case 2:
							s.Edges = append(s.Edges, samples.Edge{From: v, To: v, Weight: 1})
						}
					}
				}
				host := samples.Build[float64](t, s, matrix.CSR)
				there := host.Clone()
				if err := there.Move(d.Device); err != nil {
					t.Fatal(err)
				}
				for _, a := range standardApps {
					if !isFused(a.name) {
						continue
					}
					want, err := a.run(host, workflow.Run{})
					if err != nil {
						t.Fatalf("%s: %v", a.name, err)
					}
					for _, g := range []matrix.Source[float64]{there, there.T()} { // equal for these workflows
						got, err := a.run(g, workflow.Run{Method: workflow.Fused})
						if err != nil {
							t.Fatalf("%s: %v", a.name, err)
						}
						samples.SameFigures(t, a.name, got, want, a.loose)
					}
				}
			}
		})
	}
}

func isFused(name string) bool {
	for _, f := range fusedStandard {
		if f == name {
			return true
		}
	}
	return false
}

// A context that has ended stops the fused forms, and leaves no memory on the device.
func TestStandardFusedCancelled(t *testing.T) {
	d := samples.Emulated(t)
	g := samples.Build[float64](t, cycles(9, 30, 9), matrix.CSR)
	if err := g.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range standardApps {
		if !isFused(a.name) {
			continue
		}
		if _, err := a.run(g, workflow.Run{Method: workflow.Fused, Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", a.name, err)
		}
	}
}
