package cusparse

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/matrix"
)

// CommDevice makes a rank's device of an opened context, for comm.Peers and nccl.Ranks. number is
// the number of the device. The group works in the order of stream. kernels compiles the copies and
// reductions of comm.Peers; without it, nil, the copy engines copy and there are no reductions. The
// context and the stream stay the caller's.
func CommDevice(ctx driver.Context, number int, stream driver.Stream, kernels *jit.Cache) (comm.Device, error) {
	if ctx == nil {
		return nil, &matrix.InvalidError{Op: "cusparse.CommDevice", Reason: "the context is nil; open one with Driver.Open"}
	}
	if _, ok := ctx.(driver.Peers); !ok {
		return nil, fmt.Errorf("cusparse.CommDevice: %w: this driver does not reach other devices", driver.ErrNotSupported)
	}
	return &commDevice{ctx: ctx, number: number, stream: stream, kernels: kernels, folds: map[fold]driver.Function{}}, nil
}

// Comm makes a rank's device of d, for comm.Peers and comm/nccl: the group copies in the order of
// the operations on d.
func (d *Device) Comm() (comm.Device, error) {
	if d.missing() {
		return nil, errNoDevice
	}
	return CommDevice(d.ctx, d.index, d.stream, d.cache)
}

// commDevice is a comm.Device.
type commDevice struct {
	ctx    driver.Context
	number int
	stream driver.Stream
	mu     sync.Mutex

	kernels *jit.Cache
	folds   map[fold]driver.Function
	pull    driver.Function
}

// fold is a kernel of a reduction.
type fold struct {
	t  comm.DType
	op comm.Op
}

// maxOperands is the length of hb_operands.
const maxOperands = 16

// The words of CUDA for element types, and for operators of a and b.
var (
	foldTypes = map[comm.DType]string{
		comm.Uint8: "unsigned char", comm.Int8: "signed char", comm.Int16: "short", comm.Uint16: "unsigned short",
		comm.Int32: "int", comm.Uint32: "unsigned int", comm.Int64: "long long", comm.Uint64: "unsigned long long",
		comm.Float32: "float", comm.Float64: "double",
	}
	foldOps = map[comm.Op]string{
		comm.Sum: "a + b", comm.SumAnyOrder: "a + b", comm.Prod: "a * b",
		comm.Min: "b < a || a != a ? b : a", comm.Max: "b > a || a != a ? b : a",
		comm.And: "a & b", comm.Or: "a | b", comm.Xor: "a ^ b",
	}
)

// foldSource returns the kernels of all operators for a type.
func foldSource(t comm.DType) string {
	var b strings.Builder
	fmt.Fprintf(&b, "typedef %s T;\n", foldTypes[t])
	for _, op := range comm.Ops() {
		if !op.Has(t) {
			continue
		}
		fmt.Fprintf(&b, "static __device__ inline T hb_op_%v(T a, T b) { return (T)(%s); }\n", op, foldOps[op])
		b.WriteString(strings.ReplaceAll(kernelText["commfold"], "_OP(", fmt.Sprintf("_%v(", op)))
	}
	return b.String()
}

func (c *commDevice) Folds(t comm.DType, op comm.Op, operands int) bool {
	return c.kernels != nil && operands <= maxOperands && op.Has(t)
}

func (c *commDevice) Fold(dst uint64, srcs []uint64, n int, t comm.DType, op comm.Op) error {
	if !c.Folds(t, op, len(srcs)) || len(srcs) == 0 {
		return comm.ErrNoOp
	}
	f := fold{t, op}
	if c.folds[f] == 0 {
		m, err := c.load(foldSource(t), fmt.Sprintf("commfold of %v", t))
		if err != nil {
			return err
		}
		for _, op := range comm.Ops() {
			if !op.Has(t) {
				continue
			}
			if c.folds[fold{t, op}], err = c.ctx.Function(m, fmt.Sprintf("hb_comm_fold_%v", op)); err != nil {
				return err
			}
		}
	}
	// On the heap, for the driver.
	a := &struct {
		at       [maxOperands]uint64
		operands uint32
		dst, n   uint64
	}{operands: uint32(len(srcs)), dst: dst, n: uint64(n)}
	copy(a.at[:], srcs)
	const threads = 256
	grid := [3]uint32{uint32(min(max((n+threads-1)/threads, 1), commBlocks)), 1, 1}
	return c.ctx.Launch(c.folds[f], grid, [3]uint32{threads, 1, 1}, 0, c.stream,
		[]unsafe.Pointer{unsafe.Pointer(&a.at), unsafe.Pointer(&a.operands), unsafe.Pointer(&a.dst), unsafe.Pointer(&a.n)})
}

func (c *commDevice) Pulls() bool { return c.kernels != nil }

// pullWidth is the bytes of a load of hb_comm_pull, commBlocks the number of blocks of 256 threads
// that fill a device.
const (
	pullWidth  = 16
	commBlocks = 1056
)

func (c *commDevice) Pull(moves []comm.Move) error {
	if c.pull == 0 {
		m, err := c.load(kernelText["commpull"], "commpull")
		if err != nil {
			return err
		}
		if c.pull, err = c.ctx.Function(m, "hb_comm_pull"); err != nil {
			return err
		}
	}
	for len(moves) > 0 {
		n := min(len(moves), maxOperands)
		// On the heap, for the driver.
		a := &struct {
			src, dst, bytes [maxOperands]uint64
			count           uint32
		}{count: uint32(n)}
		most := int64(0)
		for i, x := range moves[:n] {
			a.src[i], a.dst[i], a.bytes[i] = x.Src, x.Dst, uint64(x.Bytes)
			most = max(most, x.Bytes)
		}
		moves = moves[n:]
		const threads = 256
		blocks := (most/pullWidth + threads) / threads // for each move
		grid := [3]uint32{uint32(n) * uint32(min(blocks, int64(commBlocks/n))), 1, 1}
		err := c.ctx.Launch(c.pull, grid, [3]uint32{threads, 1, 1}, 0, c.stream,
			[]unsafe.Pointer{unsafe.Pointer(&a.src), unsafe.Pointer(&a.dst), unsafe.Pointer(&a.bytes), unsafe.Pointer(&a.count)})
		if err != nil {
			return err
		}
	}
	return nil
}

// load compiles and loads kernels.
func (c *commDevice) load(source, name string) (driver.Module, error) {
	image, err := c.kernels.Image(source, name)
	if err != nil {
		return 0, err
	}
	return c.ctx.Load(image)
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
