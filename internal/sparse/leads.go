package sparse

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Lead is the number of columns of each row that Leads stores.
const Lead = 4

// Leads returns the first Lead columns of every row of a CSR s in one array: row i starts at
// Lead·i. A shorter row repeats its last column; the columns of an empty row are zero and have no
// meaning. A search that usually ends at the first columns of a row reads this array sequentially,
// whereas the rows themselves cost one cache line each. 16 bytes per row; O(rows).
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
