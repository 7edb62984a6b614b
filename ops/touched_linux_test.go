package ops_test

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
)

// smallPages makes the kernel use pages of 4 KiB for new memory until the test ends: a page is the
// unit of touched.
func smallPages(t *testing.T) {
	const setTHPDisable = 41
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, setTHPDisable, 1, 0, 0, 0, 0); err != 0 {
		t.Skip("prctl: ", err)
	}
	t.Cleanup(func() { syscall.RawSyscall6(syscall.SYS_PRCTL, setTHPDisable, 0, 0, 0, 0, 0) })
}

// touched runs fn and returns the bytes of the pages of data that it read or wrote, by the bits
// that the processor sets in the page table. It returns −1 if the kernel does not show them.
func touched(fn func()) int64 {
	if os.WriteFile("/proc/self/clear_refs", []byte("1"), 0) != nil {
		return -1
	}
	fn()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return -1
	}
	defer f.Close()
	n, err := io.ReadFull(f, smaps[:])
	if err != io.ErrUnexpectedEOF {
		return -1
	}
	sum, anonymous := int64(0), false
	for line := range bytes.Lines(smaps[:n]) {
		if kib, ok := bytes.CutPrefix(line, []byte("Referenced:")); ok && anonymous {
			k, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(kib, []byte("kB\n")))), 10, 64)
			sum += k << 10
		} else if f := bytes.Fields(line); len(f) >= 5 && bytes.ContainsRune(f[0], '-') {
			anonymous = len(f) == 5 || bytes.HasPrefix(f[5], []byte("[anon"))
		}
	}
	return sum
}

var smaps [1 << 20]byte
