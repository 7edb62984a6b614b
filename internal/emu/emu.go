// Package emu runs CUDA kernels on the CPU, so that tests of the GPU backend need no GPU. It
// implements driver.Driver, driver.Context and driver.Compiler: g++ compiles a kernel with a small
// header that defines the words of CUDA, the threads of a block are fibers, and the blocks of a
// launch run one after another, in the order of blockIdx unless Shuffled is given.
//
// It is stricter than a GPU. Memory starts as bytes of 0xA5, shared memory of every block too. A
// write beside an allocation, a copy out of bounds, a second Free, a call without Bind, a lane
// missing from its own mask and a deadlock are errors with a location. It cannot show races between
// concurrent threads, memory order, or time.
//
//	d, err := emu.New(emu.Memory(1 << 20))
//	if errors.Is(err, emu.ErrUnavailable) { t.Skip(err) }
package emu

import (
	"errors"
	"math/rand/v2"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// ErrUnavailable is wrapped by all errors of systems without the emulator: g++ is missing, or the
// operating system is not supported.
var ErrUnavailable = errors.New("the CUDA emulator is not available")

// Option is a property of an emulated driver.
type Option func(*Emulator)

// Memory limits the memory of a device; the default is 4 GiB.
func Memory(bytes uint64) Option { return func(e *Emulator) { e.memory = bytes } }

// Devices sets the number of devices; the default is 1.
func Devices(n int) Option { return func(e *Emulator) { e.devices = n } }

// Reversed starts the threads of a block from the last to the first. A kernel has a race if its
// result differs.
func Reversed() Option { return func(e *Emulator) { e.reversed = true } }

// Shuffled runs the blocks of each launch in an order of its own, which follows from seed and the
// launches before. A kernel relies on an order if its result differs: a GPU starts blocks in any
// order.
func Shuffled(seed uint64) Option {
	return func(e *Emulator) { e.shuffle = rand.New(rand.NewPCG(seed, 0)) }
}

// NoAsyncAlloc makes devices without stream-ordered allocation.
func NoAsyncAlloc() Option { return func(e *Emulator) { e.noAsync = true } }

// Errors of the driver, for tests.
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
