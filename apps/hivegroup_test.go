package apps

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/geo"
	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// hiveGraph is a graph of 2^scale vertices with uneven weights. A directed one has vertices that no
// other reaches.
func hiveGraph(t testing.TB, scale int, directed bool, at matrix.Place) samples.GroupGraph {
	t.Helper()
	edges, err := generate.RMAT(scale, 3<<scale, generate.RMATOptions{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	options := []generate.MatrixOption{generate.Simple()}
	if !directed {
		options = append(options, generate.Undirected())
	}
	g, err := generate.Matrix[float32](edges, options...)
	if err != nil {
		t.Fatal(err)
	}
	if err := ops.ApplyIndex(g, semiring.NewIndex("uneven", func(_ float32, i, j int) float32 {
		return 1 / float32(1+(i+j)%11)
	}, ""), g); err != nil {
		t.Fatal(err)
	}
	if err := g.Move(at); err != nil {
		t.Fatal(err)
	}
	return g
}

// The workflows of the HIVE report that run as pipelines on a group, and the whole on every rank.
// Their results are those of one place, bit for bit.
var hiveWorkflows = []struct {
	name     string
	directed bool
	run      func(g samples.GroupGraph) (any, error)
}{
	{"distances", true, func(g samples.GroupGraph) (any, error) {
		return paths.VertexNomination(g, []int{0}, paths.VertexNominationOptions[float32]{})
	}},
	{"distances from several", true, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		return paths.VertexNomination(g, []int{n - 1, 0, n / 2, 0}, paths.VertexNominationOptions[float32]{Delta: .3})
	}},
	{"edges from several", true, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		return paths.VertexNomination(g, []int{n - 1, 1, n / 3}, paths.VertexNominationOptions[float32]{Unit: true})
	}},
	{"shortest paths", true, func(g samples.GroupGraph) (any, error) { return paths.SSSP(g, []int{0}) }},
	{"shortest paths from several", false, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		return paths.SSSP(g, []int{1, n - 1, n / 2}, paths.SSSPOptions[float32]{Delta: 2})
	}},
	{"nomination by distance and content", true, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		return nominate.NominateVertices(g, []int{0, 1}, nominate.NominateOptions{Context: nominate.ContextDistance, Content: lassoValues(n, 3), Weight: .4})
	}},
	{"nomination by seeds", true, func(g samples.GroupGraph) (any, error) {
		return nominate.NominateVertices(g, []int{0, 1}, nominate.NominateOptions{Context: nominate.ContextSeeds})
	}},
	{"nomination by common neighbours", true, func(g samples.GroupGraph) (any, error) {
		return nominate.NominateVertices(g, []int{0, 1}, nominate.NominateOptions{Context: nominate.ContextCommonNeighbours})
	}},
	{"nomination by PageRank", true, func(g samples.GroupGraph) (any, error) {
		return nominate.NominateVertices(g, []int{0, 1}, nominate.NominateOptions{Context: nominate.ContextPageRank})
	}},
	{"geolocation", false, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		var known []int
		var lat, lon []float64
		for v := 0; v < n; v += 3 {
			known, lat, lon = append(known, v), append(lat, float64(v*7%120-60)), append(lon, float64(v*13%360-180))
		}
		at, err := lines.NewLocations(n, known, lat, lon)
		if err != nil {
			return nil, err
		}
		return geo.Geolocate(g, at)
	}},
	{"communities", false, func(g samples.GroupGraph) (any, error) {
		res, err := communities.Communities(g, communities.CommunitiesOptions{Leiden: true})
		if err != nil {
			return nil, err
		}
		return []any{samples.ResultWords(res.Membership), res.Modularity, res.Count}, nil
	}},
	{"matching", false, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		b := matrix.NewBuilder[float32](n, n)
		for e, x := range g.All() {
			b.Add(n-1-e.Row, n-1-e.Col, x)
		}
		other, err := b.Build(nil)
		if err == nil {
			err = other.Move(g.Place())
		}
		if err != nil {
			return nil, err
		}
		res, err := sgm.SGM(g, other, []sgm.SeedPair{{A: 0, B: n - 1}, {A: 1, B: n - 2}})
		if err != nil {
			return nil, err
		}
		return []any{samples.ResultWords(res.Match), res.Before, res.After}, nil
	}},
	{"classification", true, func(g samples.GroupGraph) (any, error) {
		n, _ := g.Dims()
		var from, to []int32
		for e := range g.All() {
			from, to = append(from, int32(e.Row)), append(to, int32(e.Col))
		}
		data, err := withFeatures(n, from, to)
		if err != nil {
			return nil, err
		}
		pattern, err := withFeatures(3, []int32{0, 1, 2}, []int32{1, 2, 1})
		if err == nil {
			err = errors.Join(data.Move(g.Place()), pattern.Move(g.Place()))
		}
		if err != nil {
			return nil, err
		}
		return classify.Classify(data, pattern)
	}},
}

// withFeatures returns a graph with features that numbers give.
func withFeatures(n int, from, to []int32) (*classify.Attributed, error) {
	values := func(rows, cols int) (*matrix.Matrix[float32], error) {
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = float32(i*i%17) / 5
		}
		return matrix.FromDense(rows, cols, x)
	}
	vertices, err := values(2, n)
	if err != nil {
		return nil, err
	}
	edges, err := values(3, len(from))
	if err != nil {
		return nil, err
	}
	return classify.NewAttributed(vertices, edges, from, to)
}

// Workflows of the HIVE report give on groups what they give on one place: on 1 to 7 ranks, as
// several processes, with graphs in blocks and with fewer vertices than ranks.
func TestHIVEOnGroups(t *testing.T) {
	t.Parallel()
	scales := []int{2, 6}
	if longtest.Enabled() {
		scales = append(scales, 8)
	}
	for _, w := range hiveWorkflows {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, scale := range scales {
				res, err := w.run(hiveGraph(t, scale, w.directed, nil))
				if err != nil {
					t.Fatal(err)
				}
				want := samples.ResultWords(res)
				if len(want) == 0 {
					t.Fatal("an empty result")
				}
				for _, p := range []int{1, 2, 3, 7} {
					at, err := comm.LocalGroup(p)
					if err != nil {
						t.Fatal(err)
					}
					g := hiveGraph(t, scale, w.directed, at)
					if p == 2 {
						g = samples.InBlocks(t, g, at)
					}
					res, err := w.run(g)
					if err != nil {
						t.Fatalf("%d vertices, %d ranks: %v", 1<<scale, p, err)
					}
					if got := samples.ResultWords(res); !slices.Equal(got, want) {
						t.Errorf("%d vertices, %d ranks: %v, want %v", 1<<scale, p, short(got), short(want))
					}
				}
				list, errs := samples.Processes(t, 5, func(at *comm.Group) (any, error) {
					res, err := w.run(hiveGraph(t, scale, w.directed, at))
					if err != nil {
						return nil, err
					}
					return samples.ResultWords(res), nil
				})
				for r, got := range list {
					if errs[r] != nil {
						t.Fatalf("%d vertices, process %d: %v", 1<<scale, r, errs[r])
					}
					if !slices.Equal(got.([]string), want) {
						t.Errorf("%d vertices, process %d: %v, want %v", 1<<scale, r, short(got.([]string)), short(want))
					}
				}
			}
		})
	}
}

// short is the beginning of a long list.
func short(list []string) string { return fmt.Sprint(len(list), " values ", list[:min(len(list), 12)]) }
