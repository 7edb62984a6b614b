package driver

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// nvrtc is NVIDIA's compiler of CUDA C++.
type nvrtc struct {
	path         string
	major, minor int
	supported    []int // architectures, such as 90; nil if it does not say
	// Before version 12 compilations exclude each other: whether they need to
	// is not known.
	mu sync.Mutex

	nvrtcVersion, nvrtcGetErrorString, nvrtcCreateProgram, nvrtcDestroyProgram, nvrtcCompileProgram uintptr
	nvrtcGetProgramLogSize, nvrtcGetProgramLog, nvrtcGetCUBINSize, nvrtcGetCUBIN                    uintptr
	nvrtcGetPTXSize, nvrtcGetPTX, nvrtcGetNumSupportedArchs, nvrtcGetSupportedArchs                 uintptr
}

// OpenCompiler loads NVRTC, which needs no GPU. Its error wraps ErrNoCompiler.
//
// For an architecture that it knows it makes machine code, for a newer one PTX
// of the newest that it knows, which the driver compiles when it is loaded.
// With HIVEBLAS_LINEINFO set, the code holds line numbers for profilers.
func OpenCompiler() (Compiler, error) {
	handle, path, err := nvrtcLibrary.open(loadBuiltins)
	if err != nil {
		return nil, err
	}
	n := &nvrtc{path: path}
	optional := map[string]bool{"nvrtcGetNumSupportedArchs": true, "nvrtcGetSupportedArchs": true}
	for name, p := range map[string]*uintptr{
		"nvrtcVersion": &n.nvrtcVersion, "nvrtcGetErrorString": &n.nvrtcGetErrorString,
		"nvrtcCreateProgram": &n.nvrtcCreateProgram, "nvrtcDestroyProgram": &n.nvrtcDestroyProgram,
		"nvrtcCompileProgram": &n.nvrtcCompileProgram, "nvrtcGetProgramLogSize": &n.nvrtcGetProgramLogSize,
		"nvrtcGetProgramLog": &n.nvrtcGetProgramLog, "nvrtcGetCUBINSize": &n.nvrtcGetCUBINSize, "nvrtcGetCUBIN": &n.nvrtcGetCUBIN,
		"nvrtcGetPTXSize": &n.nvrtcGetPTXSize, "nvrtcGetPTX": &n.nvrtcGetPTX,
		"nvrtcGetNumSupportedArchs": &n.nvrtcGetNumSupportedArchs, "nvrtcGetSupportedArchs": &n.nvrtcGetSupportedArchs,
	} {
		if *p, err = dlsym(handle, name); err != nil && !optional[name] {
			return nil, missing(ErrNoCompiler, []string{path + ", which has no " + name + ": 11.2 or newer is needed"})
		}
	}
	v := new([2]int32)
	if err := n.check("nvrtcVersion", call(n.nvrtcVersion, uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])))); err != nil {
		return nil, err
	}
	n.major, n.minor = int(v[0]), int(v[1])
	if n.nvrtcGetNumSupportedArchs != 0 && n.nvrtcGetSupportedArchs != 0 {
		count := new(int32)
		if err := n.check("nvrtcGetNumSupportedArchs", call(n.nvrtcGetNumSupportedArchs, uintptr(unsafe.Pointer(count)))); err != nil {
			return nil, err
		}
		archs := make([]int32, *count+1)
		if err := n.check("nvrtcGetSupportedArchs", call(n.nvrtcGetSupportedArchs, uintptr(unsafe.Pointer(&archs[0])))); err != nil {
			return nil, err
		}
		for _, a := range archs[:*count] {
			n.supported = append(n.supported, int(a))
		}
	}
	return n, nil
}

// loadBuiltins loads the library that NVRTC itself opens by its bare name,
// which lies beside it in a folder that the linker may not know.
func loadBuiltins(path string) {
	folders := []string{filepath.Dir(path)}
	if p, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(p) != folders[0] {
		folders = append(folders, filepath.Dir(p))
	}
	for _, dir := range folders {
		found, _ := filepath.Glob(filepath.Join(dir, "libnvrtc-builtins.so*"))
		for _, p := range found {
			_, _ = dlopen(p)
		}
	}
}

func (n *nvrtc) Name() string { return n.path }

func (n *nvrtc) Version() string { return fmt.Sprintf("%d.%d", n.major, n.minor) }

func (n *nvrtc) check(name string, code uint32) error {
	if code == 0 {
		return nil
	}
	return resultError(name, code, n.errorName(code), "of "+n.path)
}

func (n *nvrtc) errorName(code uint32) string {
	var f func(int32) unsafe.Pointer
	bind(&f, n.nvrtcGetErrorString)
	return dl.String(f(int32(code)))
}

// target returns the option for arch, and whether PTX must do.
func (n *nvrtc) target(arch string) (option string, ptx bool, err error) {
	digits := strings.TrimRight(strings.TrimPrefix(arch, "sm_"), "af")
	number, err := strconv.Atoi(digits)
	if err != nil || !strings.HasPrefix(arch, "sm_") {
		return "", false, fmt.Errorf("architecture %q: want one such as \"sm_90\"", arch)
	}
	if n.supported == nil {
		return "--gpu-architecture=" + arch, false, nil
	}
	newest, oldest := 0, math.MaxInt32
	for _, a := range n.supported {
		if a == number {
			return "--gpu-architecture=" + arch, false, nil
		}
		if a < number {
			newest = max(newest, a)
		}
		oldest = min(oldest, a)
	}
	if newest == 0 {
		return "", false, fmt.Errorf("%s of version %s compiles for sm_%d and newer, and the device is %s: install an older CUDA toolkit and name its libnvrtc by HIVEBLAS_NVRTC", n.path, n.Version(), oldest, arch)
	}
	return fmt.Sprintf("--gpu-architecture=compute_%d", newest), true, nil
}

func (n *nvrtc) Compile(source, name, arch string) ([]byte, error) {
	target, ptx, err := n.target(arch)
	if err != nil {
		return nil, err
	}
	options := []*byte{dl.CString(target), dl.CString("--std=c++17")}
	if os.Getenv("HIVEBLAS_LINEINFO") != "" {
		options = append(options, dl.CString("-lineinfo"))
	}
	if n.major < 12 {
		n.mu.Lock()
		defer n.mu.Unlock()
	}
	program := new(uintptr)
	err = n.check("nvrtcCreateProgram", call(n.nvrtcCreateProgram, uintptr(unsafe.Pointer(program)),
		uintptr(unsafe.Pointer(dl.CString(source))), uintptr(unsafe.Pointer(dl.CString(name))), 0, 0, 0))
	if err != nil {
		return nil, err
	}
	defer func() { call(n.nvrtcDestroyProgram, uintptr(unsafe.Pointer(program))) }()
	code := call(n.nvrtcCompileProgram, *program, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])))
	if code != 0 {
		log, err := n.text(*program, n.nvrtcGetProgramLogSize, n.nvrtcGetProgramLog)
		if text := strings.TrimRight(string(log), "\x00\n"); err == nil && text != "" && code == 6 { // NVRTC_ERROR_COMPILATION
			return nil, &CompileError{Name: name, Log: text}
		} else if text != "" {
			return nil, fmt.Errorf("%w: %s", n.check("nvrtcCompileProgram", code), text)
		}
		return nil, n.check("nvrtcCompileProgram", code)
	}
	if ptx {
		return n.text(*program, n.nvrtcGetPTXSize, n.nvrtcGetPTX)
	}
	return n.text(*program, n.nvrtcGetCUBINSize, n.nvrtcGetCUBIN)
}

// text returns what a pair of functions gives the size and the bytes of.
func (n *nvrtc) text(program, size, get uintptr) ([]byte, error) {
	bytes := new(uintptr)
	if err := n.check("nvrtcGet…Size", call(size, program, uintptr(unsafe.Pointer(bytes)))); err != nil {
		return nil, err
	}
	out := make([]byte, *bytes+1)
	if err := n.check("nvrtcGet…", call(get, program, uintptr(unsafe.Pointer(&out[0])))); err != nil {
		return nil, err
	}
	return out[:*bytes], nil
}
