package driver

import (
	"errors"
	"fmt"
	"strings"
)

// What a system may lack; the errors of Open, OpenCompiler, OpenSparse and OpenBLAS
// wrap one of these, and say what was looked for.
var (
	ErrNoDriver   = errors.New("libcuda.so.1 was not found: install the NVIDIA driver")
	ErrNoDevice   = errors.New("the NVIDIA driver finds no GPU that it may use")
	ErrOldDriver  = errors.New("the NVIDIA driver is too old")
	ErrNoCompiler = errors.New("NVRTC was not found: install libnvrtc of the CUDA toolkit, or name it by HIVEBLAS_NVRTC or LD_LIBRARY_PATH")
	ErrNoCusparse = errors.New("cuSPARSE was not found: install libcusparse of the CUDA toolkit, or name it by HIVEBLAS_CUSPARSE or LD_LIBRARY_PATH")
	ErrNoCublas   = errors.New("cuBLAS was not found: install libcublas of the CUDA toolkit, or name it by HIVEBLAS_CUBLAS or LD_LIBRARY_PATH")
	// ErrBusy is the sentinel of an *Error of a GPU that another process holds, such as one in
	// exclusive mode: another device, or a later call, may succeed.
	ErrBusy = errors.New("the GPU is busy or unavailable")
	// ErrFailed is the sentinel of an *Error after which CUDA refuses all further calls of the
	// process on the GPU: a kernel failed, or the hardware. The host, or another process, can go
	// on.
	ErrFailed = errors.New("the GPU failed")
	// ErrNotSupported is what an implementation answers to calls that it lacks.
	ErrNotSupported = errors.New("not supported by this driver")
)

// oldestDriver is what AllocAsync and nvrtcGetCUBIN need.
const oldestDriver = 11020

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

func oldDriver(found int) error {
	return fmt.Errorf("%w: it supports CUDA %s, and %s is needed: update the driver", ErrOldDriver, versionText(found), versionText(oldestDriver))
}

// missing is err with what was tried for it.
func missing(err error, tried []string) error {
	return fmt.Errorf("%w (tried %s)", err, strings.Join(tried, ", "))
}

// resultError is the error of a call that returned code.
func resultError(call string, code uint32, name, text string) error {
	if name == "" {
		name = fmt.Sprintf("error %d", code)
	}
	if text == "" {
		text = "no description"
	}
	return &Error{Call: call, Code: int(code), Name: name, Text: text}
}
