// Package prefetch issues prefetch instructions on amd64 and arm64. They do not change the results
// of a program. On other processors its functions do nothing.
//
// A push reads rows at random addresses, two or more cache lines each, that no hardware prefetcher
// predicts. With a prefetch four rows ahead, min.plus scatters 0.4 million products of R-MAT 18
// from 9000 rows in 2.9 ms instead of 4.5, and 2.6 million from 58000 rows in 9.5 instead of 11.1
// (one thread, cold caches).
package prefetch
