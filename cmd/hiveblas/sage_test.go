package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of a user: train on the club, embed, predict; a second training resumes and gives
// the same bytes.
func TestSage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var features, classes strings.Builder
	for v := range 34 {
		for u := range 34 {
			if u > 0 {
				features.WriteByte(',')
			}
			if u == v {
				features.WriteByte('1')
			} else {
				features.WriteByte('0')
			}
		}
		features.WriteByte('\n')
		side := "instructor"
		if strings.Contains(" 8 9 14 15 18 20 22 23 24 25 26 27 28 29 30 31 32 33 ", fmt.Sprintf(" %d ", v)) {
			side = "officer"
		}
		fmt.Fprintf(&classes, "%d\t%s\n", v, side)
	}
	for name, text := range map[string]string{"x.csv": features.String(), "c.tsv": classes.String(), "s.tsv": "0 train\n1 train\n33 train\n32 train\n2 test\n30 test\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	train := []string{"sage", "train", karate, "--features", at("x.csv"), "--classes", at("c.tsv"), "--split", at("s.tsv"), "--aggregator", "gcn",
		"--hidden", "16", "--dropout", "0", "--threads", "1"}
	full := report(t, append(train, "--epochs", "40", "-o", at("m.npz"))...)
	if full["epochs"] != 40.0 || full["classes"] != 2.0 || full["trained"] != 4.0 || full["test_accuracy"] != 1.0 {
		t.Errorf("training reports %v", full)
	}
	report(t, append(train, "--epochs", "20", "--checkpoint", at("run.npz"), "-o", at("half.npz"))...)
	report(t, append(train, "--epochs", "40", "--checkpoint", at("run.npz"), "-o", at("again.npz"))...)
	if contents(t, at("m.npz")) != contents(t, at("again.npz")) || contents(t, at("m.npz")) == contents(t, at("half.npz")) {
		t.Error("a training that resumes gives another model")
	}
	found := report(t, "sage", "predict", karate, "--features", at("x.csv"), "--weights", at("m.npz"), "--classes", at("c.tsv"), "-o", at("p.tsv"))
	if found["known"] != 34.0 || found["accuracy"].(float64) < .9 {
		t.Errorf("prediction reports %v", found)
	}
	if lines := strings.Split(contents(t, at("p.tsv")), "\n"); len(lines) != 35 || lines[0] != "0\tinstructor" || lines[33] != "33\tofficer" {
		t.Errorf("predictions %q", lines)
	}
	embedded := report(t, "sage", karate, "--features", at("x.csv"), "--weights", at("m.npz"), "--samples", "5,5", "-o", at("z.csv"))
	if embedded["vertices"] != 34.0 || embedded["dimensions"] != 16.0 {
		t.Errorf("embeddings report %v", embedded)
	}
	if lines := strings.Split(contents(t, at("z.csv")), "\n"); len(lines) != 36 || !strings.HasPrefix(lines[0], "vertex,e0,e1,") || !strings.HasPrefix(lines[1], "0,") {
		t.Errorf("%d lines of embeddings, the first %q", len(lines), lines[0])
	}
	report(t, "sage", "train", karate, "--features", at("x.csv"), "--unsupervised", "--hidden", "4", "--epochs", "2", "-o", at("u.npz"))
	if r := hiveblas(t, "sage", "predict", karate, "--features", at("x.csv"), "--weights", at("u.npz")); r.code != 1 || !strings.Contains(r.stderr, "no classifier") {
		t.Errorf("prediction without a classifier: exit %d, %q", r.code, r.stderr)
	}
}
