package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Where libraries are looked for, in this order:
//
//   - the file, or the folder of the file, that the environment names:
//     HIVEBLAS_CUDA, HIVEBLAS_NVRTC, HIVEBLAS_CUSPARSE, HIVEBLAS_CUBLAS; then nowhere else;
//   - wherever the dynamic linker looks, as LD_LIBRARY_PATH and ldconfig say;
//   - $CUDA_HOME/lib64, $CUDA_PATH/lib64, /usr/local/cuda/lib64, and for the
//     driver /usr/lib/wsl/lib;
//   - what pip and conda install: $CONDA_PREFIX/lib, and nvidia/cu13/lib,
//     nvidia/cuda_nvrtc/lib, nvidia/cusparse/lib, nvidia/cublas/lib in the site-packages of
//     $VIRTUAL_ENV, $CONDA_PREFIX, ~/.local, /usr/local and /usr.
type library struct {
	variable string   // of the environment
	names    []string // newest first
	wheels   []string // folders of pip's packages
	absent   error
}

var (
	cudaLibrary = library{
		"HIVEBLAS_CUDA", []string{"libcuda.so.1"}, nil, ErrNoDriver,
	}
	nvrtcLibrary = library{
		"HIVEBLAS_NVRTC", []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
		[]string{"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}, ErrNoCompiler,
	}
	cusparseLibrary = library{
		"HIVEBLAS_CUSPARSE", []string{"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"},
		[]string{"nvidia/cu13/lib", "nvidia/cusparse/lib"}, ErrNoCusparse,
	}
	cublasLibrary = library{
		"HIVEBLAS_CUBLAS", []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"},
		[]string{"nvidia/cu13/lib", "nvidia/cublas/lib"}, ErrNoCublas,
	}
)

// folders lists where l may be beside the linker's own places.
func (l *library) folders() []string {
	var out []string
	add := func(elements ...string) {
		if elements[0] != "" {
			out = append(out, filepath.Join(elements...))
		}
	}
	add(os.Getenv("CUDA_HOME"), "lib64")
	add(os.Getenv("CUDA_PATH"), "lib64")
	add("/usr/local/cuda/lib64")
	if l.wheels == nil {
		add("/usr/lib/wsl/lib")
		return out
	}
	add(os.Getenv("CONDA_PREFIX"), "lib")
	home, _ := os.UserHomeDir()
	local := ""
	if home != "" {
		local = filepath.Join(home, ".local")
	}
	for _, root := range []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"), local, "/usr/local", "/usr"} {
		if root == "" {
			continue
		}
		for _, site := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages"} {
			for _, wheel := range l.wheels {
				found, _ := filepath.Glob(filepath.Join(root, site, wheel))
				out = append(out, found...)
			}
		}
	}
	return out
}

// open loads l, and returns the path or the name by which it was found.
// before is called with every path that is about to be loaded.
func (l *library) open(before func(path string)) (handle uintptr, path string, err error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return 0, "", missing(l.absent, []string{"nothing: CUDA is looked for on linux/amd64 and linux/arm64, this is " + runtime.GOOS + "/" + runtime.GOARCH})
	}
	var tried []string
	try := func(p string) bool {
		if strings.Contains(p, "/") {
			if _, err := os.Stat(p); err != nil {
				return false
			}
			if before != nil {
				before(p)
			}
		}
		h, e := dlopen(p)
		if e != nil {
			if strings.Contains(p, "/") { // it is there, so why it fails matters
				tried = append(tried, p+": "+e.Error())
			}
			return false
		}
		handle, path = h, p
		return true
	}
	if given := os.Getenv(l.variable); given != "" {
		candidates := []string{given}
		if info, err := os.Stat(given); err == nil && info.IsDir() {
			candidates = nil
			for _, n := range l.names {
				candidates = append(candidates, filepath.Join(given, n))
			}
		}
		for _, p := range candidates {
			if !strings.Contains(p, "/") {
				p = "./" + p
			}
			if try(p) {
				return handle, path, nil
			}
		}
		if tried == nil {
			tried = candidates
		}
		return 0, "", missing(l.absent, append([]string{l.variable + "=" + given}, tried...))
	}
	for _, n := range l.names {
		if try(n) {
			return handle, path, nil
		}
	}
	folders := l.folders()
	for _, n := range l.names {
		for _, dir := range folders {
			if try(filepath.Join(dir, n)) {
				return handle, path, nil
			}
		}
	}
	return 0, "", missing(l.absent, append(append(append([]string{}, l.names...), tried...), folders...))
}

// CompilerIdentity tells the NVRTC that OpenCompiler would load apart from
// others, without loading it, which would take longer than all else that a
// program with kept kernels does: the library's name, size and time, and the
// options that the environment adds. It is a key, not a version to show.
func CompilerIdentity() string {
	id := "unknown"
	if path := nvrtcLibrary.locate(); path != "" {
		if p, err := filepath.EvalSymlinks(path); err == nil {
			path = p
		}
		if info, err := os.Stat(path); err == nil {
			id = fmt.Sprintf("%s %d %d", filepath.Base(path), info.Size(), info.ModTime().Unix())
		}
	}
	if os.Getenv("HIVEBLAS_LINEINFO") != "" {
		id += " lineinfo"
	}
	return id
}

// locate returns the path that open would load, "" if it is not found. Where
// the linker looks is taken from LD_LIBRARY_PATH and ld.so.conf; it may know
// more places.
func (l *library) locate() string {
	if given := os.Getenv(l.variable); given != "" {
		if info, err := os.Stat(given); err != nil || !info.IsDir() {
			return given
		}
		return firstFile([]string{given}, l.names)
	}
	folders := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	configured, _ := filepath.Glob("/etc/ld.so.conf.d/*.conf")
	for _, file := range configured {
		text, _ := os.ReadFile(file)
		for _, line := range strings.Fields(string(text)) {
			if strings.HasPrefix(line, "/") {
				folders = append(folders, line)
			}
		}
	}
	folders = append(folders, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
	// The linker tries a name everywhere before the next name.
	if p := firstFile(folders, l.names); p != "" {
		return p
	}
	return firstFile(l.folders(), l.names)
}

// firstFile returns the first of names that is in any of the folders.
func firstFile(folders, names []string) string {
	for _, n := range names {
		for _, dir := range folders {
			if info, err := os.Stat(filepath.Join(dir, n)); err == nil && !info.IsDir() {
				return filepath.Join(dir, n)
			}
		}
	}
	return ""
}
