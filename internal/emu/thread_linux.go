package emu

import "syscall"

// thread identifies the OS thread, to check that a context is bound to it.
func thread() int { return syscall.Gettid() }
