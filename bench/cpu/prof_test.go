package cpu

import (
	"context"
	"os"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkCase runs our side of the cases of hiveblas-bench cores that the regular expression
// HIVEBLAS_CASE matches, with HIVEBLAS_CASE_THREADS threads (2 by default), for profiles.
//
// The caller has the label "case" in profiles, its helpers have none. So the profile of a case
// without (*crew).run is the time of the passes that one thread makes:
//
//	go tool pprof -top -tagfocus 'case=ewiseadd rmat18' -ignore 'crew..run' cpu.test cpu.out
func BenchmarkCase(b *testing.B) {
	want := os.Getenv("HIVEBLAS_CASE")
	if want == "" {
		b.Skip("set HIVEBLAS_CASE to a regular expression of names of cases")
	}
	pattern, err := regexp.Compile(want)
	if err != nil {
		b.Fatal(err)
	}
	threads := 2
	if n := os.Getenv("HIVEBLAS_CASE_THREADS"); n != "" {
		if threads, err = strconv.Atoi(n); err != nil {
			b.Fatal(err)
		}
	}
	run := &cpuBench{Options: Options{Threads: threads, Log: func(string) {}}, dir: b.TempDir(), inputs: map[string]*input{}}
	ran := 0
	for _, c := range coresCases(true) {
		if !pattern.MatchString(c.name) {
			continue
		}
		if why := run.room(c); why != "" {
			b.Logf("%s: %s", c.name, why)
			continue
		}
		in, err := run.load(c.input)
		if err != nil {
			b.Fatal(err)
		}
		other, err := run.load(c.other)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err = c.ours(run, in, other); err != nil { // what it keeps beside its input
			b.Fatal(err)
		}
		ran++
		b.Run(strings.ReplaceAll(c.name, "/", "÷"), func(b *testing.B) {
			pprof.Do(context.Background(), pprof.Labels("case", c.name), func(context.Context) {
				total := 0.0
				for range b.N {
					d, _, err := c.ours(run, in, other)
					if err != nil {
						b.Fatal(err)
					}
					total += d.Seconds() * 1e3
				}
				b.ReportMetric(total/float64(b.N), "ms/timed")
			})
		})
	}
	if ran == 0 {
		b.Fatalf("no case matches %q", want)
	}
}
