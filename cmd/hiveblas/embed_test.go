package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Vectors of named vertices go through a file into GraphSAGE; links are predicted; bad flags are
// usage errors.
func TestEmbed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	names := write(t, "g.tsv", "ann bob\nbob cid\ncid ann\ncid dan\ndan eve\neve fay\nfay dan\n")
	embed := []string{"embed", names, "--ids", "renumber", "--undirected", "--dimensions", "8", "--length", "20", "--p", ".5", "--q", "2"}
	got := report(t, append(embed, "-o", at("v.csv"))...)
	if got["vertices"] != 6.0 || got["dimensions"] != 8.0 || got["pairs"].(float64) < 100 || got["auc"] != nil {
		t.Errorf("got %v", got)
	}
	text := contents(t, at("v.csv"))
	if rows := strings.Split(text, "\n"); len(rows) != 8 || rows[0] != "vertex,e0,e1,e2,e3,e4,e5,e6,e7" || !strings.HasPrefix(rows[6], "fay,") {
		t.Errorf("the vectors are\n%s", text)
	}
	if again := report(t, append(embed, "--threads", "1", "-o", at("w.csv"))...); again["loss"] != got["loss"] || contents(t, at("w.csv")) != text {
		t.Error("one thread: other vectors")
	}
	sage := []string{"sage", "train", names, "--ids", "renumber", "--undirected", "--unsupervised", "--hidden", "4", "--epochs", "3", "--random-seed", "1"}
	want := report(t, append(sage, "--features", at("v.csv"), "-o", at("m.npz"))...)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	turned := write(t, "turned.csv", strings.Join(append([]string{lines[0], lines[6], lines[1]}, lines[2:6]...), "\n"))
	if other := report(t, append(sage, "--features", turned, "-o", at("n.npz"))...); other["loss"] != want["loss"] {
		t.Errorf("rows in another order: loss %v, want %v", other["loss"], want["loss"])
	}
	succeed(t, append(embed, "-o", at("v.npy"))...)
	if fromArray := report(t, append(sage, "--features", at("v.npy"), "-o", at("a.npz"))...); fromArray["loss"] != want["loss"] {
		t.Errorf("an array: loss %v, want %v", fromArray["loss"], want["loss"])
	}
	if r := hiveblas(t, append(embed, "--dimensions", "100000", "--memory", "4MB")...); r.code != 1 || !strings.Contains(r.stderr, "a vector of 100000 numbers for each of 6 vertices needs about 4.8 MB") {
		t.Errorf("little memory: %+v", r)
	}
	links := report(t, "embed", karate, "--links", ".2", "--score", "cosine", "--dimensions", "8")
	if auc := links["auc"].(float64); links["held_out"] != 16.0 || !(auc > 0 && auc < 1) || !(links["mrr"].(float64) > 0) {
		t.Errorf("links: %v", links)
	}
	trained := report(t, "sage", "train", names, "--ids", "renumber", "--undirected", "--features", at("v.csv"), "--links", ".3", "--epochs", "5", "-o", at("l.npz"))
	if trained["held_out"] != 2.0 || trained["test_auc"] == nil || trained["validation_auc"] == nil || trained["test_mrr"] == nil {
		t.Errorf("training for links reports %v", trained)
	}
	drawn := report(t, "sage", names, "--ids", "renumber", "--undirected", "--features", at("v.csv"), "--random-weights", "5", "--hidden", "3,2", "--aggregator", "gcn")
	if drawn["dimensions"] != 2.0 {
		t.Errorf("random weights: %v", drawn)
	}
	for args, want := range map[string]string{
		"sage " + karate + " --features x --random-weights 1 --weights m.npz":       "exclude each other",
		"sage " + karate + " --features x --weights m.npz --hidden 4":               "--hidden has no effect",
		"sage " + karate + " --features x --random-weights 1 --hidden x":            `--hidden is "x"`,
		"sage train " + karate + " --features x --links .1 --unsupervised -o m.npz": "--links excludes",
		"sage train " + karate + " --features x --links .7 -o m.npz":                "--links is 0.7",
	} {
		if r := hiveblas(t, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
	for args, want := range map[string]string{
		"--p 0": "--p is 0", "--q -1": "--q -1", "--window 0": "--window is 0", "--rate 0": "--rate is 0", "--links 1": "--links is 1",
		"--score cosine": "no effect without --links", "--links .5 --score x": `--score is "x"`,
	} {
		if r := hiveblas(t, append([]string{"embed", karate}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}
