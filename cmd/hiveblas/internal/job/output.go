package job

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

// The formats of results, each also with .gz but the formats of unzipped.
var (
	MatrixFiles = []string{".tsv", ".csv", ".mtx", ".hgb", ".npz", ".npy"}
	GraphFiles  = append(slices.Clone(MatrixFiles), ".graph", ".gr", ".col", ".graphml", ".gml")
	ListFiles   = []string{".tsv", ".csv"}
	Pictures    = []string{".png"}
	unzipped    = []string{".png", ".npz", ".npy"}
)

// Output is the destination of a result.
type Output struct {
	Path   string // as given; "" for none
	Kinds  []string
	format string // of --output-format, "" for the format of the name
	Kind   string // the chosen one
	Gz     bool
	Stdout bool
}

func (o *Output) check(cmd *cobra.Command, json bool, inputs []string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if o.Path == "" {
		if cmd.Flags().Changed("output") {
			return bad("-o is empty, want a file name")
		}
		if o.format != "" {
			return bad("--output-format needs -o")
		}
		return nil
	}
	if o.format != "" && !slices.Contains(o.Kinds, "."+o.format) {
		return bad("--output-format is %q, want %s", o.format, strings.ReplaceAll(strings.Join(o.Kinds, ", "), ".", ""))
	}
	o.Kind = o.Kinds[0]
	if o.format != "" {
		o.Kind = "." + o.format
	}
	if o.Path == "-" || o.Path == "/dev/stdout" {
		o.Path, o.Stdout = "-", true
		if json {
			return bad("-o - and --json would both print to standard output")
		}
		return nil
	}
	st, err := os.Stat(o.Path)
	switch {
	case err == nil && st.IsDir():
		return cli.Fail(o.Path, "is a directory", "name a file", nil)
	case err == nil && !st.Mode().IsRegular():
		return nil
	}
	name := strings.ToLower(filepath.Base(o.Path))
	name, o.Gz = strings.CutSuffix(name, ".gz")
	if o.format == "" {
		o.Kind = filepath.Ext(name)
	}
	if !slices.Contains(o.Kinds, o.Kind) || o.Gz && slices.Contains(unzipped, o.Kind) {
		return bad("-o %s: %s", o.Path, o.wanted())
	}
	for _, in := range inputs {
		if from, e := os.Stat(in); err == nil && e == nil && os.SameFile(from, st) {
			return bad("-o %s is the input; write to another file", o.Path)
		}
	}
	if name := SameFile(cmd, "output", st); name != "" {
		return bad("-o %s is the file of --%s; write to another file", o.Path, name)
	}
	if dir, err := os.Stat(filepath.Dir(o.Path)); err != nil || !dir.IsDir() {
		return cli.Fail(o.Path, "the directory "+filepath.Dir(o.Path)+" does not exist", "create it first", nil)
	}
	return nil
}

// SameFile returns the flag other than this one that names the file st, or "": --seeds, say,
// because -o must not overwrite its list. st may be nil.
func SameFile(cmd *cobra.Command, flag string, st fs.FileInfo) (name string) {
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

// Title returns the text of the progress bar.
func (o *Output) Title() string { return "write " + filepath.Base(o.Path) }

// Writing runs the write stage, if there is an output.
func (j *Job) Writing(write func() error) error {
	if j.Out.Path == "" {
		return nil
	}
	return j.Stage("write", func() error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		err := write()
		var path *fs.PathError
		if errors.As(err, &path) { // -o names the file as the user gave it
			return cli.Fail(j.Out.Path, "cannot be written: "+path.Err.Error(), cli.PathRemedy(path), err)
		}
		return Explain(j.Out.Path, err)
	})
}

func (j *Job) WriteOptions(more ...graphio.WriteOption) []graphio.WriteOption {
	format, _ := graphio.FormatOfName(j.Out.Kind)
	if !j.Out.Stdout {
		more = append(more, graphio.NamesBeside(j.Out.Path))
	}
	return append(more, graphio.InFormat(format), graphio.WithContext(j.Ctx), graphio.Threads(j.Run.Threads),
		graphio.Stages(func(_ string, done, total int64) { j.Progress.Update(j.Out.Title(), done, total) }))
}

// warnNames warns of names that the output cannot have.
func (j *Job) warnNames(labels ...*graphio.Labels) {
	const msg = "the names of the vertices are left out"
	switch {
	case !slices.ContainsFunc(labels, func(l *graphio.Labels) bool { return l != nil }):
	case slices.Contains([]string{".graph", ".gr", ".col", ".npy"}, j.Out.Kind):
		j.Warn(graphio.Warning{File: j.Out.Path, Msg: msg})
	case j.Out.Stdout && j.Out.Kind == ".mtx":
		j.Warn(graphio.Warning{File: "standard output", Msg: msg, Kind: graphio.RemedyNamesBeside})
	}
}

// Stream calls write with a writer to the output file, which appears complete or not
// at all, or to standard output.
func (j *Job) Stream(write func(w io.Writer) error) error {
	whole := func(w, file io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		if err := write(atomicfile.Through(b, file)); err != nil {
			return err
		}
		return b.Flush()
	}
	if j.Out.Stdout {
		return whole(j.Stdout, nil)
	}
	return atomicfile.WriteFile(j.Ctx, j.Out.Path, func(w io.Writer) error {
		if !j.Out.Gz {
			return whole(w, w)
		}
		return chunk.Gzip(w, j.Run.Threads, func(z io.Writer) error { return whole(z, w) })
	})
}

// WriteMatrix writes a matrix, with integer elements if all values are integers.
// Lists name rows and columns by labels.
func (j *Job) WriteMatrix(a *matrix.Matrix[float64], labels *graphio.Labels) error {
	if !integers(a) {
		return j.WriteMatrixAs(a.Inside(), labels, labels)
	}
	m, n := a.Dims()
	c := matrix.New[int64](m, n)
	if err := ops.Apply(c, semiring.Convert[float64, int64](), a, ops.WithContext(j.Ctx), ops.WithThreads(j.Run.Threads)); err != nil {
		return err
	}
	return j.WriteMatrixAs(c.Inside(), labels, labels)
}

// WriteMatrixAs writes a matrix with its elements.
func (j *Job) WriteMatrixAs(a rep.View, rows, cols *graphio.Labels, more ...graphio.WriteOption) error {
	j.warnNames(rows, cols)
	if j.Out.Kind == ".col" {
		if s := SummaryOf(a.Matrix); a.NVals() > 0 && (Text(s.Low) != "1" || Text(s.High) != "1") {
			j.Warn(graphio.Warning{File: j.Out.Path, Msg: "the weights of the edges are left out, which a .col file has not"})
		}
	}
	opts := j.WriteOptions(append(more, graphio.WithRowColumnLabels(rows, cols))...)
	return j.Stream(func(w io.Writer) error { return graphio.WriteInside(w, a, opts...) })
}

// WriteVector writes a value for each vertex, as integers if all are.
func (j *Job) WriteVector(v *matrix.Vector[float64]) error {
	for _, x := range v.All() {
		if !isInteger(x) {
			return j.WriteVectorAs(v.Inside())
		}
	}
	c := matrix.NewVector[int64](v.Size())
	if err := ops.Apply(c, semiring.Convert[float64, int64](), v, ops.WithContext(j.Ctx), ops.WithThreads(j.Run.Threads)); err != nil {
		return err
	}
	return j.WriteVectorAs(c.Inside())
}

// WriteVectorAs writes a vector with its elements.
func (j *Job) WriteVectorAs(v rep.View) error {
	j.warnNames(j.Graph.Cols)
	opts := j.WriteOptions(graphio.WithLabels(j.Graph.Cols))
	return j.Stream(func(w io.Writer) error { return graphio.WriteInside(w, v, opts...) })
}

// WriteVertices writes a vertex for each vertex: from 1 in Matrix Market, by id in a list with ids
// other than the indices, else from 0.
func (j *Job) WriteVertices(v *matrix.Vector[int32]) error {
	switch {
	case j.Out.Kind == ".mtx":
		from1 := matrix.NewVector[int32](v.Size())
		if err := ops.ApplySecond(from1, semiring.Plus[int32](), v, 1, ops.WithContext(j.Ctx)); err != nil {
			return err
		}
		return j.WriteVectorAs(from1.Inside())
	case slices.Contains(ListFiles, j.Out.Kind) && j.Graph.Cols != nil:
		return j.WriteLines(int(v.NVals()), func(line func(fields ...string) error) error {
			for i, x := range v.All() {
				if err := line(j.Graph.Name(i), j.Graph.Name(int(x))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return j.WriteVectorAs(v.Inside())
}

// WriteLines writes lines, so many if that is known, else 0, of fields separated by commas in a
// .csv, else by tabs, quoted by the rules of encoding/csv.
func (j *Job) WriteLines(lines int, write func(line func(fields ...string) error) error) error {
	delim := byte('\t')
	if j.Out.Kind == ".csv" {
		delim = ','
	}
	return j.Stream(func(w io.Writer) error {
		var buf []byte
		done, title := 0, j.Out.Title()
		return write(func(fields ...string) error {
			if done++; done&0xfff == 0 {
				j.Progress.Update(title, int64(min(done, lines)), int64(lines))
			}
			buf = buf[:0]
			for k, f := range fields {
				if k > 0 {
					buf = append(buf, delim)
				}
				if k == 0 {
					buf = AppendFirst(buf, f)
				} else {
					buf = appendField(buf, f)
				}
			}
			_, err := w.Write(append(buf, '\n'))
			return err
		})
	})
}

// AppendFirst appends the first field of a line, in quotation marks also if it begins as a comment.
func AppendFirst(buf []byte, f string) []byte {
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
