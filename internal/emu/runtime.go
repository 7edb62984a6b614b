//go:build (linux || darwin || freebsd) && (amd64 || arm64)

package emu

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

func mmap(n uint64) ([]byte, error) {
	return syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
}

func munmap(p []byte) { _ = syscall.Munmap(p) }

// runtime is the loaded scheduler.
type runtime struct {
	launch uintptr
	state  uintptr
}

// loadRuntime compiles and loads the scheduler, once per process.
var loadRuntime = sync.OnceValues(func() (*runtime, error) {
	c, err := findCompiler()
	if err != nil {
		return nil, err
	}
	source := strings.Replace(runtimeText, "#include \"state.h\"\n", stateText, 1)
	f := append([]string{}, flags...)
	for i := range f {
		if f[i] == "-O1" {
			f[i] = "-O2"
		}
	}
	image, log, err := c.build(source, f)
	if err != nil {
		return nil, err
	}
	if log != "" {
		return nil, fmt.Errorf("%w: its runtime does not compile:\n%s", ErrUnavailable, log)
	}
	// Global, so that kernels find libm.
	lib, err := open(image)
	if err != nil {
		return nil, err
	}
	r := &runtime{}
	r.launch, err = purego.Dlsym(lib, "hb_emu_launch")
	if err != nil {
		return nil, err
	}
	start, err := purego.Dlsym(lib, "hb_emu_init")
	if err != nil {
		return nil, err
	}
	r.state, _, _ = purego.SyscallN(start)
	return r, nil
})

// open loads a library from memory, through a temporary file.
func open(image []byte) (uintptr, error) {
	f, err := os.CreateTemp("", "hiveblas-emu-*.so")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(image)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, err
	}
	return purego.Dlopen(f.Name(), purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// library is a loaded module.
type library struct {
	handle     uintptr
	from, to   uintptr // its static shared memory
	references int
	key        [sha256.Size]byte
}

var (
	librariesMu sync.Mutex
	loaded      = map[[sha256.Size]byte]*library{}
)

// loadLibrary loads image, which all its users share.
func loadLibrary(r *runtime, image []byte) (*library, error) {
	key := sha256.Sum256(image)
	librariesMu.Lock()
	defer librariesMu.Unlock()
	if l := loaded[key]; l != nil {
		l.references++
		return l, nil
	}
	handle, err := open(image)
	if err != nil {
		return nil, err
	}
	l := &library{handle: handle, references: 1, key: key}
	bind, err := purego.Dlsym(handle, "hb_emu_bind")
	if err != nil {
		return nil, err
	}
	extent, err := purego.Dlsym(handle, "hb_emu_shared_range")
	if err != nil {
		return nil, err
	}
	purego.SyscallN(bind, r.state)
	ends := new([2]uintptr)
	purego.SyscallN(extent, uintptr(unsafe.Pointer(&ends[0])), uintptr(unsafe.Pointer(&ends[1])))
	l.from, l.to = ends[0], ends[1]
	loaded[key] = l
	return l, nil
}

func (l *library) unload() {
	librariesMu.Lock()
	defer librariesMu.Unlock()
	if l.references--; l.references == 0 {
		delete(loaded, l.key)
		_ = purego.Dlclose(l.handle)
	}
}

// function finds a kernel and the sizes of its parameters.
func (l *library) function(name string) (entry uintptr, sizes []uint32, err error) {
	entry, err = purego.Dlsym(l.handle, "hb_emu_run_"+name)
	if err != nil {
		return 0, nil, err
	}
	measure, err := purego.Dlsym(l.handle, "hb_emu_sizes_"+name)
	if err != nil {
		return 0, nil, err
	}
	room := new([64]uint32)
	n, _, _ := purego.SyscallN(measure, uintptr(unsafe.Pointer(room)))
	return entry, append([]uint32(nil), room[:min(int(n), 64)]...), nil
}

func (r *runtime) run(a *launchArgs) string {
	message, _, _ := purego.SyscallN(r.launch, uintptr(unsafe.Pointer(a)))
	if message == 0 {
		return ""
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&message))
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
