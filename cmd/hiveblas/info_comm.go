package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm/nccl"
	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// commFields are the figures of info about groups: the launcher, MPI, NCCL, which GPUs reach each
// other, and shared memory.
func commFields(m *job.Machine, getenv func(string) string, environ []string) []job.Field {
	var out []job.Field
	if l, err := procs.Detect(getenv); err != nil {
		out = append(out, job.Field{Key: "launch_error", Label: "launcher", Value: err.Error()})
	} else {
		out = append(out, job.Field{Key: "launcher", Label: "launcher", Value: l.String()}, job.Field{Key: "rank", Label: "", Value: l.Rank}, job.Field{Key: "ranks", Label: "", Value: l.Size})
	}
	library := func(key, label string, path, version string, err error) {
		if err != nil {
			out = append(out, job.Field{Key: key + "_error", Label: label, Value: err.Error()})
			return
		}
		out = append(out, job.Field{Key: key, Label: "", Value: version}, job.Field{Key: key + "_library", Label: "", Value: path}, job.Field{Key: "", Label: label, Value: version + ", " + path})
	}
	path, version, err := procs.MPIVersion()
	library("mpi", "MPI", path, version, err)
	path, version, err = nccl.Version()
	library("nccl", "NCCL", path, version, err)
	out = append(out, peerFields(m)...)
	if bytes, ok := sharedMemory(); ok {
		text := fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
		if bytes < 1<<30 {
			text += "; NCCL wants 1 GiB (docker run --shm-size=1g --ulimit memlock=-1)"
		}
		out = append(out, job.Field{Key: "shared_memory", Label: "", Value: bytes}, job.Field{Key: "", Label: "/dev/shm", Value: text})
	}
	var set []string
	for _, pair := range environ {
		if strings.HasPrefix(pair, "NCCL_") {
			set = append(set, pair)
		}
	}
	if len(set) > 0 {
		slices.Sort(set)
		out = append(out, job.Field{Key: "nccl_variables", Label: "", Value: set}, job.Field{Key: "", Label: "NCCL_*", Value: strings.Join(set, " ") + " (they change what NCCL does)"})
	}
	return out
}

// peerFields are the pairs of GPUs, if there are several.
func peerFields(m *job.Machine) []job.Field {
	d, err := m.OpenDriver()
	if err != nil {
		return nil
	}
	matrix, ok := d.(driver.PeerMatrix)
	n, err := d.Devices()
	if !ok || err != nil || n < 2 {
		return nil
	}
	reaches := make([][]bool, n)
	var lacks []string
	for i := range reaches {
		reaches[i] = make([]bool, n)
		for j := range n {
			if i == j {
				reaches[i][j] = true
				continue
			}
			can, err := matrix.CanAccess(i, j)
			if err != nil {
				return []job.Field{{Key: "peers_error", Label: "peers", Value: err.Error()}}
			}
			reaches[i][j] = can
			if !can {
				lacks = append(lacks, fmt.Sprintf("%d→%d", i, j))
			}
		}
	}
	text := "every GPU reads the memory of every other one"
	if len(lacks) > 0 {
		text = "no access " + strings.Join(lacks, ", ") + "; such copies go through the host"
	}
	return []job.Field{{Key: "peers", Label: "", Value: reaches}, {Key: "", Label: "peers", Value: text}}
}

// machineComm is commFields of this process.
func machineComm(m *job.Machine) []job.Field { return commFields(m, os.Getenv, os.Environ()) }
