package sparse

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Lead is how many columns of each row Leads keeps.
const Lead = 4

// Leads returns the first Lead columns of every row of a CSR s, side by side:
// those of row i start at Lead·i. A shorter row repeats its last column, and
// what stands for an empty one is of no account. A search that mostly ends at
// a row's first columns reads these in order, where the rows themselves are a
// line of memory each. 16 bytes a row; O(rows).
func Leads(s *Structure, threads int) []int32 {
	lead := fresh.Make[int32](int64(s.NRows) * Lead)
	_ = parallel.Range(nil, threads, s.NRows, 1<<13, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			out := lead[Lead*i : Lead*i+Lead]
			p, last := s.Ptr[i], s.Ptr[i+1]-1
			if p > last {
				clear(out)
				continue
			}
			for e := range out {
				out[e] = s.Idx[min(p+int64(e), last)]
			}
		}
	})
	return lead
}
