package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Triad measures the memory bandwidth that Go code reaches with a number of threads, in GB/s (10⁹):
// the STREAM triad a[i] = b[i] + s·c[i] on three arrays of float64, each at least four times the
// last-level cache, the best of ten runs. It counts 24 bytes an element, as STREAM does, though the
// write makes most processors read a's lines as well.
//
// Source: McCalpin, "Memory bandwidth and machine balance in current high performance computers",
// IEEE TCCA Newsletter, 1995; https://www.cs.virginia.edu/stream/.
func Triad(threads int) float64 {
	return TriadOf(threads, 4*lastLevelCache("/sys/devices/system/cpu/cpu0/cache")/8, 10)
}

// TriadOf measures on arrays of n elements; the first run is not counted.
func TriadOf(threads, n, runs int) float64 {
	threads = max(threads, 1)
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	parallel := func(work func(a, b, c []float64)) time.Duration {
		var wg sync.WaitGroup
		start := time.Now()
		for t := range threads {
			lo, hi := n*t/threads, n*(t+1)/threads
			wg.Go(func() { work(a[lo:hi], b[lo:hi], c[lo:hi]) })
		}
		wg.Wait()
		return time.Since(start)
	}
	parallel(func(a, b, c []float64) {
		for i := range a {
			a[i], b[i], c[i] = 0, 1, 2
		}
	})
	var best time.Duration
	for run := range runs + 1 {
		took := parallel(triadKernel)
		if run > 0 && (best == 0 || took < best) {
			best = took
		}
	}
	return 24 * float64(n) / max(float64(best.Nanoseconds()), 1)
}

func triadKernel(a, b, c []float64) {
	b, c = b[:len(a)], c[:len(a)] // removes the bounds checks
	for i := range a {
		a[i] = b[i] + 3*c[i]
	}
}

// Registers measures the rate at which Go code computes without memory, in 10⁹ steps a second over
// all threads: eight chains of a multiplication, an addition and a shift each, in 16 pieces for
// each thread (a fast thread takes more than a slow one); the best of five runs of about 20 ms. Its
// growth with the threads is the most that such a case can gain from them: processors share cores
// and lower their clocks.
func Registers(threads int) float64 {
	const pieces = 16
	threads = max(threads, 1)
	run := func(steps int) time.Duration {
		var wg sync.WaitGroup
		var next atomic.Int64
		sums := make([]uint64, 8*threads) // a cache line each
		start := time.Now()
		for t := range threads {
			wg.Go(func() {
				for next.Add(1) <= int64(pieces*threads) {
					sums[8*t] += registersKernel(steps, uint64(t))
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	steps := 1 << 12
	for run(steps) < 20*time.Millisecond {
		steps *= 2
	}
	best := run(steps)
	for range 4 {
		best = min(best, run(steps))
	}
	return 8 * pieces * float64(steps) * float64(threads) / max(float64(best.Nanoseconds()), 1)
}

func registersKernel(steps int, seed uint64) uint64 {
	const by = 0x9e3779b97f4a7c15
	a, b, c, d := seed, seed+1, seed+2, seed+3
	e, f, g, h := seed+4, seed+5, seed+6, seed+7
	for range steps {
		a, b, c, d = a*by+a>>31, b*by+b>>31, c*by+c>>31, d*by+d>>31
		e, f, g, h = e*by+e>>31, f*by+f>>31, g*by+g>>31, h*by+h>>31
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h
}

// lastLevelCache returns the size of the largest cache that the kernel lists, and 32 MiB when it
// lists none.
func lastLevelCache(dir string) int {
	const otherwise = 32 << 20
	sizes, _ := filepath.Glob(filepath.Join(dir, "index*", "size"))
	largest := 0
	for _, path := range sizes {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		largest = max(largest, parseSize(strings.TrimSpace(string(text))))
	}
	if largest == 0 {
		return otherwise
	}
	return largest
}

// parseSize reads "32768K"; 0 when it cannot.
func parseSize(s string) int {
	unit := 1
	for suffix, factor := range map[string]int{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = number, factor
			break
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n * unit
}
