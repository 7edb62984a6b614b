//go:build unix && !linux

package crash

import "golang.org/x/sys/unix"

// replaceFile makes number another number of the open file fd.
func replaceFile(fd, number int) error { return unix.Dup2(fd, number) }
