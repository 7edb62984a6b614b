package programs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/graphio"
)

// spaceGraph is a graph of SpacePrograms. Of those with a file, make gets the edges in it.
type spaceGraph struct {
	name, about string
	file        string // in the directory of real graphs; "" if the graph is generated
	make        func(shrink int, edges gen.Tuples) *gen.Graph
}

// squareGraph turns one of spaceGraphs into one of these.
func squareGraph(name, about string) spaceGraph {
	k := slices.Index(SpaceGraphs(), name)
	return spaceGraph{name, about, "", func(s int, _ gen.Tuples) *gen.Graph { return spaceGraphs[k].make(s) }}
}

// spaceProgramGraphs are the graphs of SpacePrograms: different in kind. Programs run on square
// matrices, so that the bipartite one has a vertex for each row and column.
func spaceProgramGraphs() []spaceGraph {
	return []spaceGraph{
		squareGraph("rmat 18", "power law, directed"),
		squareGraph("rmat 20", "power law, directed"),
		squareGraph("rmat 20 symmetric", "power law, undirected"),
		{"rmat 20 by degree", "the same, vertices by descending degree", "", func(s int, _ gen.Tuples) *gen.Graph {
			g := gen.CSR(gen.Symmetrise(gen.RMAT(20-s, 16, gen.RMATOptions{})))
			return gen.CSR(inputs.TuplesOf(g, inputs.ByDegree(g), false))
		}},
		squareGraph("rmat 22", "power law, directed"),
		squareGraph("uniform", "directed, degree 16"),
		squareGraph("grid 2048", "degree 4"),
		{"planar", "a triangulated grid without a twelfth of its edges", "", func(s int, _ gen.Tuples) *gen.Graph {
			return gen.CSR(gen.Symmetrise(edgesOf(gen.PlanarSignal(1_000_000>>s, 1).Graph)))
		}},
		{"road", "ak2010 in tiles, neighbours joined by 64 edges", "ak2010.mtx.gz", func(s int, t gen.Tuples) *gen.Graph {
			return gen.CSR(gen.Symmetrise(tiled(t, max(1, 5>>s), 64)))
		}},
		squareGraph("band 27", "27 diagonals"),
		squareGraph("star and chain", "a vertex of all edges"),
		squareGraph("small world .1", "degree 16, a tenth of it anywhere"),
		{"bipartite", "power law of both sides", "", func(s int, _ gen.Tuples) *gen.Graph {
			rows, cols := 34395>>(s/2), 20402>>(s/2)
			t := gen.Bipartite(rows, cols, 5_000_000>>s, 1)
			t.NRows, t.NCols = rows+cols, rows+cols
			for k := range t.Cols {
				t.Cols[k] += int32(rows)
			}
			return gen.CSR(gen.Symmetrise(t))
		}},
		{"internet", "as-22july06: autonomous systems", "as-22july06.mtx.gz", whole},
		{"social", "soc-Slashdot0902, directed", "soc-Slashdot0902.mtx.gz", whole},
	}
}

func whole(_ int, t gen.Tuples) *gen.Graph { return gen.CSR(t) }

// SpaceProgramGraphs returns the names of the graphs of [SpacePrograms].
func SpaceProgramGraphs() []string {
	var names []string
	for _, g := range spaceProgramGraphs() {
		names = append(names, g.name)
	}
	return names
}

// load makes a graph. absent says why there is none: the file does not exist.
func (g *spaceGraph) load(data string, shrink int) (made *gen.Graph, absent string, err error) {
	if g.file == "" {
		return g.make(shrink, gen.Tuples{}), "", nil
	}
	if data == "" {
		return nil, "no directory of real graphs is given", nil
	}
	path := filepath.Join(data, g.file)
	a, err := graphio.ReadMatrixMarketFile[float64](path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path + " does not exist", nil
	}
	if err != nil {
		return nil, "", err
	}
	m, n := a.Dims()
	if m != n {
		return nil, "", fmt.Errorf("%s: the graph is %d×%d, want a square matrix", path, m, n)
	}
	t := gen.Tuples{NRows: m, NCols: n}
	for at := range a.All() {
		if at.Row != at.Col {
			t.Rows, t.Cols = append(t.Rows, int32(at.Row)), append(t.Cols, int32(at.Col))
		}
	}
	return g.make(shrink, t), "", nil
}

// tiled is side×side copies of a graph. Each copy has so many edges to the next in its row and to
// the one below, between a vertex of the one and the same vertex of the other.
func tiled(t gen.Tuples, side, joins int) gen.Tuples {
	n, copies := t.NRows, side*side
	r := gen.Tuples{NRows: n * copies, NCols: n * copies}
	join := func(a, b int) {
		for k := range min(joins, n) {
			v := int(gen.Hash(uint64(k), uint64(a*copies+b)) % uint64(n))
			r.Rows, r.Cols = append(r.Rows, int32(a*n+v)), append(r.Cols, int32(b*n+v))
		}
	}
	for c := range copies {
		for k := range t.Rows {
			r.Rows, r.Cols = append(r.Rows, int32(c*n)+t.Rows[k]), append(r.Cols, int32(c*n)+t.Cols[k])
		}
		if c%side+1 < side {
			join(c, c+1)
		}
		if c+side < copies {
			join(c, c+side)
		}
	}
	return r
}
