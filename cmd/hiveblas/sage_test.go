package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// Processes of mpirun train together: one model, which the first writes.
func TestMPISageTrain(t *testing.T) {
	if cli.MPICommand() == nil {
		t.Skip("no mpirun")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var features, classes strings.Builder
	for v := range 34 {
		fmt.Fprintf(&features, "%d,%d,%d\n", v%3, v*v%5, v%7)
		fmt.Fprintln(&classes, v%2)
	}
	for name, text := range map[string]string{"x.csv": features.String(), "c.tsv": classes.String()} {
		sure.Do(os.WriteFile(at(name), []byte(text), 0o666))
	}
	args := []string{"sage", "train", karate, "--features", at("x.csv"), "--classes", at("c.tsv"), "--hidden", "8", "--epochs", "12", "--threads", "1"}
	one := report(t, append(args, "-o", at("one.npz"))...)
	for method, want := range map[string]string{"auto": "ranges", "pipeline": "spmm"} {
		run := cli.MPICommand(append(args, "--method", method, "--checkpoint", at(method+"-run.npz"), "-o", at(method+".npz"), "--json")...)
		text, err := exec.Command(run[0], run[1:]...).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", method, err, text)
		}
		got := object1(t, string(text))
		if a, b := got["loss"].(float64), one["loss"].(float64); !(a-b <= 1e-4*b && b-a <= 1e-4*b) || !strings.Contains(fmt.Sprint(got["method"]), want) {
			t.Errorf("four processes, --method %s, report %v, one %v", method, got, one)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 7 || len(contents(t, at("auto.npz"))) == 0 || len(contents(t, at("pipeline.npz"))) == 0 {
		t.Errorf("files %v (%v)", left, err)
	}
}

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
		sure.Do(os.WriteFile(at(name), []byte(text), 0o666))
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
	// Ranks of a group train the same model but for rounding, and the first writes it.
	divided := report(t, append(train, "--epochs", "40", "--device", "ranks:3", "--checkpoint", at("ranks.npz"), "-o", at("ranks-m.npz"))...)
	if divided["test_accuracy"] != 1.0 || divided["device"] != "3 ranks on the host" || !strings.Contains(divided["method"].(string), "ranges, layers") {
		t.Errorf("training on ranks reports %v", divided)
	}
	if a, b := divided["loss"].(float64), full["loss"].(float64); !(a-b <= 1e-5*b && b-a <= 1e-5*b) {
		t.Errorf("training on ranks ends with a loss of %v, want %v", a, b)
	}
	// Operations do too, on the host and on ranks.
	for _, device := range []string{"cpu", "ranks:2"} {
		r := report(t, append(train, "--epochs", "40", "--method", "pipeline", "--device", device, "-o", at("pipeline.npz"))...)
		if r["test_accuracy"] != 1.0 || r["epochs"] != 40.0 || !strings.Contains(r["method"].(string), "spmm") {
			t.Errorf("training by operations on %s reports %v", device, r)
		}
		if a, b := r["loss"].(float64), full["loss"].(float64); !(a-b <= 1e-3*b && b-a <= 1e-3*b) {
			t.Errorf("training by operations on %s ends with a loss of %v, want %v", device, a, b)
		}
	}
	on := report(t, "sage", "predict", karate, "--features", at("x.csv"), "--weights", at("ranks-m.npz"), "--classes", at("c.tsv"), "-o", at("q.tsv"))
	if on["accuracy"].(float64) < .9 {
		t.Errorf("prediction by the model of the ranks reports %v", on)
	}
	found := report(t, "sage", "predict", karate, "--features", at("x.csv"), "--weights", at("m.npz"), "--classes", at("c.tsv"), "-o", at("p.tsv"))
	if found["known"] != 34.0 || found["accuracy"].(float64) < .9 {
		t.Errorf("prediction reports %v", found)
	}
	if lines := strings.Split(contents(t, at("p.tsv")), "\n"); len(lines) != 35 || lines[0] != "0\tinstructor" || lines[33] != "33\tofficer" {
		t.Errorf("predictions %q", lines)
	}
	// A file without one of the classes does not shift the names of the others.
	for name, text := range map[string]string{"few.tsv": "33\tofficer\n", "more.tsv": "33\tofficer\n1\tvisitor\n", "numbers.tsv": "0\t0\n33\t1\n"} {
		sure.Do(os.WriteFile(at(name), []byte(text), 0o666))
	}
	predict := []string{"sage", "predict", karate, "--features", at("x.csv"), "--weights", at("m.npz")}
	few := report(t, append(predict, "--classes", at("few.tsv"), "-o", at("few-p.tsv"))...)
	if few["known"] != 1.0 || few["accuracy"] != 1.0 || contents(t, at("few-p.tsv")) != contents(t, at("p.tsv")) {
		t.Errorf("prediction with one known class reports %v", few)
	}
	if report(t, append(predict, "-o", at("none-p.tsv"))...); contents(t, at("none-p.tsv")) != contents(t, at("p.tsv")) {
		t.Error("prediction without --classes writes other names")
	}
	if r := hiveblas(t, append(predict, "--classes", at("more.tsv"))...); r.code != 1 || !strings.Contains(r.stderr, `no class "visitor"`) {
		t.Errorf("a class that the model lacks: exit %d, %q", r.code, r.stderr)
	}
	// Models of early versions have no names.
	model, err := readModel(at("m.npz"))
	if err != nil {
		t.Fatal(err)
	}
	model.Classes = nil
	unnamed := sure.Get(os.Create(at("unnamed.npz")))
	sure.Do(model.Write(unnamed), unnamed.Close())
	predict[6] = at("unnamed.npz")
	if r := hiveblas(t, append(predict, "--classes", at("c.tsv"))...); r.code != 1 || !strings.Contains(r.stderr, "no names of classes") {
		t.Errorf("names for a model without names: exit %d, %q", r.code, r.stderr)
	}
	if numbers := report(t, append(predict, "--classes", at("numbers.tsv"), "-o", at("n.tsv"))...); numbers["accuracy"] != 1.0 {
		t.Errorf("numbers for a model without names report %v", numbers)
	}
	embedded := report(t, "sage", karate, "--features", at("x.csv"), "--weights", at("m.npz"), "--samples", "5,5", "-o", at("z.csv"))
	if embedded["vertices"] != 34.0 || embedded["dimensions"] != 16.0 {
		t.Errorf("embeddings report %v", embedded)
	}
	if lines := strings.Split(contents(t, at("z.csv")), "\n"); len(lines) != 36 || !strings.HasPrefix(lines[0], "vertex,e0,e1,") || !strings.HasPrefix(lines[1], "0,") {
		t.Errorf("%d lines of embeddings, the first %q", len(lines), lines[0])
	}
	// An LSTM: the loss falls from log 2, the model embeds, and heads are refused.
	lstm := append(slices.Clone(train), "--aggregator", "lstm", "--epochs", "40", "-o", at("lstm.npz"))
	if r := report(t, lstm...); r["loss"].(float64) > .2 {
		t.Errorf("an LSTM reports %v", r)
	}
	if r := report(t, "sage", karate, "--features", at("x.csv"), "--weights", at("lstm.npz"), "-o", at("lz.csv")); r["dimensions"] != 32.0 {
		t.Errorf("embeddings by an LSTM report %v", r)
	}
	if r := hiveblas(t, append(lstm, "--heads", "2")...); r.code != 2 || !strings.Contains(r.stderr, "--heads has no effect without --aggregator attention") {
		t.Errorf("heads of an LSTM: exit %d, %q", r.code, r.stderr)
	}
	report(t, "sage", "train", karate, "--features", at("x.csv"), "--unsupervised", "--hidden", "4", "--epochs", "2", "-o", at("u.npz"))
	if r := hiveblas(t, "sage", "predict", karate, "--features", at("x.csv"), "--weights", at("u.npz")); r.code != 1 || !strings.Contains(r.stderr, "no classifier") {
		t.Errorf("prediction without a classifier: exit %d, %q", r.code, r.stderr)
	}
}
