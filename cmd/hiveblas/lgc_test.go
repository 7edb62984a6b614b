package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestLGC(t *testing.T) {
	out := filepath.Join(t.TempDir(), "p.tsv")
	first := report(t, "lgc", karate, "--seeds", "0", "--rho", "5e-3", "--sweep", "-o", out)
	if first["cluster_size"] != 15.0 || first["cut"] != 10.0 || first["support"] != 18.0 || first["seeds"] != 1.0 || !(first["kkt"].(float64) <= 1e-3) {
		t.Error(first)
	}
	if n := strings.Count(contents(t, out), "\n"); n != 18 {
		t.Errorf("%d entries of p", n)
	}
	for _, method := range []string{"ista", "fista"} {
		got := report(t, "lgc", karate, "--seeds", "0", "--rho", "5e-3", "--method", method)
		if x, y := got["objective"].(float64), first["objective"].(float64); math.Abs(x-y) > 1e-8 {
			t.Errorf("%s: objective %v, by push %v", method, x, y)
		}
		if _, ok := got["conductance"]; ok || !strings.HasPrefix(got["method"].(string), method) {
			t.Errorf("%s: %v", method, got)
		}
	}
	if got := succeed(t, "lgc", karate, "--seeds", "0,33", "--rho", "1e-2", "--sweep", "--top", "1"); !strings.Contains(got, "conductance") || !strings.Contains(got, "cluster") {
		t.Error(got)
	}
	if got := report(t, "lgc", karate, "--seeds", "0", "--rho", "0.99", "--sweep"); got["support"] != 0.0 || got["cluster_size"] != 0.0 {
		t.Error(got)
	}
}

// Of a binary file the rows around the seeds are read: with equal results, and without the checks
// of other rows.
func TestLGCOfRows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "karate.hgb")
	succeed(t, "convert", karate, file)
	args := []string{"lgc", file, "--seeds", "0", "--rho", "1e-2", "--sweep"}
	part, all := report(t, args...), report(t, append(args, "--whole")...)
	for _, key := range []string{"support", "objective", "conductance", "cluster_size", "volume", "cut", "iterations", "input"} {
		if fmt.Sprint(part[key]) != fmt.Sprint(all[key]) {
			t.Errorf("%s is %v, of the whole file %v", key, part[key], all[key])
		}
	}
	if part["device_reason"] != "the rows of a mapped file" || all["device_reason"] == part["device_reason"] {
		t.Errorf("%v, %v", part["device_reason"], all["device_reason"])
	}
	loops := write(t, "loops.tsv", "0\t1\n1\t0\n1\t1\n")
	looped := filepath.Join(t.TempDir(), "loops.hgb")
	succeed(t, "convert", loops, looped)
	if r := hiveblas(t, "lgc", looped, "--seeds", "1"); r.code != 1 || !strings.Contains(r.stderr, "the row of vertex 1 is one with a self-loop") || !strings.Contains(r.stderr, "--whole") {
		t.Errorf("a self-loop: %+v", r)
	}
	succeed(t, "lgc", looped, "--seeds", "1", "--whole")
	if r := hiveblas(t, "lgc", file, "--seeds", "99"); r.code != 1 {
		t.Errorf("a seed that is no vertex: %+v", r)
	}
}

func TestLGCOnDevice(t *testing.T) {
	emulated(t)
	got := object1(t, runInProcess(t, "lgc", karate, "--seeds", "0", "--rho", "5e-3", "--sweep", "--json", "--device", "gpu"))
	if got["cluster_size"] != 15.0 || got["support"] != 18.0 || !strings.HasPrefix(got["device"].(string), "gpu:0") {
		t.Error(got)
	}
}

func TestLGCFailures(t *testing.T) {
	roads := write(t, "roads.mtx", roads)
	lonely := write(t, "lonely.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n")
	for _, c := range []struct {
		reason, args string
		code         int
		want         string
	}{
		{"no seed", "lgc " + karate, 2, "--seeds is missing"},
		{"a seed that is none", "lgc --seeds x,y " + karate, 2, `--seeds: "x" is not a vertex`},
		{"a seed outside", "lgc --seeds 34 " + karate, 1, "34"},
		{"alpha 1", "lgc --seeds 0 --alpha 1 " + karate, 2, "--alpha is 1, want between 0 and 1"},
		{"rho 0", "lgc --seeds 0 --rho 0 " + karate, 2, "--rho is 0"},
		{"epsilon NaN", "lgc --seeds 0 --epsilon NaN " + karate, 2, "--epsilon is NaN"},
		{"the method", "lgc --seeds 0 --method acl " + karate, 2, `--method is "acl"`},
		{"iterations", "lgc --seeds 0 --max-iterations 0 " + karate, 2, "--max-iterations is 0"},
		{"too few iterations", "lgc --seeds 0 --max-iterations 1 " + karate, 1, "still violated by"},
		{"a directed graph", "lgc --seeds 0 " + roads, 1, "the graph is directed: there is an edge from"},
		{"an isolated seed", "lgc --seeds 2 " + lonely, 1, "seed 2 is a vertex without edges"},
	} {
		r := hiveblas(t, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %d, %q", c.reason, r.code, r.stderr, c.code, c.want)
		}
	}
}
