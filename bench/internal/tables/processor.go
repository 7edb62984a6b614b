package tables

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Processor names the host's.
func Processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return fmt.Sprintf("%s, %d processors", strings.TrimSpace(value), runtime.NumCPU())
		}
	}
	return fmt.Sprintf("%s, %d processors", runtime.GOARCH, runtime.NumCPU())
}
