//go:build unix

package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// fakePeer speaks the protocol: "run die" ends it, "run env" reports how OpenMP threads wait, other
// runs report how many inputs it has.
const fakePeer = `
loaded=0
while read -r word name rest; do
	case "$word $name" in
	"version "*) echo "ok fake 1" ;;
	"cases "*) echo "ok die count env" ;;
	"run die") echo "out of luck" >&2; exit 3 ;;
	"run env") [ "$OMP_WAIT_POLICY:$GOMP_SPINCOUNT" = passive:0 ] && echo "ms 1 check 1" || echo "ms 1 check 0" ;;
	"run "*) echo "ms 1 check $loaded" ;;
	"load "*) loaded=$((loaded+1)); echo ok ;;
	"free "*) loaded=$((loaded-1)); echo ok ;;
	"quit "*) exit 0 ;;
	*) echo "ok 1" ;;
	esac
done
`

func startFake(t *testing.T) *coprocess {
	t.Helper()
	p, err := launch(context.Background(), SciPy, "sh", "-c", fakePeer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.(*coprocess)
}

// A peer that dies says so, and answers the next command with the inputs it had.
func TestPeerDies(t *testing.T) {
	p := startFake(t)
	for _, name := range []string{"a", "b", "c"} {
		if err := p.Load(name, filepath.Join(t.TempDir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Free("b"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := p.Run("die", "a")
		died := new(*DiedError)
		if !errors.Is(err, ErrDied) || !errors.As(err, died) || (*died).Stderr != "out of luck" {
			t.Fatalf("the error is %v, want a DiedError with the message of the process", err)
		}
		got, err := p.Run("count", "a")
		if err != nil || got.Check != 2 {
			t.Fatalf("after the death: %v inputs, %v, want 2", got.Check, err)
		}
	}
}

// A peer that does not start again stays an error, and closing it is none.
func TestPeerLost(t *testing.T) {
	p := startFake(t)
	p.args = []string{"-c", "exit 1"}
	p.threads = 2
	if _, err := p.Run("die", "a"); !errors.Is(err, ErrDied) {
		t.Fatalf("the error is %v, want a DiedError", err)
	}
	for range 2 {
		if _, err := p.Run("count", "a"); err == nil {
			t.Fatal("a peer that is gone answers")
		}
	}
}

// OpenMP threads of a peer sleep when idle, and the process is stopped between commands.
func TestPeerPaused(t *testing.T) {
	p := startFake(t)
	if got, err := p.Run("env", "-"); err != nil || got.Check != 1 {
		t.Errorf("the environment lacks OMP_WAIT_POLICY=passive or GOMP_SPINCOUNT=0: %v, %v", got, err)
	}
	status := fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)
	if _, err := os.Stat(status); err != nil {
		t.Skip("no /proc: the state of a process cannot be read")
	}
	state := ""
	for range 100 { // a signal takes a moment
		text := sure.Get(os.ReadFile(status))
		_, after, _ := strings.Cut(string(text), ") ")
		if state = after[:1]; state == "T" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if state != "T" {
		t.Errorf("between commands the process is in state %s, want T, stopped", state)
	}
	if got, err := p.Run("count", "-"); err != nil || got.Check != 0 {
		t.Errorf("after the pause: %v, %v", got, err)
	}
}
