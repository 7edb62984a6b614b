package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/cli"
)

func statsCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats GRAPH",
		Short: "Degrees, symmetry and self-loops of a graph",
		Long: `stats prints the size of a graph, whether it is symmetric, the number of its
self-loops, and the distribution of its degrees: minimum, mean, maximum and a
histogram in powers of two. Out-degrees count the entries of rows, in-degrees
those of columns. A matrix that is not square, and a list read with --bipartite,
has neither symmetry nor self-loops.`,
		Example: `  hiveblas stats graph.mtx.gz
  hiveblas stats follows.txt --undirected --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := newJob(s, cmd).reads()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadTyped(args[0]); err != nil {
			return err
		}
		v := j.graph.values
		m, n := v.Dims()
		square := m == n && !j.graph.bipartite
		var symmetric, loops any // null where rows and columns are different vertices
		var out, in degrees
		err := j.stage("compute", func() error {
			out, in = v.degrees()
			if square {
				symmetric, loops = v.IsSymmetric(), summaryOf(v.Matrix).diagonal
			}
			return nil
		})
		if err != nil {
			return err
		}
		figures := []field{{"rows", "rows", m}, {"cols", "columns", n}, {"nnz", "entries", v.NVals()},
			{"symmetric", "symmetric", symmetric}, {"self_loops", "self-loops", loops},
			{"out_degree", "", out.object()}, {"in_degree", "", in.object()}}
		if !square {
			figures[3].label, figures[4].label = "", ""
		}
		err = j.report("", figures, nil)
		if err != nil || j.run.json {
			return err
		}
		return printDegrees(j, out, in)
	}
	return cmd
}

// degrees is the distribution of the degrees of rows or columns.
type degrees struct {
	least, most int64
	mean        float64
	bins        []int64 // bin 0: degree 0; bin b: degrees 2^(b−1) … 2^b−1
}

// degreesOf returns the distribution for row offsets of the listed rows, of n rows.
func degreesOf(ptr []int64, n, listed int) degrees {
	var d degrees
	if n == 0 {
		return d
	}
	d.bins = make([]int64, 1, 32)
	d.bins[0] = int64(n - listed)
	if listed == n {
		d.least = ptr[1] - ptr[0]
	}
	for k := range listed {
		degree := ptr[k+1] - ptr[k]
		d.least, d.most = min(d.least, degree), max(d.most, degree)
		b := bits.Len64(uint64(degree))
		for b >= len(d.bins) {
			d.bins = append(d.bins, 0)
		}
		d.bins[b]++
	}
	d.mean = float64(ptr[listed]-ptr[0]) / float64(n)
	return d
}

// span returns the range of degrees of bin b.
func span(b int) (lo, hi int64) {
	if b == 0 {
		return 0, 0
	}
	return 1 << (b - 1), 1<<b - 1
}

func (d degrees) object() object {
	histogram := []object{}
	for b, count := range d.bins {
		lo, hi := span(b)
		histogram = append(histogram, object{{"from", "", lo}, {"to", "", hi}, {"count", "", count}})
	}
	return object{{"min", "", d.least}, {"mean", "", d.mean}, {"max", "", d.most}, {"histogram", "", histogram}}
}

// printDegrees prints both distributions side by side, with bars for out-degrees.
func printDegrees(j *job, out, in degrees) error {
	b := bufio.NewWriter(j.Stdout)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\ndegree\tout\tin\t\n")
	fmt.Fprintf(w, "min\t%d\t%d\t\nmean\t%.4g\t%.4g\t\nmax\t%d\t%d\t\n", out.least, in.least, out.mean, in.mean, out.most, in.most)
	var most int64 = 1
	for _, c := range out.bins {
		most = max(most, c)
	}
	for k := range max(len(out.bins), len(in.bins)) {
		lo, hi := span(k)
		label := fmt.Sprint(lo)
		if hi > lo {
			label += fmt.Sprintf("–%d", hi)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t %s\n", label, at(out.bins, k), at(in.bins, k), strings.Repeat("▇", int(at(out.bins, k)*30/most)))
	}
	w.Flush()
	return j.printed(b.Flush())
}

func at(bins []int64, k int) int64 {
	if k < len(bins) {
		return bins[k]
	}
	return 0
}
