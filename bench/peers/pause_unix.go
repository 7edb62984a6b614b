//go:build unix

package peers

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process start a group of its own, which its children join.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// pause stops the group of a process; resume continues it. Errors mean that it has ended, which the
// next command finds out.
func pause(cmd *exec.Cmd)  { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP) }
func resume(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT) }
