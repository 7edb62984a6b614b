package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

func scaleCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure and predict groups of devices and processes",
		Long: `scale measures what connects the devices and processes of this machine, and predicts
the time of workflows on groups of them.`,
		Example: `  hiveblas scale bench --json scale.json
  hiveblas scale predict pagerank graph.mtx --counts 1,2,4,8`,
		Args: positional(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(scaleBenchCommand(s), scalePredictCommand(s), scaleRunCommand(s), scaleRankCommand(s))
	return cmd
}

func scaleBenchCommand(s *session) *cobra.Command {
	var o bench.CommOptions
	var file, picture string
	var table, host, largest byteSize
	var quiet bool
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure memories, links and collectives",
		Long: `bench prints the communication table: the rate of regular and random accesses by the
first GPU to its own memory, to that of each other GPU, to all at once and to the host;
the latency of dependent accesses; copies; and for every collective of every kind of
group the time α + B/N of B bytes. Without a GPU it measures the groups of this machine's
processors alone: goroutines, and processes of Open MPI if mpirun is installed.`,
		Example: `  hiveblas scale bench
  hiveblas scale bench --only local,mpi --json comm.json --plot comm.png`,
		Args: positional(),
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&o.Only, "only", nil, "only these `PARTS`: memory, latency, copies, local, mpi, peers, nccl")
	fs.IntVar(&o.Rounds, "rounds", 5, "measure `N` rounds")
	fs.DurationVar(&o.Target, "target", 10*time.Millisecond, "time of one measurement of random accesses")
	fs.Var(&table, "table", "`SIZE` of the table on a device (default 8GiB, at most a quarter of the memory)")
	fs.Var(&host, "host-table", "`SIZE` of the table on the host (default 1GiB)")
	fs.Var(&largest, "largest", "`SIZE` of the largest collective on GPUs (default 1GiB)")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.StringVar(&picture, "plot", "", "draw the times of the collectives into `FILE`, a .png")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := wantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		if o.Target <= 0 {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--target is %v, want more than 0", o.Target)}
		}
		if err := wantParts(cmd, "--only", o.Only, "part", bench.CommParts()); err != nil {
			return err
		}
		o.Table, o.Host, o.Largest = uint64(table), uint64(host), int(largest)
		o.MPI = mpiCommand("scale", "rank", "--rounds", fmt.Sprint(o.Rounds))
		o.Log = s.log(quiet)
		s.cleaning.Store(true) // an interrupted run prints its measurements
		defer s.cleaning.Store(false)
		t, err := bench.Comm(s.ctx, o)
		if t == nil {
			return err
		}
		if err == nil {
			keepFigures(s.ctx, t)
		}
		if picture != "" {
			p, e := t.Plot()
			if e == nil {
				e = atomicfile.WriteFile(context.WithoutCancel(s.ctx), picture, p.WritePNG)
			}
			if e != nil {
				err = errors.Join(err, explain(picture, e))
			}
		}
		return s.writeTable(t, file, err)
	}
	return cmd
}

// mpiCommand is this program as four ranks of Open MPI, nil without mpirun.
func mpiCommand(args ...string) []string {
	run, err := exec.LookPath("mpirun")
	self, err2 := os.Executable()
	if err != nil || err2 != nil {
		return nil
	}
	list := []string{run, "--oversubscribe", "-np", "4", self}
	if os.Geteuid() == 0 {
		list = []string{run, "--oversubscribe", "--allow-run-as-root", "-np", "4", self}
	}
	return append(list, args...)
}

// scaleRankCommand is one rank of scale bench, or of a launcher that a user starts it with.
func scaleRankCommand(s *session) *cobra.Command {
	rounds, gpu := 5, false
	var largest byteSize = 16 << 20
	cmd := &cobra.Command{
		Use:    "rank",
		Short:  "Measure collectives as one process of a launcher",
		Hidden: true,
		Args:   positional(),
	}
	cmd.Flags().IntVar(&rounds, "rounds", rounds, "measure `N` rounds")
	cmd.Flags().BoolVar(&gpu, "gpu", false, "one GPU for each process, and NCCL")
	cmd.Flags().Var(&largest, "largest", "`SIZE` of the largest collective")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := wantRounds(cmd, rounds); err != nil {
			return err
		}
		var device comm.Device
		options := []comm.JoinOption{comm.With(comm.Timeout(time.Minute))}
		name := "mpi"
		if gpu {
			d, err := launchedDevice()
			if err != nil {
				return err
			}
			defer d.Close()
			if device, err = d.Comm(); err != nil {
				return err
			}
			options, name = append(options, comm.OnGPU(device)), "nccl, processes"
		}
		c, err := comm.Join(s.ctx, options...)
		if err != nil {
			return err
		}
		fits, err := bench.CommRank(s.ctx, name, c, device, int(largest), rounds)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := writeFits(s.stdout, fits); err != nil {
				return err
			}
		}
		return c.Close()
	}
	return cmd
}

// launchedDevice opens the GPU that belongs to this process by its launcher.
func launchedDevice() (*cusparse.Device, error) {
	l, err := comm.Detect(nil)
	if err != nil {
		return nil, err
	}
	d, err := openDriver()
	if err != nil {
		return nil, err
	}
	n, err := d.Devices()
	if err != nil {
		return nil, err
	}
	i, err := l.DeviceOf(n)
	if err != nil {
		return nil, err
	}
	return cusparse.Open(i)
}

func writeFits(w io.Writer, fits []bench.CommFit) error { return json.NewEncoder(w).Encode(fits) }
