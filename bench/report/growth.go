package report

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
)

// growthCase is a workflow over growing inputs, with edges in proportion to the vertices.
type growthCase struct {
	name string
	most int // the largest scale, if smaller than the requested one
	make func(scale int) (*reportTask, error)
}

// leastScale is the binary logarithm of the smallest number of vertices, growthStep its
// increment.
const (
	leastScale = 14
	growthStep = 2
)

func growthCases() []growthCase {
	return []growthCase{
		{"growth projection", 0, func(scale int) (*reportTask, error) {
			n := 1 << scale
			return projectionOf(gen.CSR(gen.Edges(n, 8*n, 1), gen.KeepLoops), Input{Generator: "gen.Edges", Parameters: fmt.Sprintf("%d vertices, 8 edges each", n), Seed: 1}), nil
		}},
		// The points of a family must be of one kind: this one has a search that takes more steps
		// the larger the graph.
		{"growth sgm", 16, func(scale int) (*reportTask, error) { return nearlyAligned(1<<scale, 16<<scale), nil }},
		{"growth ac", 0, func(scale int) (*reportTask, error) {
			return acTask("gen.RMAT", fmt.Sprintf("scale %d, edge factor 8", scale), gen.RMAT(scale, 8, gen.RMATOptions{}), 0)
		}},
		{"growth lgc", 0, func(scale int) (*reportTask, error) {
			g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 8, gen.RMATOptions{})))
			return lgcOf(g, symmetricRMAT(scale, 8), nearAll(g, apps.ClusterPush)), nil
		}},
		{"growth vn", 0, func(scale int) (*reportTask, error) { return vnTask(scale, 1) }},
	}
}

// grow adds the points of a workflow to the report, up to the first size that fails.
func (b *reportBench) grow(c growthCase) {
	most := b.MostScale - b.shrink
	if c.most > 0 {
		most = min(most, c.most-b.shrink)
	}
	for scale := max(leastScale-b.shrink, 6); scale <= max(most, 6) && b.ctx.Err() == nil; scale += growthStep {
		name := fmt.Sprintf("%s scale %d", c.name, scale)
		row := b.row(reportCase{name: name, make: func(*reportBench) (*reportTask, error) {
			t, err := c.make(scale)
			if err == nil {
				t.peers, t.cusparse = nil, nil
			}
			return t, err
		}})
		if b.ctx.Err() != nil {
			return
		}
		row.Command = fmt.Sprintf("%s --most-scale %d", b.command(c.name), b.MostScale)
		b.report.Growth = append(b.report.Growth, GrowthPoint{c.name, scale, row})
		if row.Failed != "" {
			return
		}
	}
}
