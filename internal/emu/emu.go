// Package emu runs CUDA kernels on the CPU, so that what needs a GPU can be
// tested without one. It implements driver.Driver, driver.Context and
// driver.Compiler: a kernel is compiled by g++ behind a small header that
// supplies CUDA's words, the threads of a block are fibers, and the blocks of
// a launch run one after another in the order of blockIdx.
//
// It is strict where a GPU is lenient. Memory begins as bytes of 0xA5, and so
// does shared memory in every block; a write beside an allocation, a copy out
// of bounds, a second Free, a call without Bind, a lane missing from its own
// mask and a deadlock are errors that say where. What it cannot show: races
// that need two threads at once, memory order, and time.
//
//	d, err := emu.New(emu.Memory(1 << 20))
//	if errors.Is(err, emu.ErrUnavailable) { t.Skip(err) }
package emu

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// ErrUnavailable is what every error of a system without an emulator wraps:
// no g++, or an operating system that it does not know.
var ErrUnavailable = errors.New("the CUDA emulator is not available")

// CacheDir is where compiled kernels are kept between runs, by the hash of
// their source; "" keeps none. It is for tests to change before their first
// use of the package.
var CacheDir = defaultCacheDir()

func defaultCacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hiveblas-emu")
}

// Option is a property of an emulated driver.
type Option func(*Emulator)

// Memory limits what a device can allocate; the default is 4 GiB.
func Memory(bytes uint64) Option { return func(e *Emulator) { e.memory = bytes } }

// Devices sets the number of devices; the default is 1.
func Devices(n int) Option { return func(e *Emulator) { e.devices = n } }

// Reversed starts the threads of a block from the last to the first. A kernel
// that gives another result has a race.
func Reversed() Option { return func(e *Emulator) { e.reversed = true } }

// NoAsyncAlloc makes devices that have no stream-ordered allocation.
func NoAsyncAlloc() Option { return func(e *Emulator) { e.noAsync = true } }

// Errors of the driver that tests like to see.
var (
	OutOfMemory  = driver.Error{Call: "cuMemAlloc", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory"}
	LaunchFailed = driver.Error{Call: "cuLaunchKernel", Code: 719, Name: "CUDA_ERROR_LAUNCH_FAILED", Text: "unspecified launch failure"}
)

func failure(call string, code int, name, text string) error {
	return &driver.Error{Call: call, Code: code, Name: name, Text: text}
}

func invalidValue(call, text string) error {
	return failure(call, 1, "CUDA_ERROR_INVALID_VALUE", text)
}

func invalidHandle(call string) error {
	return failure(call, 400, "CUDA_ERROR_INVALID_HANDLE", "no such handle, or it was closed")
}
