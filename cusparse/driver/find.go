package driver

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Where libraries are looked for, in this order:
//
//   - the file, or the folder of the file, that the environment names:
//     HIVEBLAS_CUDA, HIVEBLAS_NVRTC, HIVEBLAS_CUSPARSE; then nowhere else;
//   - wherever the dynamic linker looks, as LD_LIBRARY_PATH and ldconfig say;
//   - $CUDA_HOME/lib64, $CUDA_PATH/lib64, /usr/local/cuda/lib64, and for the
//     driver /usr/lib/wsl/lib;
//   - what pip and conda install: $CONDA_PREFIX/lib, and nvidia/cu13/lib,
//     nvidia/cuda_nvrtc/lib, nvidia/cusparse/lib in the site-packages of
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
