package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The formats of results, each also with .gz but those of unzipped.
var (
	matrixFiles = []string{".tsv", ".csv", ".mtx", ".hgb", ".npz", ".npy"}
	graphFiles  = append(slices.Clone(matrixFiles), ".graph", ".gr", ".col", ".graphml", ".gml")
	listFiles   = []string{".tsv", ".csv"}
	pictures    = []string{".png"}
	unzipped    = []string{".png", ".npz", ".npy"}
)

// output is the destination of a result.
type output struct {
	path   string // as given; "" for none
	kinds  []string
	format string // of --output-format, "" for that of the name
	kind   string // the chosen one
	gz     bool
	stdout bool
}

func (o *output) check(cmd *cobra.Command, json bool, inputs []string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if o.path == "" {
		if cmd.Flags().Changed("output") {
			return bad("-o is empty, want a file name")
		}
		if o.format != "" {
			return bad("--output-format needs -o")
		}
		return nil
	}
	if o.format != "" && !slices.Contains(o.kinds, "."+o.format) {
		return bad("--output-format is %q, want %s", o.format, strings.ReplaceAll(strings.Join(o.kinds, ", "), ".", ""))
	}
	o.kind = o.kinds[0]
	if o.format != "" {
		o.kind = "." + o.format
	}
	if o.path == "-" || o.path == "/dev/stdout" {
		o.path, o.stdout = "-", true
		if json {
			return bad("-o - and --json would both print to standard output")
		}
		return nil
	}
	st, err := os.Stat(o.path)
	switch {
	case err == nil && st.IsDir():
		return cli.Fail(o.path, "is a directory", "name a file", nil)
	case err == nil && !st.Mode().IsRegular():
		return nil
	}
	name := strings.ToLower(filepath.Base(o.path))
	name, o.gz = strings.CutSuffix(name, ".gz")
	if o.format == "" {
		o.kind = filepath.Ext(name)
	}
	if !slices.Contains(o.kinds, o.kind) || o.gz && slices.Contains(unzipped, o.kind) {
		return bad("-o %s: %s", o.path, o.wanted())
	}
	for _, in := range inputs {
		if from, e := os.Stat(in); err == nil && e == nil && os.SameFile(from, st) {
			return bad("-o %s is the input; write to another file", o.path)
		}
	}
	if name := sameFile(cmd, "output", st); name != "" {
		return bad("-o %s is the file of --%s; write to another file", o.path, name)
	}
	if dir, err := os.Stat(filepath.Dir(o.path)); err != nil || !dir.IsDir() {
		return cli.Fail(o.path, "the directory "+filepath.Dir(o.path)+" does not exist", "create it first", nil)
	}
	return nil
}

// sameFile returns the flag other than this one that names the file st, or "": --seeds, say, whose
// list -o must not overwrite. st may be nil.
func sameFile(cmd *cobra.Command, flag string, st fs.FileInfo) (name string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == flag || f.Value.Type() != "string" {
			return
		}
		if at, err := os.Stat(f.Value.String()); err == nil && os.SameFile(at, st) {
			name = f.Name
		}
	})
	return name
}

// title returns the text of the progress bar.
func (o *output) title() string { return "write " + filepath.Base(o.path) }

// writing runs the write stage, if there is an output.
func (j *job) writing(write func() error) error {
	if j.out.path == "" {
		return nil
	}
	return j.stage("write", func() error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		err := write()
		var path *fs.PathError
		if errors.As(err, &path) { // -o names the file as the user gave it
			return cli.Fail(j.out.path, "cannot be written: "+path.Err.Error(), cli.PathRemedy(path), err)
		}
		return explain(j.out.path, err)
	})
}

func (j *job) writeOptions(more ...graphio.WriteOption) []graphio.WriteOption {
	format, _ := graphio.FormatOfName(j.out.kind)
	if !j.out.stdout {
		more = append(more, graphio.NamesBeside(j.out.path))
	}
	return append(more, graphio.InFormat(format), graphio.WithContext(j.Ctx), graphio.Threads(j.run.threads),
		graphio.Stages(func(_ string, done, total int64) { j.progress.update(j.out.title(), done, total) }))
}

// warnNames warns of names that the output cannot have.
func (j *job) warnNames(labels ...*graphio.Labels) {
	const msg = "the names of the vertices are left out"
	switch {
	case !slices.ContainsFunc(labels, func(l *graphio.Labels) bool { return l != nil }):
	case slices.Contains([]string{".graph", ".gr", ".col", ".npy"}, j.out.kind):
		j.warn(graphio.Warning{File: j.out.path, Msg: msg})
	case j.out.stdout && j.out.kind == ".mtx":
		j.warn(graphio.Warning{File: "standard output", Msg: msg, Kind: graphio.RemedyNamesBeside})
	}
}

// stream calls write with a writer to the output file, which appears complete or not
// at all, or to standard output.
func (j *job) stream(write func(w io.Writer) error) error {
	whole := func(w, file io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		if err := write(atomicfile.Through(b, file)); err != nil {
			return err
		}
		return b.Flush()
	}
	if j.out.stdout {
		return whole(j.Stdout, nil)
	}
	return atomicfile.WriteFile(j.Ctx, j.out.path, func(w io.Writer) error {
		if !j.out.gz {
			return whole(w, w)
		}
		return chunk.Gzip(w, j.run.threads, func(z io.Writer) error { return whole(z, w) })
	})
}

// writeMatrix writes a matrix, with integer elements if all values are integers.
// Lists name rows and columns by labels.
func (j *job) writeMatrix(a *matrix.Matrix[float64], labels *graphio.Labels) error {
	if !integers(a) {
		return j.writeMatrixAs(a.Inside(), labels, labels)
	}
	m, n := a.Dims()
	c := matrix.New[int64](m, n)
	if err := ops.Apply(c, semiring.Convert[float64, int64](), a, ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads)); err != nil {
		return err
	}
	return j.writeMatrixAs(c.Inside(), labels, labels)
}

// writeMatrixAs writes a matrix with its elements.
func (j *job) writeMatrixAs(a rep.View, rows, cols *graphio.Labels, more ...graphio.WriteOption) error {
	j.warnNames(rows, cols)
	if j.out.kind == ".col" {
		if s := summaryOf(a.Matrix); a.NVals() > 0 && (text(s.low) != "1" || text(s.high) != "1") {
			j.warn(graphio.Warning{File: j.out.path, Msg: "the weights of the edges are left out, which a .col file has not"})
		}
	}
	opts := j.writeOptions(append(more, graphio.WithRowColumnLabels(rows, cols))...)
	return j.stream(func(w io.Writer) error { return graphio.WriteInside(w, a, opts...) })
}

// writeVector writes a value for each vertex, as integers if all are.
func (j *job) writeVector(v *matrix.Vector[float64]) error {
	for _, x := range v.All() {
		if !isInteger(x) {
			return j.writeVectorAs(v.Inside())
		}
	}
	c := matrix.NewVector[int64](v.Size())
	if err := ops.Apply(c, semiring.Convert[float64, int64](), v, ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads)); err != nil {
		return err
	}
	return j.writeVectorAs(c.Inside())
}

// writeVectorAs writes a vector with its elements.
func (j *job) writeVectorAs(v rep.View) error {
	j.warnNames(j.graph.cols)
	opts := j.writeOptions(graphio.WithLabels(j.graph.cols))
	return j.stream(func(w io.Writer) error { return graphio.WriteInside(w, v, opts...) })
}

// writeVertices writes a vertex for each vertex: from 1 in Matrix Market, by id in a
// list whose ids are not the indices, else from 0.
func (j *job) writeVertices(v *matrix.Vector[int32]) error {
	switch {
	case j.out.kind == ".mtx":
		from1 := matrix.NewVector[int32](v.Size())
		if err := ops.ApplySecond(from1, semiring.Plus[int32](), v, 1, ops.WithContext(j.Ctx)); err != nil {
			return err
		}
		return j.writeVectorAs(from1.Inside())
	case slices.Contains(listFiles, j.out.kind) && j.graph.cols != nil:
		return j.writeLines(int(v.NVals()), func(line func(fields ...string) error) error {
			for i, x := range v.All() {
				if err := line(j.graph.name(i), j.graph.name(int(x))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return j.writeVectorAs(v.Inside())
}

// writeLines writes lines, so many if that is known, else 0, of fields separated by commas in a
// .csv, else by tabs, quoted by the rules of encoding/csv.
func (j *job) writeLines(lines int, write func(line func(fields ...string) error) error) error {
	delim := byte('\t')
	if j.out.kind == ".csv" {
		delim = ','
	}
	return j.stream(func(w io.Writer) error {
		var buf []byte
		done, title := 0, j.out.title()
		return write(func(fields ...string) error {
			if done++; done&0xfff == 0 {
				j.progress.update(title, int64(min(done, lines)), int64(lines))
			}
			buf = buf[:0]
			for k, f := range fields {
				if k > 0 {
					buf = append(buf, delim)
				}
				if k == 0 {
					buf = appendFirst(buf, f)
				} else {
					buf = appendField(buf, f)
				}
			}
			_, err := w.Write(append(buf, '\n'))
			return err
		})
	})
}

// appendFirst appends the first field of a line, in quotation marks also if it begins as a comment.
func appendFirst(buf []byte, f string) []byte {
	if f != "" && (f[0] == '#' || f[0] == '%') {
		return appendQuoted(buf, f)
	}
	return appendField(buf, f)
}

// appendField appends a field, in quotation marks if it has a delimiter or blanks around it.
func appendField(buf []byte, f string) []byte {
	if f != "" && !strings.ContainsAny(f, "\",;|\t\r\n") && f[0] > ' ' && f[len(f)-1] > ' ' {
		return append(buf, f...)
	}
	return appendQuoted(buf, f)
}

func appendQuoted(buf []byte, f string) []byte {
	return append(append(append(buf, '"'), strings.ReplaceAll(f, `"`, `""`)...), '"')
}

func integers(a *matrix.Matrix[float64]) bool {
	for _, x := range a.All() {
		if !isInteger(x) {
			return false
		}
	}
	return true
}

// isInteger reports whether x is an integer that a float64 holds exactly.
func isInteger(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= 1<<53 }
