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
func Available() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "MemAvailable:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
