package emu_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// rig is a bound context and a compiler.
type rig struct {
	testing.TB
	*emu.Emulator
	driver.Context
	compiler *emu.Compiler
}

func newRig(t testing.TB, options ...emu.Option) *rig {
	t.Helper()
	e, err := emu.New(options...)
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	k, err := emu.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := c.Bind(); err != nil {
		t.Fatal(err)
	}
	return &rig{TB: t, Emulator: e, Context: c, compiler: k}
}

func (r *rig) kernel(source, name string) driver.Function {
	r.Helper()
	image, err := r.compiler.Compile(source, name+".cu", "sm_90")
	if err != nil {
		r.Fatal(err)
	}
	m, err := r.Load(image)
	if err != nil {
		r.Fatal(err)
	}
	f, err := r.Function(m, name)
	if err != nil {
		r.Fatal(err)
	}
	return f
}

func upload[T any](r *rig, v []T) driver.Ptr {
	r.Helper()
	n := uint64(len(v)) * uint64(unsafe.Sizeof(v[0]))
	p, err := r.Alloc(n)
	if err == nil {
		err = r.ToDevice(p, unsafe.Pointer(&v[0]), n, 0)
	}
	if err != nil {
		r.Fatal(err)
	}
	return p
}

func download[T any](r *rig, p driver.Ptr, n int) []T {
	r.Helper()
	v := make([]T, n)
	if err := r.ToHost(unsafe.Pointer(&v[0]), p, uint64(n)*uint64(unsafe.Sizeof(v[0])), 0); err != nil {
		r.Fatal(err)
	}
	return v
}

// launch runs f with arguments of any type.
func (r *rig) launch(f driver.Function, grid, block, shared uint32, args ...unsafe.Pointer) error {
	return r.Launch(f, [3]uint32{grid, 1, 1}, [3]uint32{block, 1, 1}, shared, 0, args)
}

func arg[T any](v T) unsafe.Pointer { return unsafe.Pointer(&v) }

// on runs a kernel on one array, in place.
func on[T comparable](r *rig, source, name string, block uint32, in []T) []T {
	r.Helper()
	p := upload(r, in)
	if err := r.launch(r.kernel(source, name), 1, block, 0, arg(p)); err != nil {
		r.Fatal(err)
	}
	return download[T](r, p, len(in))
}

func TestVectorAdd(t *testing.T) {
	r := newRig(t)
	f := r.kernel(`extern "C" __global__ void __launch_bounds__(128) add(const float *a, const float *b, float *c, int n) {
		int i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i < n) c[i] = a[i] + b[i];
	}`, "add")
	const n = 1000
	a, b := make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = float32(i), float32(2*i)
	}
	c, _ := r.Alloc(4 * n)
	if err := r.launch(f, 8, 128, 0, arg(upload(r, a)), arg(upload(r, b)), arg(c), arg(int32(n))); err != nil {
		t.Fatal(err)
	}
	for i, v := range download[float32](r, c, n) {
		if v != float32(3*i) {
			t.Fatalf("c[%d] = %v", i, v)
		}
	}
}

func TestReductionWithBarriers(t *testing.T) {
	for _, options := range [][]emu.Option{nil, {emu.Reversed()}} {
		r := newRig(t, options...)
		f := r.kernel(`extern "C" __global__ void total(const int *a, int *out) {
			__shared__ int s[256];
			s[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
			__syncthreads();
			for (int d = 128; d > 0; d >>= 1) {
				if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
				__syncthreads();
			}
			int large = __syncthreads_count(a[blockIdx.x * 256 + threadIdx.x] >= 300);
			int any = __syncthreads_or(threadIdx.x == 77), all = __syncthreads_and(threadIdx.x < 255);
			if (threadIdx.x == 0) { out[2 * blockIdx.x] = s[0]; out[2 * blockIdx.x + 1] = large * 100 + any * 10 + all; }
		}`, "total")
		a := make([]int32, 512)
		for i := range a {
			a[i] = int32(i)
		}
		out := upload(r, make([]int32, 4))
		if err := r.launch(f, 2, 256, 0, arg(upload(r, a)), arg(out)); err != nil {
			t.Fatal(err)
		}
		got := download[int32](r, out, 4)
		if want := []int32{255 * 128, 10, 255*128 + 65536, 21210}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// The result of a kernel without its barrier depends on the starting order of its threads.
func TestReversedShowsRaces(t *testing.T) {
	source := `extern "C" __global__ void race(int *out) {
		__shared__ int s[64];
		s[threadIdx.x] = threadIdx.x;
		out[threadIdx.x] = s[threadIdx.x ^ 32];
	}`
	forward := on(newRig(t), source, "race", 64, make([]int32, 64))
	backward := on(newRig(t, emu.Reversed()), source, "race", 64, make([]int32, 64))
	if forward[63] != 31 || backward[63] == 31 || forward[0] == 32 || backward[0] != 32 {
		t.Errorf("forward %v, backward %v", forward, backward)
	}
}

// Shuffled runs each block once, in an order that changes from launch to launch.
func TestShuffledBlocks(t *testing.T) {
	source := `extern "C" __global__ void turns(int *out) { // out[0] counts
		if (threadIdx.x == 0) out[1 + blockIdx.x] = out[0]++;
	}`
	const blocks = 12
	place := func(r *rig) []int32 {
		p := upload(r, make([]int32, 1+blocks))
		if err := r.launch(r.kernel(source, "turns"), blocks, 32, 0, arg(p)); err != nil {
			t.Fatal(err)
		}
		out := download[int32](r, p, 1+blocks)
		if out[0] != blocks {
			t.Fatalf("%d blocks ran, want %d", out[0], blocks)
		}
		return out[1:]
	}
	inOrder := place(newRig(t))
	for b, at := range inOrder {
		if int(at) != b {
			t.Errorf("block %d ran as number %d without Shuffled", b, at)
		}
	}
	r := newRig(t, emu.Shuffled(3))
	orders := map[string]bool{}
	for range 8 {
		order := place(r)
		seen := map[int32]bool{}
		for _, at := range order {
			seen[at] = true
		}
		if len(seen) != blocks {
			t.Errorf("the places are %v", order)
		}
		orders[fmt.Sprint(order)] = true
	}
	if len(orders) < 4 {
		t.Errorf("8 launches had %d orders", len(orders))
	}
}

func TestShuffles(t *testing.T) {
	r := newRig(t)
	got := on(r, `extern "C" __global__ void shuffles(long long *o) {
		int l = threadIdx.x;
		long long v = 1000 + l;
		long long sum = v;
		for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
		double up = __shfl_up_sync(~0u, 0.5 + l, 3);
		float down = __shfl_down_sync(~0u, (float)l, 5, 8);
		unsigned char b = __shfl_sync(~0u, (unsigned char)l, 3, 16);
		o[l] = sum; o[32 + l] = (long long)(up * 10); o[64 + l] = (long long)down; o[96 + l] = b;
	}`, "shuffles", 32, make([]int64, 128))
	for l := range int64(32) {
		up, down := l-3, l
		if up < 0 {
			up = l
		}
		if l%8+5 < 8 {
			down = l + 5
		}
		want := []int64{32*1000 + 496, up*10 + 5, down, l/16*16 + 3}
		if g := []int64{got[l], got[32+l], got[64+l], got[96+l]}; fmt.Sprint(g) != fmt.Sprint(want) {
			t.Errorf("lane %d: got %v, want %v", l, g, want)
		}
	}
}

func TestWarpVotes(t *testing.T) {
	r := newRig(t)
	got := on(r, `extern "C" __global__ void votes(unsigned *o) {
		int l = threadIdx.x & 31;
		if (l >= 20) return; // exited lanes do not take part
		unsigned m = __ballot_sync(~0u, l & 1);
		unsigned half = l < 10 ? 0x3ffu : 0xffc00u;
		unsigned h;
		if (l < 10) h = __ballot_sync(half, l > 4); else h = __ballot_sync(half, l > 14);
		int flags = __any_sync(~0u, l == 19) * 2 + __all_sync(~0u, l < 20);
		unsigned same = __match_any_sync(~0u, l % 3);
		int low = __reduce_min_sync(~0u, 5 - l);
		unsigned sum = __reduce_add_sync(~0u, (unsigned)l);
		if (l == 7) { o[0] = m; o[1] = h; o[2] = flags; o[3] = same; o[4] = low; o[5] = sum; o[6] = __activemask(); }
		if (l == 12) o[7] = h;
		__syncwarp();
	}`, "votes", 64, make([]uint32, 8))
	low := int32(5 - 19)
	want := []uint32{0xaaaaa, 0x3e0, 3, 0x92492, uint32(low), 190, 1 << 7, 0xf8000}
	if fmt.Sprintf("%x", got) != fmt.Sprintf("%x", want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestShuffleFromAbsentLaneIsPoison(t *testing.T) {
	got := on(newRig(t), `extern "C" __global__ void absent(unsigned *o) {
		if (threadIdx.x < 16) o[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, threadIdx.x + 16);
	}`, "absent", 32, make([]uint32, 16))
	if got[0] != 0xA5A5A5A5 {
		t.Errorf("got %x", got)
	}
}

func TestAtomics(t *testing.T) {
	got := on(newRig(t), `extern "C" __global__ void atomics(unsigned long long *o) {
		int i = threadIdx.x;
		atomicAdd((int *)o, i);
		atomicAdd(o + 1, 2ull);
		atomicAdd((float *)(o + 2), 0.5f);
		atomicAdd((double *)(o + 3), 0.25);
		atomicMax((long long *)(o + 4), (long long)i - 10);
		atomicMin((int *)(o + 5), -i);
		atomicOr((unsigned *)(o + 6), 1u << (i & 31));
		unsigned short *h = (unsigned short *)(o + 7), old = *h, seen;
		while ((seen = atomicCAS(h, old, (unsigned short)(old + 3))) != old) old = seen;
		if (i == 5) { atomicExch(o + 8, 99ull); atomicXor((unsigned *)(o + 9), 6u); atomicAnd((unsigned *)(o + 9), 3u); }
	}`, "atomics", 64, make([]uint64, 10))
	want := []uint64{64 * 63 / 2, 128, 0x42000000, 0x4030000000000000, 53, uint64(uint32(0xffffffff - 62)), 0xffffffff, 192, 99, 2}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestBuiltins(t *testing.T) {
	got := on(newRig(t), `extern "C" __global__ void builtins(double *o) {
		int n = 0;
		#define CASE(x) o[n++] = (double)(x);
		CASE(__popc(0xf0f0)) CASE(__popcll(~0ull)) CASE(__ffs(8)) CASE(__ffsll(0)) CASE(__clz(1)) CASE(__clz(0)) CASE(__clzll(1))
		CASE(__brev(1) >> 24) CASE(min(3, 4u)) CASE(max(2.5f, 2.0f)) CASE(min(-3ll, 2ll)) CASE(min(NAN, 4.0f)) CASE(isnan(NAN))
		CASE(isinf(-INFINITY)) CASE(__float_as_int(1.0f) >> 20) CASE(__longlong_as_double(0x4000000000000000ll)) CASE(sqrt(2.25f))
		CASE(hypot(3.0, 4.0)) CASE(pow(2.0f, 10.0f)) CASE(floor(-1.5)) CASE(fminf(1, 2)) CASE(__umulhi(1u << 31, 4))
		CASE(__byte_perm(0x03020100, 0x07060504, 0x7430) >> 24) CASE(__ldg(o)) CASE(sizeof(int4)) CASE(alignof(double2)) CASE(make_int2(4, 5).y)
		CASE(fma(2.0, 3.0, 1.0)) CASE(clock64() > 0) CASE(abs(-3)) CASE(gridDim.x) CASE(blockDim.y)
	}`, "builtins", 1, make([]float64, 40))
	want := []float64{8, 64, 4, 0, 31, 32, 63, 128, 3, 2.5, -3, 4, 1, 1, 0x3f8, 2, 1.5, 5, 1024, -2, 1, 2, 7, 8, 16, 16, 5, 7, 1, 3, 1, 1}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("case %d: got %v, want %v", i, got[i], w)
		}
	}
}

func TestPrelude(t *testing.T) {
	prelude := sure.Get(os.ReadFile("../../cusparse/kernels/prelude.cu"))
	r := newRig(t)
	f := r.kernel(string(prelude)+`
		template <class T> static __device__ T through(T v) { __shared__ T s[32]; s[threadIdx.x] = v; __syncwarp(); return s[31 - threadIdx.x]; }
		// HB_KERNEL in_a_comment(int)
		#if 0
		HB_KERNEL hb_left_out(int x) {}
		#endif
		HB_KERNEL hb_prelude(hb_i64 *o, hb_u16 big) {
			HB_DYNAMIC_SHARED(hb_i64, s);
			s[threadIdx.x] = threadIdx.x * big;
			__syncthreads();
			o[threadIdx.x] = s[31 - threadIdx.x] + (isinf(INFINITY) ? 1 : 0) + through(threadIdx.x);
		}`, "hb_prelude")
	o := upload(r, make([]int64, 32))
	if err := r.launch(f, 1, 32, 256, arg(o), arg(uint16(60000))); err != nil {
		t.Fatal(err)
	}
	if got := download[int64](r, o, 32); got[0] != 31*60000+1+31 || got[31] != 1 {
		t.Errorf("got %v", got)
	}
}

func TestStructParameter(t *testing.T) {
	type pair struct {
		A int8
		B float64
		C [3]int32
	}
	r := newRig(t)
	f := r.kernel(`struct Pair { signed char a; double b; int c[3]; };
	extern "C" __global__ void structs(const Pair p, Pair *out, unsigned char last) {
		*out = p; out->c[1] += last;
	}`, "structs")
	out := upload(r, []pair{{}})
	if err := r.launch(f, 1, 1, 0, arg(pair{-3, 2.5, [3]int32{1, 2, 3}}), arg(out), arg(uint8(200))); err != nil {
		t.Fatal(err)
	}
	if got := download[pair](r, out, 1)[0]; got != (pair{-3, 2.5, [3]int32{1, 202, 3}}) {
		t.Errorf("got %v", got)
	}
}

func TestDynamicSharedMemory(t *testing.T) {
	r := newRig(t)
	f := r.kernel(`extern "C" __global__ void shared(unsigned *o, int n) {
		HB_DYNAMIC_SHARED(unsigned, s);
		__shared__ unsigned fixed[4];
		if (threadIdx.x == 0) { o[2 * blockIdx.x] = s[n - 1]; o[2 * blockIdx.x + 1] = fixed[3]; s[n - 1] = fixed[3] = 1; }
	}`, "shared")
	o := upload(r, make([]uint32, 4))
	const large = 100 << 10
	err := r.launch(f, 2, 32, large, arg(o), arg(int32(large/4)))
	if err == nil || !strings.Contains(err.Error(), "SetShared") {
		t.Errorf("more than 48 KiB without SetShared: %v", err)
	}
	if err := r.SetShared(f, 1<<20); err == nil {
		t.Error("a megabyte of shared memory")
	}
	if err := r.SetShared(f, large); err != nil {
		t.Fatal(err)
	}
	if err := r.launch(f, 2, 32, large, arg(o), arg(int32(large/4))); err != nil {
		t.Fatal(err)
	}
	for i, v := range download[uint32](r, o, 4) {
		if v != 0xA5A5A5A5 {
			t.Errorf("%d: shared memory of a new block holds %x", i, v)
		}
	}
	err = r.launch(f, 1, 32, large, arg(o), arg(int32(large/4+1)))
	if err == nil || !strings.Contains(err.Error(), "shared memory") {
		t.Errorf("a write beyond dynamic shared memory: %v", err)
	}
}

// Writes beside allocations that no argument points to are reported before the host reads anything,
// once, with the kernels since the last check; also if the allocation is freed before.
func TestDamageFoundLater(t *testing.T) {
	for _, how := range []string{"Sync", "SyncEvent", "ToHost", "Free"} {
		r := newRig(t)
		f := r.kernel(`extern "C" __global__ void astray(int *a, long back) { a[back] = 1; }`, "astray")
		g := r.kernel(`extern "C" __global__ void innocent(int *a) { a[0] = 1; }`, "innocent")
		a, b := upload(r, make([]int32, 4)), upload(r, make([]int32, 4))
		event, err := r.NewEvent()
		if err != nil {
			t.Fatal(err)
		}
		// a is given as an address within it, and the write is beside b.
		if err := r.launch(f, 1, 1, 0, arg(a+4), arg((int64(b)-int64(a)-4)/4+4)); err != nil {
			t.Fatal(err)
		}
		if err := r.launch(g, 1, 1, 0, arg(a)); err != nil {
			t.Fatal(err)
		}
		check := func() error {
			switch how {
			case "SyncEvent":
				return r.SyncEvent(event)
			case "ToHost":
				var to [16]byte
				return r.ToHost(unsafe.Pointer(&to), a, 16, 0)
			}
			return r.Sync(0)
		}
		if how == "Free" {
			if err := r.Free(b); err == nil {
				t.Error("the free reports nothing")
			}
		}
		if err := check(); err == nil || !strings.Contains(err.Error(), "one of astray, innocent: byte 16 of an allocation of 16 bytes was written to") {
			t.Errorf("%s: got %v", how, err)
		}
		if err := check(); err != nil {
			t.Errorf("%s: reported again: %v", how, err)
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	r := newRig(t)
	f := r.kernel(`extern "C" __global__ void wrong(int *a, int what) {
		switch (what) {
		case 0: if (threadIdx.x != 3) __syncthreads(); else __shfl_sync(~0u, 1, 0); break;
		case 1: if (threadIdx.x == 3) __ballot_sync(0xf0f0u, 1); break;
		case 2: a[4] = 1; break;
		case 3: assert(threadIdx.x < 40); break;
		case 4: a[threadIdx.x & 3] = 1; __syncthreads(); break;
		case 5: if (threadIdx.x < 16) __syncwarp(); else __ballot_sync(~0u, 1); break;
		}
	}`, "wrong")
	a := upload(r, make([]int32, 4))
	for what, want := range map[int32]string{
		0: "wrong: deadlock: every thread waits; 63 at __syncthreads; thread (3,0,0) of block (0,0,0) at a shuffle of mask 0xffffffff",
		1: "wrong: thread (3,0,0) of block (0,0,0): __ballot_sync of mask 0x0000f0f0, which has not the lane itself",
		2: "wrong: byte 16 of an allocation of 16 bytes was written to",
		3: "wrong: thread (40,0,0) of block (0,0,0): assertion failed: threadIdx.x < 40",
		4: "",
		5: "wrong: deadlock: every thread waits; thread (0,0,0)",
	} {
		err := r.launch(f, 2, 64, 0, arg(a), arg(what))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("case %d: got %v, want %q", what, err, want)
		}
	}
	for name, err := range map[string]error{
		"is empty":     r.launch(f, 0, 64, 0, arg(a), arg(int32(4))),
		"1024 threads": r.launch(f, 1, 2048, 0, arg(a), arg(int32(4))),
		"parameters":   r.launch(f, 1, 64, 0, arg(a)),
		"nil pointer":  r.launch(f, 1, 64, 0, arg(a), nil),
		"no such":      r.launch(f+1, 1, 64, 0, arg(a), arg(int32(4))),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}

func TestCapture(t *testing.T) {
	r := newRig(t)
	f := r.kernel(`extern "C" __global__ void step(int *a, int by) { atomicAdd(a, by); }`, "step")
	s, err := r.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	side, _ := r.NewStream()
	ev, _ := r.NewEvent()
	a := upload(r, []int32{100})
	if err := r.BeginCapture(s); err != nil {
		t.Fatal(err)
	}
	by := int32(2)
	add := func(s driver.Stream) {
		if err := r.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{4, 1, 1}, 0, s, []unsafe.Pointer{arg(a), unsafe.Pointer(&by)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Fill(a, 0, 4, s); err != nil {
		t.Fatal(err)
	}
	add(s)
	sure.Do(r.Record(ev, s), r.Wait(side, ev))
	by = 5 // the first launch has read 2 already
	add(side)
	if err := r.Sync(s); err == nil {
		t.Error("Sync succeeds on a capturing stream")
	}
	if _, err := r.AllocAsync(4, side); err == nil {
		t.Error("AllocAsync succeeds on a capturing stream")
	}
	g, err := r.EndCapture(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := download[int32](r, a, 1); got[0] != 100 {
		t.Errorf("the captured work has run: %v", got)
	}
	for range 2 {
		if err := r.LaunchGraph(g, s); err != nil {
			t.Fatal(err)
		}
	}
	if got := download[int32](r, a, 1); got[0] != 28 {
		t.Errorf("got %v, want 28", got)
	}
	if err := r.CloseGraph(g); err != nil {
		t.Error(err)
	}
	if err := r.LaunchGraph(g, s); err == nil {
		t.Error("a closed graph can be launched")
	}
	if _, err := r.EndCapture(s); err == nil {
		t.Error("EndCapture without BeginCapture succeeds")
	}
}

func TestMemory(t *testing.T) {
	r := newRig(t, emu.Memory(1000))
	p, err := r.Alloc(600)
	if err != nil {
		t.Fatal(err)
	}
	if got := download[byte](r, p, 600); got[0] != 0xA5 || got[599] != 0xA5 {
		t.Errorf("new memory holds %x", got)
	}
	if free, total, err := r.MemInfo(); free != 400 || total != 1000 || err != nil {
		t.Errorf("MemInfo: %d %d %v", free, total, err)
	}
	var de *driver.Error
	if _, err := r.Alloc(401); !errors.As(err, &de) || !de.OutOfMemory() {
		t.Errorf("401 of 400 bytes: %v", err)
	}
	q, err := r.AllocAsync(400, 0)
	if err != nil {
		t.Error(err)
	}
	if n, bytes := r.Live(); n != 2 || bytes != 1000 {
		t.Errorf("live: %d, %d bytes", n, bytes)
	}
	if err := r.Fill32(p, 0x01020304, 150, 0); err != nil {
		t.Error(err)
	}
	if err := r.Copy(q+100, p+200, 300, 0); err != nil {
		t.Error(err)
	}
	if got := download[uint32](r, q, 100); got[24] != 0xA5A5A5A5 || got[25] != 0x01020304 {
		t.Errorf("after a copy: %x", got)
	}
	for what, err := range map[string]error{
		"copy beyond the end": r.Copy(q, p, 401, 0),
		"fill beyond the end": r.Fill(p, 1, 601, 0),
		"fill out of bounds":  r.Fill(p+601, 1, 1, 0),
		"inner free":          r.Free(p + 16),
	} {
		if err == nil {
			t.Error(what + " succeeds")
		}
	}
	if err := errors.Join(r.Free(p), r.FreeAsync(q, 0)); err != nil {
		t.Error(err)
	}
	if err := r.Free(p); err == nil || !strings.Contains(err.Error(), "freed before") {
		t.Errorf("a second free: %v", err)
	}
	h, err := r.AllocHost(64)
	if err != nil || *(*byte)(unsafe.Add(h, 63)) != 0xA5 {
		t.Errorf("host memory: %v", err)
	}
	*(*byte)(unsafe.Add(h, 64)) = 0
	if err := r.FreeHost(h); err == nil || !strings.Contains(err.Error(), "byte 64") {
		t.Errorf("a write beyond host memory: %v", err)
	}
	if n := r.LiveHandles(); n != 0 {
		t.Errorf("%d handles", n)
	}
}

func TestFailAfter(t *testing.T) {
	r := newRig(t)
	fault := r.FailAfter("Alloc", 2, emu.OutOfMemory)
	if _, err := r.Alloc(8); err != nil || fault.Fired() {
		t.Errorf("the first: %v", err)
	}
	var de *driver.Error
	if _, err := r.Alloc(8); !errors.As(err, &de) || !de.OutOfMemory() || !fault.Fired() {
		t.Errorf("the second: %v", err)
	}
	if _, err := r.Alloc(8); err != nil {
		t.Errorf("the third: %v", err)
	}
	f := r.kernel(`extern "C" __global__ void idle() {}`, "idle")
	every := r.FailAfter("", 1, emu.LaunchFailed)
	if err := r.Bind(); err != nil {
		t.Error(err)
	}
	if err := r.launch(f, 1, 1, 0); err == nil || !every.Fired() {
		t.Error("the launch succeeds")
	}
	never := r.FailAfter("Launch", 1, emu.LaunchFailed)
	never.Cancel()
	if err := r.launch(f, 1, 1, 0); err != nil || never.Fired() {
		t.Error(err)
	}
	if n := r.Calls()["Launch"]; n != 2 {
		t.Errorf("%d launches counted", n)
	}
}

func TestBindAndClose(t *testing.T) {
	r := newRig(t, emu.Devices(2))
	if n, _ := r.Devices(); n != 2 {
		t.Errorf("%d devices", n)
	}
	if _, err := r.Open(2); err == nil {
		t.Error("a third device")
	}
	if runtime.GOOS == "linux" {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // without unlock: the thread ends
			_, err := r.Alloc(8)
			done <- err
		}()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "Bind") {
			t.Errorf("a thread without the context: %v", err)
		}
	}
	again, err := r.Open(0)
	if err != nil || again != r.Context {
		t.Errorf("a second Open: %v", err)
	}
	if err := errors.Join(again.Close(), r.Bind(), again.Close()); err != nil {
		t.Error(err)
	}
	if r.Context.Close() == nil || r.Bind() == nil {
		t.Error("a closed context still works")
	}
	if _, err := r.Alloc(8); err == nil {
		t.Error("memory of a closed context")
	}
}

func TestEvents(t *testing.T) {
	r := newRig(t)
	a, err := r.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := r.NewEvent()
	if _, err := r.Elapsed(a, b); err == nil {
		t.Error("Elapsed of unrecorded events succeeds")
	}
	sure.Do(r.Record(a, 0), r.Record(b, 0), r.SyncEvent(b))
	if ms, err := r.Elapsed(a, b); err != nil || ms < 0 {
		t.Errorf("%v, %v", ms, err)
	}
	if err := errors.Join(r.CloseEvent(a), r.CloseEvent(b)); err != nil {
		t.Error(err)
	}
	if r.CloseEvent(a) == nil {
		t.Error("an event closes twice")
	}
}

func TestCompileError(t *testing.T) {
	r := newRig(t)
	_, err := r.compiler.Compile("extern \"C\" __global__ void k(int x) {\n\tint y = zebra;\n}", "k.cu", "sm_90")
	var ce *driver.CompileError
	if !errors.As(err, &ce) || ce.Name != "k.cu" || !strings.Contains(ce.Log, "k.cu:2:") || !strings.Contains(ce.Log, "zebra") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Load([]byte("not a library")); err == nil {
		t.Error("Load accepts any bytes")
	}
}

func TestCache(t *testing.T) {
	r := newRig(t)
	r.compiler.Cache.Dir = t.TempDir()
	compile := func() []byte {
		image, err := r.compiler.Compile(`extern "C" __global__ void kept(int *a) { *a = 1; }`, "kept.cu", "sm_90")
		if err != nil {
			t.Fatal(err)
		}
		return image
	}
	compile()
	list, _ := os.ReadDir(r.compiler.Cache.Dir)
	if len(list) != 1 {
		t.Fatalf("%d files", len(list))
	}
	path := r.compiler.Cache.Dir + "/" + list[0].Name()
	before, _ := os.ReadFile(path)
	sure.Do(os.WriteFile(path, before[:len(before)/2], 0o644))
	if _, err := r.Load(compile()); err != nil {
		t.Errorf("after damage: %v", err)
	}
	if after, _ := os.ReadFile(path); len(after) < len(before)/2+1 {
		t.Error("a damaged file was not replaced")
	}
}

// Without g++ the error says so. This needs a new process, which has not searched for it.
func TestWithoutCompiler(t *testing.T) {
	if os.Getenv("HB_EMU_TEST_CHILD") != "" {
		_, err := emu.New()
		_, err2 := emu.NewCompiler()
		fmt.Println("RESULT", errors.Is(err, emu.ErrUnavailable) && errors.Is(err2, emu.ErrUnavailable), err)
		return
	}
	self := sure.Get(os.Executable())
	cmd := exec.Command(self, "-test.run", "^TestWithoutCompiler$", "-test.v")
	cmd.Env = append(os.Environ(), "HB_EMU_TEST_CHILD=1", "PATH="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "RESULT true") || !strings.Contains(string(out), "install it") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The cache keeps the first attempt at a kernel that #if removes, and is halved when it is too
// large: what was used last stays.
func TestCacheIsBounded(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	r.compiler.Cache.Dir = dir
	const source = `extern "C" __global__ void k(int *a) { *a = 1; }
#if 0
extern "C" __global__ void removed(int *a) { *a = 2; }
#endif`
	for range 2 {
		if _, err := r.compiler.Compile(source, "k.cu", "sm_90"); err != nil {
			t.Fatal(err)
		}
	}
	logs, _ := filepath.Glob(dir + "/*.log")
	if list, _ := os.ReadDir(dir); len(list) != 2 || len(logs) != 1 {
		t.Errorf("%d files, %d of them logs; want 2 and 1", len(list), len(logs))
	}

	cache := emu.Cache{Dir: t.TempDir(), Most: 1000}
	for k := range 10 {
		path := fmt.Sprint(cache.Dir, "/", k)
		sure.Do(os.WriteFile(path, make([]byte, 101), 0o644))
		if at := time.Now().Add(-time.Duration(k) * time.Hour); os.Chtimes(path, at, at) != nil {
			t.Fatal("no times")
		}
	}
	cache.Prune()
	list, _ := os.ReadDir(cache.Dir)
	if len(list) != 4 || list[0].Name() != "0" || list[3].Name() != "3" {
		t.Errorf("left are %v", list)
	}
	cache.Prune()
	if again, _ := os.ReadDir(cache.Dir); len(again) != 4 {
		t.Errorf("a small cache is pruned to %v", again)
	}
}

func BenchmarkCompile(b *testing.B) {
	r := newRig(b)
	r.compiler.Cache.Dir = ""
	for b.Loop() {
		if _, err := r.compiler.Compile(`extern "C" __global__ void k(int *a) { *a = 1; }`, "k.cu", "sm_90"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThreads(b *testing.B) {
	r := newRig(b)
	for name, body := range map[string]string{
		"straight": "a[threadIdx.x] += 1;",
		"barrier":  "a[threadIdx.x] += 1; __syncthreads();",
		"shuffle":  "a[threadIdx.x] += __shfl_xor_sync(~0u, a[threadIdx.x], 1);",
	} {
		f := r.kernel(`extern "C" __global__ void `+name+`(int *a) { `+body+` }`, name)
		a := upload(r, make([]int32, 256))
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread() // b.Run starts a goroutine
			defer runtime.UnlockOSThread()
			if err := r.Bind(); err != nil {
				b.Fatal(err)
			}
			const blocks = 1000
			for b.Loop() {
				if err := r.launch(f, blocks, 256, 0, arg(a)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(blocks*256), "ns/thread")
		})
	}
}
