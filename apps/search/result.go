package search

import (
	"cmp"
	"sync"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// result completes the result.
func (s *searcher) result() (*SearchResult, error) {
	res := &s.res
	for _, x := range s.parts {
		res.ScoreSum += x
	}
	res.Calls, res.Scored = s.scores.calls, s.scores.count
	distinct, score := make([]int64, len(s.steps)), make([]float64, len(s.steps))
	var present []uint8
	if s.visits != nil {
		present = make([]uint8, s.n)
	}
	var best []paths.Nomination[float64]
	if s.counted != nil || s.countable() && present == nil {
		if s.counted != nil {
			distinct = s.counted
		} else {
			s.countFirst(distinct)
		}
		for _, n := range distinct {
			res.Distinct += n
		}
	} else {
		best = s.lookAtFirst(distinct, score, present)
	}
	parallel.SortStable(s.opts.Threads, best, func(a, b paths.Nomination[float64]) int { return cmp.Compare(b.Distance, a.Distance) })
	res.Best = best[:min(len(best), s.opts.Best):min(len(best), s.opts.Best)]
	var at SearchPoint
	for point, steps := range s.steps {
		at.Step = s.stepOf(point)
		at.Steps += steps
		at.Distinct += distinct[point]
		at.Score += score[point]
		res.Curve = append(res.Curve, at)
	}
	if s.visits != nil {
		res.Visits = workflow.PresentVector(present, res.Distinct, s.visits)
	}
	return res, nil
}

// countFirst counts the vertices by the point of their first visit.
func (s *searcher) countFirst(distinct []int64) {
	var mu sync.Mutex
	_ = parallel.Range(nil, s.opts.Threads, len(s.first), 1<<16, func(_, lo, hi int) {
		own := make([]int64, len(distinct))
		for _, point := range s.first[lo:hi] {
			if point != unvisited {
				own[point]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for point, n := range own {
			distinct[point] += n
		}
	})
}

// lookAtFirst is countFirst with the sums of scores, in the order of vertices, and marks the
// vertices that were visited. It returns them if the best are asked for.
func (s *searcher) lookAtFirst(distinct []int64, score []float64, present []uint8) (best []paths.Nomination[float64]) {
	for v, point := range s.first {
		if point == unvisited {
			continue
		}
		x := 0.0
		if s.scores.of != nil {
			x = s.scores.of[v]
		}
		distinct[point]++
		score[point] += x
		s.res.Distinct++
		if present != nil {
			present[v] = 1
		}
		if s.opts.Best > 0 {
			best = append(best, paths.Nomination[float64]{Vertex: v, Distance: x})
		}
	}
	return best
}
