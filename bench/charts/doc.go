// Package charts draws the pictures of the benchmarks.
//
// A [Plot] is a picture and the name of its file.
package charts
