package job

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/crash"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/progress"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// Session is one run of the program.
type Session struct {
	cli.Session
	Machine *Machine
	Bar     atomic.Pointer[progress.Display] // of the command
	Watch   crash.Watch                      // of the end of this process
}
