package emu

import "syscall"

// thread identifies the OS thread, to see whether a context is bound to it.
func thread() int { return syscall.Gettid() }
