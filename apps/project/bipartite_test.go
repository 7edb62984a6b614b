package project

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
)

// TestMatchingMethods enlarges matchings by searches from one row, cut off after some work, and by
// phases. Every mixture must give the size that single augmenting paths give.
func TestMatchingMethods(t *testing.T) {
	for seed := range uint64(40) {
		m, n := 1+int(gen.Hash(seed, 1)%60), 1+int(gen.Hash(seed, 2)%60)
		g := gen.CSR(gen.Bipartite(m, n, min(m*n, int(gen.Hash(seed, 3)%150)), seed), gen.KeepLoops)
		a := &workflow.Adjacency{N: m, Ptr: g.Ptr, Idx: g.Idx}
		out := make([][]samples.Arc, m)
		for r := range out {
			for _, c := range a.Of(int32(r)) {
				out[r] = append(out[r], samples.Arc{To: int(c), Weight: 1})
			}
		}
		want := int(samples.MatchNaively(out)[0])
		for _, limit := range []int64{-1, 0, 20, 1 << 40} {
			for _, greedy := range []bool{true, false} {
				start := make([]int32, m)
				for r := range start {
					start[r] = -1
				}
				if greedy {
					start = greedyMatching(a, n)
				}
				h := newHopcroftKarp(a, n, start)
				if err := h.trees(limit, workflow.Run{}); err != nil {
					t.Fatal(err)
				}
				left := 0
				for h.phase() {
					left++
				}
				if limit > 1<<30 && left > 0 {
					t.Errorf("seed %d: the searches left %d phases", seed, left)
				}
				if err := checkMatching(h, want); err != nil {
					t.Errorf("seed %d, limit %d, greedy %v: %v", seed, limit, greedy, err)
				}
			}
		}
	}
}

// checkMatching holds that the rows and columns of h name each other by entries, want of them.
func checkMatching(h *hopcroftKarp, want int) error {
	size := 0
	for r, c := range h.column {
		if c < 0 {
			continue
		}
		size++
		found := false
		for _, x := range h.g.Of(int32(r)) {
			found = found || x == c
		}
		if !found || int(h.row[c]) != r {
			return fmt.Errorf("row %d has column %d, an entry: %v, which has row %d", r, c, found, h.row[c])
		}
	}
	if size != want || h.size != want {
		return fmt.Errorf("%d rows, size %d, want %d", size, h.size, want)
	}
	return nil
}

func TestMatchingCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := newHopcroftKarp(&workflow.Adjacency{N: 1, Ptr: []int64{0, 1}, Idx: []int32{0}}, 1, []int32{-1})
	if err := h.trees(1, workflow.Run{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
