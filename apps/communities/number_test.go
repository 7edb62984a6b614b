package communities

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// The numbers of parts and of vertices by degree equal a plain sort, by any number of threads, for
// more vertices than a thread takes at once.
func TestRenumbering(t *testing.T) {
	const n = 5*workflow.RowGrain + 17
	r := rand.New(rand.NewPCG(1, 2))
	name, degree := make([]int32, n), make([]int64, n)
	for v := range name {
		name[v] = int32(r.IntN(1+r.IntN(n))) - 1 // small numbers are common; −1 is a part of its own
		degree[v] = int64(r.IntN(3))
	}
	least, size := map[int32]int{}, map[int32]int64{}
	alone := slices.Clone(name)
	for v := range alone {
		if alone[v] < 0 {
			alone[v] = int32(n + v)
		}
		if _, known := least[alone[v]]; !known {
			least[alone[v]] = v
		}
		size[alone[v]]++
	}
	var order []int32
	for c := range size {
		order = append(order, c)
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(size[y], size[x]), cmp.Compare(least[x], least[y]))
	})
	rank := map[int32]int32{}
	for k, c := range order {
		rank[c] = int32(k)
	}
	used := map[int32]bool{}
	named := make([]int32, n)
	for v := range named {
		named[v] = int32(r.IntN(2 * n))
		used[named[v]] = used[named[v]] || degree[v] > 0
	}
	for _, threads := range []int{1, 2, 3, 8} {
		part := slices.Clone(name)
		sizes := numberBySize(threads, part)
		for v, c := range part {
			if want := rank[alone[v]]; c != want || sizes[c] != size[alone[v]] {
				t.Fatalf("%d threads: vertex %d is in part %d of %d, want %d of %d", threads, v, c, sizes[c], want, size[alone[v]])
			}
		}
		part, parts := numbered(threads, named, degree)
		below := int32(0)
		number := map[int32]int32{}
		for c := range int32(2 * n) {
			if used[c] {
				number[c] = below
				below++
			}
		}
		for v, c := range part {
			want := int32(-1)
			if degree[v] > 0 {
				want = number[named[v]]
			}
			if c != want {
				t.Fatalf("%d threads: vertex %d has number %d, want %d", threads, v, c, want)
			}
		}
		if parts != int(below) {
			t.Fatalf("%d threads: %d parts, want %d", threads, parts, below)
		}
	}
}
