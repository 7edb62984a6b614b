package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// session is one run of the program: its standard streams and its cancellation.
type session struct {
	ctx            context.Context
	cancel         context.CancelCauseFunc
	stdin          io.Reader
	stdout, stderr io.Writer

	// cleaning is set while an exit would leave a temporary file or a process behind.
	// The program then waits for the command to return.
	cleaning atomic.Bool

	bar atomic.Pointer[progress] // of the command

	ended atomic.Pointer[func(error)] // called with the error of the command before the exit

	watched atomic.Bool // the end of this process is watched by another
}

// grace is the time that a cancelled command has to return.
const grace = 2 * time.Second

// run executes a command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s := &session{ctx: ctx, cancel: cancel, stdin: os.Stdin, stdout: stdout, stderr: stderr}
	room, _ := hostmem.Room()
	defer s.watchLater(room)()

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()

	root := rootCommand(s)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		offerCompletions(root)
	}
	root.SetArgs(args)
	done := make(chan error, 1)
	go func() { done <- execute(ctx, root) }()
	err := s.await(done)
	if f := s.ended.Load(); f != nil {
		(*f)(err)
	}
	return s.exit(err)
}

// execute runs the command. A panic is an error.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	defer recovered(&err)
	return root.ExecuteContext(ctx)
}

// await returns the error of the command. After the end of the context it waits for
// at most grace, or until cleaning is done.
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
