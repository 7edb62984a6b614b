//go:build !unix

package peers

import "os/exec"

// Where there are no process groups, peers keep running between commands.
func ownGroup(*exec.Cmd) {}
func pause(*exec.Cmd)    {}
func resume(*exec.Cmd)   {}
