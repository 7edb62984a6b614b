package emu

import (
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// MemInfo returns the free part of the limit set by Memory.
func (c *Context) MemInfo() (free, total uint64, err error) {
	defer c.end()
	if err := c.begin("MemInfo", "cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	return c.e.memory - c.device.bytes, c.e.memory, nil
}

// Alloc returns memory filled with 0xA5.
func (c *Context) Alloc(bytes uint64) (driver.Ptr, error) {
	defer c.end()
	if err := c.begin("Alloc", "cuMemAlloc"); err != nil {
		return 0, err
	}
	return c.alloc("cuMemAlloc", bytes)
}

func (c *Context) alloc(call string, bytes uint64) (driver.Ptr, error) {
	if bytes == 0 {
		return 0, invalidValue(call, "an allocation of 0 bytes")
	}
	if bytes > c.e.memory-c.device.bytes {
		err := OutOfMemory
		err.Call = call
		return 0, &err
	}
	b, err := c.device.alloc(bytes)
	if err != nil {
		return 0, failure(call, 2, "CUDA_ERROR_OUT_OF_MEMORY", err.Error())
	}
	return driver.Ptr(b.start), nil
}

// Free frees p and reports writes beside it that are not reported yet.
func (c *Context) Free(p driver.Ptr) error {
	defer c.end()
	if err := c.begin("Free", "cuMemFree"); err != nil {
		return err
	}
	return c.free("cuMemFree", p)
}

func (c *Context) free(call string, p driver.Ptr) error {
	b := c.device.blocks[uintptr(p)]
	if err := c.device.free(uintptr(p)); err != nil {
		if b != nil && c.damage == nil { // callers may ignore errors of frees
			c.damage = err
		}
		return invalidValue(call, err.Error())
	}
	return nil
}

// intact checks the canaries of all allocations, once after a launch on any device: a kernel may
// write to others. Its error names the kernels of this device since the last check.
func (c *Context) intact(call string) error {
	if c.checked == c.e.launches && c.damage == nil {
		return nil
	}
	err, kernels := c.damage, c.launched
	if found := c.device.intact(); err == nil {
		err = found
	}
	c.checked, c.launched, c.damage = c.e.launches, nil, nil
	if err == nil {
		return nil
	}
	return failure(call, 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "one of "+strings.Join(kernels, ", ")+": "+err.Error())
}

// AllocAsync is Alloc. It fails on a capturing stream.
func (c *Context) AllocAsync(bytes uint64, s driver.Stream) (driver.Ptr, error) {
	defer c.end()
	if err := c.begin("AllocAsync", "cuMemAllocAsync"); err != nil {
		return 0, err
	}
	if err := c.async("cuMemAllocAsync", s); err != nil {
		return 0, err
	}
	return c.alloc("cuMemAllocAsync", bytes)
}

// FreeAsync is Free.
func (c *Context) FreeAsync(p driver.Ptr, s driver.Stream) error {
	defer c.end()
	if err := c.begin("FreeAsync", "cuMemFreeAsync"); err != nil {
		return err
	}
	if err := c.async("cuMemFreeAsync", s); err != nil {
		return err
	}
	return c.free("cuMemFreeAsync", p)
}

func (c *Context) async(call string, s driver.Stream) error {
	if c.e.noAsync {
		return failure(call, 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported")
	}
	return c.idle(call, s)
}

// AllocHost returns host memory filled with 0xA5.
func (c *Context) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	defer c.end()
	if err := c.begin("AllocHost", "cuMemHostAlloc"); err != nil {
		return nil, err
	}
	if bytes == 0 {
		return nil, invalidValue("cuMemHostAlloc", "an allocation of 0 bytes")
	}
	b, err := c.host.alloc(bytes)
	if err != nil {
		return nil, failure("cuMemHostAlloc", 2, "CUDA_ERROR_OUT_OF_MEMORY", err.Error())
	}
	return unsafe.Pointer(&b.mapping[margin]), nil
}

// FreeHost frees p.
func (c *Context) FreeHost(p unsafe.Pointer) error {
	defer c.end()
	if err := c.begin("FreeHost", "cuMemFreeHost"); err != nil {
		return err
	}
	if err := c.host.free(uintptr(p)); err != nil {
		return invalidValue("cuMemFreeHost", err.Error())
	}
	return nil
}

// ToDevice copies n bytes, which must lie within one allocation.
func (c *Context) ToDevice(dst driver.Ptr, src unsafe.Pointer, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("ToDevice", "cuMemcpyHtoDAsync"); err != nil {
		return err
	}
	c.e.copied[0] += n
	return c.onDevice("cuMemcpyHtoDAsync", s, dst, n, func(d []byte) { copy(d, unsafe.Slice((*byte)(src), n)) })
}

// ToHost copies n bytes, which must lie within one allocation.
func (c *Context) ToHost(dst unsafe.Pointer, src driver.Ptr, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("ToHost", "cuMemcpyDtoHAsync"); err != nil {
		return err
	}
	if err := c.intact("cuMemcpyDtoHAsync"); err != nil {
		return err
	}
	c.e.copied[1] += n
	return c.onDevice("cuMemcpyDtoHAsync", s, src, n, func(d []byte) { copy(unsafe.Slice((*byte)(dst), n), d) })
}

// Copy copies n bytes; either side must lie within one allocation. The source may be on another
// device.
func (c *Context) Copy(dst, src driver.Ptr, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Copy", "cuMemcpyDtoDAsync"); err != nil {
		return err
	}
	from, err := c.device.find(uintptr(src), n)
	for _, peer := range c.e.contexts {
		if err != nil && peer != c {
			from, err = peer.device.find(uintptr(src), n)
		}
	}
	if n > 0 && err != nil {
		return invalidValue("cuMemcpyDtoDAsync", err.Error())
	}
	return c.onDevice("cuMemcpyDtoDAsync", s, dst, n, func(d []byte) { copy(d, from) })
}

// Fill sets n bytes to b.
func (c *Context) Fill(dst driver.Ptr, b byte, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Fill", "cuMemsetD8Async"); err != nil {
		return err
	}
	return c.onDevice("cuMemsetD8Async", s, dst, n, func(d []byte) { fill(d, b) })
}

// Fill32 sets n words to w.
func (c *Context) Fill32(dst driver.Ptr, w uint32, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Fill32", "cuMemsetD32Async"); err != nil {
		return err
	}
	if dst%4 != 0 {
		return invalidValue("cuMemsetD32Async", "the address is not a multiple of 4")
	}
	return c.onDevice("cuMemsetD32Async", s, dst, 4*n, func(d []byte) {
		if n > 0 {
			words := unsafe.Slice((*uint32)(unsafe.Pointer(&d[0])), n)
			for i := range words {
				words[i] = w
			}
		}
	})
}

// onDevice queues f on n bytes of device memory.
func (c *Context) onDevice(call string, s driver.Stream, p driver.Ptr, n uint64, f func([]byte)) error {
	if n == 0 {
		_, err := c.stream(call, s)
		return err
	}
	d, err := c.device.find(uintptr(p), n)
	if err != nil {
		return invalidValue(call, err.Error())
	}
	return c.queue(call, s, func() error { f(d); return nil })
}
