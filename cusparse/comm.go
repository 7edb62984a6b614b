package cusparse

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/matrix"
)

// CommDevice makes a rank's device of an opened context, for comm.Peers and comm.NCCL. number is that
// of the device, stream the one in whose order the group copies. The context and the stream stay
// the caller's.
func CommDevice(ctx driver.Context, number int, stream driver.Stream) (comm.Device, error) {
	if ctx == nil {
		return nil, &matrix.InvalidError{Op: "cusparse.CommDevice", Reason: "the context is nil; open one with Driver.Open"}
	}
	if _, ok := ctx.(driver.Peers); !ok {
		return nil, fmt.Errorf("cusparse.CommDevice: %w: this driver does not reach other devices", driver.ErrNotSupported)
	}
	return &commDevice{ctx: ctx, number: number, stream: stream}, nil
}

// Comm makes a rank's device of d, for comm.Peers and comm.NCCL: the group copies in the order of
// the operations on d.
func (d *Device) Comm() (comm.Device, error) {
	if d.missing() {
		return nil, errNoDevice
	}
	return CommDevice(d.ctx, d.index, d.stream)
}

// commDevice is a comm.Device.
type commDevice struct {
	ctx    driver.Context
	number int
	stream driver.Stream
	mu     sync.Mutex
}

func (c *commDevice) Number() int { return c.number }

func (c *commDevice) Do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.ctx.Bind(); err != nil {
		return err
	}
	return f()
}

func (c *commDevice) Stream() uintptr { return uintptr(c.stream) }

func (c *commDevice) Done() (bool, error) { return c.ctx.(driver.Peers).Done(c.stream) }

func (c *commDevice) Copy(dst, src uint64, bytes int64) error {
	return c.ctx.Copy(driver.Ptr(dst), driver.Ptr(src), uint64(bytes), c.stream)
}

func (c *commDevice) ToHost(dst unsafe.Pointer, src uint64, bytes int64) error {
	return c.ctx.ToHost(dst, driver.Ptr(src), uint64(bytes), c.stream)
}

func (c *commDevice) ToDevice(dst uint64, src unsafe.Pointer, bytes int64) error {
	return c.ctx.ToDevice(driver.Ptr(dst), src, uint64(bytes), c.stream)
}

func (c *commDevice) Alloc(bytes int64) (uint64, error) {
	p, err := c.ctx.Alloc(uint64(bytes))
	return uint64(p), err
}

func (c *commDevice) Free(address uint64) error { return c.ctx.Free(driver.Ptr(address)) }

func (c *commDevice) Reach(peer comm.Device) (bool, error) {
	p, ok := peer.(*commDevice)
	if !ok {
		return false, errors.New("the device is not one of package cusparse")
	}
	can, err := c.ctx.(driver.Peers).CanAccess(p.number)
	if err != nil || !can {
		return false, err
	}
	return true, c.ctx.(driver.Peers).EnableAccess(p.ctx)
}
