//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// fake is testdata/fake.c, loaded.
type fake struct {
	testing.TB
	path                                   string
	log, reset, fail, version, init, quiet uintptr
}

func newFake(t testing.TB) *fake {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs gcc, to build a library that writes down how it is called")
	}
	f := &fake{TB: t, path: filepath.Join(t.TempDir(), "libfake.so")}
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-w", "-o", f.path, "testdata/fake.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	handle, err := dlopen(f.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*uintptr{"fake_log": &f.log, "fake_reset": &f.reset, "fake_fail": &f.fail, "fake_version": &f.version, "fake_init": &f.init, "fake_quiet": &f.quiet} {
		if *p, err = dlsym(handle, name); err != nil {
			t.Fatal(err)
		}
	}
	call(f.reset)
	t.Setenv("HIVEBLAS_CUDA", f.path)
	t.Setenv("HIVEBLAS_NVRTC", f.path)
	t.Setenv("HIVEBLAS_CUSPARSE", f.path)
	t.Setenv("HIVEBLAS_CUBLAS", f.path)
	return f
}

// said returns what was called since the last time.
func (f *fake) said() string {
	var text func() unsafe.Pointer
	bind(&text, f.log)
	s := dl.String(text())
	call(f.reset)
	return strings.TrimSpace(s)
}

// want fails unless exactly these lines were written since the last time.
func (f *fake) want(err error, lines ...string) {
	f.Helper()
	if err != nil {
		f.Error(err)
	}
	if got := f.said(); got != strings.Join(lines, "\n") {
		f.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(lines, "\n"))
	}
}

func (f *fake) open() Context {
	f.Helper()
	d, err := Open()
	if err != nil {
		f.Fatal(err)
	}
	c, err := d.Open(1)
	if err != nil {
		f.Fatal(err)
	}
	f.said()
	return c
}

func TestMissingLibraries(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.so")
	empty := t.TempDir()
	text := filepath.Join(empty, "text")
	sure.Do(os.WriteFile(text, []byte("not a library"), 0o644))
	for _, c := range []struct {
		variable string
		open     func() error
		want     error
		says     string
	}{
		{"HIVEBLAS_CUDA", func() error { _, err := Open(); return err }, ErrNoDriver, "install the NVIDIA driver"},
		{"HIVEBLAS_NVRTC", func() error { _, err := OpenCompiler(); return err }, ErrNoCompiler, "HIVEBLAS_NVRTC or LD_LIBRARY_PATH"},
		{"HIVEBLAS_CUSPARSE", func() error { _, err := OpenSparse(); return err }, ErrNoCusparse, "HIVEBLAS_CUSPARSE or LD_LIBRARY_PATH"},
		{"HIVEBLAS_CUBLAS", func() error { _, err := OpenBLAS(); return err }, ErrNoCublas, "HIVEBLAS_CUBLAS or LD_LIBRARY_PATH"},
	} {
		for _, value := range []string{none, empty, text} {
			t.Setenv(c.variable, value)
			err := c.open()
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), value) {
				t.Errorf("%s=%s: %v", c.variable, value, err)
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "lib/python3.13/site-packages/nvidia/cu13/lib")
	sure.Do(os.MkdirAll(dir, 0o755))
	t.Setenv("VIRTUAL_ENV", root)
	t.Setenv("CUDA_HOME", "/opt/cuda")
	got := strings.Join(nvrtcLibrary.folders(), ":")
	if !strings.Contains(got, dir) || !strings.Contains(got, "/opt/cuda/lib64") || !strings.Contains(got, "/usr/local/cuda/lib64") {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(cudaLibrary.folders(), ":"); strings.Contains(got, root) || !strings.Contains(got, "wsl") {
		t.Errorf("got %s", got)
	}
}

func TestOpenErrors(t *testing.T) {
	f := newFake(t)
	call(f.version, 11010)
	_, err := Open()
	if !errors.Is(err, ErrOldDriver) || !strings.Contains(err.Error(), "11.1") || !strings.Contains(err.Error(), "11.2 is needed") {
		t.Errorf("an old driver: %v", err)
	}
	call(f.version, 12080)
	call(f.init, 100)
	if _, err := Open(); !errors.Is(err, ErrNoDevice) {
		t.Errorf("no device: %v", err)
	}
	call(f.init, 34)
	if _, err := Open(); !errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "stub") {
		t.Errorf("a stub: %v", err)
	}
	call(f.init, 999)
	var e *Error
	if _, err := Open(); !errors.As(err, &e) || e.Call != "cuInit" || e.Code != 999 {
		t.Errorf("another error: %v", err)
	}
	call(f.init, 0)
	if d, err := Open(); err != nil {
		t.Error(err)
	} else if v, err := d.Version(); v != 12080 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
}

func TestDescribe(t *testing.T) {
	newFake(t)
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Devices(); n != 2 || err != nil {
		t.Errorf("%d devices, %v", n, err)
	}
	p, err := d.Describe(1)
	want := Properties{
		Name: "Fake 71", Major: 71075, Minor: 71076, Memory: 150 << 30, Multiprocessors: 71016, SharedPerBlock: 71097, SharedPerSM: 71081,
		L2: 71038, AsyncAlloc: true, ThreadsPerSM: 71039, MemoryBusWidthBits: 71037, MemoryClockKHz: 71036,
	}
	if p != want || err != nil {
		t.Errorf("got %+v, %v", p, err)
	}
	for _, i := range []int{-1, 2, 1 << 40} {
		if _, err := d.Describe(i); err == nil {
			t.Errorf("there is a device %d", i)
		}
		if _, err := d.Open(i); err == nil {
			t.Errorf("device %d opens", i)
		}
	}
}

func TestCallingConvention(t *testing.T) {
	f := newFake(t)
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	f.said()
	c, err := d.Open(0)
	f.want(err, "cuDeviceGet 0", "retain 70")
	if d.Name() != "dlopen" || c.Raw() != 0xC0117E87 {
		t.Errorf("%s, %x", d.Name(), c.Raw())
	}
	f.want(c.Bind(), "current c0117e87")

	if free, total, err := c.MemInfo(); free != 5<<32 || total != 7<<32 || err != nil {
		t.Errorf("%d of %d, %v", free, total, err)
	}
	p, err := c.Alloc(1 << 35)
	f.want(err, "alloc 34359738368")
	f.want(c.Free(p), "free 7f0000001000")
	p, err = c.AllocAsync(6, 0x51)
	f.want(err, "allocasync 6 51")
	f.want(c.FreeAsync(p, 0x51), "freeasync 7f0000002000 51")
	h, err := c.AllocHost(24)
	f.want(err, "hostalloc 24 1")
	f.want(c.FreeHost(h), "freehost")

	word := int32(-5)
	f.want(c.ToDevice(0x7f0000003000, unsafe.Pointer(&word), 4, 9), "htod 7f0000003000 4 9 -5")
	f.want(c.ToHost(unsafe.Pointer(&word), 0x7f0000003000, 4, 9), "dtoh 7f0000003000 4 9")
	if word != 0x07070707 {
		t.Errorf("word is %x", word)
	}
	f.want(c.Copy(0x7f0000003000, 0x7f0000004000, 1<<33, 9), "dtod 7f0000003000 7f0000004000 8589934592 9")
	f.want(c.Fill(0x7f0000003000, 0xfe, 1<<33, 9), "set8 7f0000003000 fe 8589934592 9")
	f.want(c.Fill32(0x7f0000003000, 0xfedcba98, 1<<33, 9), "set32 7f0000003000 fedcba98 8589934592 9")

	s, err := c.NewStream()
	f.want(err, "stream 1")
	e, err := c.NewEvent()
	f.want(err, "event 0")
	f.want(c.Record(e, s), "record e7 57")
	f.want(c.Wait(s, e), "wait 57 e7 0")
	f.want(c.SyncEvent(e), "syncevent e7")
	ms, err := c.Elapsed(e, e+1)
	f.want(err, "elapsed e7 e8")
	if ms != 1.25 {
		t.Errorf("%v ms", ms)
	}
	f.want(c.Sync(s), "sync 57")
	f.want(c.CloseEvent(e), "closeevent e7")

	m, err := c.Load([]byte("image\x00"))
	f.want(err, "load image 2 5 6 8191")
	if _, err := c.Load([]byte("!")); err == nil || !strings.Contains(err.Error(), "ptxas says no") {
		t.Errorf("an image that does not load: %v", err)
	}
	if _, err := c.Load(nil); err == nil {
		t.Error("nothing loads")
	}
	k, err := c.Function(m, "hb_kernel")
	f.want(err, "function 30d hb_kernel")
	f.want(c.SetShared(k, 200000), "setattr f2 8 200000")
	n, err := c.Occupancy(k, 256, 4096)
	f.want(err, "occupancy f2 256 4096")
	regs, local, err := c.Registers(k)
	f.want(err, "getattr 4 f2", "getattr 3 f2")
	if n != 3 || regs != 40 || local != 30 {
		t.Errorf("%d blocks, %d registers, %d bytes", n, regs, local)
	}
	number, fraction := int32(-7), 2.5
	f.want(c.Launch(k, [3]uint32{4e9, 2, 3}, [3]uint32{4, 5, 6}, 7, s, []unsafe.Pointer{unsafe.Pointer(&number), unsafe.Pointer(&fraction)}),
		"launch f2 4000000000 2 3 4 5 6 7 57 args -7 2.5 0")
	f.want(c.Launch(k, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, 0, nil), "launch f2 1 1 1 1 1 1 0 0 args 0 0 0")

	f.want(c.BeginCapture(s), "begin 57 2")
	g, err := c.EndCapture(s)
	f.want(err, "end 57", "instantiate 64 0", "destroy 64")
	f.want(c.LaunchGraph(g, s), "graph 65 57")
	f.want(c.CloseGraph(g), "closegraph 65")
	f.want(c.CloseStream(s), "closestream 57")
	f.want(c.Unload(m), "unload 30d")
	f.want(c.Close(), "release 70")
	f.want(c.Close())
}

func TestErrorText(t *testing.T) {
	f := newFake(t)
	c := f.open()
	call(f.fail, 2)
	_, err := c.Alloc(8)
	var e *Error
	if !errors.As(err, &e) || !e.OutOfMemory() || err.Error() != "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory" {
		t.Errorf("got %v", err)
	}
	call(f.fail, 4242)
	if err := c.Sync(0); err == nil || err.Error() != "cuStreamSynchronize: error 4242: no description" {
		t.Errorf("got %v", err)
	}
	// Every call tells of its failure.
	k, b := Function(1), unsafe.Pointer(new(int64))
	for name, do := range map[string]func() error{
		"cuCtxSetCurrent":      c.Bind,
		"cuMemFree":            func() error { return c.Free(1) },
		"cuMemcpyHtoDAsync":    func() error { return c.ToDevice(1, b, 4, 0) },
		"cuMemcpyDtoHAsync":    func() error { return c.ToHost(b, 1, 4, 0) },
		"cuMemcpyDtoDAsync":    func() error { return c.Copy(1, 2, 4, 0) },
		"cuMemsetD8Async":      func() error { return c.Fill(1, 2, 4, 0) },
		"cuMemsetD32Async":     func() error { return c.Fill32(1, 2, 4, 0) },
		"cuStreamCreate":       func() error { _, err := c.NewStream(); return err },
		"cuLaunchKernel":       func() error { return c.Launch(k, [3]uint32{}, [3]uint32{}, 0, 0, []unsafe.Pointer{b, b}) },
		"cuModuleLoadData":     func() error { _, err := c.Load([]byte("x\x00")); return err },
		"cuModuleGetFunction":  func() error { _, err := c.Function(1, "k"); return err },
		"cuStreamBeginCapture": func() error { return c.BeginCapture(1) },
		"cuStreamEndCapture":   func() error { _, err := c.EndCapture(1); return err },
		"cuGraphLaunch":        func() error { return c.LaunchGraph(1, 1) },
	} {
		call(f.fail, 700)
		if err := do(); !errors.As(err, &e) || e.Call != name || e.Code != 700 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Launching allocates nothing beyond what the caller does.
func TestLaunchAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("under the race detector pools forget what they hold")
	}
	f := newFake(t)
	c := f.open()
	call(f.quiet, 1)
	number, fraction := int32(-7), 2.5
	args := []unsafe.Pointer{unsafe.Pointer(&number), unsafe.Pointer(&fraction)}
	n := testing.AllocsPerRun(100, func() {
		if c.Launch(1, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, 0, args) != nil || c.Sync(0) != nil {
			t.Error("failed")
		}
	})
	if n > 0 {
		t.Errorf("%v allocations a launch", n)
	}
}

func BenchmarkLaunch(b *testing.B) {
	f := newFake(b)
	c := f.open()
	call(f.quiet, 1)
	number, fraction := int32(-7), 2.5
	args := []unsafe.Pointer{unsafe.Pointer(&number), unsafe.Pointer(&fraction)}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Launch(1, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, 0, args); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCompiler(t *testing.T) {
	f := newFake(t)
	k, err := OpenCompiler()
	if err != nil {
		t.Fatal(err)
	}
	if k.Name() != f.path || k.Version() != "12.4" {
		t.Errorf("%s %s", k.Name(), k.Version())
	}
	image, err := k.Compile("source", "k.cu", "sm_90")
	f.want(err, "program k.cu source 0", "option --gpu-architecture=sm_90", "option --std=c++17", "destroyprogram")
	if string(image) != "cubin" {
		t.Errorf("image %q", image)
	}
	t.Setenv("HIVEBLAS_LINEINFO", "1")
	image, err = k.Compile("source", "k.cu", "sm_120")
	f.want(err, "program k.cu source 0", "option --gpu-architecture=compute_90", "option --std=c++17", "option -lineinfo", "destroyprogram")
	if string(image) != "ptx\x00" {
		t.Errorf("image %q", image)
	}
	var ce *CompileError
	if _, err := k.Compile("!", "k.cu", "sm_80"); !errors.As(err, &ce) || ce.Log != "k.cu(3): error: zebra" || ce.Name != "k.cu" {
		t.Errorf("a mistake: %v", err)
	}
	var e *Error
	if _, err := k.Compile("?", "k.cu", "sm_80"); !errors.As(err, &e) || e.Code != 7 {
		t.Errorf("another failure: %v", err)
	}
	for arch, says := range map[string]string{"sm_60": "sm_70 and newer", "90": "want one such as", "sm_x": "want one such as"} {
		if _, err := k.Compile("source", "k.cu", arch); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", arch, err)
		}
	}
}

func TestSparse(t *testing.T) {
	f := newFake(t)
	s, err := OpenSparse()
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.NewHandle(0x57)
	f.want(err, "sstream 5 57")
	if v, err := h.Version(); v != 12504 || err != nil || s.Name() != f.path {
		t.Errorf("version %d, %v", v, err)
	}
	a, err := s.CreateCsr(1, 2, 3<<33, 0x7f0000001000, 0x7f0000002000, 0x7f0000003000, Index64, Index32, Float64)
	f.want(err, "csr 1 2 25769803776 7f0000001000 7f0000002000 7f0000003000 3 2 0 1")
	if m, n, z, err := s.Size(a); m != 1 || n != 2 || z != 3<<33 || err != nil {
		t.Errorf("%d×%d, %d, %v", m, n, z, err)
	}
	f.want(s.SetPointers(a, 1, 2, 3), "pointers a 1 2 3")
	x, err := s.CreateDnVec(5, 0x7f0000004000, Float32)
	f.want(err, "dnvec 5 7f0000004000 0")
	b, err := s.CreateDnMat(5, 6, 7, 0x7f0000004000, Float64, RowMajor)
	f.want(err, "dnmat 5 6 7 7f0000004000 1 2")

	v := SpMV{Op: Transpose, Alpha: 1.5, Beta: 0.25, A: a, X: x, Y: x + 1, Type: Float32, Algorithm: SpMVCSR2}
	size, err := v.BufferSize(h)
	f.want(err, "spmvsize 5 1 1.5 a b 0.25 c 0 3")
	if size != 1<<33 {
		t.Errorf("%d bytes", size)
	}
	f.want(v.Preprocess(h, 1)) // the fake does not have it
	f.want(v.Run(h, 0x7f0000005000), "spmv 5 1 1.5 a b 0.25 c 0 3 7f0000005000")

	mm := SpMM{OpB: Transpose, Alpha: 2, Beta: -1, A: a, B: b, C: b + 1, Type: Float64, Algorithm: SpMMCSR2}
	if size, err := mm.BufferSize(h); size != 99 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
	f.want(mm.Run(h, 0x7f0000005000), "spmm 5 0 1 2 a d -1 e 1 6 7f0000005000")

	f.want(s.SetTriangle(a, true, false), "attribute a 0 1 4", "attribute a 1 0 4")
	tri := TriangularSolve{Op: Transpose, Alpha: 1.5, A: a, X: 0xb, Y: 0xc, Type: Float32}
	tri.Descr, err = tri.Create(h)
	f.want(err)
	size, err = tri.BufferSize(h)
	f.want(err, "spsvsize 5 1 1.5 a b c 0 0 5e")
	if size != 3<<33 {
		t.Errorf("%d bytes", size)
	}
	f.want(tri.Analysis(h, 0x7f0000008000), "spsvanalysis 5 1 1.5 a b c 0 0 5e 7f0000008000")
	f.want(errors.Join(tri.Run(h), tri.Destroy(h)), "spsv 5 1 1.5 a b c 0 0 5e", "spsvdestroy 5e")
	tri.Columns, tri.Type = true, Float64
	tri.Descr, err = tri.Create(h)
	f.want(err)
	if size, err := tri.BufferSize(h); size != 77 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
	f.want(tri.Run(h), "spsm 5 1 0 1.5 a b c 1 0 5f")
	if err := tri.Analysis(h, 0); !errors.Is(err, ErrNotSupported) {
		t.Errorf("a function that is not there: %v", err)
	}

	d, err := s.CreateSpGEMM()
	f.want(err)
	g := SpGEMM{Alpha: 3, A: a, B: a + 1, C: a + 2, Type: Float32, Algorithm: SpGEMMAlg3, Descr: d}
	size, err = g.WorkEstimation(h, 0, 0)
	f.want(err, "work 0 0 3 a b 0 c 0 5 6e 0 0")
	if size != 1111 {
		t.Errorf("%d bytes", size)
	}
	own, compute, err := g.EstimateMemory(h, 0.125, 0, 0)
	f.want(err, "estimate 5 0 0 3 a b 0 c 0 5 6e 0.125 0 0 0")
	if own != 3333 || compute != 0 {
		t.Errorf("%d, %d bytes", own, compute)
	}
	_, compute, err = g.EstimateMemory(h, 0.125, own, 0x7f0000006000)
	f.want(err, "estimate 5 0 0 3 a b 0 c 0 5 6e 0.125 3333 7f0000006000 1")
	if compute != 2222 {
		t.Errorf("%d bytes", compute)
	}
	_, err = g.Compute(h, compute, 0x7f0000007000)
	f.want(err, "compute 2222 7f0000007000")
	f.want(g.Copy(h), "copy 6e")

	if _, err := g.Products(h); !errors.Is(err, ErrNotSupported) {
		t.Errorf("a function that is not there: %v", err)
	}
	p := SDDMM{A: b, B: b, C: a}
	if err := p.Run(h, 0); !errors.Is(err, ErrNotSupported) {
		t.Errorf("a function that is not there: %v", err)
	}
	call(f.fail, 10)
	var e *Error
	if err := v.Run(h, 0); !errors.As(err, &e) || e.Code != 10 || err.Error() != "cusparseSpMV: CUSPARSE_STATUS_FAKE: fake trouble" {
		t.Errorf("got %v", err)
	}
	f.said()
	f.want(errors.Join(s.DestroySpMat(a), s.DestroyDnVec(x), s.DestroyDnMat(b), s.DestroySpGEMM(d), h.Close()), "sdmat a", "sdestroy 5")
}

func TestCompilerIdentity(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HIVEBLAS_NVRTC", "")
	t.Setenv("HIVEBLAS_LINEINFO", "")
	t.Setenv("LD_LIBRARY_PATH", dir)
	if id := CompilerIdentity(); strings.Contains(id, "libnvrtc") {
		t.Skip("an installed NVRTC comes before those of this test: ", id)
	}
	seen := map[string]bool{CompilerIdentity(): true}
	step := func(what string, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		id := CompilerIdentity()
		if seen[id] {
			t.Errorf("%s: the identity stays %q", what, id)
		}
		if id != CompilerIdentity() {
			t.Errorf("%s: the identity changes by itself", what)
		}
		seen[id] = true
	}
	write := func(name, text string) func() error {
		return func() error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	}
	step("a library", write("libnvrtc.so.12", "1"))
	step("another size", write("libnvrtc.so.12", "12"))
	step("a newer one", write("libnvrtc.so.13", "12"))
	step("named", func() error {
		t.Setenv("HIVEBLAS_NVRTC", filepath.Join(dir, "mine.so"))
		return write("mine.so", "123")()
	})
	step("options", func() error { t.Setenv("HIVEBLAS_LINEINFO", "1"); return nil })
}

// Products of matrices by rows are products of their transposes by columns.
func TestGemm(t *testing.T) {
	f := newFake(t)
	b, err := OpenBLAS()
	if err != nil {
		t.Fatal(err)
	}
	h, err := b.NewHandle(0x20, 0x30)
	f.want(err, "bstream 7 20", "workspace 7 30 33554432")
	v, err := h.Version()
	if f.want(err); v != 130100 || b.Name() != f.path {
		t.Errorf("version %d of %s", v, b.Name())
	}
	g := Gemm{M: 2, N: 3, K: 4, A: 0xA, B: 0xB, C: 0xC, StepA: 5, StepB: 6, StepC: 7, Beta: .5}
	f.want(h.Gemm(&g), "gemm 7 0 0 3 2 4 1 b 0 6 a 0 5 0.5 c 0 7 68 -1")
	g.TransA, g.TF32 = true, true
	f.want(h.Gemm(&g), "gemm 7 0 1 3 2 4 1 b 0 6 a 0 5 0.5 c 0 7 77 -1")
	g = Gemm{M: 2, N: 3, K: 4, A: 0xA, B: 0xB, C: 0xC, StepA: 5, StepB: 6, StepC: 7, TransB: true, Input: Float16, TF32: true}
	f.want(h.Gemm(&g), "gemm 7 1 0 3 2 4 1 b 2 6 a 2 5 0 c 0 7 68 -1")
	g.Input, g.Output = BFloat16, BFloat16
	f.want(h.Gemm(&g), "gemm 7 1 0 3 2 4 1 b 14 6 a 14 5 0 c 14 7 68 -1")
	g.M = 0
	f.want(h.Gemm(&g)) // nothing to do
	var e *Error
	g = Gemm{M: 1, N: 1, K: 13, StepA: 13, StepB: 1, StepC: 1}
	if err := h.Gemm(&g); !errors.As(err, &e) || e.Code != 13 || e.Name != "CUBLAS_STATUS_FAKE" {
		t.Errorf("a product that fails: %v", err)
	}
	f.said()
	for _, bad := range []*Gemm{nil, {M: -1, StepA: 1, StepB: 1, StepC: 1}, {M: 1, N: 1, K: 2, StepA: 1, StepB: 1, StepC: 1},
		{M: 1, N: 1, K: 1, StepA: 1, StepB: 1, StepC: 1, Input: Float64}} {
		if err := h.Gemm(bad); !errors.As(err, &e) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	f.want(h.Close(), "bdestroy 7")
	if _, err := (*BLAS)(nil).NewHandle(0, 0); !errors.As(err, &e) {
		t.Errorf("a handle of no library: %v", err)
	}
	if err := (*BLASHandle)(nil).Gemm(&g); !errors.As(err, &e) {
		t.Errorf("a product without a handle: %v", err)
	}
}
