package auction_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestBatchOnHost compares a batch with its problems one by one, for several numbers of threads.
// One problem occurs twice.
func TestBatchOnHost(t *testing.T) {
	var problems []*auction.Problem
	for k := range 40 {
		m, n := 1+k%7, 3+k%11
		list := make([]float64, m*n)
		for p := range list {
			list[p] = float64(splitmix.At(uint64(p), uint64(k)) % 100)
		}
		a := sure.Get(matrix.FromDense(m, n, list))
		problems = append(problems, auction.Dense[float64](a))
	}
	problems = append(problems, problems[3])
	var want []*auction.Result
	for _, p := range problems {
		res, err := auction.Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, res)
	}
	for _, threads := range []int{1, 2, 3, 100} {
		got, err := auction.SolveBatch(problems, auction.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		for k, res := range got {
			if res.Value != want[k].Value || res.Gap != 0 || !slices.Equal(res.Row, want[k].Row) {
				t.Errorf("%d threads, problem %d: %v, want %v", threads, k, res.Row, want[k].Row)
			}
		}
	}
	// The error is the error of the first problem without a solution.
	empty := func(n int) *auction.Problem { return auction.Sparse[float64](matrix.New[float64](n, n)) }
	problems[30], problems[20] = empty(3), empty(2)
	for range 20 {
		_, err := auction.SolveBatch(problems, auction.Options{Threads: 4})
		var e *auction.InfeasibleError
		if !errors.As(err, &e) || e.Error() != wantInfeasible(t, problems[20]).Error() {
			t.Fatalf("error %v", err)
		}
	}
}

func wantInfeasible(t *testing.T, p *auction.Problem) error {
	_, err := auction.Solve(p)
	if err == nil {
		t.Fatal("no error")
	}
	return err
}
