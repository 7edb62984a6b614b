package main

import (
	"strings"
	"testing"
)

// What the runtime prints at the end of a process becomes one line; other text passes.
func TestWatch(t *testing.T) {
	dump := "\ngoroutine 1 [running]:\nmain.main()\n\t/x/y.go:2 +0x50\n"
	for _, c := range []struct{ reason, in, want string }{
		{"nothing", "", ""},
		{"other text", "a library says\nsomething", "a library says\nsomething"},
		{"out of memory", "runtime: out of memory: cannot allocate 1073741824-byte block (1077673984 in use)\nfatal error: out of memory\n" + dump,
			"hiveblas: out of memory: "},
		{"threads", "runtime: failed to create new OS thread (have 2 already; errno=11)\nfatal error: newosproc: cannot allocate memory\n" + dump, "hiveblas: out of memory: "},
		{"text before a panic", "first\npanic: index out of range [3]\n" + dump, "first\nhiveblas: internal error: panic: index out of range [3]; this is a bug of hiveblas: please report it"},
		{"a signal", "SIGSEGV: segmentation violation\nPC=0x1\n" + dump, "hiveblas: internal error: SIGSEGV: segmentation violation; this is a bug"},
	} {
		var out strings.Builder
		watch(strings.NewReader(c.in), &out)
		got := out.String()
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "goroutine") || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
		if strings.Contains(c.want, "hiveblas: ") && strings.Count(got, "\n") != strings.Count(c.want, "\n")+1 {
			t.Errorf("%s: %q is more than a line", c.reason, got)
		}
	}
}
