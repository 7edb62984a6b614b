//go:build gorgonia && cgo && linux

package driver

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"gorgonia.org/cu"
)

// On testdata/fake.c as libcuda.so.1, which make gorgonia-check arranges, every
// call must arrive as it was made.
func TestGorgonia(t *testing.T) {
	lib, err := dlopen("libcuda.so.1")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{TB: t}
	for name, p := range map[string]*uintptr{"fake_log": &f.log, "fake_reset": &f.reset, "fake_fail": &f.fail} {
		if *p, err = dlsym(lib, name); err != nil {
			t.Skip("this is a real libcuda")
		}
	}
	f.said()
	d, err := OpenGorgonia()
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Describe(1)
	if p.Name != "Fake 71" || p.Major != 71075 || p.SharedPerBlock != 71097 || p.SharedPerSM != 71081 || p.ThreadsPerSM != 71039 || p.AsyncAlloc || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	f.said()
	c, err := d.Open(0)
	f.want(err, "cuDeviceGet 0", "retain 70")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f.want(c.Bind(), "current c0117e87")
	shared, err := FromContext(c.(*gorgoniaContext).ctx)
	if err != nil || shared.Raw() != 0xC0117E87 || c.Raw() != shared.Raw() {
		t.Errorf("%x, %v", shared.Raw(), err)
	}
	if _, err := FromContext(cu.CUContext{}); err == nil {
		t.Error("a context that is none")
	}

	a, err := c.Alloc(1 << 35)
	f.want(err, "alloc 34359738368")
	if UnwrapPtr(a) != 0x7f0000001000 || WrapPtr(UnwrapPtr(a)) != a {
		t.Errorf("address %x", a)
	}
	h, err := c.AllocHost(24)
	f.want(err, "hostalloc 24 1")
	f.want(c.FreeHost(h), "freehost")
	word := int32(-5)
	f.want(c.ToDevice(a, unsafe.Pointer(&word), 4, 9), "htod 7f0000001000 4 9 -5")
	f.want(c.ToHost(unsafe.Pointer(&word), a, 4, 9), "dtoh 7f0000001000 4 9")
	f.want(c.Copy(a, a+8, 4, 9), "dtod 7f0000001000 7f0000001008 4 9")
	f.want(c.Fill(a, 0xfe, 4, 9), "set8 7f0000001000 fe 4 9")
	f.want(c.Fill32(a, 0xfedcba98, 4, 9), "set32 7f0000001000 fedcba98 4 9")
	s, err := c.NewStream()
	f.want(err, "stream 1")
	e, err := c.NewEvent()
	f.want(err, "event 0")
	f.want(errors.Join(c.Record(e, s), c.Wait(s, e), c.SyncEvent(e), c.Sync(s)), "record e7 57", "wait 57 e7 0", "syncevent e7", "sync 57")
	if ms, err := c.Elapsed(e, e); ms != 1.25 || err != nil {
		t.Errorf("%v, %v", ms, err)
	}
	f.said()
	m, err := c.Load([]byte("image\x00"))
	f.want(err, "load image")
	k, err := c.Function(m, "hb_kernel")
	f.want(err, "function 30d hb_kernel")
	f.want(c.SetShared(k, 200000), "setattr f2 8 200000")
	if n, err := c.Occupancy(k, 256, 4096); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if r, l, err := c.Registers(k); r != 40 || l != 30 || err != nil {
		t.Errorf("%d, %d, %v", r, l, err)
	}
	f.said()
	number, fraction := int32(-7), 2.5
	f.want(c.Launch(k, [3]uint32{4e9, 2, 3}, [3]uint32{4, 5, 6}, 7, s, []unsafe.Pointer{unsafe.Pointer(&number), unsafe.Pointer(&fraction)}),
		"launch f2 4000000000 2 3 4 5 6 7 57 args -7 2.5 0")
	for _, err := range []error{c.BeginCapture(s), c.LaunchGraph(1, s), c.FreeAsync(a, s), c.CloseGraph(1)} {
		if !errors.Is(err, ErrNotSupported) {
			t.Errorf("got %v", err)
		}
	}
	call(f.fail, 2)
	var de *Error
	if _, err := c.Alloc(8); !errors.As(err, &de) || !de.OutOfMemory() || !strings.Contains(err.Error(), "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY") {
		t.Errorf("got %v", err)
	}
	f.said()
	f.want(errors.Join(c.CloseEvent(e), c.CloseStream(s), c.Unload(m), c.Free(a)), "closeevent e7", "closestream 57", "unload 30d", "free 7f0000001000")
	f.want(shared.Close())
	f.want(c.Close(), "release 70")
}
