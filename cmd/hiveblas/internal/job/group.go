package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// isGroup reports whether --device names a group.
func isGroup(device string) bool {
	if device == "gpus" {
		return true
	}
	_, _, err := groupOf(device)
	return err == nil
}

// groupOf returns the number of ranks of ranks:P, or the GPUs of gpu:N,M.
func groupOf(device string) (ranks int, gpus []int, err error) {
	kind, list, _ := strings.Cut(device, ":")
	bad := fmt.Errorf("%q is no group", device)
	switch kind {
	case "ranks":
		ranks, err = strconv.Atoi(list)
		if err != nil || ranks < 1 || ranks > 1024 {
			return 0, nil, bad
		}
		return ranks, nil, nil
	case "gpu":
		for _, n := range strings.Split(list, ",") {
			i, err := strconv.Atoi(n)
			if err != nil || i < 0 {
				return 0, nil, bad
			}
			gpus = append(gpus, i)
		}
		if len(gpus) > 1 {
			return 0, gpus, nil
		}
	}
	return 0, nil, bad
}

// commOptions returns the options of a group by --comm-timeout and --comm-check.
func (j *Job) commOptions() []comm.Option {
	opts := []comm.Option{comm.Timeout(time.Duration(j.Run.commTimeout))}
	if j.Run.commCheck {
		opts = append(opts, comm.Check())
	}
	return opts
}

// anyRank reports whether a fact holds on one of the ranks. Without a group it returns own.
func (d *Devices) anyRank(own bool) (bool, error) {
	if d.Group == nil {
		return own, nil
	}
	facts := make([]int64, len(d.Group.Ranks()))
	err := d.Group.Each(func(k int, c comm.Comm) error {
		if own {
			facts[k] = 1
		}
		return c.Reduce(nil, comm.Host(facts[k:k+1]), comm.Host(facts[k:k+1]), comm.Max, false)
	})
	return facts[0] != 0, err
}

// joinGroup makes the group of --device, or of the launcher that started this process as one rank
// of many. It reports whether there is one. Only rank 0 prints and writes.
func (j *Job) joinGroup() (bool, error) {
	l, err := procs.Detect(nil)
	if err != nil {
		return false, err
	}
	device := j.Run.Device
	fail := func(err error) (bool, error) {
		return false, cli.Fail("--device "+device, err.Error(), "--device cpu computes without a group, without a launcher", err)
	}
	if l.Size > 1 {
		if err := j.joinRanks(l, device); err != nil {
			return fail(err)
		}
		return true, nil
	}
	if !isGroup(device) {
		return false, nil
	}
	j.Why = "asked for"
	if j.Group, err = j.localGroup(device); err != nil {
		return fail(err)
	}
	return true, nil
}

// joinRanks joins the processes that a launcher started, with a GPU each if device asks for GPUs.
func (j *Job) joinRanks(l procs.Launch, device string) error {
	opts := []procs.JoinOption{}
	var places []comm.Place
	if device != "auto" && device != "cpu" {
		found, err := j.Machine.OpenDriver()
		if err != nil {
			return err
		}
		d, err := cli.LaunchedDevice(found)
		if err != nil {
			return err
		}
		c, err := d.Comm()
		if err != nil {
			return err
		}
		opts, places = append(opts, procs.OnGPU(c)), append(places, d)
	}
	c, err := procs.Join(j.Ctx, append(opts, procs.With(j.commOptions()...))...)
	if err != nil {
		return err
	}
	gopts := []comm.GroupOption{}
	if places != nil {
		gopts = append(gopts, comm.At(places...))
	}
	if j.Group, err = comm.NewGroup([]comm.Comm{c}, gopts...); err != nil {
		return err
	}
	j.Machine.Joined(l.Rank)
	j.Why = fmt.Sprintf("rank %d of %d, by %s", l.Rank, l.Size, l.By)
	if l.Rank != 0 {
		j.Stdout, j.Out.Path, j.Run.Quiet = io.Discard, "", true
	}
	end := func(err error) {
		switch {
		case err == nil:
		case j.Ctx.Err() != nil && errors.Is(err, j.Ctx.Err()): // the other ranks hear why it ended
			c.Abort(context.Cause(j.Ctx))
		default:
			c.Abort(err)
		}
		_ = c.Close()
	}
	j.Ended.Store(&end)
	return nil
}

// localGroup makes a group of goroutines, or of the GPUs that device names.
func (j *Job) localGroup(device string) (*comm.Group, error) {
	ranks, gpus, err := groupOf(device)
	if err == nil && gpus == nil {
		return comm.LocalGroup(ranks, j.commOptions()...)
	}
	if device == "gpus" {
		d, err := j.Machine.OpenDriver()
		if err != nil {
			return nil, err
		}
		n, err := d.Devices()
		if err != nil {
			return nil, err
		}
		for i := range n {
			gpus = append(gpus, i)
		}
	}
	var devices []*cusparse.Device
	for k, i := range gpus {
		for _, before := range gpus[:k] {
			if before == i {
				return nil, fmt.Errorf("the GPU %d is listed twice", i)
			}
		}
		d, err := j.openDevice(i)
		if err != nil {
			return nil, err
		}
		devices = append(devices, d)
	}
	return j.Machine.GroupGPUs(devices, j.commOptions()...)
}
