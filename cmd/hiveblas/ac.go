package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func acCommand(s *job.Session) *cobra.Command {
	var (
		files     [4]string // vertices and edges of the data, then of the pattern
		rounds    int
		top       int
		corrected bool
		memory    cli.ByteSize
	)
	cmd := &cobra.Command{
		Use:   "ac --data-vertices FILE --data-edges FILE --pattern-vertices FILE --pattern-edges FILE",
		Short: "Application classification: find a pattern in a data graph",
		Long: `ac computes by loopy belief propagation which vertices of a data graph correspond
to those of a pattern. Vertices and edges have features, and the likelihood of a
match depends on the distance between features. The result is a matrix of data
vertices by pattern vertices; its columns are logarithms of probabilities.

Each graph has two tables of fields separated by blanks or commas. The first line is
“count columns”, or names of the columns as hiveblas features writes them. Then each
line is a vertex and its features, or a source, a target and the features of an edge.
Files may be gzip-compressed; - is standard input.`,
		Example: `  hiveblas ac --data-vertices d.Vertex.csv --data-edges d.Edges.csv \
      --pattern-vertices p.Vertex.csv --pattern-edges p.Edges.csv -o beliefs.csv
  hiveblas ac … --top 5 --memory 6GiB --json`,
		Args: cli.Positional(),
	}
	j := job.New(s, cmd).Computes(thresholdAC).Fuses().Writes("the log-probabilities", ".csv", ".mtx", ".hgb")
	flags := []string{"data-vertices", "data-edges", "pattern-vertices", "pattern-edges"}
	for k, name := range flags {
		cmd.Flags().StringVar(&files[k], name, "", "`FILE` of the "+strings.ReplaceAll(name, "-", " graph's "))
	}
	cmd.Flags().IntVar(&rounds, "iterations", 0, "`N` rounds of messages (0: the number of pattern vertices)")
	cmd.Flags().IntVar(&top, "top", 1, "list the `N` most likely data vertices of each pattern vertex")
	cmd.Flags().BoolVar(&corrected, "corrected-gather", false, "gather backward messages from targets, as published, instead of sources")
	cmd.Flags().Var(&memory, "memory", "use about this much memory, such as 6GiB or 500MB (0: no limit)")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for k, name := range flags {
			if files[k] == "" {
				return cli.Usage(cmd.CommandPath(), "--"+name+" is missing")
			}
		}
		if rounds < 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--iterations is %d, want 0 or more", rounds))
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := j.Begin(files[:]...); err != nil {
			return err
		}
		for k, file := range files {
			if file == "-" {
				files[k] = "/dev/stdin"
			}
		}
		var data, pattern *apps.Attributed
		err := j.Stage("read", func() (err error) {
			run := apps.Run{Context: j.Ctx, Progress: j.Progress.Update}
			if data, err = apps.ReadAttributedFiles(files[0], files[1], run); err != nil {
				return job.Explain(files[0], err)
			}
			pattern, err = apps.ReadAttributedFiles(files[2], files[3], run)
			return job.Explain(files[2], err)
		})
		if err != nil {
			return err
		}
		n, edges := data.Dims()
		np, q := pattern.Dims()
		j.Graph = &job.Graph{Matrix: matrix.New[float64](n, n), File: files[0], Edges: int64(edges)}
		o := apps.ClassifyOptions{Iterations: rounds, CorrectedGather: corrected, Trusted: true}
		if rounds == 0 {
			rounds = np
		}
		if o.Memory, err = classifyShare(memory, data, pattern); err != nil {
			return err
		}
		if err := j.PlaceGraphs(func() int64 { return int64(edges) * int64(q) * int64(rounds) }, "messages", data, pattern); err != nil {
			return err
		}
		var mu *matrix.Matrix[float32]
		err = j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			mu, err = apps.Classify(data, pattern, o)
			return job.ToHost(err, mu)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writeBeliefs(j, mu) }); err != nil {
			return err
		}
		var sum job.Total
		least, most := math.Inf(1), math.Inf(-1)
		for _, x := range mu.All() {
			sum.Add(float64(x))
			least, most = min(least, float64(x)), max(most, float64(x))
		}
		best, list := likeliest(mu, top)
		return j.Report([]job.Field{
			{Key: "pattern_vertices", Label: "pattern vertices", Value: np}, {Key: "pattern_edges", Label: "pattern edges", Value: q}, {Key: "iterations", Label: "iterations", Value: rounds},
			{Key: "sum", Label: "sum", Value: sum.Value()}, {Key: "min", Label: "min", Value: least}, {Key: "max", Label: "max", Value: most}, {Key: "best", Label: "", Value: best},
		}, onlyText(j, list))
	}
	return cmd
}

// onlyText omits a ranking in JSON, where it is one of the figures.
func onlyText(j *job.Job, r *job.Ranking) *job.Ranking {
	if j.Run.Json {
		return nil
	}
	return r
}

// likeliest lists for each column of mu the rows with the largest values; ties are
// ordered by number.
func likeliest(mu *matrix.Matrix[float32], top int) (best []job.Object, list *job.Ranking) {
	n, np := mu.Dims()
	best, list = []job.Object{}, &job.Ranking{Title: "pattern: data", Unit: "probability"}
	val, order := access.Store(mu).Val, make([]int, n)
	for j := range np {
		for v := range order {
			order[v] = v
		}
		k := min(top, n)
		largest(order, k, func(a, b int) int {
			return cmp.Or(cmp.Compare(val[b*np+j], val[a*np+j]), cmp.Compare(a, b))
		})
		for _, v := range order[:k] {
			x := float64(val[v*np+j])
			best = append(best, job.Object{{Key: "pattern", Label: "", Value: j}, {Key: "data", Label: "", Value: v}, {Key: "log_probability", Label: "", Value: x}})
			list.Rows = append(list.Rows, job.Ranked{Vertex: fmt.Sprintf("%d: %d", j, v), Value: math.Exp(x)})
		}
	}
	return best, list
}

// largest sorts the first k of list in order to its front.
func largest(list []int, k int, order func(a, b int) int) {
	if k > 16 {
		slices.SortFunc(list, order)
		return
	}
	for i := range k {
		at := i
		for p := i + 1; p < len(list); p++ {
			if order(list[p], list[at]) < 0 {
				at = p
			}
		}
		list[i], list[at] = list[at], list[i]
	}
}

// writeBeliefs writes a .csv with a line for each data vertex, or a matrix.
func writeBeliefs(j *job.Job, mu *matrix.Matrix[float32]) error {
	if j.Out.Kind != ".csv" {
		return j.WriteMatrixAs(mu.Inside(), nil, nil, graphio.AsArray())
	}
	return j.Stream(func(w io.Writer) error {
		b := bufio.NewWriter(w)
		n, np := mu.Dims()
		b.WriteString("vertex")
		for k := range np {
			fmt.Fprintf(b, ",%d", k)
		}
		val := access.Store(mu).Val
		var line []byte
		for v := range n {
			line = strconv.AppendInt(append(line[:0], '\n'), int64(v), 10)
			for _, x := range val[v*np : (v+1)*np] {
				line = strconv.AppendFloat(append(line, ','), float64(x), 'g', -1, 32)
			}
			if _, err := b.Write(line); err != nil {
				return err
			}
			if v%4096 == 0 && j.Ctx.Err() != nil {
				return j.Ctx.Err()
			}
		}
		b.WriteByte('\n')
		return b.Flush()
	})
}

// classifyShare returns the memory that apps.Classify may use for distances, and sets
// the memory limit of the garbage collector.
func classifyShare(b cli.ByteSize, data, pattern *apps.Attributed) (int64, error) {
	if b == 0 {
		return 0, nil
	}
	least, all := apps.ClassifyMemory(data, pattern)
	if int64(b) < least {
		return 0, cli.Fail("--memory", fmt.Sprintf("%d bytes are not enough: these graphs need at least %d", b, least), "raise the limit", nil)
	}
	debug.SetMemoryLimit(int64(b))
	if int64(b) >= all {
		return 0, nil
	}
	return max(int64(b)-least, 1), nil
}
