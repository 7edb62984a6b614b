package main

import (
	"bufio"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/workload"
)

func scaleRunCommand(s *job.Session) *cobra.Command {
	o := predicting{counts: []int{1, 2, 4}}
	gpus, rounds := false, 3
	cmd := &cobra.Command{
		Use:   "run APP GRAPH",
		Short: "Run a workflow on groups and compare with the prediction",
		Long: `run runs APP, one of those of hiveblas scale predict, on groups of several sizes: ranks on the host, or with --gpus the first GPUs of this machine. It prints the
bytes and the time that scale predict predicts beside those measured. The bytes must be
equal; if they are not, run fails. The time is the least of the rounds.
The time on several is predicted from that on one and from what this machine waits
in a step, which run measures on paths of few vertices, and from the rates at
which data travel: those of --machine, or the published ones of H200s. A workflow
that is a pipeline of operations, or divided by ranges of its work, is predicted by a
run whose ranks take turns on the first GPU, or on the host: the time of each part is
that of its slowest rank.`,
		Example: `  hiveblas scale run pagerank web.mtx --counts 1,2,4
  hiveblas scale run bfs road.mtx --gpus --counts 1,2 --machine comm.json`,
		Args: cli.Positional("APP", "GRAPH"),
	}
	j := job.New(s, cmd).Reads()
	fs := cmd.Flags()
	fs.IntSliceVar(&o.counts, "counts", o.counts, "numbers of ranks `P,…`")
	fs.StringVar(&o.machine, "machine", "", "figures of `FILE`, the JSON of hiveblas-bench comm")
	fs.StringSliceVar(&o.groups, "groups", nil, "take collectives of these `GROUPS` of the file: peers, nccl, mpi, local")
	fs.Float64Var(&o.bandwidth, "bandwidth", 0, "rate of a device's memory in `GB/s` (0: that of the figures)")
	fs.IntVar(&o.source, "source", 0, "first vertex `V` of bfs, sssp, vn and nominate")
	fs.IntVar(&rounds, "rounds", rounds, "run `N` times")
	fs.BoolVar(&gpus, "gpus", false, "run on GPUs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd, args[0]); err != nil {
			return err
		}
		if err := cli.WantRounds(cmd, rounds); err != nil {
			return err
		}
		if gpus && (args[0] == "train" || args[0] == "louvain") {
			return cli.Usage(cmd.CommandPath(), "--gpus: the prediction is for ranks of the host, and GPUs divide the work of "+args[0]+" in another way; leave --gpus out")
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
		return scaleRun(j, args[0], m, o, gpus, rounds)
	}
	return cmd
}

// measuredGroup makes the group of p ranks that scale run measures.
func measuredGroup(m *job.Machine, p int, gpus bool) (*comm.Group, func(), error) {
	if !gpus {
		g, err := comm.LocalGroup(p, comm.KeepCalls())
		return g, func() {}, err
	}
	var list []comm.Device
	var places []comm.Place
	var opened []*cusparse.Device
	end := func() {
		for _, d := range opened {
			_ = d.Close()
		}
	}
	for i := range p {
		d, err := m.OpenDevice(i)
		if err != nil {
			end()
			return nil, nil, err
		}
		opened = append(opened, d)
		c, err := d.Comm()
		if err != nil {
			end()
			return nil, nil, err
		}
		list, places = append(list, c), append(places, d)
	}
	ranks, err := comm.Peers(list, comm.KeepCalls())
	if err != nil {
		end()
		return nil, nil, err
	}
	g, err := comm.NewGroup(ranks, comm.At(places...))
	return g, end, err
}

// scaleMeasured is what scale run measures on a group.
type scaleMeasured struct {
	bytes int64
	least time.Duration
	steps int
	waits map[string]model.Wait
}

// scaleOn measures a workflow on a group of p ranks.
func scaleOn(j *job.Job, app string, p int, o predicting, gpus bool, rounds int) (out scaleMeasured, err error) {
	g, end, err := measuredGroup(j.Machine, p, gpus)
	if err != nil {
		return out, job.ExplainGraph(j.Graph, err)
	}
	defer end()
	for k := range rounds {
		real, took, err := workload.Run(j.Ctx, app, j.Graph.Matrix, g, o.source)
		if err != nil {
			return out, job.ExplainGraph(j.Graph, err)
		}
		if k == 0 { // later runs keep what the first one gathered of the graph
			out.bytes, out.steps = real.In(), real.Steps
		}
		if k == 0 || took < out.least {
			out.least = took
		}
	}
	if err := j.Graph.Move(nil); err != nil {
		return out, err
	}
	// Afterwards: the first matrix with so many rows decides how a group cuts them.
	out.waits, err = workload.Waits(j.Ctx, g)
	return out, job.ExplainGraph(j.Graph, err)
}

// turnRounds is how often scale predict runs what it measures.
const turnRounds = 5

// inTurns returns the volume of a workflow with p ranks that run one after another, all on the host
// or all on the first GPU, with the least time of the rounds.
func inTurns(j *job.Job, app string, p, source int, gpu bool, rounds int) (v model.Volume, err error) {
	at := make([]comm.Place, p) // the host
	var ranks []comm.Comm
	if !gpu {
		ranks, err = comm.Local(p, comm.KeepCalls())
	} else {
		d, e := j.Machine.OpenDevice(0)
		if e != nil {
			return v, e
		}
		defer d.Close()
		c, e := d.Comm()
		if e != nil {
			return v, e
		}
		at = slices.Repeat([]comm.Place{d}, p)
		ranks, err = comm.Peers(slices.Repeat([]comm.Device{c}, p), comm.KeepCalls())
	}
	if err != nil {
		return v, err
	}
	g, err := comm.NewGroup(ranks, comm.TakeTurns(), comm.At(at...))
	if err != nil {
		return v, err
	}
	for k := range rounds {
		one, _, err := workload.Run(j.Ctx, app, j.Graph.Matrix, g, source)
		if err != nil {
			return v, job.ExplainGraph(j.Graph, err)
		}
		if k == 0 { // later runs keep what the first one gathered of the graph
			v = one
		}
		v.Turns = min(v.Turns, one.Turns)
	}
	return v, job.ExplainGraph(j.Graph, j.Graph.Move(nil))
}

// scaleRun prints predictions beside measurements. Volumes that differ are an error.
func scaleRun(j *job.Job, app string, m model.Machine, o predicting, gpus bool, rounds int) error {
	var volumes []model.Volume
	var bytes []int64
	var best []time.Duration
	m.Waits = map[string]map[int]model.Wait{}
	err := j.Stage("runs", func() error {
		one, err := scaleOn(j, app, 1, o, gpus, rounds)
		if err != nil {
			return err
		}
		for _, p := range o.counts {
			var v model.Volume
			if workload.Apart(app) {
				v, err = inTurns(j, app, p, o.source, gpus, rounds)
			} else {
				var like comm.GroupOption
				if gpus {
					like = comm.LikeDevices()
				}
				v, err = virtual(j, app, p, o.source, like)
			}
			if err != nil {
				return err
			}
			real := one
			if p > 1 {
				if real, err = scaleOn(j, app, p, o, gpus, rounds); err != nil {
					return err
				}
			}
			for division, w := range real.waits {
				if m.Waits[division] == nil {
					m.Waits[division] = map[int]model.Wait{1: one.waits[division]}
				}
				m.Waits[division][p] = w
			}
			v.One, v.OneSteps = one.least.Seconds(), one.steps
			volumes, bytes, best = append(volumes, v), append(bytes, real.bytes), append(best, real.least)
		}
		return nil
	})
	if err != nil {
		return err
	}
	list, _, err := m.Choose(volumes)
	if err != nil {
		return err
	}
	unequal := -1
	for i, v := range volumes {
		if v.In() != bytes[i] {
			unequal = i
		}
	}
	if j.Run.Json {
		var rows []job.Object
		for i, p := range list {
			rows = append(rows, job.Object{{Key: "ranks", Label: "", Value: p.Ranks}, {Key: "predicted_bytes", Label: "", Value: p.Bytes}, {Key: "measured_bytes", Label: "", Value: bytes[i]},
				{Key: "predicted_seconds", Label: "", Value: p.Total}, {Key: "measured_seconds", Label: "", Value: best[i].Seconds()}, {Key: "collectives", Label: "", Value: len(volumes[i].Calls)}})
		}
		err = j.PrintJSON([]job.Field{{Key: "command", Label: "", Value: "scale run"}, {Key: "app", Label: "", Value: app}, {Key: "machine", Label: "", Value: m.Name}, {Key: "runs", Label: "", Value: rows}})
	} else {
		out := bufio.NewWriter(j.Stdout)
		fmt.Fprintf(out, "%s on %s, predicted for %s\n", app, j.Graph.File, m.Name)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ranks\tMB predicted\tMB measured\tms predicted\tms measured\tspeed-up\tcollectives")
		for i, p := range list {
			fmt.Fprintf(w, "%d\t%.6g\t%.6g\t%.4g\t%.4g\t%.2f\t%d\n", p.Ranks, float64(p.Bytes)/1e6, float64(bytes[i])/1e6, p.Total*1e3,
				best[i].Seconds()*1e3, best[0].Seconds()/best[i].Seconds(), len(volumes[i].Calls))
		}
		w.Flush()
		err = j.Printed(out.Flush())
	}
	if err == nil && unequal >= 0 {
		err = cli.Fail(j.Graph.File, fmt.Sprintf("%d ranks moved %d bytes, and the prediction is %d", volumes[unequal].Ranks, bytes[unequal], volumes[unequal].In()), "this is a bug of hiveblas: please report it", nil)
	}
	return err
}
