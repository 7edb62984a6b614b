//go:build !linux

package emu

// thread is the same for all: whether Bind was called cannot be seen here.
func thread() int { return 0 }
