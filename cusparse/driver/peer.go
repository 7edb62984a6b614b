package driver

import (
	"fmt"
	"unsafe"
)

// Peers is implemented by contexts that can reach the memory of other devices. Copy then copies
// from one device to another, through the host where the devices do not reach each other.
type Peers interface {
	// CanAccess reports whether kernels of this device can read and write the memory of device i.
	CanAccess(i int) (bool, error)
	// EnableAccess lets kernels of this device read and write the memory of peer's device, memory
	// of AllocAsync included. A second call does nothing.
	EnableAccess(peer Context) error
	// Done reports whether all that was queued on s is done, without waiting, and returns the error
	// of what failed.
	Done(s Stream) (bool, error)
}

// peerSymbol returns a function that programs on one device do not need.
func (a *api) peerSymbol(name string) (uintptr, error) {
	fn, err := dlsym(a.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s has no such function", name, ErrNotSupported, a.path)
	}
	return fn, nil
}

// PeerMatrix is implemented by drivers that know which devices reach each other.
type PeerMatrix interface {
	// CanAccess reports whether kernels of device from can read and write the memory of device to.
	// It opens no context.
	CanAccess(from, to int) (bool, error)
}

func (d *cudaDriver) CanAccess(from, to int) (bool, error) {
	fn, err := d.a.peerSymbol("cuDeviceCanAccessPeer")
	if err != nil {
		return false, err
	}
	a, err := d.device(from)
	if err != nil {
		return false, err
	}
	b, err := d.device(to)
	if err != nil {
		return false, err
	}
	can := new(int32)
	err = d.a.check("cuDeviceCanAccessPeer", call(fn, uintptr(unsafe.Pointer(can)), a, b))
	return *can != 0, err
}

func (c *cudaContext) CanAccess(i int) (bool, error) {
	return (&cudaDriver{c.a}).CanAccess(int(c.device), i)
}

func (c *cudaContext) EnableAccess(peer Context) error {
	p, ok := peer.(*cudaContext)
	if !ok {
		return fmt.Errorf("EnableAccess: %w: the peer is of another driver", ErrNotSupported)
	}
	fn, err := c.a.peerSymbol("cuCtxEnablePeerAccess")
	if err != nil {
		return err
	}
	const already = 704 // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
	if code := call(fn, p.raw, 0); code != 0 && code != already {
		return c.a.failure("cuCtxEnablePeerAccess", code)
	}
	// Memory of a pool follows the pool's own list of devices.
	get, err := c.a.peerSymbol("cuDeviceGetDefaultMemPool")
	if err != nil {
		return nil // no pools, and no AllocAsync
	}
	set, err := c.a.peerSymbol("cuMemPoolSetAccess")
	if err != nil {
		return nil
	}
	pool := new(uintptr)
	if err := c.a.check("cuDeviceGetDefaultMemPool", call(get, uintptr(unsafe.Pointer(pool)), p.device)); err != nil {
		return err
	}
	// CUmemAccessDesc: location type DEVICE, device, flags READWRITE.
	access := &[3]int32{1, int32(c.device), 3}
	return c.a.check("cuMemPoolSetAccess", call(set, *pool, uintptr(unsafe.Pointer(access)), 1))
}

func (c *cudaContext) Done(s Stream) (bool, error) {
	if c.a.cuStreamQuery == 0 {
		return false, fmt.Errorf("cuStreamQuery: %w: %s has no such function", ErrNotSupported, c.a.path)
	}
	const notReady = 600 // CUDA_ERROR_NOT_READY
	code := call4(c.a.cuStreamQuery, uintptr(s), 0, 0, 0)
	if code == notReady {
		return false, nil
	}
	return code == 0, c.a.check("cuStreamQuery", code)
}
