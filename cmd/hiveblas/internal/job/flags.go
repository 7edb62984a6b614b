package job

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/delimited"
)

// runFlags are the flags of every command that computes.
type runFlags struct {
	Device  string // "" for commands that run on the host only
	Method  string // "" for commands without a fused form
	Threads int
	// DeviceMemory bounds what is used of the memory of a GPU; 0 is no bound.
	DeviceMemory cli.ByteSize
	timeout      timeout

	machine     string  // figures by which --device auto chooses a number of GPUs
	commTimeout timeout // of a collective
	commCheck   bool    // ranks compare their collectives
	Quiet       bool
	Json        bool
}

func (f *runFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.Threads, "threads", defaultThreads(), "use `N` threads (0: one per core)")
	fs.Var(&f.timeout, "timeout", "stop after a time such as 90s or 5m (0: never)")
	fs.BoolVar(&f.Quiet, "quiet", false, "no progress bar; with -o no summary either")
	fs.BoolVar(&f.Json, "json", false, "print one JSON object in place of the summary")
}

// check verifies the flags.
func (f *runFlags) check(cmd *cobra.Command) error {
	if err := f.checkEnvironment(cmd); err != nil {
		return err
	}
	if err := cli.CheckThreads(cmd, f.Threads); err != nil {
		return err
	}
	switch f.Method {
	case "", "auto", "pipeline", "fused":
		return nil
	}
	return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--method is %q, want auto, pipeline or fused", f.Method))
}

// form returns the value of --method.
func (f *runFlags) form() apps.Method {
	if f.Method == "auto" {
		return apps.Auto
	}
	return apps.Method(f.Method)
}

func (f *runFlags) Count() int {
	if f.Threads > 0 {
		return f.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// ReadFlags are the flags of commands that read a graph.
type ReadFlags struct {
	Format, delimiter, header string
	source, target, Weight    string // columns
	skipLines                 int
	ids, base                 string
	comment, decimal          string
	KeepZeros                 bool
	Undirected, Bipartite     bool
	Duplicates                string
	names                     []string // files
	Numbers                   bool     // no names
}

func (f *ReadFlags) Add(cmd *cobra.Command) { f.flags(cmd.Flags()) }

func (f *ReadFlags) flags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.Undirected, "undirected", false, "read every edge in both directions; if the file has both, --duplicates combines their weights, or the smaller is used")
	fs.StringVar(&f.Format, "format", "auto", "input format `F`: auto, or one that hiveblas help formats lists, such as mtx or edges")
	fs.StringVar(&f.delimiter, "delimiter", "auto", "delimiter `D` of an edge list: auto, comma, tab, semicolon, bar, blank, or the character itself")
	fs.StringVar(&f.header, "header", "auto", "the edge list begins with column names: `auto`, yes or no")
	fs.StringVar(&f.source, "source-column", "", "column `C` of the sources in an edge list, by number from 1 or by name (default: from the header, or 1)")
	fs.StringVar(&f.target, "target-column", "", "column `C` of the targets (default: from the header, or 2)")
	fs.StringVar(&f.Weight, "weight-column", "", "column `C` of the weights, 0 for none (default: from the header, or the third of three)")
	fs.StringVar(&f.comment, "comment", "auto", "a line of an edge list or a file of vertices is a comment if it begins with one of `CHARS`; none: no line is; auto: # and %, and an error if a name may begin so")
	fs.StringVar(&f.decimal, "decimal", ".", "the `SIGN` before the fraction of a number in text: a point, or a comma")
	fs.BoolVar(&f.KeepZeros, "keep-zeros", false, "zeros of a dense file, a .npy or an array of .mtx, are entries too")
	fs.IntVar(&f.skipLines, "skip-lines", 0, "skip the first `N` lines of an edge list")
	fs.StringVar(&f.ids, "ids", "keep", "ids of an edge list: `keep` them as vertex numbers, or renumber the ids that occur, integers or text")
	fs.StringVar(&f.base, "base", "0", "ids of an edge list count from `B`: 0, 1 or auto")
	fs.BoolVar(&f.Bipartite, "bipartite", false, "the sources and targets of an edge list are different vertices: rows and columns")
	fs.StringVar(&f.Duplicates, "duplicates", "error", "combine repeated entries by `RULE`: error, sum, min, max, first or last")
	fs.StringArrayVar(&f.names, "names", nil, "read the names of vertices from `FILE`: one a line, or lines of a vertex, a tab and its name; twice for rows and columns")
	fs.BoolVar(&f.Numbers, "vertex-numbers", false, "vertices are numbers from 0, whatever names the input has")
}

// complete registers the values of the flags for shell completion.
func (f *ReadFlags) complete(cmd *cobra.Command) {
	cli.Complete(cmd, "format", append([]string{"auto"}, FormatNames()...)...)
	cli.Complete(cmd, "delimiter", "auto", "comma", "tab", "semicolon", "bar", "blank")
	cli.Complete(cmd, "header", "auto", "yes", "no")
	cli.Complete(cmd, "ids", "keep", "renumber")
	cli.Complete(cmd, "base", "0", "1", "auto")
	cli.Complete(cmd, "comment", "auto", "none", "#", "%")
	cli.Complete(cmd, "decimal", ".", ",")
	cli.Complete(cmd, "duplicates", "error", "sum", "min", "max", "first", "last")
}

var (
	delimiters  = map[string]rune{"auto": 0, "comma": ',', "tab": '\t', "semicolon": ';', "bar": '|', "blank": ' '}
	headerModes = map[string]graphio.HeaderMode{"auto": graphio.HeaderAuto, "yes": graphio.HeaderYes, "no": graphio.HeaderNo}
	bases       = map[string]int{"0": 0, "1": 1, "auto": graphio.BaseAuto}
)

func (f *ReadFlags) check(cmd *cobra.Command) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if _, ok := graphio.ParseFormat(f.Format); !ok {
		return bad("--format is %q, want auto, %s", f.Format, strings.Join(FormatNames(), ", "))
	}
	if _, ok := f.delimiterRune(); !ok {
		return bad("--delimiter is %q, want auto, comma, tab, semicolon, bar, blank, or a character that is not part of ids", f.delimiter)
	}
	if chars, given := f.commentChars(); given {
		var e *graphio.OptionError
		if errors.As(graphio.CheckCommentChars(chars), &e) {
			return bad("--comment is %q: %s", f.comment, e.Reason)
		}
	}
	switch delimiter, _ := f.delimiterRune(); {
	case f.decimal != "." && f.decimal != ",":
		return bad("--decimal is %q, want . or ,", f.decimal)
	case f.decimal == "," && delimiter == ',':
		return bad("--decimal , and --delimiter %s exclude each other: a comma cannot be both", f.delimiter)
	case f.decimal == "," && delimiter == 0 && f.Format == graphio.FormatCSV.String():
		return bad("--decimal , and --format csv exclude each other: give --delimiter semicolon, or --format edges")
	}
	if _, ok := headerModes[f.header]; !ok {
		return bad("--header is %q, want auto, yes or no", f.header)
	}
	if _, ok := bases[f.base]; !ok {
		return bad("--base is %q, want 0, 1 or auto", f.base)
	}
	columns := []struct {
		flag, value string
		least       int
	}{{"source-column", f.source, 1}, {"target-column", f.target, 1}, {"weight-column", f.Weight, 0}}
	for k, c := range columns {
		number, err := strconv.Atoi(c.value)
		switch {
		case !cmd.Flags().Changed(c.flag):
			continue
		case c.value == "":
			return bad("--%s is empty, want a number or a name", c.flag)
		case err == nil && number < c.least:
			return bad("--%s is %d, want %d or more, or a name", c.flag, number, c.least)
		case err != nil && f.header == "no":
			return bad("--%s %s names a column, which --header no excludes", c.flag, c.value)
		}
		for _, d := range columns[:k] {
			if c.value == d.value {
				return bad("--%s is also --%s", c.flag, d.flag)
			}
		}
	}
	switch {
	case f.ids != "keep" && f.ids != "renumber":
		return bad("--ids is %q, want keep or renumber", f.ids)
	case f.ids == "renumber" && f.base != "0":
		return bad("--base and --ids renumber exclude each other: renumbered ids have no base")
	case f.skipLines < 0:
		return bad("--skip-lines is %d, want 0 or more", f.skipLines)
	case len(f.names) > 2:
		return bad("--names is given %d times, want once for vertices, or twice for rows and columns", len(f.names))
	case len(f.names) > 0 && f.Numbers:
		return bad("--names and --vertex-numbers exclude each other")
	case slices.Contains(f.names, ""):
		return bad("--names is empty, want a file name")
	case f.Bipartite && f.Undirected:
		return bad("--bipartite and --undirected exclude each other")
	}
	switch f.Duplicates {
	case "error", "sum", "min", "max", "first", "last":
		return nil
	}
	return bad("--duplicates is %q, want error, sum, min, max, first or last", f.Duplicates)
}

// commentChars returns the characters of --comment; given is false for auto.
func (f *ReadFlags) commentChars() (chars string, given bool) {
	switch f.comment {
	case "auto", "":
		return "", false
	case delimited.None:
		return "", true
	}
	return f.comment, true
}

// Text returns how the lines of a file about vertices are taken.
func (f *ReadFlags) Text() apps.TextOptions {
	var o apps.TextOptions
	if f.comment != "auto" {
		o.Comment = f.comment
	}
	if f.decimal == "," {
		o.Decimal = ','
	}
	return o
}

// Lines is text for files that no app reads.
func (f *ReadFlags) Lines() delimited.Format {
	o := f.Text()
	return delimited.Format{Comments: o.Comment, Comma: o.Decimal == ','}
}

// delimiterRune returns the character of --delimiter, 0 for auto.
func (f *ReadFlags) delimiterRune() (rune, bool) {
	if d, ok := delimiters[f.delimiter]; ok {
		return d, true
	}
	if f.delimiter == `\t` {
		return '\t', true
	}
	d := []rune(f.delimiter)
	if len(d) != 1 {
		return 0, false
	}
	return d[0], graphio.CheckDelimiter(d[0]) == nil
}

// options returns the read options of the flags, without --duplicates.
func (f *ReadFlags) options() []graphio.ReadOption {
	format, _ := graphio.ParseFormat(f.Format)
	delimiter, _ := f.delimiterRune()
	opts := []graphio.ReadOption{
		graphio.InFormat(format), graphio.Header(headerModes[f.header]), graphio.Base(bases[f.base]), graphio.SkipLines(f.skipLines),
	}
	if delimiter != 0 {
		opts = append(opts, graphio.Delimiter(delimiter))
	}
	opts = append(opts, columnOption(f.source, graphio.SourceColumn[int], graphio.SourceColumn[string]),
		columnOption(f.target, graphio.TargetColumn[int], graphio.TargetColumn[string]),
		columnOption(f.Weight, graphio.WeightColumn[int], graphio.WeightColumn[string]))
	if f.ids == "renumber" {
		opts = append(opts, graphio.RenumberIDs())
	}
	if f.Undirected {
		opts = append(opts, graphio.Symmetrise())
	}
	if chars, given := f.commentChars(); given {
		opts = append(opts, graphio.CommentChars(chars))
	}
	if f.decimal == "," {
		opts = append(opts, graphio.Decimal(','))
	}
	if f.KeepZeros {
		opts = append(opts, graphio.KeepZeros())
	}
	return opts
}

// columnOption chooses a column by number, or by name if value is no number; nil
// if value is empty.
func columnOption(value string, byNumber func(int) graphio.ReadOption, byName func(string) graphio.ReadOption) graphio.ReadOption {
	if value == "" {
		return nil
	}
	if n, err := strconv.Atoi(value); err == nil {
		return byNumber(n)
	}
	return byName(value)
}

// timeout is a duration; a plain number counts seconds.
type timeout time.Duration

func (t *timeout) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		seconds, err := strconv.ParseFloat(s, 64)
		if err != nil || !(seconds >= 0 && seconds < 1e9) {
			return fmt.Errorf("want a duration such as 90s or 5m")
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 {
		return fmt.Errorf("want a duration that is not negative")
	}
	*t = timeout(d)
	return nil
}

func (t *timeout) String() string {
	if *t == 0 {
		return "0"
	}
	return time.Duration(*t).String()
}

func (t *timeout) Type() string { return "duration" }
