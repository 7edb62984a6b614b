package main

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/gonumgraph"
)

// TestRoute: the route is one of streets, and takes as long as gonum's.
func TestRoute(t *testing.T) {
	t.Parallel()
	roads, err := made(15)
	if err != nil {
		t.Fatal(err)
	}
	got, time, err := route(roads, 3, 210)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for k := 1; k < len(got); k++ {
		x, ok := roads.At(got[k-1], got[k])
		if !ok {
			t.Fatalf("no street from %d to %d", got[k-1], got[k])
		}
		sum += x
	}
	g, err := gonumgraph.AsDirected(roads)
	if err != nil {
		t.Fatal(err)
	}
	want := path.DijkstraFrom(simple.Node(3), g).WeightTo(210)
	if math.Abs(time-want) > 1e-9 || math.Abs(sum-time) > 1e-9 || got[0] != 3 || got[len(got)-1] != 210 {
		t.Errorf("route %v takes %v, its streets %v, gonum's %v", got, time, sum, want)
	}
	var out bytes.Buffer
	if err := run(&out, roads, 3, 210); err != nil || !strings.Contains(out.String(), "crossings in") {
		t.Errorf("%v\n%s", err, &out)
	}
	if err := run(&out, matrix.New[float64](3, 3), 0, 2); !errors.Is(err, errNoRoute) {
		t.Errorf("without streets: %v", err)
	}
	if err := run(&out, roads, 0, 225); err == nil {
		t.Error("crossing 225 of 225 is found")
	}
}
