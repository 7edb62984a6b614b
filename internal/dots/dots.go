// Package dots has dot products of sparse rows with a dense vector, in assembly for amd64 with AVX.
// They round as the Go loops of package semiring do, which are their reference.
//
// The loops spend their time on loads from the vector at random places. The assembly has fewer
// instructions per entry, so that more loads are under way at once, and on processors by AMD
// prefetches from vectors beyond the caches. SpMV plus.times float64, two threads, Go and assembly:
// on an AMD EPYC R-MAT 18 10.1 and 6.2 ms, R-MAT 20 90 and 38; on an Intel Xeon 10.8 and 7.4, 63
// and 43, with 16 threads 1.88 and 1.32, 8.2 and 6.2.
package dots

// A Float is a type that the loops exist for.
type Float interface{ float32 | float64 }
