package fresh

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestHugePages reads the flags of a large array from the kernel: "hg" marks advised memory.
func TestHugePages(t *testing.T) {
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(mode), "[never]") {
		t.Skipf("the system has no huge pages: %s %v", mode, err)
	}
	a := Make[float64](4 * hugePage / 8)
	for i := range a {
		a[i] = float64(i)
	}
	for i, x := range a {
		if x != float64(i) {
			t.Fatalf("item %d is %v", i, x)
		}
	}
	if flags := flagsOf(t, uintptr(unsafe.Pointer(&a[2*hugePage/8]))); !strings.Contains(flags, " hg") {
		t.Errorf("flags of its memory: %q, want hg", flags)
	}
	runtime.KeepAlive(a)
}

// flagsOf returns the flags of the mapping of an address.
func flagsOf(t *testing.T, address uintptr) string {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	here := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &lo, &hi); n == 2 {
			here = lo <= address && address < hi
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && here {
			return flags
		}
	}
	t.Skip("/proc/self/smaps has no flags")
	return ""
}
