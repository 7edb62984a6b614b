package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// acTables writes the four tables of a small case and returns the flags.
func acTables(t *testing.T) []string {
	return []string{
		"--data-vertices", write(t, "dv.csv", "4 2\n0 9\n1 5\n2 1\n3 5\n"), "--data-edges", write(t, "de.csv", "3 3\n0 1 3\n1 2 7\n2 3 3\n"),
		"--pattern-vertices", write(t, "pv.csv", "2 2\n0 1\n1 5\n"), "--pattern-edges", write(t, "pe.csv", "1 3\n0 1 3\n"),
	}
}

// Ranks of the host write the bytes of one place.
func TestACOnRanks(t *testing.T) {
	args := append([]string{"ac"}, acTables(t)...)
	var outs []string
	for _, device := range []string{"cpu", "ranks:1", "ranks:3", "ranks:7"} {
		out := filepath.Join(t.TempDir(), "beliefs.csv")
		text := runInProcess(t, append(args, "--device", device, "--quiet", "-o", out)...)
		outs = append(outs, contents(t, out))
		if got := outs[len(outs)-1]; got != outs[0] || got == "" {
			t.Errorf("%s writes %q, want %q (%s)", device, got, outs[0], text)
		}
	}
}

func TestAC(t *testing.T) {
	args := append([]string{"ac"}, acTables(t)...)
	got := report(t, append(args, "--threads", "1")...)
	best, _ := json.Marshal(got["best"])
	if got["command"] != "ac" || got["iterations"] != 2.0 || got["pattern_edges"] != 1.0 || got["device"] != "cpu" ||
		!strings.HasPrefix(string(best), `[{"data":2,"log_probability":-0.0`) || strings.Count(string(best), "pattern") != 2 {
		t.Errorf("%v, best %s", got, best)
	}
	if in := got["input"].(map[string]any); in["rows"] != 4.0 || in["nnz"] != 3.0 {
		t.Error(in)
	}
	for _, ext := range []string{".csv", ".csv.gz", ".mtx", ".hgb"} {
		out := filepath.Join(t.TempDir(), "beliefs"+ext)
		if text := succeed(t, append(args, "-o", out)...); !strings.Contains(text, out) || !strings.Contains(text, "pattern: data  probability\n  0: 2") {
			t.Errorf("%s: %s", ext, text)
		}
		if ext != ".csv" {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(contents(t, out), "\n"), "\n")
		if len(lines) != 5 || lines[0] != "vertex,0,1" {
			t.Fatal(lines)
		}
		sums := make([]float64, 2)
		for v, line := range lines[1:] {
			fields := strings.Split(line, ",")
			if len(fields) != 3 || fields[0] != strconv.Itoa(v) {
				t.Fatal(line)
			}
			for j := range sums {
				x, err := strconv.ParseFloat(fields[j+1], 64)
				if err != nil {
					t.Fatal(err)
				}
				sums[j] += math.Exp(x)
			}
		}
		for j, s := range sums {
			if math.Abs(s-1) > 1e-5 {
				t.Errorf("the probabilities of %d add up to %v", j, s)
			}
		}
	}
	few := report(t, append(args, "--memory", "1GiB", "--corrected-gather", "--top", "3")...)
	if n := len(few["best"].([]any)); n != 6 {
		t.Errorf("%d best, want 3 for each of 2", n)
	}
}

func TestACFailures(t *testing.T) {
	good := acTables(t)
	swap := func(flag, file string) []string {
		args := append([]string{"ac"}, good...)
		for k := range args {
			if args[k] == flag {
				args[k+1] = file
			}
		}
		return args
	}
	for _, c := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{"a file missing", append([]string{"ac"}, good[:6]...), 2, "--pattern-edges is missing"},
		{"an argument", append([]string{"ac", "x"}, good...), 2, "unexpected argument"},
		{"negative rounds", append(swap("", ""), "--iterations", "-1"), 2, "--iterations is -1"},
		{"memory in words", append(swap("", ""), "--memory", "much"), 2, "want a size such as 6GiB"},
		{"little memory", append(swap("", ""), "--memory", "10B"), 1, "--memory: 10 bytes are not enough"},
		{"no file", swap("--data-edges", "nowhere.csv"), 1, "nowhere.csv: no such file"},
		{"a damaged table", swap("--pattern-edges", write(t, "bad.csv", "1 3\n0 x 3\n")), 1, `bad.csv:2: "x"`},
		{"other features", swap("--pattern-edges", write(t, "wide.csv", "1 4\n0 1 3 4\n")), 1, "the edge features of the pattern is 2×1, want 1×any"},
		{"the output is an input", append(swap("", ""), "-o", good[1]), 2, "is the input"},
	} {
		r := hiveblas(t, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %d, %q", c.reason, r.code, r.stderr, c.code, c.want)
		}
	}
}

func TestACOnDevice(t *testing.T) {
	emulated(t)
	args := append([]string{"ac", "--json"}, acTables(t)...)
	host, there := object1(t, runInProcess(t, append(args, "--device", "cpu")...)), object1(t, runInProcess(t, append(args, "--device", "gpu")...))
	if !strings.HasPrefix(there["device"].(string), "gpu:0") || !strings.Contains(there["method"].(string), "messages") {
		t.Error(there)
	}
	for _, key := range []string{"sum", "min", "max"} {
		if x, y := host[key].(float64), there[key].(float64); math.Abs(x-y) > 1e-4*math.Abs(x) {
			t.Errorf("%s is %v, on the host %v", key, y, x)
		}
	}
}
