package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A panic of a command is an error of one line that says where it began.
func TestPanicIsError(t *testing.T) {
	if os.Getenv("GOTRACEBACK") != "" {
		t.Skip("GOTRACEBACK lets panics go on")
	}
	fail := func() (err error) {
		defer Recovered(&err)
		var s *Session
		_ = s.Ctx
		return nil
	}
	err := fail()
	if err == nil {
		t.Fatal("a panic is no error")
	}
	for _, part := range []string{"internal error: runtime error: invalid memory address", "errors_test.go:", "please report it"} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %q, want %q", err, part)
		}
	}
}

// The command of a name that moved prints the new command line, and is a mistake of usage.
func TestMoved(t *testing.T) {
	t.Parallel()
	var s Session
	var out, bad strings.Builder
	code := s.Run([]string{"old", "cpu", "--only", "x", "--help"}, &out, &bad, func() *cobra.Command {
		root := &cobra.Command{Use: "program"}
		root.AddCommand(Moved("old", "other", "other new"))
		return s.Root(root, nil)
	})
	want := "program: program old is a command of its own: other new cpu --only x --help; go install github.com/hiveblas/hiveblas/cmd/other@latest installs it, " +
		"or in the source run go run ./cmd/other\n"
	if code != ExitUsage || out.String() != "" || bad.String() != want {
		t.Errorf("exit %d, printed %q and %q, want %q", code, out.String(), bad.String(), want)
	}
}
