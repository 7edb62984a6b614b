package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Session is one run of a program: its standard streams and its cancellation.
type Session struct {
	Ctx            context.Context
	Cancel         context.CancelCauseFunc
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Cleaning is set while an exit would leave a temporary file or a process behind.
	// The program then waits for the command to return.
	Cleaning atomic.Bool

	// Abandon is called when the program exits before the command returns. It may be nil.
	Abandon func()

	Ended atomic.Pointer[func(error)] // called with the error of the command before the exit
}

// grace is the time that a cancelled command has to return.
const grace = 2 * time.Second

// Run executes a command line and returns the exit code. It sets the context and the streams of the
// session before it calls root, which makes the commands.
func (s *Session) Run(args []string, stdout, stderr io.Writer, root func() *cobra.Command) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s.Ctx, s.Cancel, s.Stdin, s.Stdout, s.Stderr = ctx, cancel, os.Stdin, stdout, stderr

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	go func() {
		select {
		case <-signals:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()

	cmd := root()
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		offerCompletions(cmd)
	}
	cmd.SetArgs(args)
	done := make(chan error, 1)
	go func() { done <- execute(ctx, cmd) }()
	err := s.await(done)
	if f := s.Ended.Load(); f != nil {
		(*f)(err)
	}
	return s.exit(cmd.Name(), err)
}

// execute runs the command. A panic is an error.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	defer Recovered(&err)
	return root.ExecuteContext(ctx)
}

// await returns the error of the command. After the end of the context it waits for
// at most grace, or until cleaning is done.
func (s *Session) await(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.Ctx.Done():
	}
	patience := time.After(grace)
	for {
		select {
		case err := <-done:
			return err
		case <-patience:
			if !s.Cleaning.Load() {
				if s.Abandon != nil {
					s.Abandon()
				}
				return context.Cause(s.Ctx)
			}
			patience = time.After(grace / 20)
		}
	}
}
