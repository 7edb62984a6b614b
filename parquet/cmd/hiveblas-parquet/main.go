// Command hiveblas-parquet converts a list of edges in a Parquet file for the command hiveblas:
//
//	hiveblas-parquet trips.parquet trips.hgb -ids renumber -weight minutes
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/parquet"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// flags are the flags of the command.
type flags struct {
	parquet.Options
	ids, duplicates string
	undirected      bool
}

func run(args []string, stderr io.Writer) int {
	var f flags
	fs := flag.NewFlagSet("hiveblas-parquet", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&f.Source, "source", "", "column of the sources (default: source, src, from, …, or the first)")
	fs.StringVar(&f.Target, "target", "", "column of the targets (default: target, dst, to, …, or the second)")
	fs.StringVar(&f.Weight, "weight", "", "column of the weights (default: weight, value, …, or none)")
	fs.BoolVar(&f.NoWeight, "no-weight", false, "leave the weights out")
	fs.IntVar(&f.Threads, "threads", 0, "decode so many row groups at once (0: one a core)")
	fs.StringVar(&f.ids, "ids", "keep", "keep ids as vertex numbers, or renumber them")
	fs.StringVar(&f.duplicates, "duplicates", "error", "combine repeated edges: error, sum, min, max, first or last")
	fs.BoolVar(&f.undirected, "undirected", false, "every edge in both directions")
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: hiveblas-parquet [flags] IN.parquet OUT.hgb|.mtx|.tsv|.csv|.npz")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return 2
	}
	names := fs.Args()
	if len(names) > 2 { // flags after the names
		names = names[:2]
		if err := fs.Parse(fs.Args()[2:]); err != nil || fs.NArg() > 0 {
			fs.Usage()
			return 2
		}
	}
	if len(names) != 2 || f.ids != "keep" && f.ids != "renumber" {
		fs.Usage()
		return 2
	}
	if err := f.convert(names[0], names[1]); err != nil {
		fmt.Fprintln(stderr, "hiveblas-parquet:", explain(names[1], err))
		return 1
	}
	return 0
}

// flagRemedies are the remedies of readers and writers in terms of flags. Others offer none.
var flagRemedies = map[graphio.RemedyKind]string{
	graphio.RemedyDuplicates:   "-duplicates sum, min, max, first or last combines them",
	graphio.RemedyRenumber:     "-ids renumber numbers the ids that occur, whatever text they are",
	graphio.RemedyBase:         "-ids renumber numbers the ids that occur",
	graphio.RemedyColumns:      "-source, -target and -weight choose columns by name",
	graphio.RemedyWeightColumn: "-weight chooses the column of the weights, -no-weight none",
	graphio.RemedyNoSymmetrise: "leave -undirected out",
	graphio.RemedySymmetrise:   "-undirected reads every edge in both directions",
	graphio.RemedyLeaveValues:  "-no-weight leaves the weights out",
	graphio.RemedyLists:        "use .tsv, .csv, .mtx or .hgb",
}

// explain says an error of the library in terms of flags. out is the file that is written.
func explain(out string, err error) error {
	var parse *graphio.ParseError
	var option *graphio.OptionError
	switch {
	case errors.As(err, &parse) && parse.Kind != graphio.RemedyText:
		e := *parse
		e.Remedy = flagRemedies[e.Kind]
		return &e
	case errors.As(err, &option):
		remedy := flagRemedies[option.Kind]
		if remedy != "" {
			remedy = "; " + remedy
		}
		return fmt.Errorf("%s: %s%s", out, option.Reason, remedy)
	}
	return err
}

// convert reads the file with the element type of its weights.
func (f *flags) convert(in, out string) error {
	file, err := os.Open(in)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	p, err := parquet.Open(file, st.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	columns, err := parquet.ColumnsOf(p, f.Options)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	if columns.Real {
		return convertAs[float64](f, file, st.Size(), in, out)
	}
	return convertAs[int64](f, file, st.Size(), in, out)
}

func convertAs[T int64 | float64](f *flags, file *os.File, size int64, in, out string) error {
	opts := []graphio.ReadOption{graphio.FileName(in)}
	if f.ids == "renumber" {
		opts = append(opts, graphio.RenumberIDs())
	}
	if f.undirected {
		opts = append(opts, graphio.Symmetrise())
	}
	rules := map[string]matrix.CombineFunc[T]{
		"sum": func(x, y T) T { return x + y }, "min": func(x, y T) T { return min(x, y) }, "max": func(x, y T) T { return max(x, y) },
		"first": func(x, _ T) T { return x }, "last": func(_, y T) T { return y },
	}
	if rule, ok := rules[f.duplicates]; ok {
		opts = append(opts, graphio.Duplicates[T](rule))
	} else if f.duplicates != "error" {
		return errors.New("-duplicates is " + f.duplicates + ", want error, sum, min, max, first or last")
	}
	g, err := parquet.Read[T](file, size, f.Options, opts...)
	if err != nil {
		return err
	}
	return g.WriteFile(out)
}
