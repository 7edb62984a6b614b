package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownStderr returns standard error for the messages of the program. The runtime prints to file 2,
// which startWatch may replace.
func ownStderr() *os.File {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stderr
	}
	return os.NewFile(uintptr(fd), "/dev/stderr")
}

// startWatch starts a process that reads what the runtime prints at the end of this one. It does
// nothing if that fails, or if the environment has GOTRACEBACK. ownStderr returns stderr.
func startWatch(stderr *os.File) {
	program, err := os.Executable()
	if err != nil || os.Getenv("GOTRACEBACK") != "" || stderr == os.Stderr {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	defer w.Close() // file 2 stays
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), watching+"=1")
	cmd.Stdin, cmd.Stderr = r, stderr
	if cmd.Start() != nil {
		return
	}
	go func() { _ = cmd.Wait() }()
	_ = unix.Dup3(int(w.Fd()), 2, 0)
}

// watchParent is the process that startWatch starts. It ends with its parent.
func watchParent() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	watch(os.Stdin, os.Stderr)
}
