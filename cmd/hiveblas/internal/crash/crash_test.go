package crash

import (
	"os"
	"strings"
	"testing"
	"time"
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
		{"threads by their limit", "runtime: failed to create new OS thread (have 9 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n" + dump,
			"hiveblas: no further thread starts; raise the limits of memory and of processes (ulimit -v and -u"},
		{"a limit of mappings", "fatal error: runtime: cannot map pages in arena address space\n" + dump, "hiveblas: out of memory: "},
		{"Windows", "runtime: VirtualAlloc of 8192 bytes failed with errno=1455\nfatal error: out of memory\n" + dump, "hiveblas: out of memory: "},
		{"an exception of Windows", "Exception 0xc0000005 0x0 0x0 0x1\nPC=0x1\n" + dump, "hiveblas: internal error: Exception 0xc0000005 0x0 0x0 0x1; this is a bug"},
		{"text before a panic", "first\npanic: index out of range [3]\n" + dump, "first\nhiveblas: internal error: panic: index out of range [3]; this is a bug of hiveblas: please report it"},
		{"a signal", "SIGSEGV: segmentation violation\nPC=0x1\n" + dump, "hiveblas: internal error: SIGSEGV: segmentation violation; this is a bug"},
	} {
		var out strings.Builder
		relay(strings.NewReader(c.in), &out)
		got := out.String()
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "goroutine") || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
		if strings.Contains(c.want, "hiveblas: ") && strings.Count(got, "\n") != strings.Count(c.want, "\n")+1 {
			t.Errorf("%s: %q is more than a line", c.reason, got)
		}
	}
}

// TestWatchBegins: the end of a process is watched at once if there is little memory, later
// otherwise.
func TestWatchBegins(t *testing.T) {
	// os.Stderr itself is not redirected, so that no process starts.
	var little, enough, unknown Watch
	if little.StartLater(os.Stderr, littleRoom-1); !little.Started.Load() {
		t.Error("with little memory the end is not watched at once")
	}
	if stop := enough.StartLater(os.Stderr, littleRoom); !stop() || enough.Started.Load() {
		t.Error("with enough memory the end is watched at once")
	}
	unknown.StartLater(os.Stderr, 0)
	for began := time.Now(); !unknown.Started.Load(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the end is never watched")
		}
	}
}
