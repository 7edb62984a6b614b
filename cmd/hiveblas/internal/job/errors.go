package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// Explain converts an error of the library about a file to one that names the
// file, the place and the flag that helps.
func Explain(file string, err error) error { return ExplainGraph(&Graph{File: file}, err) }

// ExplainGraph is explain of an error about a graph; it names vertices.
func ExplainGraph(g *Graph, err error) error {
	file := g.File
	var (
		said   *cli.Failure
		usage  *cli.UsageError
		parse  *graphio.ParseError
		option *graphio.OptionError
		typ    *matrix.TypeError
		index  *matrix.IndexError
		data   *matrix.InvalidError
		path   *fs.PathError
		weight *apps.WeightError
		place  *apps.LocationError
		score  *apps.ScoreError
		shape  *matrix.DimensionError
		size   *matrix.SizeError
		param  *apps.ParameterError
		vertex *apps.VertexError
		flow   *apps.UnboundedFlowError
		bid    *auction.ParameterError
		large  *auction.OverflowError
		cost   *auction.CostError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &usage):
		return err
	case errors.As(err, &said):
		e := *said
		switch {
		case e.Place == "":
			e.Place = file
		case !strings.HasPrefix(e.Place, file):
			e.Place = file + ": " + e.Place
		}
		return &e
	case errors.As(err, &parse):
		e := *parse
		if e.Kind != graphio.RemedyText {
			e.Remedy = FlagRemedy(e.Kind)
		}
		if e.Remedy == "" {
			e.Remedy = "correct the file, or export it again"
		}
		return &e
	case errors.As(err, &option):
		return cli.Fail(file, option.Reason, FlagRemedy(option.Kind), err)
	case errors.As(err, &path):
		return cli.ExplainPath(file, err)
	case errors.As(err, &weight):
		wants, remedy := "distances want ", "correct the file, or count edges with hiveblas vn --unit"
		switch weight.App {
		case "Communities", "Modularity":
			wants, remedy = "communities want ", "correct the file, or leave weights out with --weight-column 0"
		case "GraphSearch":
			wants, remedy = "draws want ", "correct the file, or leave --weighted out"
		case "MaxFlow":
			wants, remedy = "a flow wants ", "correct the file"
		case "WeightedPageRank":
			wants, remedy = "weighted PageRank wants ", "correct the file, or leave --weighted out"
		case "FusedLasso":
			wants, remedy = "the fused lasso wants ", "correct the file, or leave weights out with --weight-column 0"
		}
		edge := fmt.Sprintf("edge from %s to %s", g.Rows.Name(weight.Row), g.Name(weight.Col))
		if g.Cols == nil {
			edge += " (vertices from 0)"
		}
		return cli.Fail(file+": "+edge,
			"its weight is "+weight.Got+", and "+wants+weight.Want, remedy, err)

	case errors.As(err, &place):
		return cli.Fail(file, fmt.Sprintf("the location of vertex %s is %s, want %s", g.Name(place.Vertex), place.Got, place.Want), "", err)
	case errors.As(err, &score):
		return cli.Fail(file, fmt.Sprintf("the score of vertex %s is %s, want %s", g.Name(score.Vertex), score.Got, score.Want), "", err)
	case errors.As(err, &shape):
		return cli.Fail(file, fmt.Sprintf("%s is %s, want %s", shape.Arg, shape.Got, shape.Want), "", err)
	case errors.As(err, &size):
		return cli.Fail(file, fmt.Sprintf("%s is %d, the limit is %d", size.Arg, size.Got, size.Limit), "", err)
	case errors.As(err, &index):
		return cli.Fail(file, fmt.Sprintf("%s %d is out of range, the limit is %d", index.Arg, index.Index, index.Limit), "", err)
	case errors.As(err, &typ):
		return cli.Fail(file, fmt.Sprintf("the elements are %s, want %s", typ.Got, typ.Want), "", err)
	case errors.As(err, &data):
		return cli.Fail(file, data.Reason, "", err)
	case errors.As(err, &flow):
		return cli.Fail(file, fmt.Sprintf("the flow from %s to %s has no limit: edges of infinite capacity connect them", g.Name(flow.Source), g.Name(flow.Sink)),
			"give one of them a finite capacity", err)

	case errors.As(err, &vertex):
		named := vertex.Named(g.Name, g.otherName())
		return cli.Fail(file, fmt.Sprintf("%s is %s, want %s", named.Arg, named.Got, named.Want), "", err)
	case errors.As(err, &param):
		return cli.Fail(file, fmt.Sprintf("%s is %s, want %s", param.Arg, param.Got, param.Want), "", err)
	case errors.As(err, &bid):
		return cli.Fail(file, fmt.Sprintf("%s is %s, want %s", bid.Arg, bid.Got, bid.Want), "", err)
	case errors.As(err, &cost):
		place := file
		if cost.Row >= 0 && cost.Col >= 0 {
			place += fmt.Sprintf(": row %s, column %s", g.Rows.Name(cost.Row), g.Name(cost.Col))
		}
		return cli.Fail(place, cost.Arg+" is "+cost.Got+", want "+cost.Want, "correct the file", err)
	case errors.As(err, &large):
		return cli.Fail(file, large.What+" may exceed 64 bits", "scale the weights", err)
	}
	return cli.Fail(file, err.Error(), "", err)
}

// EntryPlace is the place of an entry of a matrix, by the names of its row and column or by
// numbers.
func EntryPlace(rows, cols *graphio.Labels, row, col int, of string) string {
	text := fmt.Sprintf("row %s, column %s%s", rows.Name(row), cols.Name(col), of)
	if rows == nil && cols == nil {
		text += " (from 0)"
	}
	return text
}

// ExplainLines is explain of a file with lines of vertices; flag sets their base.
func ExplainLines(file, flag string, err error) error {
	var parse *graphio.ParseError
	if errors.As(err, &parse) && (parse.Kind == graphio.RemedyBase || parse.Kind == graphio.RemedyBaseZero) {
		e, base := *parse, 1
		if parse.Kind == graphio.RemedyBaseZero {
			base = 0
		}
		e.Kind, e.Remedy = graphio.RemedyText, fmt.Sprintf("%s %d if the vertices of the file count from %d", flag, base, base)
		err = &e
	}
	return Explain(file, err)
}

// exactRemedy is the remedy for integers beyond 2^53 in a command that computes.
const exactRemedy = "this command computes in float64, which holds integers exactly up to 2^53: scale the weights, or set --weight-column 0 to leave them out"

// flagRemedies are the remedies of readers and writers in terms of flags.
var flagRemedies = map[graphio.RemedyKind]string{
	graphio.RemedyDuplicates:   "--duplicates sum, min, max, first or last combines them",
	graphio.RemedyHeader:       "--header yes takes the first line for column names",
	graphio.RemedyEitherHeader: "--header yes takes the first line for column names, --header no for an edge",
	graphio.RemedyRenumber:     "--ids renumber numbers the ids that occur, whatever text they are",
	graphio.RemedyBase:         "--base 1 if the ids count from 1, or --ids renumber",
	graphio.RemedyBaseZero:     "--base 0 if the ids count from 0",
	graphio.RemedyColumns:      "--source-column, --target-column and --weight-column choose columns by name or number",
	graphio.RemedyWeightColumn: "--weight-column chooses the column of the weights, 0 none",
	graphio.RemedyFirstValue:   "--weight-column chooses the column of the weights, 0 none; --header yes if the line names columns",
	graphio.RemedyDelimiter:    "--delimiter names the character between fields: comma, tab, semicolon, bar or blank",
	graphio.RemedyQuotes:       "correct the file: quotation marks enclose a whole field, and are doubled inside it",
	graphio.RemedyAllowNaN:     "correct the file: weights are finite numbers",
	graphio.RemedyWider:        "correct the file: integer weights have 64 bits",
	graphio.RemedyFloat:        "correct the file: the weights are integers by its header",
	graphio.RemedyExact:        exactRemedy,
	graphio.RemedySigned:       "correct the file: integer weights have 64 bits",
	graphio.RemedyPattern:      "correct the file: its elements are 0 and 1",
	graphio.RemedyFinite:       "correct the file: weights are at most 1.8e308",
	graphio.RemedyNoSymmetrise: "leave --undirected out",
	graphio.RemedySymmetrise:   "--undirected reads every edge in both directions",
	graphio.RemedyNoSymmetric:  "leave --symmetric out",
	graphio.RemedyNames:        "--names FILE gives names, --vertex-numbers does without them",
	graphio.RemedyNamesBeside:  "-o FILE keeps them in a file beside FILE, --vertex-numbers does without them",
	graphio.RemedyFormat:       "--format names the format of the input; see hiveblas help formats",
	graphio.RemedyLists:        "use .tsv, .csv, .mtx or .hgb",
	graphio.RemedyLeaveValues:  "--weight-column 0 leaves the weights out",
	graphio.RemedyComment:      "--comment none reads such lines as edges, --comment '#%' skips them",
	graphio.RemedyBlanks:       "--delimiter blank separates fields at runs of blanks and tabs",
	graphio.RemedyDecimal:      "--decimal , reads decimal commas",
}

func FlagRemedy(kind graphio.RemedyKind) string { return flagRemedies[kind] }
