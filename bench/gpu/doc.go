// Package gpu measures hiveblas on a GPU beside the libraries of its vendor and plain kernels.
//
// Contenders run in turn on one stream and are timed by its events. A result that differs from the
// check of its row is an error of the row.
package gpu
