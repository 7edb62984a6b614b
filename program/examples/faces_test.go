package examples_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestFacesOnDevice runs shortest paths by each face on the emulated device: the same states and
// the same plans.
func TestFacesOnDevice(t *testing.T) {
	dev := emulated(t)
	g := gen.CSR(gen.Symmetrise(gen.RMAT(7, 6, gen.RMATOptions{})))
	val := make([]float32, len(g.Idx))
	for k, x := range gen.UniformInts(g, 1, 9, 5, false) {
		val[k] = float32(x)
	}
	host, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	if err != nil {
		t.Fatal(err)
	}
	there := host.Clone()
	if err := there.Move(dev); err != nil {
		t.Fatal(err)
	}
	const relax = "active = sum < state; if (active) state = sum;"
	init, seeds := program.Value(float32(math.Inf(1))), program.At(int(g.Idx[0]), float32(0))
	lower := func(_ program.Vertex, d, sum float32) (float32, bool) { return min(d, sum), sum < d }
	faces := []program.Program[float32, float32, float32]{
		program.GatherSumApply[float32, float32, float32]{
			Init: init, Seeds: seeds, Sum: semiring.Min[float32](), Apply: lower,
			Gather: func(src, _, weight float32) float32 { return src + weight },
			CUDA:   program.GSAText{Gather: "src + weight", Apply: relax},
		}.Program(),
		program.EdgeMessageVertex[float32, float32, float32]{
			Init: init, Seeds: seeds, Combiner: semiring.Min[float32](), Vertex: lower,
			Edge: func(e *program.Edge[float32, float32, float32]) { e.Send(e.Src() + e.Weight()) },
			CUDA: program.EMVText{Edge: "edge.send(edge.src() + edge.weight());", Vertex: relax},
		}.Program(),
		program.EdgeVertex[float32, float32, float32]{
			InitData: init, Seeds: seeds, Combiner: semiring.Min[float32](),
			EdgeCompute: func(src, _, weight float32) (float32, bool) { return src + weight, true },
			VertexCompute: func(_ program.Vertex, d, sum float32) (float32, program.Vote) {
				return min(d, sum), program.Vote(sum < d)
			},
			CUDA: program.EVText{EdgeCompute: "src + weight", VertexCompute: relax}, // no condition: every edge
		}.Program(),
		program.EdgeVertex[float32, float32, float32]{ // messages that raise no distance alone
			InitData: init, Seeds: seeds, Combiner: semiring.Min[float32](),
			EdgeCompute: func(src, dst, weight float32) (float32, bool) { return src + weight, src+weight < dst },
			VertexCompute: func(_ program.Vertex, d, sum float32) (float32, program.Vote) {
				return min(d, sum), program.Vote(sum < d)
			},
			CUDA: program.EVText{EdgeCompute: "src + weight", Condition: "src + weight < dst", VertexCompute: relax},
		}.Program(),
	}
	want, err := program.Run(context.Background(), host, faces[0])
	if err != nil {
		t.Fatal(err)
	}
	if want.Supersteps < 3 || want.State.NVals() < 20 {
		t.Fatalf("%d supersteps try too little", want.Supersteps)
	}
	for _, plan := range []string{"", "push", "pull"} {
		var first []string
		for k, p := range faces {
			var plans []string
			got, err := program.Run(context.Background(), there, p, program.Options{Plan: plan, Trace: func(s program.Step) {
				plans = append(plans, s.Plan)
			}})
			if err != nil {
				t.Fatalf("face %d, plan %q: %v", k, plan, err)
			}
			if !got.State.Equal(want.State) || k < 3 && got.Supersteps != want.Supersteps {
				t.Errorf("face %d, plan %q: %v after %d supersteps, want %v after %d", k, plan, got.State, got.Supersteps, want.State, want.Supersteps)
			}
			if k == 0 {
				first = plans
			} else if k < 3 && !slices.Equal(plans, first) {
				t.Errorf("face %d runs by %q, the first by %q", k, plans, first)
			}
		}
	}
}
