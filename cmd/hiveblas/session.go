package main

import (
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// session is one run of the program.
type session struct {
	cli.Session
	bar atomic.Pointer[progress] // of the command
}

// run executes a command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	s := &session{}
	s.Abandon = func() { s.bar.Load().abandon() }
	return s.Run(args, stdout, stderr, func() *cobra.Command { return rootCommand(s) })
}
