package main

import "golang.org/x/sys/unix"

// sharedMemory returns the size of /dev/shm.
func sharedMemory() (bytes int64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs("/dev/shm", &s) != nil {
		return 0, false
	}
	return int64(s.Blocks) * int64(s.Bsize), true
}
