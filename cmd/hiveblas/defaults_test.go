package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func TestDidYouMean(t *testing.T) {
	for args, want := range map[string]string{
		"bfs g.mtx --sorce 0":      "unknown flag: --sorce, did you mean --source?",
		"cc g.mtx --undirectd":     "did you mean --undirected?",
		"cc g.mtx --dev gpu":       "did you mean --device?",
		"cc g.mtx --zzzzzzzzzz":    "unknown flag: --zzzzzzzzzz; see",
		"bfs g.mtx --resolution 2": "unknown flag: --resolution, which is one of louvain; see",
		"head g.mtx --top 3":       "unknown flag: --top, which is one of ",
		"kcore g.mtx --undirected": "unknown flag: --undirected: kcore takes every edge in both directions; see",
		"bsf g.mtx":                `unknown command "bsf", did you mean bfs`,
	} {
		got := hiveblas(t, strings.Fields(args)...)
		if got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %+v, want %q", args, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	list := write(t, "g.tsv", "0 1\n1 2\n")
	t.Setenv(job.EnvThreads, "3")
	t.Setenv(job.EnvDevice, "cpu")
	if got := report(t, "cc", list, "--json"); got["threads"] != 3.0 || !strings.Contains(got["device"].(string), "cpu") {
		t.Errorf("got %v", got)
	}
	if got := report(t, "cc", list, "--json", "--threads", "2"); got["threads"] != 2.0 {
		t.Errorf("a flag before the environment: %v", got["threads"])
	}
	t.Setenv(job.EnvThreads, "many")
	if got := hiveblas(t, "cc", list); got.code != 2 || !strings.Contains(got.stderr, `HIVEBLAS_THREADS is "many"`) {
		t.Errorf("got %+v", got)
	}
	t.Setenv(job.EnvThreads, "")
	t.Setenv(job.EnvDevice, "tpu")
	if got := hiveblas(t, "cc", list); got.code != 2 || !strings.Contains(got.stderr, `HIVEBLAS_DEVICE is "tpu"`) {
		t.Errorf("got %+v", got)
	}
	if got := hiveblas(t, "cc", list, "--device", "cpu"); got.code != 0 {
		t.Errorf("a flag before the environment: %+v", got)
	}
}

// TestManPages writes a page for each command; no line is a request by accident.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	succeed(t, "man", dir)
	for _, name := range []string{"hiveblas", "hiveblas-bfs", "hiveblas-sage-train"} {
		page := contents(t, filepath.Join(dir, name+".1"))
		if !strings.HasPrefix(page, ".TH ") || !strings.Contains(page, ".SH SYNOPSIS\n") {
			t.Errorf("%s: %.200q", name, page)
		}
		for line := range strings.Lines(page) {
			if f := strings.Fields(line); strings.HasPrefix(line, ".") && !slices.Contains([]string{".TH", ".SH", ".PP", ".TP", ".B", ".BR", ".nf", ".fi"}, f[0]) {
				t.Errorf("%s: a line that begins like a request: %q", name, line)
			}
		}
	}
	if page := contents(t, filepath.Join(dir, "hiveblas-bfs.1")); !strings.Contains(page, `\fB\-\-source\fR \fIV\fR`) {
		t.Errorf("bfs: %s", page)
	}
}

// TestCompletion completes flags and their values.
func TestCompletion(t *testing.T) {
	got := hiveblas(t, "__complete", "cc", "g.tsv", "--format", "graph")
	if !strings.Contains(got.stdout, "graphml\n") || !strings.Contains(got.stdout, "graph500\n") {
		t.Errorf("formats: %+v", got)
	}
	if got := hiveblas(t, "__completeNoDesc", "jit", "warm", "--arch", "sm_9"); !strings.Contains(got.stdout, "sm_90\n") {
		t.Errorf("architectures: %+v", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := succeed(t, "completion", shell); !strings.Contains(got, "hiveblas") {
			t.Errorf("%s: %q", shell, got)
		}
	}
}
