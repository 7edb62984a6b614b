package emu

import (
	"fmt"
	goruntime "runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Load loads a result of Compile.
func (c *Context) Load(image []byte) (driver.Module, error) {
	defer c.end()
	if err := c.begin("Load", "cuModuleLoadData"); err != nil {
		return 0, err
	}
	lib, err := loadLibrary(c.e.runtime, image)
	if err != nil {
		return 0, failure("cuModuleLoadData", 200, "CUDA_ERROR_INVALID_IMAGE", err.Error())
	}
	if n := lib.to - lib.from; n > defaultShared {
		lib.unload()
		return 0, failure("cuModuleLoadData", 218, "CUDA_ERROR_INVALID_PTX", fmt.Sprintf("%d bytes of static shared memory, the limit is %d", n, defaultShared))
	}
	m := driver.Module(c.handle())
	c.modules[m] = lib
	return m, nil
}

// Unload unloads m and its functions.
func (c *Context) Unload(m driver.Module) error {
	defer c.end()
	if err := c.begin("Unload", "cuModuleUnload"); err != nil {
		return err
	}
	lib := c.modules[m]
	if lib == nil {
		return invalidHandle("cuModuleUnload")
	}
	delete(c.modules, m)
	for h, f := range c.functions {
		if f.lib == lib {
			delete(c.functions, h)
		}
	}
	lib.unload()
	return nil
}

// Function finds a kernel of m.
func (c *Context) Function(m driver.Module, name string) (driver.Function, error) {
	defer c.end()
	if err := c.begin("Function", "cuModuleGetFunction"); err != nil {
		return 0, err
	}
	lib := c.modules[m]
	if lib == nil {
		return 0, invalidHandle("cuModuleGetFunction")
	}
	entry, sizes, err := lib.function(name)
	if err != nil {
		return 0, failure("cuModuleGetFunction", 500, "CUDA_ERROR_NOT_FOUND", "the module has no kernel "+name)
	}
	h := driver.Function(c.handle())
	c.functions[h] = &function{name: name, lib: lib, entry: entry, sizes: sizes, shared: defaultShared - int(lib.to-lib.from)}
	return h, nil
}

func (c *Context) function(call string, f driver.Function) (*function, error) {
	if k := c.functions[f]; k != nil {
		return k, nil
	}
	return nil, invalidHandle(call)
}

// static is the kernel's static shared memory, which includes the static shared memory of its whole
// module.
func (f *function) static() int { return int(f.lib.to - f.lib.from) }

// SetShared allows f more than 48 KiB of dynamic shared memory.
func (c *Context) SetShared(f driver.Function, bytes int) error {
	defer c.end()
	if err := c.begin("SetShared", "cuFuncSetAttribute"); err != nil {
		return err
	}
	k, err := c.function("cuFuncSetAttribute", f)
	if err != nil {
		return err
	}
	if bytes < 0 || bytes+k.static() > maxShared {
		return invalidValue("cuFuncSetAttribute", fmt.Sprintf("%s: %d bytes of shared memory, the limit is %d", k.name, bytes+k.static(), maxShared))
	}
	k.shared = bytes
	return nil
}

// Occupancy considers threads and shared memory, but no registers.
func (c *Context) Occupancy(f driver.Function, threads, shared int) (int, error) {
	defer c.end()
	if err := c.begin("Occupancy", "cuOccupancyMaxActiveBlocksPerMultiprocessor"); err != nil {
		return 0, err
	}
	k, err := c.function("cuOccupancyMaxActiveBlocksPerMultiprocessor", f)
	if err != nil {
		return 0, err
	}
	if threads <= 0 || shared < 0 {
		return 0, invalidValue("cuOccupancyMaxActiveBlocksPerMultiprocessor", "no threads, or negative shared memory")
	}
	if threads > maxThreads || shared > k.shared {
		return 0, nil
	}
	return min(2048/((threads+31)&^31), 32, (maxShared+1024)/(shared+k.static()+1024)), nil
}

// Registers returns a dummy.
func (c *Context) Registers(f driver.Function) (registers, local int, err error) {
	defer c.end()
	if err := c.begin("Registers", "cuFuncGetAttribute"); err != nil {
		return 0, 0, err
	}
	_, err = c.function("cuFuncGetAttribute", f)
	return 32, 0, err
}

// launchArgs is hb_emu_launch_args of the runtime.
type launchArgs struct {
	kernel               uintptr
	args                 unsafe.Pointer
	shared               unsafe.Pointer
	staticFrom, staticTo uintptr
	sharedBytes          uint64
	grid, block          [3]uint32
	reversed             uint32
	first, stride        uint32
}

// Launch runs f and returns when it is done. Its error reports a deadlock, a trap, or a write
// beside an allocation that an argument points to, with the name of the kernel. Sync, SyncEvent and
// ToHost report writes beside other allocations: a check of hundreds after every launch took a
// quarter of the time of tests.
func (c *Context) Launch(f driver.Function, grid, block [3]uint32, shared uint32, s driver.Stream, args []unsafe.Pointer) error {
	defer c.end()
	if err := c.begin("Launch", "cuLaunchKernel"); err != nil {
		return err
	}
	k, err := c.function("cuLaunchKernel", f)
	if err != nil {
		return err
	}
	threads := uint64(block[0]) * uint64(block[1]) * uint64(block[2])
	switch {
	case grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0:
		return invalidValue("cuLaunchKernel", fmt.Sprintf("%s: grid %v of blocks %v is empty", k.name, grid, block))
	case grid[0] > 1<<31-1 || grid[1] > 65535 || grid[2] > 65535:
		return invalidValue("cuLaunchKernel", fmt.Sprintf("%s: grid %v is larger than 2147483647 × 65535 × 65535", k.name, grid))
	case threads > maxThreads || block[2] > 64:
		return invalidValue("cuLaunchKernel", fmt.Sprintf("%s: block %v has more than 1024 threads, or more than 64 in z", k.name, block))
	case int(shared) > k.shared:
		return invalidValue("cuLaunchKernel", fmt.Sprintf("%s: %d bytes of dynamic shared memory, its limit is %d: call SetShared", k.name, shared, k.shared))
	case len(args) != len(k.sizes):
		return invalidValue("cuLaunchKernel", fmt.Sprintf("%s: %d arguments, it has %d parameters", k.name, len(args), len(k.sizes)))
	}
	for i, p := range args {
		if p == nil {
			return invalidValue("cuLaunchKernel", fmt.Sprintf("%s: argument %d is a nil pointer", k.name, i))
		}
	}
	// The arguments are read now, even if the launch is recorded.
	values := make([]unsafe.Pointer, len(args))
	for i, p := range args {
		room := make([]uint64, (k.sizes[i]+23)/8) // aligned to 16
		v := unsafe.Pointer(&room[0])
		if uintptr(v)%16 != 0 {
			v = unsafe.Pointer(&room[1])
		}
		copy(unsafe.Slice((*byte)(v), k.sizes[i]), unsafe.Slice((*byte)(p), k.sizes[i]))
		values[i] = v
	}
	return c.queue("cuLaunchKernel", s, func() error { return c.run(k, grid, block, shared, values) })
}

func (c *Context) run(k *function, grid, block [3]uint32, shared uint32, values []unsafe.Pointer) error {
	a := &launchArgs{
		kernel: k.entry, staticFrom: k.lib.from, staticTo: k.lib.to, sharedBytes: uint64(shared), grid: grid, block: block,
	}
	if len(values) > 0 {
		a.args = unsafe.Pointer(&values[0])
	}
	if c.e.reversed {
		a.reversed = 1
	}
	a.first, a.stride = c.e.order(grid[0])
	launching.Lock()
	dynamic, err := sharedMemory(uint64(shared))
	if err != nil {
		launching.Unlock()
		return failure("cuLaunchKernel", 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", err.Error())
	}
	a.shared = unsafe.Pointer(&dynamic.mapping[margin])
	message := c.e.runtime.run(a)
	beyond := dynamic.intact()
	launching.Unlock()
	goruntime.KeepAlive(values)
	c.e.launches++
	if message != "" {
		err := LaunchFailed
		err.Text = k.name + ": " + message
		return &err
	}
	if len(c.launched) == 0 || c.launched[len(c.launched)-1] != k.name {
		c.launched = append(c.launched, k.name)
	}
	for i, v := range values {
		for _, word := range unsafe.Slice((*uintptr)(v), k.sizes[i]/8) {
			b := c.device.blocks[word]
			if b == nil {
				continue
			}
			if err := b.intact(); err != nil {
				b.repair()
				return failure("cuLaunchKernel", 700, "CUDA_ERROR_ILLEGAL_ADDRESS", k.name+": "+err.Error())
			}
		}
	}
	if beyond != nil {
		return failure("cuLaunchKernel", 700, "CUDA_ERROR_ILLEGAL_ADDRESS", k.name+": shared memory: "+beyond.Error())
	}
	return nil
}

// arena is the dynamic shared memory of the current launch.
var arena []byte

// sharedMemory returns n bytes of the arena between canaries. launching is held.
func sharedMemory(n uint64) (*allocation, error) {
	if arena == nil {
		m, err := mmap(2*margin + maxShared + 16)
		if err != nil {
			return nil, err
		}
		fill(m, canary)
		arena = m
	}
	b := &allocation{mapping: arena[:2*margin+(n+15)&^15], size: n}
	b.repair()
	return b, nil
}

// BeginCapture records the work of s.
func (c *Context) BeginCapture(s driver.Stream) error {
	defer c.end()
	if err := c.begin("BeginCapture", "cuStreamBeginCapture"); err != nil {
		return err
	}
	if s == 0 {
		return failure("cuStreamBeginCapture", 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the default stream cannot be captured")
	}
	if err := c.idle("cuStreamBeginCapture", s); err != nil {
		return err
	}
	t := c.streams[s]
	t.capture = &capture{origin: t}
	return nil
}

// EndCapture returns the recorded work of s and of the streams that joined by waiting for its
// events.
func (c *Context) EndCapture(s driver.Stream) (driver.Graph, error) {
	defer c.end()
	if err := c.begin("EndCapture", "cuStreamEndCapture"); err != nil {
		return 0, err
	}
	t, err := c.stream("cuStreamEndCapture", s)
	if err != nil {
		return 0, err
	}
	k := t.capturing()
	if k == nil || k.origin != t {
		return 0, failure("cuStreamEndCapture", 401, "CUDA_ERROR_ILLEGAL_STATE", "no capture was begun on the stream")
	}
	k.done = true
	g := driver.Graph(c.handle())
	c.graphs[g] = k.steps
	return g, nil
}

// LaunchGraph runs the recorded work, up to the first error.
func (c *Context) LaunchGraph(g driver.Graph, s driver.Stream) error {
	defer c.end()
	if err := c.begin("LaunchGraph", "cuGraphLaunch"); err != nil {
		return err
	}
	steps, ok := c.graphs[g]
	if !ok {
		return invalidHandle("cuGraphLaunch")
	}
	return c.queue("cuGraphLaunch", s, func() error {
		for _, f := range steps {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
}

// CloseGraph frees g.
func (c *Context) CloseGraph(g driver.Graph) error {
	defer c.end()
	if err := c.begin("CloseGraph", "cuGraphExecDestroy"); err != nil {
		return err
	}
	if _, ok := c.graphs[g]; !ok {
		return invalidHandle("cuGraphExecDestroy")
	}
	delete(c.graphs, g)
	return nil
}

// order returns the block of a launch that runs first, and the step from each to the next, both
// along x: each block is met once. The caller holds the lock.
func (e *Emulator) order(blocks uint32) (first, stride uint32) {
	if e.shuffle == nil {
		return 0, 1
	}
	first, stride = e.shuffle.Uint32N(blocks), 1+e.shuffle.Uint32N(blocks)
	for gcd(stride, blocks) != 1 {
		stride++
	}
	return first, stride
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
