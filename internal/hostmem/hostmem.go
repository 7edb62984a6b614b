// Package hostmem reports the memory of the system and of this process.
package hostmem

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Available returns the bytes of memory that the system can still provide, 0 if unknown.
func Available() int64 { return field("/proc/meminfo", "MemAvailable:") }

// PeakResident returns the largest resident size of this process in bytes, 0 if unknown. (getrusage
// is unsuitable: a child's figure starts at that of its parent.)
func PeakResident() int64 { return field("/proc/self/status", "VmHWM:") }

// field returns a value of kilobytes in bytes.
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
