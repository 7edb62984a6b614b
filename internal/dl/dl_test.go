package dl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestFind(t *testing.T) {
	if !Supported {
		t.Skip("libraries are not opened on this platform")
	}
	lib, path, err := Find("", []string{"libhb-none.so", "libc.so.6"}, nil)
	if err != nil || path != "libc.so.6" {
		t.Skip("no libc.so.6:", err)
	}
	labs, err := Symbol(lib, "labs")
	if err != nil {
		t.Fatal(err)
	}
	minus := -7
	if got := Call(labs, uintptr(minus)); got != 7 {
		t.Errorf("labs(-7) is %d", got)
	}
	if _, err := Symbol(lib, "hb_none"); err == nil {
		t.Error("a symbol that is missing was found")
	}
	if s := String(unsafe.Pointer(CString("word"))); s != "word" {
		t.Errorf("%q", s)
	}
	if String(nil) != "" {
		t.Error("nil is not empty")
	}
	dir := t.TempDir()
	broken := filepath.Join(dir, "libbroken.so")
	sure.Do(os.WriteFile(broken, []byte("text"), 0o644))
	for _, tc := range []struct{ reason, variable, value, folder, want string }{
		{"missing", "", "", "", "libbroken.so"},
		{"broken, in a folder", "", "", dir, "libbroken.so"},
		{"broken, by its folder", "HB_TEST_LIB", dir, "", "HB_TEST_LIB=" + dir},
		{"broken, by name", "HB_TEST_LIB", broken, "", broken},
	} {
		if tc.variable != "" {
			t.Setenv(tc.variable, tc.value)
		}
		_, _, err := Find(tc.variable, []string{"libbroken.so"}, []string{tc.folder})
		if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
}
