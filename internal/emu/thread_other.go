//go:build !linux

package emu

// thread is constant: the emulator cannot check Bind here.
func thread() int { return 0 }
