package bench

import (
	"os"
	"strconv"
	"testing"
)

// BenchmarkCase runs our side of the case named by HIVEBLAS_CASE with HIVEBLAS_CASE_THREADS threads
// (2 by default), for profiles.
func BenchmarkCase(b *testing.B) {
	want := os.Getenv("HIVEBLAS_CASE")
	if want == "" {
		b.Skip("set HIVEBLAS_CASE to the name of a row of the CPU table")
	}
	threads := 2
	if n := os.Getenv("HIVEBLAS_CASE_THREADS"); n != "" {
		var err error
		if threads, err = strconv.Atoi(n); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range coresCases(true) {
		if c.name != want {
			continue
		}
		run := &cpuBench{CPUOptions: CPUOptions{Threads: threads, Log: func(string) {}}, dir: b.TempDir(), inputs: map[string]*input{}}
		in, err := run.load(c.input)
		if err != nil {
			b.Fatal(err)
		}
		other, err := run.load(c.other)
		if err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		total := 0.0
		for range b.N {
			d, _, err := c.ours(run, in, other)
			if err != nil {
				b.Fatal(err)
			}
			total += d.Seconds() * 1e3
		}
		b.ReportMetric(total/float64(b.N), "ms/timed")
		return
	}
	b.Fatalf("no case is named %q", want)
}
