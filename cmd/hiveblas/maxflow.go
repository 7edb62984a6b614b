package main

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func maxflowCommand(s *job.Session) *cobra.Command {
	var source, sink, cut string
	cmd := &cobra.Command{
		Use:   "maxflow GRAPH --source S --sink T",
		Short: "Maximum flow and minimum cut",
		Long: `maxflow computes a maximum flow from a source to a sink. The weight of an edge is its
capacity, 0 or more or inf; an edge is directed, see --undirected. -o writes the flow of each edge that
carries any. A file in DIMACS form can name the source and the sink itself. --cut writes each vertex and its side of a minimum cut: “source” if the
source reaches it in the residual network, “sink” if it reaches the sink there, and
“either” if it may be on any side.

On the host two search trees find augmenting paths (Boykov and Kolmogorov), on a GPU
kernels run push–relabel in rounds, with --method pipeline operations do.`,
		Example: `  hiveblas maxflow pipes.tsv --source 0 --sink 9 -o flow.tsv --cut cut.tsv
  hiveblas maxflow washington.max
  hiveblas maxflow network.mtx --source 236 --sink 237 --format edges --skip-lines 1 --base 1 --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(noThreshold).Fuses().Reads().Writes("the flow", job.MatrixFiles...)
	j.Infinite = true
	cmd.Flags().StringVar(&source, "source", "", "source vertex `S`: a number from 0, or an id")
	cmd.Flags().StringVar(&sink, "sink", "", "sink vertex `T`")
	cmd.Flags().StringVar(&cut, "cut", "", "write the side of each vertex to `FILE`, a .tsv or .csv")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		inFile := mayHaveTerminals(j, args[0]) && !cmd.Flags().Changed("source") && !cmd.Flags().Changed("sink")
		if !inFile {
			if err := checkSource(j, source, args[0]); err != nil {
				return err
			}
			if !cmd.Flags().Changed("sink") {
				return cli.Usage(cmd.CommandPath(), "--sink is missing")
			}
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := checkList(j, "cut", cut, args[0], j.Out.Path); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Weighted); err != nil {
			return err
		}
		from, to, err := terminals(j, inFile, source, sink)
		if err != nil {
			return err
		}
		if from == to {
			return cli.Usage(cmd.CommandPath(), "--sink is the source, want another vertex")
		}
		var res *apps.MaxFlowResult
		err = j.Compute(func(run apps.Run) (err error) {
			res, err = apps.MaxFlow(j.Graph.Matrix, from, to, apps.MaxFlowOptions{Run: run})
			if err != nil {
				return err
			}
			return job.ToHost(nil, res.Flow, res.SourceSide, res.SinkSide)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return j.WriteMatrix(res.Flow, j.Graph.Cols) }); err != nil {
			return err
		}
		if err := writeCut(j, cut, res); err != nil {
			return err
		}
		figures := []job.Field{{Key: "value", Label: "value", Value: res.Value}, {Key: "flow_edges", Label: "edges with flow", Value: res.Flow.NVals()},
			{Key: "source_side", Label: "vertices on the source's side", Value: res.SourceSide.NVals()},
			{Key: "sink_side", Label: "vertices on the sink's side", Value: res.SinkSide.NVals()}}
		if cut != "" {
			figures = append(figures, job.Field{Key: "cut", Label: "cut", Value: cut})
		}
		return j.Report(figures, nil)
	}
	return cmd
}

// mayHaveTerminals reports whether a file is of a format that can name the source and the sink.
func mayHaveTerminals(j *job.Job, file string) bool {
	if file == "-" {
		return j.Read.Format == graphio.FormatDIMACS.String()
	}
	in, err := j.OpenInput(file)
	if err != nil {
		return false // the reader returns the error
	}
	defer in.Close()
	return in.Format(&j.Read) == graphio.FormatDIMACS
}

// terminals returns the source and the sink of the flags or of the file.
func terminals(j *job.Job, inFile bool, source, sink string) (from, to int, err error) {
	if inFile {
		if t := j.Graph.Info.Terminals; len(t) == 2 {
			return t[0], t[1], nil
		}
		return 0, 0, cli.Fail(j.Graph.File, "the file names no source and sink", "give --source and --sink", nil)
	}
	if from, err = j.Graph.Vertex("--source", source); err != nil {
		return 0, 0, err
	}
	to, err = j.Graph.Vertex("--sink", sink)
	return from, to, err
}

// writeCut writes the side of each vertex.
func writeCut(j *job.Job, path string, res *apps.MaxFlowResult) error {
	if path == "" {
		return nil
	}
	delim := byte('\t')
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		delim = ','
	}
	has := func(v *matrix.Vector[bool], i int) bool { _, ok := v.At(i); return ok }
	return j.Stage("write", func() error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		err := atomicfile.WriteFile(j.Ctx, path, func(w io.Writer) error {
			var buf []byte
			for v := range res.SourceSide.Size() {
				side := "either"
				switch {
				case has(res.SourceSide, v):
					side = "source"
				case has(res.SinkSide, v):
					side = "sink"
				}
				buf = append(append(job.AppendFirst(buf, j.Graph.Name(v)), delim), side...)
				if buf = append(buf, '\n'); len(buf) > 1<<15 || v == res.SourceSide.Size()-1 {
					if _, err := w.Write(buf); err != nil {
						return err
					}
					buf = buf[:0]
				}
			}
			return nil
		})
		var e *fs.PathError
		if errors.As(err, &e) { // --cut names the file as the user gave it
			return cli.Fail(path, "cannot be written: "+e.Err.Error(), cli.PathRemedy(e), err)
		}
		return job.Explain(path, err)
	})
}
