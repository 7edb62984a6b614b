package apps

import (
	"context"
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// fusedStandard are the workflows of the standard set with fused forms.
var fusedStandard = []string{"StronglyConnectedComponents", "CoreNumbers", "LabelPropagation", "MaximalIndependentSet"}

// cycles is a chain of directed cycles of the given lengths, each with an edge to the next one.
func cycles(lengths ...int) sample {
	n := 0
	for _, l := range lengths {
		n += l
	}
	s := blank(n)
	at := 0
	for _, l := range lengths {
		for k := range l {
			s.edges = append(s.edges, edge{at + k, at + (k+1)%l, 1})
		}
		if at+l < n {
			s.edges = append(s.edges, edge{at + l - 1, at + l, 1})
		}
		at += l
	}
	return s
}

// The fused forms of the standard set give what the kernels of the host do.
func TestStandardFused(t *testing.T) {
	d := realOrEmulated(t)
	for k, c := range []struct {
		reason string
		sample
	}{
		{"rows of several items", star(700).both()},
		{"many components of several sizes", cycles(3, 1, 5, 2, 40, 1, 1, 7, 2, 2)},
		{"long paths, one way", path(150)},
		{"long paths, both ways", path(150).both()},
		{"directed, sparse", random(400, 700, 5, false)},
		{"directed, dense", random(300, 4000, 6, false)},
		{"undirected, many cores", random(300, 5000, 7, true)},
		{"no edges", blank(70)},
		{"one vertex", blank(1)},
		{"no vertex", blank(0)},
	} {
		if d.e != nil && !longtest.Enabled() && k%3 != longtest.Turn()%3 && k > 1 {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			for _, hub := range []bool{false, true} {
				s := c.sample
				if hub && s.n > 2 { // loops, and edges of a hub to and from a part of the others
					for v := range s.n {
						switch v % 4 {
						case 0:
							s.edges = append(s.edges, edge{s.n / 2, v, 1})
						case 1:
							s.edges = append(s.edges, edge{v, s.n / 2, 1})
						case 2:
							s.edges = append(s.edges, edge{v, v, 1})
						}
					}
				}
				host := build[float64](t, s, matrix.CSR)
				there := host.Clone()
				if err := there.Move(d.Device); err != nil {
					t.Fatal(err)
				}
				for _, a := range standardApps {
					if !isFused(a.name) {
						continue
					}
					want, err := a.run(host, Run{})
					if err != nil {
						t.Fatalf("%s: %v", a.name, err)
					}
					for _, g := range []matrix.Source[float64]{there, there.T()} { // equal for these workflows
						got, err := a.run(g, Run{Method: Fused})
						if err != nil {
							t.Fatalf("%s: %v", a.name, err)
						}
						sameFigures(t, a.name, got, want, a.loose)
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
	d := emulated(t)
	g := build[float64](t, cycles(9, 30, 9), matrix.CSR)
	if err := g.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range standardApps {
		if !isFused(a.name) {
			continue
		}
		if _, err := a.run(g, Run{Method: Fused, Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", a.name, err)
		}
	}
}
