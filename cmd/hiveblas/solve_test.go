package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// chain is 2, −1 on 4 points: with a right side of ones its solution is 2, 3, 3, 2.
const chain = "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n"

func TestSolve(t *testing.T) {
	a := write(t, "A.mtx", chain)
	column := write(t, "b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n1\n")
	list := write(t, "b.txt", "1\n1\n1\n1\n")
	tall := write(t, "tall.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 1 1\n2 2 1\n3 2 1\n")
	right := write(t, "right.txt", "1\n2\n1\n")
	for _, args := range []string{
		a + " " + column, a + " " + list + " --method minres --check-symmetry", a + " " + column + " --method gmres --restart 4",
		a + " " + list + " --method bicgstab --precondition ilu0", a + " " + list + " --method lsqr", a + " " + column + " --precondition ic0",
		a + " " + column + " --precondition jacobi --device ranks:2", a + " " + list + " --tolerance 1e-12 --max-iterations 20",
	} {
		out := filepath.Join(t.TempDir(), "x.tsv")
		got := report(t, append(append([]string{"solve"}, strings.Fields(args)...), "-o", out)...)
		if r, ok := got["residual"].(float64); !ok || r > 1e-7 {
			t.Errorf("%s: the residual is %v", args, got["residual"])
		}
		var x [4]float64
		for line := range strings.Lines(contents(t, out)) {
			var i int
			at, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
			sure.Do(json.Unmarshal([]byte(at), &i))
			sure.Do(json.Unmarshal([]byte(value), &x[i]))
		}
		for i, want := range [4]float64{2, 3, 3, 2} {
			if math.Abs(x[i]-want) > 1e-6 {
				t.Errorf("%s: x is %v", args, x)
			}
		}
	}
	if got := report(t, "solve", tall, right, "--method", "lsqr"); got["stopped"] != "converged" {
		t.Errorf("a tall system with a solution: %v", got)
	}
	if got := report(t, "solve", tall, right, "--method", "lsqr", "--damping", ".5"); got["stopped"] != "least squares" {
		t.Errorf("a damped system: %v", got)
	}
	half := write(t, "L.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n")
	for args, want := range map[string]string{"": "0\t0.5\n1\t0.75\n2\t0.875\n3\t0.9375\n", " --unit-diagonal": "0\t1\n1\t2\n2\t3\n3\t4\n"} {
		out := filepath.Join(t.TempDir(), "x.tsv")
		got := report(t, strings.Fields("solve "+half+" "+list+" --method lower -o "+out+args)...)
		if x := contents(t, out); got["levels"] != 4.0 || x != want {
			t.Errorf("a triangular system%s: %v levels, x is %q, want %q", args, got["levels"], x, want)
		}
	}
	wide := write(t, "wide.mtx", "%%MatrixMarket matrix array real general\n4 2\n1\n1\n1\n1\n1\n1\n1\n1\n")
	skew := write(t, "skew.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 1\n")
	two := write(t, "two.txt", "1\n1\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{a, 2, "B is missing"},
		{a + " " + list + " --method lu", 2, `--method is "lu", want cg, minres, gmres, bicgstab, lsqr, lower or upper`},
		{a + " " + list + " --precondition mg", 2, `--precondition is "mg"`},
		{a + " " + list + " --method lsqr --precondition jacobi", 2, "--method lsqr takes no --precondition"},
		{a + " " + list + " --method upper --precondition ic0", 2, "--method upper takes no --precondition"},
		{a + " " + list + " --unit-diagonal", 2, "--unit-diagonal is for --method lower or upper"},
		{a + " " + list + " --method upper", 1, "A.mtx: NewTriangle: the entry (1, 0) is below the diagonal, want an upper triangular matrix; try another --method\n"},
		{half + " " + list + " --method lower --device ranks:2", 1, "; --device cpu\n"},
		{skew + " " + two + " --method upper", 1, "the pivot of row 1 is 0; give a diagonal without zeros, or --unit-diagonal\n"},
		{a + " " + list + " --tolerance 0", 2, "--tolerance is 0"},
		{a + " " + list + " --max-iterations -1", 2, "--max-iterations is -1"},
		{a + " " + list + " --restart 0", 2, "--restart is 0"},
		{a + " " + list + " --damping -1", 2, "--damping is -1"},
		{a + " " + list + " --shift -1", 2, "--shift is -1"},
		{a + " " + list + " --max-iterations 1", 1, "A.mtx: CG: the residual is 2 after 1 iterations, want 2e-08; raise --max-iterations or --tolerance, or give a --precondition\n"},
		{a + " " + wide, 1, "the right side is 4×2, and the matrix has 4 rows; give a column of 4 numbers\n"},
		{a + " " + two, 1, "two.txt:3: 2 values, and the graph has 4 vertices"},
		{tall + " " + right, 1, "the matrix is 3×2, and --method cg wants a square one; --method lsqr\n"},
		{skew + " " + two + " --check-symmetry", 1, "CG: the matrix is not symmetric: (0, 1) is 1 and (1, 0) is 0; try another --method\n"},
		{skew + " " + two + " --precondition ic0", 1, "IncompleteCholesky: the pivot of row 1 is 0; --shift 0.01, or --precondition jacobi\n"},
		{a + " " + list + " --precondition ic0 --device ranks:2", 1, "--precondition jacobi, or --device cpu\n"},
	} {
		r := hiveblas(t, append([]string{"solve"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("solve %s: exit %d, %q, want %q", c.args, r.code, r.stderr, c.want)
		}
	}
}

func TestEigs(t *testing.T) {
	a := write(t, "A.mtx", chain)
	out := filepath.Join(t.TempDir(), "v.mtx")
	got := report(t, "eigs", a, "-k", "2", "--which", "smallest", "-o", out)
	list, ok := got["eigenvalues"].([]any)
	if !ok || len(list) != 2 {
		t.Fatalf("eigenvalues are %v", got["eigenvalues"])
	}
	for i, x := range list {
		want := 2 - 2*math.Cos(float64(i+1)*math.Pi/5)
		if v, _ := x.(map[string]any)["value"].(float64); math.Abs(v-want) > 1e-9 {
			t.Errorf("eigenvalue %d is %v, want %v", i, v, want)
		}
	}
	if text := contents(t, out); !strings.Contains(text, "\n4 2") {
		t.Errorf("the vectors are %q", text)
	}
	if text := succeed(t, "eigs", a, "-k", "4", "--which", "magnitude"); !strings.Contains(text, "\n  eigenvalue") || !strings.Contains(text, "3.618") {
		t.Errorf("the report is %q", text)
	}
	skew := write(t, "skew.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 1\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{a + " --which middle", 2, `--which is "middle", want largest, smallest or magnitude`},
		{a + " -k 0", 2, "--number is 0"},
		{a + " --tolerance 0", 2, "--tolerance is 0"},
		{a + " --max-products -1", 2, "--max-products is -1"},
		{a + " --basis 4", 2, "--basis is 4, want 0 or at least 8"},
		{a, 1, "the matrix has 4 rows, and 6 eigenvalues are asked for; -k 4\n"},
		{skew + " -k 1", 1, "not symmetric: (0, 1) is 1 and (1, 0) is 0; give a symmetric matrix of finite numbers\n"},
	} {
		r := hiveblas(t, append([]string{"eigs"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("eigs %s: exit %d, %q, want %q", c.args, r.code, r.stderr, c.want)
		}
	}
}
