//go:build !linux

package main

// sharedMemory knows /dev/shm on Linux alone.
func sharedMemory() (bytes int64, ok bool) { return 0, false }
