// Package prefetch issues prefetch instructions on amd64 and arm64. They do not change the results
// of a program. On other processors its functions do nothing.
//
// A push reads rows at random addresses, two or more cache lines each, that no hardware prefetcher
// predicts.
package prefetch
