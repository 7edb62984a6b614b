//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peakRSS returns the most memory that a process that has ended had, in bytes.
func peakRSS(p *os.ProcessState) uint64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" { // bytes there, KiB elsewhere
		return uint64(u.Maxrss)
	}
	return uint64(u.Maxrss) << 10
}
