package procs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// Launch is what a launcher tells a process about its place in a job.
type Launch struct {
	By        string // "torchrun", "openmpi", "pmi", "slurm"; "" without a launcher
	Rank      int    // 0 … Size−1
	Size      int    // processes of the job, 1 or more
	LocalRank int    // among the processes of this host, −1 if unknown
	LocalSize int    // processes of this host, 0 if unknown
	// Address is host:port at which rank 0 can listen, "" if the launcher names none.
	Address string
	// Job identifies the job, "" if the launcher does not.
	Job string
}

// ErrLaunch is wrapped by errors of the environment of a launcher.
var ErrLaunch = errors.New("the environment of the launcher cannot be used")

// launcher is the environment of one launcher.
type launcher struct {
	name                             string
	rank, size, localRank, localSize string // names of variables
	job                              []string
	needs                            []string // one of these is set too, if there are any
}

// launchers by preference. Most operators of Kubernetes set the variables of torchrun too.
var launchers = []launcher{
	{name: "torchrun", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK", localSize: "LOCAL_WORLD_SIZE", job: []string{"TORCHELASTIC_RUN_ID"}},
	{name: "openmpi", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE", localRank: "OMPI_COMM_WORLD_LOCAL_RANK", localSize: "OMPI_COMM_WORLD_LOCAL_SIZE", job: []string{"PMIX_NAMESPACE"}},
	{name: "pmi", rank: "PMI_RANK", size: "PMI_SIZE", localRank: "MPI_LOCALRANKID", localSize: "MPI_LOCALNRANKS", job: []string{"PMI_ID", "HYDI_CONTROL_FD"}},
	// In a batch script without srun SLURM sets rank and size too, but no step.
	{name: "slurm", rank: "SLURM_PROCID", size: "SLURM_NTASKS", localRank: "SLURM_LOCALID", localSize: "SLURM_NTASKS_PER_NODE", job: []string{"SLURM_JOB_ID", "SLURM_STEP_ID"}, needs: []string{"SLURM_STEP_ID", "SLURM_STEPID"}},
}

// Detect returns the place of this process in a job from the environment: the variables of
// torchrun, Open MPI, PMI (MPICH, Intel MPI) and SLURM; the first found counts. It returns an error
// if two disagree on rank or size; HIVEBLAS_LAUNCHER names the one to use, or none. Without a
// launcher the result is rank 0 of 1. getenv is os.Getenv if nil.
func Detect(getenv func(string) string) (Launch, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	alone := Launch{Size: 1}
	only := getenv("HIVEBLAS_LAUNCHER")
	if only == "none" {
		return alone, nil
	}
	var found []Launch
	known := []string{"none"}
	for _, l := range launchers {
		known = append(known, l.name)
		if only != "" && only != l.name {
			continue
		}
		v, ok, err := l.read(getenv)
		if err != nil {
			return alone, err
		}
		if ok {
			found = append(found, v)
		}
	}
	switch {
	case len(found) == 0 && only != "":
		for _, name := range known {
			if name == only {
				return alone, fmt.Errorf("%w: HIVEBLAS_LAUNCHER is %s, whose variables are not set", ErrLaunch, only)
			}
		}
		return alone, fmt.Errorf("%w: HIVEBLAS_LAUNCHER is %q, want one of %s", ErrLaunch, only, strings.Join(known, ", "))
	case len(found) == 0:
		return alone, nil
	}
	for _, v := range found[1:] {
		if v.Rank != found[0].Rank || v.Size != found[0].Size {
			return alone, fmt.Errorf("%w: %s says rank %d of %d, %s says rank %d of %d; set HIVEBLAS_LAUNCHER to the one that started this process",
				ErrLaunch, found[0].By, found[0].Rank, found[0].Size, v.By, v.Rank, v.Size)
		}
	}
	return found[0], nil
}

// read returns the place by one launcher, if its variables are set.
func (l *launcher) read(getenv func(string) string) (v Launch, ok bool, err error) {
	if getenv(l.rank) == "" && (getenv(l.size) == "" || l.name != "torchrun") {
		return v, false, nil
	}
	if len(l.needs) > 0 {
		set := false
		for _, name := range l.needs {
			set = set || getenv(name) != ""
		}
		if !set {
			return v, false, nil
		}
	}
	number := func(name string, low, high, missing int) int {
		text := getenv(name)
		if text == "" && missing >= -1 {
			return missing
		}
		n, e := strconv.Atoi(text)
		if e != nil || n < low || n > high {
			err = errors.Join(err, fmt.Errorf("%w: %s is %q, want %d … %d", ErrLaunch, name, text, low, high))
		}
		return n
	}
	const needed = -2
	v.By = l.name
	v.Size = number(l.size, 1, 1<<24, needed)
	v.Rank = number(l.rank, 0, max(v.Size-1, 0), needed)
	v.LocalRank = number(l.localRank, 0, max(v.Size-1, 0), -1)
	if text := getenv(l.localSize); text != "" {
		v.LocalSize, _ = strconv.Atoi(text) // SLURM has forms such as 4(x2)
	}
	var job []string
	for _, name := range l.job {
		if text := getenv(name); text != "" {
			job = append(job, text)
		}
	}
	v.Job = strings.Join(job, ".")
	if host, port := getenv("MASTER_ADDR"), getenv("MASTER_PORT"); host != "" && port != "" {
		// torchrun itself may listen at MASTER_PORT.
		n := number("MASTER_PORT", 1, 65534, needed)
		v.Address = net.JoinHostPort(host, strconv.Itoa(n+1))
	}
	return v, err == nil, err
}

// DeviceOf returns the number of the GPU of a process among n visible ones: its local rank modulo
// n, or 0 if the launcher shows each process a single one.
func (l Launch) DeviceOf(n int) (int, error) {
	switch {
	case n < 1:
		return 0, fmt.Errorf("%w: there is no GPU", ErrLaunch)
	case n == 1:
		return 0, nil
	case l.LocalRank < 0:
		return 0, fmt.Errorf("%w: %s does not tell the rank within the host, and %d GPUs are visible; show each process one by CUDA_VISIBLE_DEVICES",
			ErrLaunch, l.By, n)
	case l.LocalSize > n:
		return 0, fmt.Errorf("%w: %d processes on this host and %d GPUs; start one process for each GPU", ErrLaunch, l.LocalSize, n)
	}
	return l.LocalRank % n, nil
}

// String describes the place, such as "rank 1 of 4 by openmpi".
func (l Launch) String() string {
	if l.By == "" {
		return "no launcher: one process"
	}
	s := fmt.Sprintf("rank %d of %d by %s", l.Rank, l.Size, l.By)
	if l.LocalRank >= 0 {
		s += fmt.Sprintf(", local rank %d", l.LocalRank)
	}
	if l.Address != "" {
		s += ", rendezvous at " + l.Address
	}
	return s
}
