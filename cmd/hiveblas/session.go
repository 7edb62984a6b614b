package main

import (
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// session is one run of the program.
type session struct {
	cli.Session
	bar   atomic.Pointer[display] // of the command
	watch watch                   // of the end of this process
}

// run executes a command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	s := &session{}
	s.Stderr = stderr
	room, _ := hostmem.Room()
	defer s.watch.startLater(stderr, room)()
	s.Abandon = func() { s.bar.Load().abandon() }
	return s.Run(args, stdout, stderr, func() *cobra.Command { return rootCommand(s) })
}
