package crash

import "golang.org/x/sys/unix"

// replaceFile makes number another number of the open file fd. (Some processors have no dup2 on
// Linux.)
func replaceFile(fd, number int) error { return unix.Dup3(fd, number, 0) }
