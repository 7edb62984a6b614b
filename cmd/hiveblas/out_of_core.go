package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/ops"
)

// outOfCore are the flags of commands that can compute out of core, in blocks.
type outOfCore struct {
	force  bool
	chunks int
	host   cli.ByteSize
	device *cli.ByteSize // of --device-memory
}

func (o *outOfCore) add(j *job.Job) {
	o.device = &j.Run.DeviceMemory
	fs := j.Cmd.Flags()
	fs.BoolVar(&o.force, "out-of-core", false, "compute and write the result in blocks, even if it fits in memory")
	fs.IntVar(&o.chunks, "chunks", 0, "compute out of core in at least `N` blocks")
	fs.Var(&o.host, "host-memory", "compute out of core in blocks that aim at this much host memory, such as 2GiB")
}

func (o *outOfCore) check(cmd *cobra.Command) error {
	if o.chunks < 0 {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--chunks is %d, want 1 or more, or 0 for automatic", o.chunks))
	}
	return nil
}

// asked reports whether a flag requests blocks.
func (o *outOfCore) asked() bool { return o.force || o.chunks > 0 || *o.device > 0 || o.host > 0 }

func (o *outOfCore) options() []chunked.Option {
	opts := []chunked.Option{chunked.Chunks(o.chunks), chunked.HostMemory(uint64(o.host))}
	if *o.device > 0 {
		opts = append(opts, chunked.DeviceMemory(uint64(*o.device)))
	}
	return opts
}

// entryBytes is the size of an entry of a result: a column index and a float64.
const entryBytes = 12

// tooLarge returns the reason to compute a projection out of core: a flag, or a
// result of more than half of the available memory. "" is none.
func tooLarge(j *job.Job, o *outOfCore, opts apps.ProjectionOptions) (why string, err error) {
	if o.asked() {
		return "asked for", nil
	}
	room := hostmem.Available() / 2
	if j.Device != nil {
		free, _, err := j.Device.Free()
		if err != nil {
			return "", err
		}
		room = min(room, int64(free/2))
	}
	if j.First != nil { // each GPU has its part of the result
		free, _, err := j.First.Free()
		if err != nil {
			return "", err
		}
		room = min(room, int64(free/2)*int64(j.Group.Size()))
	}
	bound := products(j.Graph.Matrix, opts.Onto)
	if room == 0 || bound*entryBytes <= room {
		return "", nil
	}
	x, y := j.Graph.Matrix.View().T(), j.Graph.Matrix.View()
	if opts.Onto == apps.OntoRows {
		x, y = y, x
	}
	about, _, err := chunked.Estimate(x, y, ops.WithContext(j.Ctx), ops.WithThreads(j.Run.Threads))
	if err != nil || about*entryBytes <= room {
		return "", err
	}
	return fmt.Sprintf("about %d entries of %d bytes are more than half of the available memory", about, entryBytes), nil
}

// resultSummary accumulates the figures of a product from its blocks.
type resultSummary struct {
	labels *graphio.Labels // of the vertices, or nil
	sum    job.Total
	most   float64
}

// add adds a block.
func (t *resultSummary) add(b *chunked.Block[float64]) error {
	for k := range b.Hi - b.Lo {
		for p := b.Ptr[k]; p < b.Ptr[k+1]; p++ {
			x := b.Val[p]
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return notFinite(t.labels, b.Lo+k, int(b.Idx[p]), x)
			}
			t.sum.Add(x)
			t.most = max(t.most, x)
		}
	}
	return nil
}

// sinkOf returns the sink of an n×n result: the output.
func sinkOf(j *job.Job, n int, labels *graphio.Labels) (chunked.Sink[float64], error) {
	text := j.WriteOptions(graphio.WithRowColumnLabels(labels, labels))
	switch {
	case j.Out.Path == "":
		return chunked.Each(func(*chunked.Block[float64]) error { return nil }), nil
	case j.Out.Kind == ".npz" || j.Out.Kind == ".npy":
		return nil, cli.Usage(j.Cmd.CommandPath(), "-o takes .tsv, .csv, .mtx or .hgb out of core, not "+j.Out.Kind)
	case j.Out.Stdout && slices.Contains(job.ListFiles, j.Out.Kind):
		return blocksToStdout(j, n, text), nil
	case j.Out.Stdout:
		return nil, cli.Usage(j.Cmd.CommandPath(), "-o - takes only .tsv or .csv out of core; write to a file, or leave --out-of-core out")
	case j.Out.Kind == ".mtx":
		return chunked.MatrixMarket[float64](j.Ctx, j.Out.Path, text...), nil
	case j.Out.Kind == ".hgb" && j.Out.Gz:
		return nil, cli.Usage(j.Cmd.CommandPath(), "-o "+j.Out.Path+": out of core, .hgb cannot be compressed; write to .hgb")
	case j.Out.Kind == ".hgb":
		return chunked.LabelledFile[float64](j.Out.Path, labels, labels), nil
	}
	return chunked.EdgeList[float64](j.Ctx, j.Out.Path, text...), nil
}

// blocksToStdout returns a sink that writes the edge list of an n×n matrix to
// standard output.
func blocksToStdout(j *job.Job, n int, text []graphio.WriteOption) chunked.Sink[float64] {
	buf := bufio.NewWriterSize(j.Stdout, 1<<18)
	var rows *graphio.RowWriter[float64]
	return chunked.Each(func(b *chunked.Block[float64]) (err error) {
		if rows == nil {
			if rows, err = graphio.NewEdgeListWriter[float64](buf, n, n, text...); err != nil {
				return err
			}
		}
		a, err := b.Matrix(n)
		if err == nil {
			err = rows.Write(b.Lo, a)
		}
		if err == nil {
			err = buf.Flush()
		}
		return err
	})
}

// projectBlocks computes and writes a projection in blocks and prints the summary.
func projectBlocks(j *job.Job, o *outOfCore, why string, opts apps.ProjectionOptions, labels *graphio.Labels) error {
	n, m := j.Graph.Dims()
	if opts.Onto == apps.OntoColumns {
		n = m
	}
	sink, err := sinkOf(j, n, labels)
	if err != nil {
		return err
	}
	t := resultSummary{labels: labels, most: math.Inf(-1)}
	var rep *chunked.Report
	var cause error
	err = j.Compute(func(run apps.Run) error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		opts.Run = run
		opts.Blocks = o.options()
		rep, cause = apps.ProjectionTo(chunked.Tee(sink, t.add), j.Graph.Matrix, opts)
		return cause
	})
	if err != nil {
		return unfinished(j, cause, err)
	}
	if rep.Entries == 0 {
		t.most = 0
	}
	figures := []job.Field{{Key: "vertices", Label: "vertices", Value: n}}
	if rep.Resumed == 0 {
		figures = append(figures, job.Field{Key: "nnz", Label: "nnz", Value: rep.Entries}, job.Field{Key: "sum", Label: "sum", Value: t.sum.Value()}, job.Field{Key: "max", Label: "max", Value: t.most}, job.Field{Key: "nnz_added", Label: "", Value: rep.Entries})
	} else { // the blocks of an earlier run are not read again
		figures = append(figures, job.Field{Key: "nnz", Label: "", Value: nil}, job.Field{Key: "sum", Label: "", Value: nil}, job.Field{Key: "max", Label: "", Value: nil}, job.Field{Key: "nnz_added", Label: "entries added", Value: rep.Entries})
	}
	return j.Report(append(figures,
		job.Field{Key: "out_of_core", Label: "out of core", Value: why},
		job.Field{Key: "blocks", Label: "blocks", Value: rep.Blocks}, job.Field{Key: "resumed", Label: "", Value: rep.Resumed}, job.Field{Key: "splits", Label: "", Value: rep.Splits},
		job.Field{Key: "chunked_seconds", Label: "", Value: job.Object{{Key: "plan", Label: "", Value: rep.Plan.Seconds()}, {Key: "computing", Label: "", Value: rep.Computing.Seconds()},
			{Key: "copying", Label: "", Value: rep.Copying.Seconds()}, {Key: "writing", Label: "", Value: rep.Writing.Seconds()}, {Key: "wall", Label: "", Value: rep.Wall.Seconds()}}},
		job.Field{Key: "overlap", Label: "overlap", Value: rep.Overlap()},
		job.Field{Key: "peak_device_bytes", Label: "", Value: rep.PeakDevice}, job.Field{Key: "peak_host_bytes", Label: "", Value: rep.PeakHost},
		job.Field{Key: "peak_rss_bytes", Label: "", Value: hostmem.PeakResident()},
	), nil)
}

// unfinished explains why a product out of core ended early, in terms of the output: cause is the
// error of the product, err the error of the stage. It says what the next run keeps.
func unfinished(j *job.Job, cause, err error) error {
	var (
		busy *graphio.BusyError
		at   *fs.PathError
		e    *chunked.Error
	)
	kept := ""
	if errors.As(cause, &e) && e.Kept > 0 {
		kept = fmt.Sprintf("%d of %d blocks are kept in %s, and the same command resumes there", e.Kept, e.Done.AllBlocks, e.File)
	}
	switch {
	case errors.As(cause, &busy):
		return cli.Fail("", busy.Error(), "", nil)
	case j.Out.Path != "" && errors.As(cause, &at):
		return cli.Fail(j.Out.Path, "cannot be written: "+at.Err.Error(), join(cli.PathRemedy(at), kept), at.Err)
	case kept != "" && j.Ctx.Err() != nil: // what ended the context is what the user wants to know
		why := context.Cause(j.Ctx)
		return cli.Fail("", why.Error(), kept, why)
	}
	return err
}

// join joins remedies; some are empty.
func join(remedies ...string) string {
	return strings.Join(slices.DeleteFunc(remedies, func(s string) bool { return s == "" }), "; ")
}
