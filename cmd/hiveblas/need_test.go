package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/crash"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestReadingFits: a file or a generated graph that takes more memory than there is, is an error
// before it is read.
func TestReadingFits(t *testing.T) {
	text := strings.Repeat("1\t2\n", 1000)
	list := write(t, "list.tsv", text)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	small := write(t, "list.tsv.gz", packed.String())
	if packed.Len() >= 100 {
		t.Fatalf("the compressed list has %d bytes", packed.Len())
	}
	binary := filepath.Join(t.TempDir(), "list.hgb")
	succeed(t, "generate", "uniform", "--vertices", "10", "--edges", "60", "-o", binary)
	const fits = ""
	for _, c := range []struct{ reason, file, memory, want string }{
		{"text", list, "7999", "list.tsv: reading 4000 bytes of text needs about 8000 bytes of memory, and 7999 bytes are there by --memory; --memory SIZE says that there is more\n"},
		{"text that fits", list, "8000", fits},
		{"text of ranks", list + " --device ranks:2", "7999", "reading 4000 bytes of text needs about 8000 bytes"},
		{"compressed", small, "100", "of compressed text needs about"},
		{"compressed, and fits", small, "600", fits},
		{"binary", binary, "100", "of binary data needs about"},
		{"generated", "generate:uniform,vertices=10,edges=1000", "19999",
			"a graph of 1000 edges needs about 20000 bytes of memory, and 19999 bytes are there by --memory"},
		{"generated, both directions", "generate:uniform,vertices=10,edges=1000,undirected", "29999", "needs about 30000 bytes"},
		{"generated, and fits", "generate:uniform,vertices=10,edges=1000", "20000", fits},
	} {
		args := append([]string{"bfs", "--source", "1", "--duplicates", "first"}, strings.Fields(c.file)...)
		if strings.HasPrefix(c.file, job.DrawnPrefix) {
			args = append([]string{"bfs", "--source", "1"}, c.file)
		}
		res := hiveblas(t, append(args, "--memory", c.memory)...)
		if (res.code == 0) != (c.want == fits) || !strings.Contains(res.stderr, c.want) || strings.Count(res.stderr, "\n") > 1 {
			t.Errorf("%s: exit %d, %q, want %q", c.reason, res.code, res.stderr, c.want)
		}
	}
	j := job.New(&job.Session{Machine: testMachine}, &cobra.Command{Use: "info"}) // has no --memory
	j.Memory = 1
	if err := j.Enough("a.tsv", "reading it", 1000); err != nil {
		t.Errorf("a command without --memory: %v", err)
	}
}

// TestFitsWhereItComputes: the estimate counts what is on the host of this process.
func TestFitsWhereItComputes(t *testing.T) {
	const n = 1 << 20
	ranks := sure.Get(comm.Local(4))
	one := sure.Get(comm.NewGroup(ranks[:1]))
	all := sure.Get(comm.LocalGroup(2))
	for _, c := range []struct {
		reason string
		device *cusparse.Device
		group  *comm.Group
		want   int64
	}{
		{"the host", nil, nil, 64 * n},
		{"a GPU", new(cusparse.Device), nil, job.ResultVertex * n},
		{"two ranks of this process", nil, all, 64 * n},
		{"one rank of four", nil, one, 64 * n / 4},
	} {
		j := job.New(&job.Session{Machine: testMachine}, &cobra.Command{Use: "cc"})
		j.Graph, j.Device, j.Group = &job.Graph{Matrix: matrix.New[float64](n, n), File: "a.tsv"}, c.device, c.group
		if got := j.Needed(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.reason, got, c.want)
		}
		if err := j.FitsInto(c.want-1, "this machine"); err == nil {
			t.Errorf("%s: one byte less than it needs is no error", c.reason)
		}
	}
	few := write(t, "few.tsv", "0\t400000000\n17\t5\n")
	res := hiveblas(t, "cc", few, "--device", "ranks:2", "--memory", "1GB")
	if want := "few.tsv: cc of 400000001 vertices and 2 entries needs about 25.6 GB of memory, and 1.0 GB are there by --memory"; res.code != 1 || !strings.Contains(res.stderr, want) {
		t.Errorf("ranks: exit %d, %q, want %q", res.code, res.stderr, want)
	}
}

// TestWatchOfLargeWork: the end of a process is watched if its estimate is large.
func TestWatchOfLargeWork(t *testing.T) {
	// os.Stderr itself is not redirected, so that no process starts.
	for needed, want := range map[int64]bool{crash.WatchFrom: false, crash.WatchFrom + 1: true} {
		j := job.New(&job.Session{Session: cli.Session{Stderr: os.Stderr}}, &cobra.Command{Use: "info"})
		if err := j.Enough("a.tsv", "reading it", needed); err != nil || j.Watch.Started.Load() != want {
			t.Errorf("%d bytes: %v, watched %v, want %v", needed, err, !want, want)
		}
	}
}
