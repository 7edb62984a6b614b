package idioms

import (
	"os"
	"testing"
)

// BenchmarkIdiom runs our side of the idiom named by HIVEBLAS_CASE, for profiles; HIVEBLAS_DATA is
// as --data of hiveblas-bench.
func BenchmarkIdiom(b *testing.B) {
	want := os.Getenv("HIVEBLAS_CASE")
	if want == "" {
		b.Skip("set HIVEBLAS_CASE to the name of a row of the idiom table")
	}
	for _, c := range idioms() {
		if c.name != want {
			continue
		}
		in, err := newIdiomInput(os.Getenv("HIVEBLAS_DATA"))
		if err != nil {
			b.Fatal(err)
		}
		run, err := c.make(in)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := run.ours(); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.Fatalf("no idiom is named %q", want)
}
