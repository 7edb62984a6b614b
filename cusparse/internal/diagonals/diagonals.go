// Package diagonals finds the diagonals that hold most entries of a matrix.
package diagonals

import (
	"cmp"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/cusparse/space"
)

// Common returns the most frequent diagonals of a sample, at most 63, ascending, and the
// share of the sample that they hold. It stops before a diagonal that holds less than a quarter of
// the mean of the diagonals before it: stray entries.
func Common(sample []int32) (diagonals []int32, share float64) {
	counts := map[int32]int{}
	total := 0
	for _, d := range sample {
		if d != math.MaxInt32 {
			counts[d]++
			total++
		}
	}
	for d := range counts {
		diagonals = append(diagonals, d)
	}
	slices.SortFunc(diagonals, func(a, b int32) int { return cmp.Or(counts[b]-counts[a], int(a)-int(b)) })
	diagonals = diagonals[:min(len(diagonals), space.MaxDiagonals)]
	held := 0
	for i, d := range diagonals {
		if 4*i*counts[d] < held {
			diagonals = diagonals[:i]
			break
		}
		held += counts[d]
	}
	slices.Sort(diagonals)
	if total > 0 {
		share = float64(held) / float64(total)
	}
	return diagonals, share
}
