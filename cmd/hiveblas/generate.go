package main

import (
	le "encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	scale, vertices, degree, height, width, rows, columns, communities int
	edges, maxWeight                                                   int64
	probability, mixing                                                float64
	seed                                                               uint64
	scramble, undirected, simple                                       bool
	truth                                                              string
}

// generators are the kinds of graphs with the flags that each takes.
var generators = map[string][]string{
	"rmat":           {"scale", "edges"},
	"uniform":        {"vertices", "edges"},
	"planted":        {"vertices", "edges", "communities", "mixing", "truth"},
	"watts-strogatz": {"vertices", "degree", "probability"},
	"grid":           {"height", "width"},
	"bipartite":      {"rows", "columns", "edges"},
}

func generatorNames() []string {
	return []string{"rmat", "uniform", "planted", "watts-strogatz", "grid", "bipartite"}
}

func generateCommand(s *session) *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate KIND -o FILE",
		Short: "Write a random or regular graph of any size",
		Long: `generate writes the edges of a graph: rmat (a power law, Graph500's parameters),
uniform (Erdős and Rényi), planted (communities), watts-strogatz (a ring with moved
edges), grid, or bipartite (users rate items). The same arguments give the same
edges on every machine, whatever --threads.

.tsv, .csv, .mtx and .g500 (Graph500 tuples) are streamed: memory does not grow with
the edges, and the list has them as drawn, with repeated edges and loops, and an
undirected edge once: read it with --duplicates first, and --undirected. With --simple,
and for .hgb and .npz, the graph is built in memory: repeated edges are one, --simple
leaves loops out, and --undirected adds the other direction.

Commands that compute take generate:KIND,flag=value,flag in place of a file, as in
hiveblas bfs generate:rmat,scale=20,edges=16777216,undirected --source 1`,
		Example: `  hiveblas generate rmat --scale 20 --edges 16777216 -o rmat20.tsv.gz
  hiveblas generate planted --vertices 100000 --edges 1000000 --communities 50 --mixing 0.2 --truth t.tsv -o g.hgb
  hiveblas generate grid --height 1000 --width 1000 --max-weight 255 --undirected -o roads.hgb
  hiveblas generate watts-strogatz --vertices 10000 --degree 5 --probability 0.1 --simple --undirected -o - `,
		Args: cli.Positional("KIND"),
	}
	j := newJob(s, cmd).writes("the edges", ".tsv", ".csv", ".mtx", ".g500", ".hgb", ".npz")
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.truth, "truth", "", "write the community of each vertex to `FILE`, a .tsv or .csv")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return generateGraph(j, args[0], &f) }
	return cmd
}

// add adds the flags of the graph.
func (f *generateFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.scale, "scale", 16, "2 to the power of `S` vertices (rmat)")
	fs.IntVar(&f.vertices, "vertices", 10000, "`N` vertices")
	fs.Int64Var(&f.edges, "edges", 100000, "draw `M` edges")
	fs.IntVar(&f.degree, "degree", 4, "join each vertex to the `K` that follow it on the ring")
	fs.Float64Var(&f.probability, "probability", .1, "move an edge with probability `P`")
	fs.IntVar(&f.height, "height", 100, "`H` vertices from top to bottom of the grid")
	fs.IntVar(&f.width, "width", 100, "`W` vertices from left to right of the grid")
	fs.IntVar(&f.rows, "rows", 1000, "`M` rows")
	fs.IntVar(&f.columns, "columns", 1000, "`N` columns")
	fs.IntVar(&f.communities, "communities", 10, "plant `N` communities")
	fs.Float64Var(&f.mixing, "mixing", .1, "an edge leaves its community with probability `P`, roughly")
	fs.Uint64Var(&f.seed, "seed", 1, "the random numbers are those of `SEED`")
	fs.BoolVar(&f.scramble, "scramble", false, "rename the vertices at random, so that numbers tell nothing")
	fs.BoolVar(&f.undirected, "undirected", false, "both directions of each edge; .mtx is symmetric")
	fs.BoolVar(&f.simple, "simple", false, "no loops and no repeated edges; built in memory")
	fs.Int64Var(&f.maxWeight, "max-weight", 0, "weights from 1 to `W` (0: none)")
}

// checkGenerate rejects flags that mean nothing for the kind.
func checkGenerate(j *job, kind string, f *generateFlags) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(j.cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if err := f.check(kind, "--", j.cmd.Flags()); err != nil {
		return bad("%v", err)
	}
	if j.out.path == "" {
		return bad("-o is missing")
	}
	return nil
}

// check returns an error for an unknown kind, or for a flag of fs that means nothing for it. dash
// is what precedes a flag in messages.
func (f *generateFlags) check(kind, dash string, fs *pflag.FlagSet) (err error) {
	own, ok := generators[kind]
	if !ok {
		return fmt.Errorf("%q is no kind of graph, want %s", kind, strings.Join(generatorNames(), ", "))
	}
	fs.Visit(func(flag *pflag.Flag) {
		for other, flags := range generators {
			if err == nil && other != kind && slices.Contains(flags, flag.Name) && !slices.Contains(own, flag.Name) {
				err = fmt.Errorf("%s%s means nothing for %s, which takes %s%s", dash, flag.Name, kind, dash, strings.Join(own, ", "+dash))
			}
		}
	})
	if err == nil && f.maxWeight < 0 {
		err = fmt.Errorf("%smax-weight is %d, want 1 or more, or 0 for none", dash, f.maxWeight)
	}
	return err
}

// graph returns the generator.
func (f *generateFlags) graph(kind string) (g *generate.Graph, err error) {
	switch kind {
	case "rmat":
		g, err = generate.RMAT(f.scale, f.edges, generate.RMATOptions{Seed: f.seed})
	case "uniform":
		g, err = generate.Uniform(f.vertices, f.edges, f.seed)
	case "planted":
		g, err = generate.Planted(f.vertices, f.edges, f.communities, f.mixing, f.seed)
	case "watts-strogatz":
		g, err = generate.WattsStrogatz(f.vertices, f.degree, f.probability, f.seed)
	case "grid":
		g, err = generate.Grid(f.height, f.width)
	default:
		g, err = generate.Bipartite(f.rows, f.columns, f.edges, f.seed)
	}
	if err == nil && f.scramble {
		g = generate.Scrambled(g, f.seed+1)
	}
	return g, err
}

func generateGraph(j *job, kind string, f *generateFlags) error {
	if err := checkGenerate(j, kind, f); err != nil {
		return err
	}
	g, err := f.graph(kind)
	if err != nil {
		return cli.Usage(j.cmd.CommandPath(), strings.TrimPrefix(err.Error(), "generate."))
	}
	if err := j.begin(); err != nil {
		return err
	}
	if err := checkList(j, "truth", f.truth, j.out.path); err != nil {
		return err
	}
	bad := func(text string) error { return cli.Usage(j.cmd.CommandPath(), text) }
	m, n := g.Dims()
	built := f.simple || j.out.kind == ".hgb" || j.out.kind == ".npz"
	switch {
	case f.undirected && m != n:
		return bad("--undirected is for graphs of one set of vertices")
	case f.undirected && !built && j.out.kind != ".mtx":
		return bad("--undirected with " + j.out.kind + " wants --simple; or read the list with --undirected")
	case j.out.kind == ".g500" && (f.maxWeight > 0 || m != n || built):
		return bad(".g500 holds edges as drawn between vertices of one set, without weights")
	}
	j.graph = &graph{Matrix: matrix.New[float64](m, n), file: kind, edges: g.Edges()}
	if built {
		if err := j.canDraw(kind, g.Edges(), f.undirected); err != nil {
			return err
		}
		err = writeBuilt(j, g, f)
	} else {
		err = j.writing(func() error { return j.stream(func(w io.Writer) error { return drawTo(j, w, g, f) }) })
	}
	if err != nil {
		return err
	}
	err = writeList(j, f.truth, func(line func(fields ...string) error) error {
		for v := range n {
			if err := line(strconv.Itoa(v), strconv.Itoa(g.Community(v))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return j.report("", []field{{"edges", "edges drawn", g.Edges()}, {"seed", "seed", f.seed}}, nil)
}

// weight returns the weight of an edge by its ends, the same in both directions.
func (f *generateFlags) weight(i, j int32) int64 {
	pair := uint64(min(i, j))<<32 | uint64(max(i, j))
	return 1 + int64(splitmix.At(pair, splitmix.Mix(f.seed+2))%uint64(f.maxWeight))
}

// weights is the operator of the weights, which ignores the values.
func weights[A any, C int64 | float64](f *generateFlags) semiring.IndexOp[A, C] {
	// splitmix.Mix(state + (pair+1)·Golden), as an expression.
	z := fmt.Sprintf("(%dull + (((unsigned long long)(i < j ? i : j) << 32 | (unsigned long long)(i < j ? j : i)) + 1) * %dull)",
		splitmix.Mix(f.seed+2), uint64(splitmix.Golden))
	z = fmt.Sprintf("((%s ^ %[1]s >> 30) * 0xBF58476D1CE4E5B9ull)", z)
	z = fmt.Sprintf("((%s ^ %[1]s >> 27) * 0x94D049BB133111EBull)", z)
	return semiring.NewIndex("weight", func(_ A, i, j int) C { return C(f.weight(int32(i), int32(j))) },
		fmt.Sprintf("1 + (%s ^ %[1]s >> 31) %% %dull", z, f.maxWeight))
}

// drawPiece is the number of edges that one goroutine draws and formats at a time.
const drawPiece = 1 << 15

// drawTo streams the edges.
func drawTo(j *job, w io.Writer, g *generate.Graph, f *generateFlags) error {
	m, n := g.Dims()
	base, delim := int64(0), byte('\t')
	switch j.out.kind {
	case ".csv":
		delim = ','
	case ".mtx":
		base, delim = 1, ' '
		field, symmetry := "pattern", "general"
		if f.maxWeight > 0 {
			field = "integer"
		}
		if f.undirected {
			symmetry = "symmetric"
		}
		if _, err := fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, symmetry, m, n, g.Edges()); err != nil {
			return err
		}
	}
	pieces := int((g.Edges() + drawPiece - 1) / drawPiece)
	return chunk.Write(j.Ctx, w, j.run.threads, pieces, func(piece int, buf []byte) []byte {
		lo := int64(piece) * drawPiece
		src := make([]int32, min(drawPiece, g.Edges()-lo))
		dst := make([]int32, len(src))
		_ = g.Draw(lo, src, dst) // within the edges
		for k, i := range src {
			to := dst[k]
			if j.out.kind == ".g500" {
				buf = le.LittleEndian.AppendUint64(le.LittleEndian.AppendUint64(buf, uint64(i)), uint64(to))
				continue
			}
			if f.undirected { // the lower triangle
				i, to = max(i, to), min(i, to)
			}
			buf = append(strconv.AppendInt(buf, int64(i)+base, 10), delim)
			buf = strconv.AppendInt(buf, int64(to)+base, 10)
			if f.maxWeight > 0 {
				buf = strconv.AppendInt(append(buf, delim), f.weight(i, to), 10)
			}
			buf = append(buf, '\n')
		}
		return buf
	}, func(wrote int) { j.progress.update(j.out.title(), int64(wrote), int64(pieces)) })
}

// writeBuilt builds the matrix and writes it.
func writeBuilt(j *job, g *generate.Graph, f *generateFlags) error {
	var a *matrix.Matrix[bool]
	err := j.stage("compute", func() (err error) {
		var opts []generate.MatrixOption
		if f.undirected {
			opts = append(opts, generate.Undirected())
		}
		if f.simple {
			opts = append(opts, generate.Simple())
		}
		a, err = generate.Matrix[bool](g, opts...)
		return err
	})
	if err != nil {
		return err
	}
	j.graph.edges = a.NVals() // of repeated edges one, of undirected ones both directions
	if f.maxWeight == 0 {
		return j.writing(func() error { return j.writeMatrixAs(a.Inside(), nil, nil, graphio.AsPattern()) })
	}
	m, n := g.Dims()
	b := matrix.New[int64](m, n)
	if err := ops.ApplyIndex(b, weights[bool, int64](f), a, ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads)); err != nil {
		return err
	}
	return j.writing(func() error { return j.writeMatrixAs(b.Inside(), nil, nil) })
}
