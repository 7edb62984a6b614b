package device

import (
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Runner is a Backend that runs kernels of other packages. It knows none of
// them: an app brings the text of its kernels as a [Program] and the Go code
// that launches them.
type Runner interface {
	Backend

	// Run calls use with the device locked and its context bound to the OS
	// thread. Use must not call other methods of the backend. Run returns the
	// first error of the session. Memory of the session is freed at its end,
	// except what [Session.Result] and [Session.Retain] keep.
	Run(c Call, use func(s *Session)) error
}

// of returns the backend of a device of package cusparse, and nil of all else.
var of = func(place any) Runner { return nil }

// Register sets what [Of] calls. Package cusparse does, at its initialization.
func Register(f func(place any) Runner) { of = f }

// Of returns the backend of a matrix.Place, nil if it is not one that computes, such as the host or
// a group. Backends of one place are equal.
func Of(place any) Runner { return of(place) }

// Threads is the block size of kernels that take one item a thread, and the
// one that [Session.Each] launches.
const Threads = 256

// Program is the source of kernels: a prelude (integer types, HB_DEVICE,
// HB_KERNEL, HB_EACH), the types and definitions, Head, Parts, Body.
type Program struct {
	File string // such as "bfs", for messages and lists of kernels
	Of   string // such as "breadth-first search", for messages
	Head string // functions that Parts call
	// Parts names kernel files of the backend that Body uses, such as "common".
	Parts []string
	Types []Typedef
	// Defines are macros; fmt.Sprint formats their values. Launch constants that Go and the kernel
	// share are given here, so that they are written once.
	Defines map[string]any
	Body    string
}

// Typedef names an element type.
type Typedef struct {
	Name string
	Type Type
}

// Code is a program that a backend has composed. A nil Code follows a failure.
type Code any

// Kernel is a kernel that is ready to launch. A nil Kernel follows a failure.
type Kernel any

// Memory is a block of device memory with a count of its users.
type Memory interface {
	// Release gives up one use.
	Release()
}

// Buffer is device memory. The zero Buffer has address 0.
type Buffer struct {
	Addr uint64
	Mem  Memory // nil for an address within another buffer
}

// At returns the address n bytes into the buffer.
func (b Buffer) At(n int64) Buffer { return Buffer{Addr: b.Addr + uint64(n)} }

// Release gives up a use that [Session.Retain] counted.
func (b Buffer) Release() {
	if b.Mem != nil {
		b.Mem.Release()
	}
}

// View is a matrix as kernels read it, row-major. A vector is a matrix of one
// row.
type View struct {
	Rows, Cols int
	Format     sparse.Format
	Type       Type
	Entries    int64  // −1 if not counted yet, of a bitmap
	Ptr        Buffer // CSR: Rows+1 offsets of 64 bits
	Idx        Buffer // CSR: columns of 32 bits, ascending in each row
	Present    Buffer // bitmap: one byte for each position
	Val        Buffer // zero for a pattern
	Store      Store
}

// Slots returns the number of values: entries, or positions of a dense format.
func (v View) Slots() int64 {
	if v.Format <= sparse.Hypersparse {
		return v.Entries
	}
	return int64(v.Rows) * int64(v.Cols)
}

// Release gives up the uses that [Session.RetainView] counted.
func (v View) Release() {
	for _, b := range []Buffer{v.Ptr, v.Idx, v.Present, v.Val} {
		b.Release()
	}
}

// Gemm is C = op(A)·op(B) + Beta·C of matrices by rows; op transposes if asked. C is M×N, op(A)
// M×K, op(B) K×N. Sums are in float32.
type Gemm struct {
	M, N, K             int
	A, B, C             Buffer
	StepA, StepB, StepC int // items from a row to the next
	TransA, TransB      bool
	Input, Output       Precision // of A and B; of C, the same or Float32
	Beta                float32
}

// Precision is the form of the numbers of dense matrices.
type Precision int

// TF32 is float32 in memory; products read 10 bits of the fraction.
const (
	Float32 Precision = iota
	TF32
	Float16
	BFloat16
)

// Dropper is what [Session.Kept] keeps with a matrix. The backend calls Drop, once, when it drops
// the matrix. It holds its lock meanwhile: Drop releases buffers, and calls Drop of an
// [Session.Owned] store in place of Drop of the store, which waits for the lock.
type Dropper interface{ Drop() }

// SessionBackend is the part of a [Session] that a backend implements. After
// an error the methods do nothing and return zero values.
type SessionBackend interface {
	// Err returns the first error of the session.
	Err() error
	// Fail records an error unless there is one already.
	Fail(err error)
	// Check fails if the context of the call has ended.
	Check()

	// Alloc returns n bytes, and Zeros n bytes of zero.
	Alloc(n int64) Buffer
	Zeros(n int64) Buffer
	// Upload copies n bytes of host memory to a new buffer. The host memory
	// must stay unchanged until Sync, Download or Read returns.
	Upload(from unsafe.Pointer, n int64) Buffer
	// Feed copies host memory to the device in count pieces of so many bytes: fill writes piece k
	// to pinned memory, which is copied beside the kernels that read the piece before, and use
	// queues what reads it at an address. The piece is another's after use and the next call of
	// fill.
	Feed(count int, bytes int64, fill func(k int, to []byte), use func(k int, at Buffer))
	// Download copies n bytes to host memory and waits.
	Download(to unsafe.Pointer, from Buffer, n int64)
	// Read returns the 64-bit number with index i of b, and waits.
	Read(b Buffer, i int64) int64
	Fill(b Buffer, value byte, n int64)
	Copy(to, from Buffer, n int64)
	// Free frees a buffer before the end of the session. Kernels that are
	// queued may still use it.
	Free(b Buffer)
	// Retain keeps a buffer beyond the session, until its Release.
	Retain(b Buffer) Buffer
	// RetainView keeps the buffers of a view beyond the session.
	RetainView(v View) View
	// Sync waits until all that was queued is done.
	Sync()

	// Program returns the program with this comparable key, and calls compose
	// if this device does not have it yet.
	Program(key any, compose func() Program) Code
	// Kernel returns a kernel of a program, and compiles it if the cache does
	// not have it.
	Kernel(c Code, name string) Kernel
	// Queue launches a kernel with arguments packed by [Session.Launch].
	Queue(k Kernel, grid, block [3]uint32, shared int, args []unsafe.Pointer)
	// Resident returns the number of blocks of so many threads that are on the
	// device at once, at most 8 for each multiprocessor. The number of threads
	// must be the same in all calls for a kernel.
	Resident(k Kernel, threads int) uint32
	// Gemm queues a product of dense matrices by the vendor's BLAS.
	Gemm(g Gemm)
	Multiprocessors() int
	// Together reports whether the resident blocks of a launch run at the same time, so that they
	// may wait for each other.
	Together() bool
	// SharedMemory returns the most shared memory of a block, in bytes.
	SharedMemory() int
	// Room returns the bytes of memory that can still be allocated, without what is kept for later
	// and could be given back.
	Room() int64

	// Results returns 4 numbers of pinned host memory, all 0, and their address
	// for kernels. There is one such array for each device.
	Results() (numbers []int64, at Buffer)
	// Repeat queues step, which launches kernels and does nothing else, until a
	// kernel has set the first number of Results. The host looks after first
	// steps, then after twice as many, and so on. Steps that are queued beyond
	// the end must return at once. What step changes from call to call in turns of two is
	// right: the number of recorded steps is even.
	Repeat(first int, step func())

	// Rows returns an operand by rows, as CSR, and Cols its transpose. HasCols
	// reports whether the transpose exists already.
	Rows(o Operand) View
	Cols(o Operand) View
	HasCols(o Operand) bool
	// Dense returns an operand as a bitmap, or full if it has all entries.
	Dense(o Operand) View
	// NewFull returns a full matrix, NewBitmap a vector with the given presence
	// bytes, and NewBitmapMatrix a matrix. Their values are not initialised.
	NewFull(rows, cols int, t Type) View
	NewBitmap(n int, t Type, present Buffer) View
	NewBitmapMatrix(rows, cols int, t Type, present Buffer) View
	// NewCSR returns a CSR matrix of offsets and columns in buffers of Alloc or Retain, which it
	// shares. Its values are not initialised; with the zero Type it is a pattern.
	NewCSR(rows, cols int, t Type, ptr, idx Buffer, entries int64) View
	// AllPresent makes a bitmap full: each position is an entry.
	AllPresent(v View) View
	// Selected returns the entries of a CSR matrix with a nonzero byte in keep.
	Selected(v View, keep Buffer) View
	// Drop frees a matrix made in this session before its end.
	Drop(v View)
	// Result keeps a matrix made in this session. Entries is the number of its
	// entries, −1 if unknown.
	Result(v View, entries int64) Store
	// Kept returns what was kept with a matrix under a key, or what create
	// returns, and keeps that unless the session has failed.
	Kept(o Operand, key string, create func() Dropper) Dropper
	// Owned drops a result for what Kept keeps.
	Owned(x Store) Dropper

	// Pull returns the vector a·x. x has one row and as many columns as a.
	Pull(m Semiring, a, x View) View
	// Product returns a·x by a method of MxV: "" chooses, "pull" and "push" choose within a
	// direction, and else it is the text of a plan. x is dense; its Entries, unless −1, is the
	// number of its entries. A complemented mask may restrict the result. The result is dense.
	Product(method string, m Semiring, a Operand, x View, mask *Mask) (View, Ran)
	// Scan returns the n+1 exclusive sums of n items of size bytes (1, 4 or 8)
	// as 64-bit numbers.
	Scan(items Buffer, n int64, size int) Buffer
	// Sort sorts n keys of size bytes (4 or 8) by their low bits, stably. Places
	// holds the former index of each, with 32 bits if n < 2³².
	Sort(keys Buffer, n int64, size, bits int) (sorted, places Buffer)
}

// Session is a sequence of operations on a device within [Runner.Run]. Its
// error is sticky: after the first one, all methods do nothing.
type Session struct {
	SessionBackend
	args *Args
}

// NewSession returns the session of a backend. Args is scratch space.
func NewSession(b SessionBackend, args *Args) *Session { return &Session{b, args} }

// Args packs the arguments of a launch. Arguments are copied, so that the
// values of a call need not be allocated.
type Args struct {
	buf  [1024]byte
	ptrs [40]unsafe.Pointer
	end  uintptr
	n    int
}

// Reset removes all arguments.
func (a *Args) Reset() { a.end, a.n = 0, 0 }

// Add copies an argument of size bytes.
func (a *Args) Add(p unsafe.Pointer, size uintptr) {
	at := (a.end + 15) &^ 15
	copy(a.buf[at:at+size], unsafe.Slice((*byte)(p), size))
	a.ptrs[a.n] = unsafe.Pointer(&a.buf[at])
	a.end, a.n = at+size, a.n+1
}

// Pointers returns the addresses of the arguments, valid until Reset.
func (a *Args) Pointers() []unsafe.Pointer { return a.ptrs[:a.n] }

// Launch queues a kernel. Arguments are Buffer, Scalar, int32, uint32, int64,
// float64 and bool, which the kernel takes as hb_i32.
func (s *Session) Launch(k Kernel, grid, block [3]uint32, shared int, args ...any) {
	if s.Err() != nil || grid[0] == 0 || grid[1] == 0 {
		return
	}
	list := s.args
	list.Reset()
	for _, a := range args {
		switch a := a.(type) {
		case Buffer:
			list.Add(unsafe.Pointer(&a.Addr), 8)
		case Scalar:
			list.Add(a.P, uintptr(a.Type.Size))
		case int64:
			list.Add(unsafe.Pointer(&a), 8)
		case int32:
			list.Add(unsafe.Pointer(&a), 4)
		case uint32:
			list.Add(unsafe.Pointer(&a), 4)
		case float64:
			list.Add(unsafe.Pointer(&a), 8)
		case bool:
			var flag int32
			if a {
				flag = 1
			}
			list.Add(unsafe.Pointer(&flag), 4)
		default: // reflect.TypeOf, unlike fmt, does not move the arguments to the heap
			panic("device: kernel argument of type " + reflect.TypeOf(a).String())
		}
	}
	s.Queue(k, grid, block, shared, list.Pointers())
}

// Blocks queues n blocks of so many threads.
func (s *Session) Blocks(k Kernel, n int64, threads int, args ...any) {
	if n > 0 {
		s.Launch(k, [3]uint32{uint32(n), 1, 1}, [3]uint32{uint32(threads), 1, 1}, 0, args...)
	}
}

// Each queues a kernel over n items that loops with HB_EACH: one thread an
// item, up to 32 blocks for each multiprocessor.
func (s *Session) Each(k Kernel, n int64, args ...any) {
	s.Blocks(k, min((n+Threads-1)/Threads, int64(s.Multiprocessors())*32), Threads, args...)
}

// Ints uploads a list. An empty list has an address too.
func (s *Session) Ints(list []int32) Buffer {
	if len(list) == 0 {
		return s.Alloc(4)
	}
	return s.Upload(unsafe.Pointer(unsafe.SliceData(list)), 4*int64(len(list)))
}
