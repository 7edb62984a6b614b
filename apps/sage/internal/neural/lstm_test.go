package neural

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// An LSTM over several parts of targets: states equal a loop over the neighbours of each target,
// gradients equal differences, and both have the same bits for all numbers of threads.
func TestLSTM(t *testing.T) {
	t.Parallel()
	const targets, sources, width = 2*partTargets + 40, 2*partTargets + 50, 3
	rng := rand.New(rand.NewPCG(8, 1))
	fill := func(p Panel[float64]) Panel[float64] {
		for i := range p.Val {
			p.Val[i] = rng.NormFloat64()
		}
		return p
	}
	b := &Block[float64]{Targets: targets, Sources: sources, Ptr: []int64{0}}
	for v := range targets {
		for range rng.IntN(9) * rng.IntN(1+v%4) { // some have none
			b.Idx = append(b.Idx, int32(rng.IntN(sources)))
		}
		b.Ptr = append(b.Ptr, int64(len(b.Idx)))
	}
	n := Random[float64](AggregateLSTM, 1, 2, []int{width}, 0, 5)
	n.Training = true
	wh, x, along := fill(n.Layers[0].Recur.Value), fill(NewPanel[float64](sources, 4*width)), fill(NewPanel[float64](targets, width))
	states := func(run workflow.Run) *Tape[float64] {
		n.Kept.Reset()
		tape := &Tape[float64]{Block: b}
		if err := n.fold(0, tape, Near[float64]{Panel: x}, run); err != nil {
			t.Fatal(err)
		}
		return tape
	}
	value := func() (sum float64) {
		for i, y := range states(workflow.Run{}).most.Val {
			sum += y * along.Val[i]
		}
		return sum
	}
	var refused *workflow.ParameterError
	if err := new(Tape[float64]).keepFolded(n, 1<<40, width); !errors.As(err, &refused) || !strings.Contains(err.Error(), "AggregateLSTM") {
		t.Errorf("states of 2⁴⁰ neighbours: %v", err)
	}
	for v := range targets {
		c, h := make([]float64, width), make([]float64, width)
		for _, u := range b.Idx[b.Ptr[v]:b.Ptr[v+1]] {
			next := make([]float64, width)
			for j := range width {
				var z [4]float64
				for q := range z {
					z[q] = Row(x, int(u))[q*width+j]
					for k, y := range h {
						z[q] += y * Row(wh, k)[q*width+j]
					}
				}
				c[j] = c[j]/(1+math.Exp(-z[1])) + math.Tanh(z[2])/(1+math.Exp(-z[0]))
				next[j] = math.Tanh(c[j]) / (1 + math.Exp(-z[3]))
			}
			h = next
		}
		for j, y := range Row(states(workflow.Run{}).most, v) {
			if math.Abs(y-h[j]) > 1e-12 {
				t.Fatalf("the state of target %d is %v, want %v", v, y, h[j])
			}
		}
	}
	var first []float64
	var dx Panel[float64]
	for _, threads := range []int{1, 2, 7} {
		run := workflow.Run{Threads: threads}
		clear(n.Layers[0].Recur.Grad.Val)
		tape := states(run)
		var err error
		if dx, err = n.unfold(0, tape, along, run); err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(tape.most.Val, dx.Val, n.Layers[0].Recur.Grad.Val)
		if first == nil {
			first = all
		} else if !slices.Equal(first, all) {
			t.Errorf("%d threads give other states or gradients", threads)
		}
	}
	for name, of := range map[string][2][]float64{"X": {x.Val, dx.Val}, "Wh": {wh.Val, n.Layers[0].Recur.Grad.Val}} {
		for i := 0; i < len(of[0]); i += 1 + len(of[0])/40 {
			const step = 1e-5
			was := of[0][i]
			of[0][i] = was + step
			up := value()
			of[0][i] = was - step
			down := value()
			of[0][i] = was
			if want := (up - down) / (2 * step); math.Abs(of[1][i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("∂%s[%d] is %v, differences give %v", name, i, of[1][i], want)
			}
		}
	}
}
