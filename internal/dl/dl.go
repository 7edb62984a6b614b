// Package dl opens shared libraries and calls their C functions, without cgo. Package
// cusparse/driver opens libraries in its own way, by the folders of CUDA, and takes the strings
// from here.
package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

// ErrNoLibrary is wrapped by the errors of Find.
var ErrNoLibrary = errors.New("the library was not found")

// Find opens a library. If the environment variable is set, it names the file, or the folder of the
// file, and nothing else is tried. Otherwise Find tries names, newest first, where the dynamic
// linker looks and then in folders, which may be patterns of filepath.Glob. It returns the path or
// name that was opened; an error lists what was tried.
func Find(variable string, names, folders []string) (lib uintptr, path string, err error) {
	if !Supported {
		return 0, "", fmt.Errorf("%w: libraries are opened on linux/amd64 and linux/arm64 alone", ErrNoLibrary)
	}
	var tried []string
	try := func(p string) bool {
		if strings.Contains(p, "/") {
			if _, err := os.Stat(p); err != nil {
				return false
			}
		}
		h, err := Open(p)
		if err != nil {
			tried = append(tried, err.Error())
			return false
		}
		lib, path = h, p
		return true
	}
	if given := os.Getenv(variable); variable != "" && given != "" {
		candidates := []string{given}
		if info, err := os.Stat(given); err == nil && info.IsDir() {
			candidates = nil
			for _, n := range names {
				candidates = append(candidates, filepath.Join(given, n))
			}
		}
		for _, p := range candidates {
			if !strings.Contains(p, "/") {
				p = "./" + p
			}
			if try(p) {
				return lib, path, nil
			}
		}
		return 0, "", fmt.Errorf("%w: %s=%s (%s)", ErrNoLibrary, variable, given, strings.Join(append(tried, candidates...), "; "))
	}
	for _, n := range names {
		if try(n) {
			return lib, path, nil
		}
	}
	for _, pattern := range folders {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			for _, n := range names {
				if try(filepath.Join(dir, n)) {
					return lib, path, nil
				}
			}
		}
	}
	return 0, "", fmt.Errorf("%w (tried %s in the linker's folders and %s: %s)", ErrNoLibrary,
		strings.Join(names, ", "), strings.Join(folders, ", "), strings.Join(tried, "; "))
}

// String copies a C string; a nil pointer gives "".
func String(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// CString returns s with a zero byte after it.
func CString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}
