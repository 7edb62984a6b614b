package graphio

import (
	"bytes"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// TestConcurrentReadsOfFiles runs several multithreaded readers concurrently.
func TestConcurrentReadsOfFiles(t *testing.T) {
	text := rmatText(15, "real")
	first := Duplicates(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x }))
	want, err := ReadMatrixMarket[float64](bytes.NewReader(text), first, Threads(1))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			got, err := ReadMatrixMarket[float64](bytes.NewReader(text), first, Threads(w+1))
			if err != nil || !got.Equal(want) {
				t.Errorf("%d threads: %v, %v", w+1, got, err)
			}
		})
	}
	wg.Wait()
}
