package job

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// DrawnPrefix begins a GRAPH that is generated in memory in place of a file.
const DrawnPrefix = "generate:"

// isDrawn reports whether the argument is a generated graph.
func isDrawn(file string) bool { return strings.HasPrefix(file, DrawnPrefix) }

// drawnFlags parses generate:KIND,flag=value,flag with the flags of hiveblas generate.
func (j *Job) drawnFlags(spec string) (kind string, f GenerateFlags, err error) {
	bad := func(what string) error {
		return cli.Usage(j.Cmd.CommandPath(), spec+": "+what+"; a generated graph is such as "+DrawnPrefix+"rmat,scale=20,edges=16777216,undirected")
	}
	var name, value string
	fs := pflag.NewFlagSet("generate", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f.Add(fs)
	parts := strings.Split(strings.TrimPrefix(spec, DrawnPrefix), ",")
	kind = parts[0]
	for _, part := range parts[1:] {
		var has bool
		name, value, has = strings.Cut(part, "=")
		flag := fs.Lookup(name)
		switch {
		case flag == nil:
			return kind, f, bad(fmt.Sprintf("%q is no flag of hiveblas generate %s", name, kind))
		case flag.Changed:
			return kind, f, bad(name + " is given twice")
		case !has && flag.NoOptDefVal == "":
			return kind, f, bad(name + " wants a value, " + name + "=…")
		case !has:
			value = flag.NoOptDefVal
		}
		if err := fs.Set(name, value); err != nil {
			return kind, f, bad(fmt.Sprintf("%s is %q, want a value of type %s", name, value, flag.Value.Type()))
		}
	}
	if err := f.Check(kind, "", fs); err != nil {
		return kind, f, bad(err.Error())
	}
	return kind, f, nil
}

// drawn makes a generated graph, where the command computes if that is known.
func (j *Job) drawn(spec string, what Content) (*Graph, error) {
	kind, f, err := j.drawnFlags(spec)
	if err != nil {
		return nil, err
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(ReadFlags).flags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if err == nil && j.inputs == 1 && j.Cmd.Flags().Changed(flag.Name) {
			err = cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf("--%s is for files, and %s is generated; leave it out", flag.Name, spec))
		}
	})
	if err != nil {
		return nil, err
	}
	g, err := f.Graph(kind)
	if err != nil {
		return nil, cli.Usage(j.Cmd.CommandPath(), spec+": "+strings.TrimPrefix(err.Error(), "generate."))
	}
	if err := j.CanDraw(spec, g.Edges(), f.Undirected); err != nil {
		return nil, err
	}
	opts := []generate.MatrixOption{generate.WithContext(j.Ctx)}
	if f.Undirected {
		opts = append(opts, generate.Undirected())
	}
	if f.Simple {
		opts = append(opts, generate.Simple())
	}
	switch {
	case j.Group != nil && !j.Whole:
		opts = append(opts, generate.On(j.Group))
	case j.Device != nil:
		opts = append(opts, generate.On(j.Device))
	}
	out := &Graph{File: spec, Bipartite: kind == "bipartite", Info: graphio.Info{Layout: "generated " + kind, Field: "pattern"}}
	if out.Matrix, err = generate.Matrix[float64](g, opts...); err != nil {
		return nil, Explain(spec, err)
	}
	if f.MaxWeight > 0 {
		out.Info.Field = "integer"
	}
	if f.MaxWeight > 0 && what == Weighted {
		err = ops.ApplyIndex(out.Matrix, Weights[float64, float64](&f), out.Matrix, ops.WithContext(j.Ctx), ops.WithThreads(j.Run.Threads))
		if f.Undirected && err == nil {
			access.MarkSymmetric(out.Matrix)
		}
	}
	return out, Explain(spec, err)
}

// GenerateFlags are the flags of generate.
type GenerateFlags struct {
	scale, vertices, degree, height, width, rows, columns, communities int
	edges, MaxWeight                                                   int64
	probability, mixing                                                float64
	Seed                                                               uint64
	scramble, Undirected, Simple                                       bool
	Truth                                                              string
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

// Add adds the flags of the graph.
func (f *GenerateFlags) Add(fs *pflag.FlagSet) {
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
	fs.Uint64Var(&f.Seed, "seed", 1, "the random numbers are those of `SEED`")
	fs.BoolVar(&f.scramble, "scramble", false, "rename the vertices at random, so that numbers tell nothing")
	fs.BoolVar(&f.Undirected, "undirected", false, "both directions of each edge; .mtx is symmetric")
	fs.BoolVar(&f.Simple, "simple", false, "no loops and no repeated edges; built in memory")
	fs.Int64Var(&f.MaxWeight, "max-weight", 0, "weights from 1 to `W` (0: none)")
}

// Check returns an error for an unknown kind, or for a flag of fs that means nothing for it. dash
// is what precedes a flag in messages.
func (f *GenerateFlags) Check(kind, dash string, fs *pflag.FlagSet) (err error) {
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
	if err == nil && f.MaxWeight < 0 {
		err = fmt.Errorf("%smax-weight is %d, want 1 or more, or 0 for none", dash, f.MaxWeight)
	}
	return err
}

// Graph returns the generator.
func (f *GenerateFlags) Graph(kind string) (g *generate.Graph, err error) {
	switch kind {
	case "rmat":
		g, err = generate.RMAT(f.scale, f.edges, generate.RMATOptions{Seed: f.Seed})
	case "uniform":
		g, err = generate.Uniform(f.vertices, f.edges, f.Seed)
	case "planted":
		g, err = generate.Planted(f.vertices, f.edges, f.communities, f.mixing, f.Seed)
	case "watts-strogatz":
		g, err = generate.WattsStrogatz(f.vertices, f.degree, f.probability, f.Seed)
	case "grid":
		g, err = generate.Grid(f.height, f.width)
	default:
		g, err = generate.Bipartite(f.rows, f.columns, f.edges, f.Seed)
	}
	if err == nil && f.scramble {
		g = generate.Scrambled(g, f.Seed+1)
	}
	return g, err
}

// Weight returns the weight of an edge by its ends, the same in both directions.
func (f *GenerateFlags) Weight(i, j int32) int64 {
	pair := uint64(min(i, j))<<32 | uint64(max(i, j))
	return 1 + int64(splitmix.At(pair, splitmix.Mix(f.Seed+2))%uint64(f.MaxWeight))
}

// Weights is the operator of the weights, which ignores the values.
func Weights[A any, C int64 | float64](f *GenerateFlags) semiring.IndexOp[A, C] {
	// splitmix.Mix(state + (pair+1)·Golden), as an expression.
	z := fmt.Sprintf("(%dull + (((unsigned long long)(i < j ? i : j) << 32 | (unsigned long long)(i < j ? j : i)) + 1) * %dull)",
		splitmix.Mix(f.Seed+2), uint64(splitmix.Golden))
	z = fmt.Sprintf("((%s ^ %[1]s >> 30) * 0xBF58476D1CE4E5B9ull)", z)
	z = fmt.Sprintf("((%s ^ %[1]s >> 27) * 0x94D049BB133111EBull)", z)
	return semiring.NewIndex("weight", func(_ A, i, j int) C { return C(f.Weight(int32(i), int32(j))) },
		fmt.Sprintf("1 + (%s ^ %[1]s >> 31) %% %dull", z, f.MaxWeight))
}
