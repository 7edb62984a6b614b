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
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/ops"
)

// outOfCore are the flags of commands that can compute out of core, in blocks.
type outOfCore struct {
	force        bool
	chunks       int
	device, host cli.ByteSize
}

func (o *outOfCore) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&o.force, "out-of-core", false, "compute and write the result in blocks, even if it fits in memory")
	fs.IntVar(&o.chunks, "chunks", 0, "compute out of core in at least `N` blocks")
	fs.Var(&o.device, "device-memory", "compute out of core with this much device memory, such as 8GiB")
	fs.Var(&o.host, "host-memory", "compute out of core in blocks that aim at this much host memory, such as 2GiB")
}

func (o *outOfCore) check(cmd *cobra.Command) error {
	if o.chunks < 0 {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--chunks is %d, want 1 or more, or 0 for automatic", o.chunks))
	}
	return nil
}

// asked reports whether a flag requests blocks.
func (o *outOfCore) asked() bool { return o.force || o.chunks > 0 || o.device > 0 || o.host > 0 }

func (o *outOfCore) options() []chunked.Option {
	opts := []chunked.Option{chunked.Chunks(o.chunks), chunked.HostMemory(uint64(o.host))}
	if o.device > 0 {
		opts = append(opts, chunked.DeviceMemory(uint64(o.device)))
	}
	return opts
}

// entryBytes is the size of an entry of a result: a column index and a float64.
const entryBytes = 12

// tooLarge returns the reason to compute a projection out of core: a flag, or a
// result of more than half of the available memory. "" is none.
func tooLarge(j *job, o *outOfCore, opts apps.ProjectionOptions) (why string, err error) {
	if o.asked() {
		return "asked for", nil
	}
	room := hostmem.Available() / 2
	if j.device != nil {
		free, _, err := j.device.Free()
		if err != nil {
			return "", err
		}
		room = min(room, int64(free/2))
	}
	if j.first != nil { // each GPU has its part of the result
		free, _, err := j.first.Free()
		if err != nil {
			return "", err
		}
		room = min(room, int64(free/2)*int64(j.group.Size()))
	}
	bound := products(j.graph.Matrix, opts.Onto == apps.OntoRows)
	if room == 0 || bound*entryBytes <= room {
		return "", nil
	}
	x, y := j.graph.Matrix.View().T(), j.graph.Matrix.View()
	if opts.Onto == apps.OntoRows {
		x, y = y, x
	}
	about, _, err := chunked.Estimate(x, y, ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads))
	if err != nil || about*entryBytes <= room {
		return "", err
	}
	return fmt.Sprintf("about %d entries of %d bytes are more than half of the available memory", about, entryBytes), nil
}

// resultSummary accumulates the figures of a product from its blocks.
type resultSummary struct {
	labels *graphio.Labels // of the vertices, or nil
	sum    total
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
			t.sum.add(x)
			t.most = max(t.most, x)
		}
	}
	return nil
}

// sinkOf returns the sink of an n×n result: the output.
func sinkOf(j *job, n int, labels *graphio.Labels) (chunked.Sink[float64], error) {
	text := j.writeOptions(graphio.WithRowColumnLabels(labels, labels))
	switch {
	case j.out.path == "":
		return chunked.Each(func(*chunked.Block[float64]) error { return nil }), nil
	case j.out.kind == ".npz" || j.out.kind == ".npy":
		return nil, cli.Usage(j.cmd.CommandPath(), "-o takes .tsv, .csv, .mtx or .hgb out of core, not "+j.out.kind)
	case j.out.stdout && slices.Contains(listFiles, j.out.kind):
		return blocksToStdout(j, n, text), nil
	case j.out.stdout:
		return nil, cli.Usage(j.cmd.CommandPath(), "-o - takes only .tsv or .csv out of core; write to a file, or leave --out-of-core out")
	case j.out.kind == ".mtx":
		return chunked.MatrixMarket[float64](j.Ctx, j.out.path, text...), nil
	case j.out.kind == ".hgb" && j.out.gz:
		return nil, cli.Usage(j.cmd.CommandPath(), "-o "+j.out.path+": out of core, .hgb cannot be compressed; write to .hgb")
	case j.out.kind == ".hgb":
		return chunked.LabelledFile[float64](j.out.path, labels, labels), nil
	}
	return chunked.EdgeList[float64](j.Ctx, j.out.path, text...), nil
}

// blocksToStdout returns a sink that writes the edge list of an n×n matrix to
// standard output.
func blocksToStdout(j *job, n int, text []graphio.WriteOption) chunked.Sink[float64] {
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
func projectBlocks(j *job, o *outOfCore, why string, opts apps.ProjectionOptions, labels *graphio.Labels) error {
	n, m := j.graph.Dims()
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
	err = j.compute(func(run apps.Run) error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		opts.Run = run
		opts.Blocks = o.options()
		rep, cause = apps.ProjectionTo(chunked.Tee(sink, t.add), j.graph.Matrix, opts)
		return cause
	})
	if err != nil {
		return unfinished(j, cause, err)
	}
	if rep.Entries == 0 {
		t.most = 0
	}
	figures := []field{{"vertices", "vertices", n}}
	if rep.Resumed == 0 {
		figures = append(figures, field{"nnz", "nnz", rep.Entries}, field{"sum", "sum", t.sum.value()}, field{"max", "max", t.most}, field{"nnz_added", "", rep.Entries})
	} else { // the blocks of an earlier run are not read again
		figures = append(figures, field{"nnz", "", nil}, field{"sum", "", nil}, field{"max", "", nil}, field{"nnz_added", "entries added", rep.Entries})
	}
	return j.report(j.method("blocks"), append(figures,
		field{"out_of_core", "out of core", why},
		field{"blocks", "blocks", rep.Blocks}, field{"resumed", "", rep.Resumed}, field{"splits", "", rep.Splits},
		field{"chunked_seconds", "", object{{"plan", "", rep.Plan.Seconds()}, {"computing", "", rep.Computing.Seconds()},
			{"copying", "", rep.Copying.Seconds()}, {"writing", "", rep.Writing.Seconds()}, {"wall", "", rep.Wall.Seconds()}}},
		field{"overlap", "overlap", rep.Overlap()},
		field{"peak_device_bytes", "", rep.PeakDevice}, field{"peak_host_bytes", "", rep.PeakHost},
		field{"peak_rss_bytes", "", hostmem.PeakResident()},
	), nil)
}

// unfinished explains why a product out of core ended early, in terms of the
// output: cause is the error of the product, err that of the stage. It says
// what the next run keeps.
func unfinished(j *job, cause, err error) error {
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
	case j.out.path != "" && errors.As(cause, &at):
		return cli.Fail(j.out.path, "cannot be written: "+at.Err.Error(), join(cli.PathRemedy(at), kept), at.Err)
	case kept != "" && j.Ctx.Err() != nil: // what ended the context is what the user wants to know
		why := context.Cause(j.Ctx)
		return cli.Fail("", why.Error(), kept, why)
	}
	return err
}

// join joins remedies, of which some are empty.
func join(remedies ...string) string {
	return strings.Join(slices.DeleteFunc(remedies, func(s string) bool { return s == "" }), "; ")
}
