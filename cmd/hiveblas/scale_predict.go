package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/workload"
)

// predicting are the flags of scale predict.
type predicting struct {
	counts    []int
	machine   string
	groups    []string
	bandwidth float64
	source    int
	hops      int
	measure   string
}

func scalePredictCommand(s *job.Session) *cobra.Command {
	var o predicting
	cmd := &cobra.Command{
		Use:   "predict APP GRAPH",
		Short: "Predict the time of a workflow on groups of devices",
		Long: `predict runs APP on GRAPH with virtual ranks, goroutines whose collectives are counted:
spmv, nominate, geo, ac or sgm as pipelines of operations; pagerank, bfs, cc, sssp or vn
by kernels of each rank for its rows; search, scan, lgc, project, closeness, betweenness, lasso, sage or train (two epochs)
divided by ranges of their work; louvain whole on every rank, as on the host. Inputs that APP needs
beside the graph are drawn by hashes. It puts the exact volumes through the model
T = λ·W/(p·S) + L + Σ (α + B/N): W bytes of local work (24 a product, 24 an entry of a result), S the
rate of a device's memory, B bytes received. Edges run from row to column; vertices
are in blocks of equal work, in the order of the file. It prints the number of devices
with the least time. S, α and N are those of a table of hiveblas-bench comm, or else
published figures of H200s with NVLink.

With --measure gpu, ranks of a pipeline or of ranges take turns on the first GPU of this
machine (with cpu on its host), and the time is the one measured, with the slowest rank
of each part; + Σ B/N. It has what ranks repeat and what the host does.

--hops also prints the time of a step of a graph program when each device keeps copies
of the vertices within h hops and exchanges every h steps (Medusa).`,
		Example: `  hiveblas scale predict pagerank web.mtx --counts 1,2,4,8
  hiveblas scale predict scan web.mtx --measure gpu --counts 1,2,4
  hiveblas scale predict bfs road.mtx --machine comm.json --hops 32`,
		Args: cli.Positional("APP", "GRAPH"),
	}
	j := job.New(s, cmd).Reads()
	fs := cmd.Flags()
	fs.IntSliceVar(&o.counts, "counts", []int{1, 2, 4, 8}, "numbers of devices `P,…`")
	fs.StringVar(&o.machine, "machine", "", "figures of `FILE`, the JSON of hiveblas-bench comm")
	fs.StringSliceVar(&o.groups, "groups", nil, "take collectives of these `GROUPS` of the file: peers, nccl, mpi, local")
	fs.Float64Var(&o.bandwidth, "bandwidth", 0, "rate of a device's memory in `GB/s` (0: that of the figures)")
	fs.IntVar(&o.source, "source", 0, "first vertex `V` of bfs, sssp, vn and nominate")
	fs.IntVar(&o.hops, "hops", 0, "also compare replication over 1 … `H` hops")
	fs.StringVar(&o.measure, "measure", "", "measure ranks that take turns `WHERE`: gpu, cpu")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd, args[0]); err != nil {
			return err
		}
		if err := j.Begin(args[1]); err != nil {
			return err
		}
		m, err := o.figures()
		if err != nil {
			return err
		}
		if err := j.LoadSquare(args[1], job.ContentOf(args[0] == "sssp" || args[0] == "vn")); err != nil {
			return err
		}
		return predict(j, args[0], m, o)
	}
	return cmd
}

func (o *predicting) check(cmd *cobra.Command, app string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	switch {
	case !slices.Contains(workload.Apps(), app):
		return bad("APP is %q, want one of %v", app, workload.Apps())
	case len(o.counts) == 0 || slices.ContainsFunc(o.counts, func(p int) bool { return p < 1 || p > 4096 }):
		return bad("--counts is %v, want numbers of 1 … 4096", o.counts)
	case !(o.bandwidth >= 0):
		return bad("--bandwidth is %v, want 0 or more", o.bandwidth)
	case o.hops < 0 || o.hops > 1000:
		return bad("--hops is %d, want 0 … 1000", o.hops)
	case o.measure != "" && o.measure != "gpu" && o.measure != "cpu":
		return bad("--measure is %q, want gpu or cpu", o.measure)
	case o.measure != "" && !workload.Apart(app), o.measure == "gpu" && app == "train":
		return bad("--measure: ranks of %s cannot take turns there; leave --measure out, or compare with hiveblas scale run", app)
	case o.source < 0:
		return bad("--source is %d, want 0 or more", o.source)
	}
	return nil
}

// figures returns the machine of the prediction.
func (o *predicting) figures() (m model.Machine, err error) {
	m = model.H200()
	if o.machine != "" {
		f, err := os.Open(o.machine)
		if err != nil {
			return m, job.Explain(o.machine, err)
		}
		defer f.Close()
		t, err := commtable.Read(f)
		if err != nil {
			return m, job.Explain(o.machine, err)
		}
		m = t.Figures(o.groups...)
		m.Name = o.machine
	}
	if o.bandwidth > 0 {
		m.Memory = o.bandwidth * 1e9
	}
	if m.Memory == 0 {
		return m, cli.Fail(o.machine, "the table has no rate of a device's memory", "give one by --bandwidth, or measure on a GPU", nil)
	}
	return m, nil
}

// virtual returns the volume of a run with p ranks, goroutines with counted collectives. They act
// as ranks on the host, or as like says; nil says nothing.
func virtual(j *job.Job, app string, p, source int, like comm.GroupOption) (v model.Volume, err error) {
	ranks, err := comm.Local(p, comm.KeepCalls())
	if err != nil {
		return v, err
	}
	at, err := comm.NewGroup(ranks, like)
	if err == nil {
		v, _, err = workload.Run(j.Ctx, app, j.Graph.Matrix, at, source)
	}
	if err == nil {
		err = j.Graph.Move(nil)
	}
	return v, job.ExplainGraph(j.Graph, err)
}

// predict prints the predictions for every number of devices.
func predict(j *job.Job, app string, m model.Machine, o predicting) error {
	var g model.Graph
	var volumes []model.Volume
	err := j.Stage("virtual ranks", func() error {
		g = pullForm(j.Graph)
		for _, p := range o.counts {
			var v model.Volume
			var err error
			if o.measure != "" {
				v, err = inTurns(j, app, p, o.source, o.measure == "gpu", turnRounds)
			} else {
				v, err = virtual(j, app, p, o.source, comm.LikeDevices())
			}
			if err != nil {
				return err
			}
			volumes = append(volumes, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	list, best, err := m.Choose(volumes)
	if err != nil {
		return err
	}
	f := forecast{app, m, o.counts, volumes, list, best, nil, -1}
	if p := slices.Max(o.counts); o.hops > 0 && p > 1 {
		h, err := model.HaloOf(g.Ptr, g.Idx, g.Cuts(p, 1), o.hops)
		if err != nil {
			return err
		}
		if f.hops, f.bestHops, err = m.Cost(h, model.HopOptions{EdgeBytes: 24, ValueBytes: 4, StoreEdge: 8, StoreVertex: 16}); err != nil {
			return err
		}
	}
	if j.Run.Json {
		return j.PrintJSON(f.fields())
	}
	return f.print(j)
}

// forecast is the result of scale predict.
type forecast struct {
	app     string
	m       model.Machine
	counts  []int
	volumes []model.Volume
	list    []model.Prediction
	best    int // in list

	hops     []model.HopCost
	bestHops int // in hops, -1 without them
}

// fields returns the forecast as JSON.
func (f *forecast) fields() []job.Field {
	var rows, hopRows []job.Object
	for i, p := range f.list {
		rows = append(rows, job.Object{{Key: "ranks", Label: "", Value: p.Ranks}, {Key: "seconds", Label: "", Value: p.Total}, {Key: "efficiency", Label: "", Value: p.Efficiency},
			{Key: "bytes", Label: "", Value: p.Bytes}, {Key: "collectives", Label: "", Value: len(f.volumes[i].Calls)}, {Key: "imbalance", Label: "", Value: f.volumes[i].Imbalance}})
	}
	for _, h := range f.hops {
		hopRows = append(hopRows, job.Object{{Key: "hops", Label: "", Value: h.Hops}, {Key: "seconds", Label: "", Value: h.Seconds}, {Key: "bytes", Label: "", Value: h.Bytes}})
	}
	fields := []job.Field{{Key: "command", Label: "", Value: "scale predict"}, {Key: "app", Label: "", Value: f.app}, {Key: "machine", Label: "", Value: f.m.Name}, {Key: "best", Label: "", Value: f.list[f.best].Ranks}, {Key: "predictions", Label: "", Value: rows}}
	if f.bestHops >= 0 {
		fields = append(fields, job.Field{Key: "best_hops", Label: "", Value: f.hops[f.bestHops].Hops}, job.Field{Key: "hops", Label: "", Value: hopRows})
	}
	return fields
}

// print writes the forecast as text.
func (f *forecast) print(j *job.Job) error {
	out := bufio.NewWriter(j.Stdout)
	fmt.Fprintf(out, "%s on %s, predicted for %s\n", f.app, j.Graph.File, f.m.Name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "devices\tms\tefficiency\tcompute ms\tcollectives ms\tcollectives\tMB received\timbalance")
	for i, p := range f.list {
		eff := "–"
		if p.Efficiency > 0 {
			eff = fmt.Sprintf("%.2f", p.Efficiency)
		}
		fmt.Fprintf(w, "%d\t%.4g\t%s\t%.4g\t%.4g\t%d\t%.4g\t%.3f\n", p.Ranks, p.Total*1e3, eff, (p.Compute+p.Launches)*1e3, p.Collective*1e3,
			len(f.volumes[i].Calls), float64(p.Bytes)/1e6, f.volumes[i].Imbalance)
	}
	w.Flush()
	fmt.Fprintf(out, "best: %d, %s\n", f.list[f.best].Ranks, whyBest(f.list, f.best))
	if f.bestHops >= 0 {
		fmt.Fprintf(out, "\nreplication over hops on %d devices\n", slices.Max(f.counts))
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "hops\tµs a step\tMB a device")
		for i, h := range f.hops {
			if i == f.bestHops || h.Hops&(h.Hops-1) == 0 {
				fmt.Fprintf(w, "%d\t%.4g\t%.4g\n", h.Hops, h.Seconds*1e6, float64(h.Bytes)/1e6)
			}
		}
		w.Flush()
		fmt.Fprintf(out, "best: %d hops\n", f.hops[f.bestHops].Hops)
	}
	return j.Printed(out.Flush())
}

// whyBest tells why a number of devices is the best.
func whyBest(list []model.Prediction, best int) string {
	b := list[best]
	for _, p := range list {
		if p.Ranks > b.Ranks {
			return fmt.Sprintf("since on %d the collectives take %.4g ms more and the kernels %.4g ms less", p.Ranks,
				(p.Collective-b.Collective)*1e3, (b.Compute+b.Launches-p.Compute-p.Launches)*1e3)
		}
	}
	return "the most that were asked for"
}

// pullForm returns the in-neighbours of each vertex.
func pullForm(g *job.Graph) model.Graph {
	n, _ := g.Dims()
	out := model.Graph{Ptr: make([]int64, n+1), Idx: make([]int32, g.NVals())}
	for at := range g.All() {
		out.Ptr[at.Col+1]++
	}
	for v := range n {
		out.Ptr[v+1] += out.Ptr[v]
	}
	next := slices.Clone(out.Ptr)
	for at := range g.All() {
		out.Idx[next[at.Col]] = int32(at.Row)
		next[at.Col]++
	}
	return out
}
