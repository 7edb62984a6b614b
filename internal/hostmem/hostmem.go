// Package hostmem tells how much memory the system has to give.
package hostmem

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Available returns the bytes of memory that the system can still give out, 0
// if it does not tell.
func Available() int64 { return field("/proc/meminfo", "MemAvailable:") }

// PeakResident returns the most bytes of memory that this process had at a
// time, 0 if the system does not tell. (What getrusage tells of a child is no
// less than its parent had when it began.)
func PeakResident() int64 { return field("/proc/self/status", "VmHWM:") }

// field returns a line of kilobytes, in bytes.
func field(path, name string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), name); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
