// Package gpuside has the contenders on a GPU: runs timed by events, libraries of the vendor, and
// products of streamed blocks.
package gpuside
