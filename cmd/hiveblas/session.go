package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// session is one run of the program: where it prints and what ends it.
type session struct {
	ctx            context.Context
	cancel         context.CancelCauseFunc
	stdin          io.Reader
	stdout, stderr io.Writer

	// cleaning is set while stopping halfway would leave something behind, such
	// as a temporary file: the program then waits for its work to end.
	cleaning atomic.Bool

	bar atomic.Pointer[progress] // of the command
}

// grace is how long work that was cancelled may take to notice.
const grace = 2 * time.Second

// run executes a command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s := &session{ctx: ctx, cancel: cancel, stdin: os.Stdin, stdout: stdout, stderr: stderr}

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		<-signals
		cancel(errInterrupted)
	}()

	root := rootCommand(s)
	root.SetArgs(args)
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	return s.exit(s.await(done))
}

// await returns the error of the work. Once the context has ended it waits no
// longer than grace, unless something must be cleaned up.
func (s *session) await(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
	}
	patience := time.After(grace)
	for {
		select {
		case err := <-done:
			return err
		case <-patience:
			if !s.cleaning.Load() {
				s.bar.Load().abandon()
				return context.Cause(s.ctx)
			}
			patience = time.After(grace / 20)
		}
	}
}
