package main

import (
	le "encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

func generateCommand(s *job.Session) *cobra.Command {
	var f job.GenerateFlags
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
	j := job.New(s, cmd).Writes("the edges", ".tsv", ".csv", ".mtx", ".g500", ".hgb", ".npz")
	f.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.Truth, "truth", "", "write the community of each vertex to `FILE`, a .tsv or .csv")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return generateGraph(j, args[0], &f) }
	return cmd
}

// checkGenerate rejects flags that mean nothing for the kind.
func checkGenerate(j *job.Job, kind string, f *job.GenerateFlags) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if err := f.Check(kind, "--", j.Cmd.Flags()); err != nil {
		return bad("%v", err)
	}
	if j.Out.Path == "" {
		return bad("-o is missing")
	}
	return nil
}

func generateGraph(j *job.Job, kind string, f *job.GenerateFlags) error {
	if err := checkGenerate(j, kind, f); err != nil {
		return err
	}
	g, err := f.Graph(kind)
	if err != nil {
		return cli.Usage(j.Cmd.CommandPath(), strings.TrimPrefix(err.Error(), "generate."))
	}
	if err := j.Begin(); err != nil {
		return err
	}
	if err := checkList(j, "truth", f.Truth, j.Out.Path); err != nil {
		return err
	}
	bad := func(text string) error { return cli.Usage(j.Cmd.CommandPath(), text) }
	m, n := g.Dims()
	built := f.Simple || j.Out.Kind == ".hgb" || j.Out.Kind == ".npz"
	switch {
	case f.Undirected && m != n:
		return bad("--undirected is for graphs of one set of vertices")
	case f.Undirected && !built && j.Out.Kind != ".mtx":
		return bad("--undirected with " + j.Out.Kind + " wants --simple; or read the list with --undirected")
	case j.Out.Kind == ".g500" && (f.MaxWeight > 0 || m != n || built):
		return bad(".g500 holds edges as drawn between vertices of one set, without weights")
	}
	j.Graph = &job.Graph{Matrix: matrix.New[float64](m, n), File: kind, Edges: g.Edges()}
	if built {
		if err := j.CanDraw(kind, g.Edges(), f.Undirected); err != nil {
			return err
		}
		err = writeBuilt(j, g, f)
	} else {
		err = j.Writing(func() error { return j.Stream(func(w io.Writer) error { return drawTo(j, w, g, f) }) })
	}
	if err != nil {
		return err
	}
	err = writeList(j, f.Truth, func(line func(fields ...string) error) error {
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
	return j.Report([]job.Field{{Key: "edges", Label: "edges drawn", Value: g.Edges()}, {Key: "seed", Label: "seed", Value: f.Seed}}, nil)
}

// drawPiece is the number of edges that one goroutine draws and formats at a time.
const drawPiece = 1 << 15

// drawTo streams the edges.
func drawTo(j *job.Job, w io.Writer, g *generate.Graph, f *job.GenerateFlags) error {
	m, n := g.Dims()
	base, delim := int64(0), byte('\t')
	switch j.Out.Kind {
	case ".csv":
		delim = ','
	case ".mtx":
		base, delim = 1, ' '
		field, symmetry := "pattern", "general"
		if f.MaxWeight > 0 {
			field = "integer"
		}
		if f.Undirected {
			symmetry = "symmetric"
		}
		if _, err := fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, symmetry, m, n, g.Edges()); err != nil {
			return err
		}
	}
	pieces := int((g.Edges() + drawPiece - 1) / drawPiece)
	return chunk.Write(j.Ctx, w, j.Run.Threads, pieces, func(piece int, buf []byte) []byte {
		lo := int64(piece) * drawPiece
		src := make([]int32, min(drawPiece, g.Edges()-lo))
		dst := make([]int32, len(src))
		_ = g.Draw(lo, src, dst) // within the edges
		for k, i := range src {
			to := dst[k]
			if j.Out.Kind == ".g500" {
				buf = le.LittleEndian.AppendUint64(le.LittleEndian.AppendUint64(buf, uint64(i)), uint64(to))
				continue
			}
			if f.Undirected { // the lower triangle
				i, to = max(i, to), min(i, to)
			}
			buf = append(strconv.AppendInt(buf, int64(i)+base, 10), delim)
			buf = strconv.AppendInt(buf, int64(to)+base, 10)
			if f.MaxWeight > 0 {
				buf = strconv.AppendInt(append(buf, delim), f.Weight(i, to), 10)
			}
			buf = append(buf, '\n')
		}
		return buf
	}, func(wrote int) { j.Progress.Update(j.Out.Title(), int64(wrote), int64(pieces)) })
}

// writeBuilt builds the matrix and writes it.
func writeBuilt(j *job.Job, g *generate.Graph, f *job.GenerateFlags) error {
	var a *matrix.Matrix[bool]
	err := j.Stage("compute", func() (err error) {
		var opts []generate.MatrixOption
		if f.Undirected {
			opts = append(opts, generate.Undirected())
		}
		if f.Simple {
			opts = append(opts, generate.Simple())
		}
		a, err = generate.Matrix[bool](g, opts...)
		return err
	})
	if err != nil {
		return err
	}
	j.Graph.Edges = a.NVals() // of repeated edges one, of undirected ones both directions
	if f.MaxWeight == 0 {
		return j.Writing(func() error { return j.WriteMatrixAs(a.Inside(), nil, nil, graphio.AsPattern()) })
	}
	m, n := g.Dims()
	b := matrix.New[int64](m, n)
	if err := ops.ApplyIndex(b, job.Weights[bool, int64](f), a, ops.WithContext(j.Ctx), ops.WithThreads(j.Run.Threads)); err != nil {
		return err
	}
	return j.Writing(func() error { return j.WriteMatrixAs(b.Inside(), nil, nil) })
}
