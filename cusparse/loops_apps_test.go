//go:build !race

package cusparse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// The pipelines of workflows with loops in loops are recorded whole, and give what the workflows
// give on the host.
func TestWorkflowsAreLoops(t *testing.T) {
	d, _ := cusparse.Emulated(t)
	graph := func(t gen.Tuples) (host, there *matrix.Matrix[int32]) {
		g := gen.CSR(t)
		weights := make([]int32, g.NNZ())
		for p, w := range gen.UniformInts(g, 1, 63, 3, true) {
			weights[p] = int32(w)
		}
		host = sure.Get(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, weights))
		there = host.Clone()
		there.IsSymmetric() // it stays known
		sure.Do(there.Move(d))
		return host, there
	}
	edges := gen.RMAT(8, 3, gen.RMATOptions{Seed: 5})
	directed, directedThere := graph(edges)
	undirected, undirectedThere := graph(gen.Symmetrise(edges))
	for k, test := range []struct {
		name string
		run  func(a *matrix.Matrix[int32], run apps.Run) (*matrix.Vector[int32], error)
		// blocks are the first words of the lines of the loop or branch in the whole loop.
		blocks []string
	}{
		{"core numbers", func(a *matrix.Matrix[int32], run apps.Run) (*matrix.Vector[int32], error) {
			c, err := apps.CoreNumbers(a, apps.CoreOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return c.Number, nil
		}, []string{"\twhile"}},
		{"strong components", func(a *matrix.Matrix[int32], run apps.Run) (*matrix.Vector[int32], error) {
			c, err := apps.StronglyConnectedComponents(a, apps.ComponentsOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return c.Label, nil
		}, []string{"\twhile", "\twhile"}},
		{"undirected colouring", func(a *matrix.Matrix[int32], run apps.Run) (*matrix.Vector[int32], error) {
			c, err := apps.Colouring(a, apps.ColouringOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return c.Colour, nil
		}, []string{"\twhile"}},
		{"undirected independent set", func(a *matrix.Matrix[int32], run apps.Run) (*matrix.Vector[int32], error) {
			set, err := apps.MaximalIndependentSet(a, apps.IndependentSetOptions{Run: run})
			if err != nil {
				return nil, err
			}
			in := matrix.NewVector[int32](set.Size())
			for v := range set.All() {
				sure.Do(in.Set(v, 1))
			}
			return in, nil
		}, nil},
		{"shortest paths", func(a *matrix.Matrix[int32], run apps.Run) (*matrix.Vector[int32], error) {
			return apps.SSSP(a, []int{0}, apps.SSSPOptions[int32]{Run: run, Delta: 5})
		}, nil},
	} {
		if !longtest.Takes(k, 4) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			host, a := directed, directedThere
			if strings.HasPrefix(test.name, "undirected ") {
				host, a = undirected, undirectedThere
			}
			want, err := test.run(host, apps.Run{})
			if err != nil {
				t.Fatal(err)
			}
			before := len(d.Loops())
			got, err := test.run(a, apps.Run{Method: apps.Pipeline})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(want) {
				t.Errorf("%v, want %v", got, want)
			}
			loops := d.Loops()[before:]
			if !slices.ContainsFunc(loops, func(text string) bool {
				var blocks []string
				for line := range strings.Lines(text) {
					if strings.HasPrefix(line, "\t") {
						if word, _, _ := strings.Cut(line, " "); strings.HasSuffix(word, "\twhile") || strings.HasSuffix(word, "\tif") {
							blocks = append(blocks, word)
						}
					}
				}
				return slices.Equal(blocks, test.blocks)
			}) {
				t.Errorf("no loop has the blocks %q:\n%s", test.blocks, strings.Join(loops, "\n"))
			}
		})
	}
}
