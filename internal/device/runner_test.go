package device

import (
	"testing"
	"unsafe"
)

// fakeBackend records the last launch.
type fakeBackend struct {
	SessionBackend
	err   error
	grid  [3]uint32
	block [3]uint32
	args  []unsafe.Pointer
	count int
}

func (f *fakeBackend) Err() error           { return f.err }
func (f *fakeBackend) Multiprocessors() int { return 2 }
func (f *fakeBackend) Queue(_ Kernel, grid, block [3]uint32, _ int, args []unsafe.Pointer) {
	f.grid, f.block, f.args = grid, block, args
	f.count++
}

func TestLaunchPacksArguments(t *testing.T) {
	b := &fakeBackend{}
	s := NewSession(b, new(Args))
	x := int32(7)
	int32Type, err := TypeOf[int32]()
	if err != nil {
		t.Fatal(err)
	}
	s.Each(nil, 1000, Buffer{Addr: 1 << 40}, int32(-3), int64(1<<50), uint32(9), 2.5, true, Scalar{Type: int32Type, P: unsafe.Pointer(&x)}, Buffer{})
	if b.grid != [3]uint32{4, 1, 1} || b.block != [3]uint32{Threads, 1, 1} || len(b.args) != 8 {
		t.Fatalf("grid %v, block %v, %d arguments", b.grid, b.block, len(b.args))
	}
	if *(*uint64)(b.args[0]) != 1<<40 || *(*int32)(b.args[1]) != -3 || *(*int64)(b.args[2]) != 1<<50 || *(*uint32)(b.args[3]) != 9 ||
		*(*float64)(b.args[4]) != 2.5 || *(*int32)(b.args[5]) != 1 || *(*int32)(b.args[6]) != 7 || *(*uint64)(b.args[7]) != 0 {
		t.Error("an argument differs from what was passed")
	}
	if s.Each(nil, 1<<30); b.grid[0] != 64 {
		t.Errorf("%d blocks for many items, want 32 for each multiprocessor", b.grid[0])
	}
	before := b.count
	s.Each(nil, 0)
	s.Launch(nil, [3]uint32{1, 0, 1}, [3]uint32{32, 1, 1}, 0)
	b.err = ErrMemory
	s.Each(nil, 5)
	if b.count != before {
		t.Error("a launch without blocks or after an error is queued")
	}
}

// A launch allocates nothing: the arguments of a call stay on the stack.
func TestLaunchDoesNotAllocate(t *testing.T) {
	s := NewSession(&fakeBackend{}, new(Args))
	grid, block, n, big := [3]uint32{8, 1, 1}, [3]uint32{256, 1, 1}, int32(1000), int64(1<<40)
	a := Buffer{Addr: 1 << 40, Mem: nil}
	if got := testing.AllocsPerRun(100, func() {
		s.Launch(nil, grid, block, 0, a, n, big, a, a, n+1, big+1, a, a, a)
	}); got != 0 {
		t.Errorf("%v allocations a launch", got)
	}
}

func BenchmarkLaunch(b *testing.B) {
	s := NewSession(&fakeBackend{}, new(Args))
	grid, block, n, big := [3]uint32{8, 1, 1}, [3]uint32{256, 1, 1}, int32(1000), int64(1<<40)
	a := Buffer{Addr: 1 << 40}
	b.ReportAllocs()
	for range b.N {
		s.Launch(nil, grid, block, 0, a, n, big, a, a, n, big, a, a, a)
	}
}
