package components

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// ring returns a cycle.
func ring(n int) samples.Sample {
	s := samples.Path(n)
	s.Edges = append(s.Edges, samples.Edge{From: n - 1, To: 0, Weight: 1})
	return s
}

// The pipelines find the components where the search from a hub ends early, where it is too long,
// and where the labels of the others take more passes than they have.
func TestPipelinesBeyondTheHub(t *testing.T) {
	for name, s := range map[string]samples.Sample{
		"no edges":        samples.Blank(5),
		"short ring":      samples.Star(40).Both().Beside(ring(12)).Beside(samples.Path(3)),
		"star":            samples.Star(50),
		"long path":       samples.Path(300).Both(),
		"path and ring":   samples.Path(200).Beside(ring(200)),
		"star and path":   samples.Star(100).Both().Beside(samples.Path(300).Both()),
		"star and arcs":   samples.Star(100).Both().Beside(samples.Path(300)),
		"star and back":   samples.Star(100).Both().Beside(samples.Path(300).Transposed()),
		"star, two rings": samples.Star(100).Both().Beside(ring(150)).Beside(ring(3)),
	} {
		for threads := range 4 { // 0: on a device
			g := samples.Build[int32](t, s, matrix.CSR)
			run := workflow.Run{Threads: threads, Method: workflow.Pipeline}
			if threads == 0 {
				if testing.Short() && !strings.Contains(name, "short") {
					continue
				}
				g.IsSymmetric()
				sure.Do(g.Move(samples.RealOrEmulated(t).Device))
			}
			c := sure.Get(ConnectedComponents(g, ComponentsOptions{run}))
			checkComponents(t, fmt.Sprint(name, ", ", threads, " threads"), samples.Union(s.Arcs()), c)
			strong := sure.Get(StronglyConnectedComponents(g, ComponentsOptions{run}))
			want := depthFirstFigures(matrix.AsView[bool](samples.Build[int32](t, s, matrix.CSR).View().Pattern()))
			samples.SameFigures(t, fmt.Sprint(name, ", strong, ", threads, " threads"), samples.ComponentFigures(strong.Label, strong.Count, strong.Largest), want, 0)
		}
	}
}
