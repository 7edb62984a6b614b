// Package emulate opens emulated GPUs for the tests of the benchmarks.
package emulate
