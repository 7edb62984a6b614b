package bench

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/matrix"
)

// densest is the most vertices for which SciPy, with dense arrays, runs.
const densest = 1024

// sgmPermuted matches a random-walk sample of R-MAT with a renamed copy, where
// the first vertices are seeds.
func sgmPermuted(b *reportBench, n int) (*reportTask, error) {
	scale := max(19-b.shrink, 9)
	if b.large == nil {
		b.large = gen.CSR(gen.Symmetrise(gen.RMAT(scale, 20, gen.RMATOptions{Seed: 1})))
	}
	n = max(n>>b.shrink, 64)
	seeds := min(sgmSeeds, n/4)
	x := gen.WalkSample(b.large, n, 1)
	y, truth := gen.Renamed(x, seeds, 2)
	in := Input{Generator: "gen.RMAT, gen.WalkSample, gen.Renamed", Parameters: fmt.Sprintf("scale %d, edge factor 20; %d vertices, %d seeds", scale, n, seeds), Seed: 1}
	return sgmOf(&sgmPair{x, y, truth, apps.FirstSeeds(seeds)}, in), nil
}

// sgmSoft matches two graphs that are nearly aligned, with all vertices as soft seeds.
func sgmSoft(b *reportBench, n, m int) (*reportTask, error) {
	n, m = max(n>>b.shrink, 64), max(m>>b.shrink, 512)
	return nearlyAligned(n, m), nil
}

func nearlyAligned(n, m int) *reportTask {
	x, y, truth := gen.NearlyAligned(n, m, .05, 1)
	in := Input{Generator: "gen.NearlyAligned", Parameters: fmt.Sprintf("%d vertices, %d edges, noise 0.05", n, m), Seed: 1}
	return sgmOf(&sgmPair{x, y, truth, apps.FirstSeeds(n)}, in)
}

func sgmOf(p *sgmPair, in Input) *reportTask {
	t := &reportTask{input: in.of(p.a), tolerance: -1} // methods end at different matchings
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		x, err := weighted(p.a, at)
		if err != nil {
			return nil, err
		}
		y, err := weighted(p.b, at)
		if err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.SGMResult
			o.took, err = clock(func() (err error) { res, err = apps.SGM(x, y, p.seeds, apps.SGMOptions{Run: with}); return err })
			if err != nil || !look {
				return o, err
			}
			o.check = res.After
			o.result = fmt.Sprintf("%.0f disagreements of %.0f, %d steps", res.After, res.Before, len(res.Iterations))
			return o, nil
		}, nil
	}
	t.files = append(graphFile(p.a, nil), peerFile{"other", func(path string) error { return peers.WriteGraph(path, p.b, nil) }})
	call := peerCall{name: "match", args: []string{"other", fmt.Sprint(len(p.seeds))}}
	if n := p.a.NRows; n > densest || len(p.seeds) == n {
		call = peerCall{left: fmt.Sprintf("it makes dense %d×%d arrays", n, n)}
		if len(p.seeds) == n {
			call.left = "it has no soft seeds"
		}
	}
	t.peers = map[string]peerCall{"SciPy": call}
	return t
}
