// Package prefetch issues prefetch instructions on amd64 and arm64. They do not change the results
// of a program. On other processors its functions do nothing.
//
// A push reads rows at random addresses, two or more cache lines each, that no hardware prefetcher
// predicts. With a prefetch four rows ahead, min.plus scatters 0.4 million products of R-MAT 18
// from 9000 rows in 2.9 ms, without in 4.5 (one thread, cold caches).
package prefetch
