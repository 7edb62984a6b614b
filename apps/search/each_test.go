package search

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// Each receives the walks of one place in order, in the processes that give it, in several rounds.
func TestRangesEach(t *testing.T) {
	o := SearchOptions{PerStart: 31, Length: 6, Visits: true, Seed: 2, round: sumWalks}
	search := func(g samples.GroupGraph, receives bool) (*SearchResult, []int32, error) {
		o, all := o, []int32(nil)
		if receives {
			o.Each = func(b SearchBlock) error {
				if b.First*int64(b.Length) != int64(len(all)) {
					return fmt.Errorf("walk %d after %d vertices", b.First, len(all))
				}
				all = append(all, b.Vertices...)
				return nil
			}
		}
		n, _ := g.Dims()
		res, err := GraphSearch(g, VertexScores(samples.WalkScores(n)), nil, o)
		return res, all, err
	}
	res, walks, err := search(samples.RangeGraph(t, 8, nil), true)
	if err != nil {
		t.Fatal(err)
	}
	want := samples.ResultWords(res)
	at := sure.Get(comm.LocalGroup(3))
	res, got, err := search(samples.RangeGraph(t, 8, at), true)
	if err != nil || !slices.Equal(got, walks) || !slices.Equal(samples.ResultWords(res), want) {
		t.Errorf("one process: other walks or results than on one place (%v)", err)
	}
	broken, failing := errors.New("broken"), o
	failing.Each = func(SearchBlock) error { return broken }
	if _, err := GraphSearch(samples.RangeGraph(t, 8, at), nil, nil, failing); !errors.Is(err, broken) {
		t.Errorf("Each that fails: %v", err)
	}
	results, errs := samples.Processes(t, 3, func(at *comm.Group) (any, error) {
		res, got, err := search(samples.RangeGraph(t, 8, at), at.First())
		if at.First() != slices.Equal(got, walks) {
			err = errors.Join(err, errors.New("other walks"))
		}
		if err != nil {
			return nil, err
		}
		return samples.ResultWords(res), nil
	})
	for r, err := range errs {
		if err != nil || !slices.Equal(results[r].([]string), want) {
			t.Errorf("process %d: %v, or other results than on one place", r, err)
		}
	}
}
