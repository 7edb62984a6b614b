package matrix_test

import (
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestConcurrentReaders reads the derived forms of one matrix from many goroutines. It checks that
// all read the same forms, and detects races under the race detector.
func TestConcurrentReaders(t *testing.T) {
	for _, format := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Full} {
		for range 20 {
			val := make([]int, 50*40)
			for p := range val {
				val[p] = p%7 - 3
			}
			a := sure.Get(matrix.FromDense(50, 40, val))
			sure.Do(a.SetFormat(format))
			var wg sync.WaitGroup
			start := make(chan struct{})
			for w := range 16 {
				wg.Go(func() {
					<-start
					for step := range 6 {
						switch (w + step) % 6 {
						case 0:
							if st := rowsOf[int](a.T()); st.NRows != 40 || st.NVals != 2000 || st.Val[st.Ptr[1]] != val[1] {
								t.Error("wrong transpose")
							}
						case 1:
							if st := rowsOf[bool](a.T().Pattern()); st.NVals != 2000 {
								t.Error("wrong pattern of the transpose")
							}
						case 2:
							sum := 0
							for _, r := range a.Rows() {
								for _, v := range r.All() {
									sum += v
								}
							}
							want := 0
							for _, v := range val {
								want += v
							}
							if sum != want {
								t.Errorf("sum %d, want %d", sum, want)
							}
						case 3:
							if st := rowsOf[bool](a.Pattern()); st.NVals != 2000 || st.Val != nil {
								t.Error("wrong pattern")
							}
						case 4:
							if v, ok := a.At(49, 39); !ok || v != val[1999] {
								t.Error("wrong entry")
							}
						case 5:
							if s := a.Inside().Nonzero(); s.NVals == 0 || s.NVals == 2000 {
								t.Errorf("%d nonzeros", s.NVals)
							}
						}
					}
				})
			}
			close(start)
			wg.Wait()
			// Both calls return the same transpose.
			if x, y := rowsOf[int](a.T()), rowsOf[int](a.T()); x != y {
				t.Error("the transpose was computed twice")
			}
		}
	}
}
