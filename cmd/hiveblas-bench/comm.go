package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench/collectives"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func commCommand(s *cli.Session) *cobra.Command {
	var o collectives.Options
	var file, picture string
	var table, host, largest cli.ByteSize
	var quiet bool
	cmd := &cobra.Command{
		Use:   "comm",
		Short: "Measure memories, links and collectives",
		Long: `comm prints the communication table: the rate of regular and random accesses by the
first GPU to its own memory, to that of each other GPU, to all at once and to the host;
the latency of dependent accesses; copies; and for every collective of every kind of
group the time α + B/N of B bytes. Without a GPU it measures the groups of this machine's
processors alone: goroutines, and processes of Open MPI if mpirun is installed.`,
		Example: `  hiveblas-bench comm
  hiveblas-bench comm --only local,mpi --json comm.json --plot comm.png`,
		Args: cli.Positional(),
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
		if err := cli.WantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		if o.Target <= 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--target is %v, want more than 0", o.Target))
		}
		if err := wantParts(cmd, "--only", o.Only, "part", collectives.Parts()); err != nil {
			return err
		}
		o.Table, o.Host, o.Largest = uint64(table), uint64(host), int(largest)
		o.MPI = cli.MPICommand("rank", "--rounds", fmt.Sprint(o.Rounds))
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // an interrupted run prints its measurements
		defer s.Cleaning.Store(false)
		t, err := collectives.Run(s.Ctx, o)
		if t == nil {
			return err
		}
		if err == nil {
			keepFigures(s.Ctx, t)
		}
		if picture != "" {
			p, e := collectives.Plot(t)
			if e == nil {
				e = atomicfile.WriteFile(context.WithoutCancel(s.Ctx), picture, p.WritePNG)
			}
			if e != nil {
				err = errors.Join(err, cli.ExplainPath(picture, e))
			}
		}
		return writeTable(s, t, file, err)
	}
	return cmd
}

// rankCommand is one rank of comm, or of a launcher that a user starts it with.
func rankCommand(s *cli.Session) *cobra.Command {
	rounds, gpu := 5, false
	var largest cli.ByteSize = 16 << 20
	cmd := &cobra.Command{
		Use:    "rank",
		Short:  "Measure collectives as one process of a launcher",
		Hidden: true,
		Args:   cli.Positional(),
	}
	cmd.Flags().IntVar(&rounds, "rounds", rounds, "measure `N` rounds")
	cmd.Flags().BoolVar(&gpu, "gpu", false, "one GPU for each process, and NCCL")
	cmd.Flags().Var(&largest, "largest", "`SIZE` of the largest collective")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.WantRounds(cmd, rounds); err != nil {
			return err
		}
		var device comm.Device
		options := []procs.JoinOption{procs.With(comm.Timeout(time.Minute))}
		name := "mpi"
		if gpu {
			found, err := driver.Open()
			if err != nil {
				return err
			}
			d, err := cli.LaunchedDevice(found)
			if err != nil {
				return err
			}
			defer d.Close()
			if device, err = d.Comm(); err != nil {
				return err
			}
			options, name = append(options, procs.OnGPU(device)), "nccl, processes"
		}
		c, err := procs.Join(s.Ctx, options...)
		if err != nil {
			return err
		}
		fits, err := collectives.Rank(s.Ctx, name, c, device, int(largest), rounds)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := json.NewEncoder(s.Stdout).Encode(fits); err != nil {
				return err
			}
		}
		return c.Close()
	}
	return cmd
}

// keepFigures keeps a table of several GPUs for --device auto of hiveblas. A cache that cannot be
// written is no error.
func keepFigures(ctx context.Context, t *commtable.Table) {
	several := slices.ContainsFunc(t.Fits, func(f commtable.Collective) bool { return f.Group == "peers" && f.Ranks > 1 })
	if dir := jit.Dir(""); several && dir != "" && os.MkdirAll(dir, 0o755) == nil {
		_ = atomicfile.WriteFile(context.WithoutCancel(ctx), filepath.Join(dir, commtable.KeptFile), t.WriteJSON)
	}
}
