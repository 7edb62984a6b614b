package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

func sampleCommand(s *job.Session) *cobra.Command {
	var (
		vertices, fire int
		edges          int64
		burn           float64
		seed           uint64
	)
	cmd := &cobra.Command{
		Use:   "sample GRAPH -o FILE",
		Short: "Take a random part of a graph: vertices, edges, or a forest fire",
		Long: `sample writes the edges among --vertices random vertices, --edges random edges and
their vertices, or the edges among the vertices that a forest fire burns: from a random
vertex it spreads to random neighbours, in either direction, whose number is geometric
with mean P/(1−P), and it starts again where it dies out (Leskovec and Faloutsos,
"Sampling from large graphs", KDD 2006). The same --seed gives the same sample. The
vertices keep their names, and numbers become names.`,
		Example: `  hiveblas sample soc.hgb --forest-fire 1000 -o small.tsv
  hiveblas sample graph.mtx.gz --edges 10000 --seed 7 -o part.hgb`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads().Bounded().Writes("the sample", job.GraphFiles...)
	fs := cmd.Flags()
	fs.IntVar(&vertices, "vertices", 0, "`N` random vertices")
	fs.Int64Var(&edges, "edges", 0, "`M` random edges")
	fs.IntVar(&fire, "forest-fire", 0, "burn `N` vertices")
	fs.Float64Var(&burn, "burn", .7, "burn the next neighbour with probability `P`")
	fs.Uint64Var(&seed, "seed", 1, "the random numbers are those of `SEED`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		given := 0
		for _, name := range []string{"vertices", "edges", "forest-fire"} {
			if cmd.Flags().Changed(name) {
				given++
			}
		}
		switch {
		case given != 1:
			return bad("give one of --vertices, --edges and --forest-fire")
		case vertices < 0 || edges < 0 || fire < 0:
			return bad("the size of the sample is negative, want 0 or more")
		case cmd.Flags().Changed("burn") && !cmd.Flags().Changed("forest-fire"):
			return bad("--burn needs --forest-fire")
		case !(burn >= 0 && burn < 1):
			return bad("--burn is %v, want 0 or more and below 1", burn)
		case j.Out.Path == "":
			return bad("-o is missing")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		if err := job.WantSquare(j); err != nil {
			return err
		}
		if err := j.Fits(); err != nil {
			return err
		}
		n, _, before := j.Graph.Size()
		err := j.Stage("compute", func() error {
			d := &draws{seed: seed}
			var vs []int
			switch {
			case cmd.Flags().Changed("vertices"):
				for _, v := range d.choose(int64(n), int64(vertices)) {
					vs = append(vs, int(v))
				}
			case cmd.Flags().Changed("forest-fire"):
				rows, cols := j.Graph.Values.Structures()
				vs = burnt(rows, cols, min(fire, n), burn, d)
			default:
				kept, err := j.Graph.Values.Only(d.choose(before, edges))
				if err != nil {
					return err
				}
				j.Graph.Values = kept
				rows, cols := kept.Structures()
				for v := range n {
					if rows.Ptr[v] < rows.Ptr[v+1] || cols.Ptr[v] < cols.Ptr[v+1] {
						vs = append(vs, v)
					}
				}
			}
			return takeSubgraph(j, vs, vs)
		})
		if err != nil {
			return err
		}
		if err := writeGraph(j); err != nil {
			return err
		}
		return j.Report([]job.Field{{Key: "of_vertices", Label: "of vertices", Value: n}, {Key: "of_entries", Label: "of entries", Value: before}, {Key: "seed", Label: "seed", Value: seed}}, nil)
	}
	return cmd
}

// draws are the random numbers of a seed.
type draws struct{ seed, at uint64 }

func (d *draws) word() uint64 {
	w, _ := philox.Block(d.at, 0, d.seed)
	d.at++
	return w
}

func (d *draws) below(n int64) int64 {
	x, _ := philox.Below(d.word(), uint64(n))
	return int64(x)
}

// choose returns k of the numbers below n, each set with the same probability, in ascending order;
// all for a larger k. O(k) time. Source: Floyd's algorithm, in Bentley, Floyd, "A sample of
// brilliance", CACM 30 (1987), doi:10.1145/30401.315746.
func (d *draws) choose(n, k int64) []int64 {
	k = min(k, n)
	chosen := make(map[int64]struct{}, k)
	list := make([]int64, 0, k)
	for top := n - k; top < n; top++ {
		x := d.below(top + 1)
		if _, taken := chosen[x]; taken {
			x = top
		}
		chosen[x] = struct{}{}
		list = append(list, x)
	}
	slices.Sort(list)
	return list
}

// burnt returns the vertices that a forest fire burns, in ascending order.
func burnt(rows, cols *sparse.Structure, count int, p float64, d *draws) (list []int) {
	n := rows.NRows
	state := make([]bool, n)
	var next []int32
	for tries := 0; len(list) < count; tries++ {
		start := int(d.below(int64(n)))
		if state[start] {
			if tries < 4*n {
				continue
			}
			start = slices.Index(state, false)
		}
		state[start] = true
		list = append(list, start)
		for front := len(list) - 1; front < len(list) && len(list) < count; front++ {
			v := list[front]
			next = next[:0]
			for _, s := range []*sparse.Structure{rows, cols} {
				for _, w := range s.Idx[s.Ptr[v]:s.Ptr[v+1]] {
					if !state[w] {
						next = append(next, w)
					}
				}
			}
			spread := 0
			if p > 0 { // geometric: the number of successes before a failure
				u := float64(d.word()>>11+1) / (1 << 53)
				spread = int(math.Log(u) / math.Log(p))
			}
			for k := 0; k < len(next) && spread > 0 && len(list) < count; k++ {
				at := k + int(d.below(int64(len(next)-k)))
				next[k], next[at] = next[at], next[k]
				if w := next[k]; !state[w] {
					state[w] = true
					list = append(list, int(w))
					spread--
				}
			}
		}
	}
	slices.Sort(list)
	return list
}
