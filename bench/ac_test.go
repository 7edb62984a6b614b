package bench

import (
	"testing"
	"time"
	"os"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
)

func TestACTime(t *testing.T) {
	if os.Getenv("ACTIME") == "" { t.Skip() }
	for _, g := range []gen.Tuples{acSmall()} {
		d, _ := attributed(g, 1)
		p, _ := acPattern()
		for k := range 80 {
			start := time.Now()
			if _, err := apps.Classify(d, p, apps.ClassifyOptions{Run: apps.Run{Threads: 1+k%2}}); err != nil { t.Fatal(err) }
			t.Log(g.NRows, 1+k%2, time.Since(start))
			if g.NRows > 2000 && k == 1 { break }
		}
	}
}
