// Package dots has dot products of sparse rows with a dense vector, in assembly for amd64 with AVX.
// They round as the Go loops of package semiring do, which are their reference.
//
// The loops spend their time on loads from the vector at random places. The assembly has fewer
// instructions per entry, so that more loads are under way at once, and on processors by AMD
// prefetches from vectors beyond the caches.
package dots

// A Float is a type that the loops exist for.
type Float interface{ float32 | float64 }
