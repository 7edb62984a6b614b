package hostmem

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip(err)
	}
	if n := Available(); n <= 0 {
		t.Errorf("%d bytes are available", n)
	}
	before := PeakResident()
	b := make([]byte, before+64<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if after := PeakResident(); after < int64(len(b)) {
		t.Errorf("with %d bytes in use the peak is %d", len(b), after)
	}
}

// The least of the system, the limits of the process and the control groups counts.
func TestRoom(t *testing.T) {
	const meminfo = "MemTotal: 8000 kB\nMemAvailable: 4000 kB\n"
	status := "VmSize:\t1000 kB\nVmData:\t500 kB\n"
	limits := func(space, data string) string {
		return "Limit                     Soft Limit           Hard Limit           Units\n" +
			"Max data size             " + data + "            unlimited            bytes\n" +
			"Max address space         " + space + "            unlimited            bytes\n"
	}
	for _, c := range []struct {
		reason string
		files  map[string]string
		want   int64
		bound  string
	}{
		{"nothing is known", nil, 0, ""},
		{"the system", map[string]string{"/proc/meminfo": meminfo, "/proc/self/limits": limits("unlimited", "unlimited")}, 4000 << 10, "this machine"},
		{"ulimit -v", map[string]string{"/proc/meminfo": meminfo, "/proc/self/status": status, "/proc/self/limits": limits("2048000", "unlimited")},
			1000 << 10, "ulimit -v"},
		{"ulimit -d", map[string]string{"/proc/meminfo": meminfo, "/proc/self/status": status, "/proc/self/limits": limits("unlimited", "1024000")},
			500 << 10, "ulimit -d"},
		{"a limit that is used up", map[string]string{"/proc/meminfo": meminfo, "/proc/self/status": status, "/proc/self/limits": limits("1000", "unlimited")},
			1, "ulimit -v"},
		{"a group", map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b\n",
			"/sys/fs/cgroup/a/b/memory.max": "3000000\n", "/sys/fs/cgroup/a/b/memory.current": "2500000\n",
			"/sys/fs/cgroup/a/b/memory.stat": "anon 1\ninactive_file 100000\n"}, 600000, "the control group"},
		{"the group around it", map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b\n",
			"/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "2000\n", "/sys/fs/cgroup/a/memory.current": "500\n"}, 1500, "the control group"},
		{"version 1", map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "12:cpu:/x\n4:memory:/x\n",
			"/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9000\n", "/sys/fs/cgroup/memory/x/memory.usage_in_bytes": "1000\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8000, "the control group"},
	} {
		got, bound := room(func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if got != c.want || bound != c.bound {
			t.Errorf("%s: %d bytes of %q, want %d of %q", c.reason, got, bound, c.want, c.bound)
		}
	}
	if all, bound := Room(); Available() > 0 && (all <= 0 || bound == "") {
		t.Errorf("the room is %d of %q", all, bound)
	}
}

// TestReadFile compares with os.ReadFile: an empty file, one that the first read holds, larger
// ones.
func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 10, 4095, 4096, 4097, 100000} {
		want := bytes.Repeat([]byte("a line of text\n"), size/15+1)[:size]
		sure.Do(os.WriteFile(name, want, 0o600))
		if got, err := ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: ReadFile returns %d bytes, which differ (%v)", size, len(got), err)
		}
	}
	if _, err := ReadFile(filepath.Dir(name)); err == nil {
		t.Error("ReadFile of a folder returns no error")
	}
	if _, err := ReadFile(name + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ReadFile of no file: %v", err)
	}
}
