// Package warm knows which kernels programs commonly need: the kernels of the apps in apps.List and
// of the operations that the apps and usual programs run. It calls them on a device that records
// the text of kernels.
package warm

import (
	"context"
	"sync"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	_ "github.com/hiveblas/hiveblas/generate" // describes its kernels
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	_ "github.com/hiveblas/hiveblas/internal/substitution" // likewise
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Compositions returns the kernels of the command line for its float64 graphs, and with all also
// the kernels of the apps and the usual operations for four types, on a GPU of the given
// properties.
func Compositions(p driver.Properties, all bool) ([]cusparse.Composition, error) {
	programs := fused[float64]()
	if all {
		programs = append(programs, fused[float32]()...)
		programs = append(programs, fused[int32]()...)
		programs = append(programs, fused[int64]()...)
	}
	return cusparse.Compositions(p, programs, func(at matrix.Place) {
		workflows[float64](at)
		if !all {
			return
		}
		operations[float64](at)
		for _, use := range []func(matrix.Place){
			workflows[float32], operations[float32], workflows[int32], operations[int32], workflows[int64], operations[int64],
		} {
			use(at)
		}
	})
}

// fused returns the programs of the fused forms for graphs of T, of groups of GPUs, and of
// generated graphs.
func fused[T semiring.Number]() (list []device.Program) {
	t, err := device.TypeOf[T]()
	if err != nil {
		return nil
	}
	for _, a := range apps.List[T]() {
		if a.Kernels != nil {
			list = append(list, a.Kernels(t)...)
		}
	}
	for _, pkg := range []string{"generate", "substitution"} {
		list = append(list, device.Described(pkg, t)...)
	}
	return append(list, access.GroupKernels(t)...)
}

// Properties returns the properties of a usual GPU of compute capability major.minor, as far as
// kernels depend on them.
func Properties(major, minor int) driver.Properties {
	p := driver.Properties{Name: "any GPU", Major: major, Minor: minor, Multiprocessors: 100, SharedPerBlock: 99 << 10, L2: 40 << 20,
		ThreadsPerSM: 2048, AsyncAlloc: true}
	switch {
	case major == 7 && minor == 5:
		p.SharedPerBlock = 64 << 10
	case major == 7:
		p.SharedPerBlock = 96 << 10
	case major == 8 && minor%7 == 0:
		p.SharedPerBlock = 163 << 10
	case major == 9 || major == 10:
		p.SharedPerBlock = 227 << 10
	}
	p.SharedPerSM = p.SharedPerBlock + 1<<10
	return p
}

// graphs are sizes for which operations choose different methods.
var graphs = []struct {
	n       int
	entries int64
}{{1000, 10000}, {1 << 18, 4 << 20}, {1 << 20, 24 << 20}}

// starts are the row starts of all claimed matrices, which nothing reads or changes.
var starts = sync.OnceValue(func() []int64 { return make([]int64, graphs[len(graphs)-1].n+1) })

// matrixWithoutMemory returns a matrix on a device without memory. It reports so many
// entries, and nothing reads them.
func matrixWithoutMemory[T semiring.Number](at matrix.Place, n int, entries int64) *matrix.Matrix[T] {
	a := matrix.New[T](n, n, matrix.On(at))
	t, err := device.TypeOf[T]()
	if err != nil {
		return a
	}
	var one T
	s, err := device.Of(at).Upload(device.Host{
		Structure: sparse.Structure{NRows: n, NCols: n, Ptr: starts()[:n+1], Idx: []int32{0}, NVals: entries},
		Type:      t, Val: unsafe.Pointer(&one), N: 1,
	})
	if err == nil {
		access.SetRemote(a, s)
	}
	return a
}

// attempt runs f and ignores panics over results that mean nothing.
func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

// workflows calls the apps on graphs of several sizes.
func workflows[T semiring.Number](at matrix.Place) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, size := range graphs {
		for _, a := range apps.List[T]() {
			for _, use := range a.Use {
				attempt(func() { _, _ = use(matrixWithoutMemory[T](at, size.n, size.entries), apps.Run{Context: ctx}) })
			}
		}
	}
}

// operations calls the usual operations on matrices of several sizes.
func operations[T semiring.Number](at matrix.Place) {
	here := matrix.On(at)
	semirings := []semiring.Semiring[T, T, T]{semiring.PlusTimes[T](), semiring.MinPlus[T](), semiring.MaxPlus[T](), semiring.MaxMin[T]()}
	for _, size := range graphs {
		n := size.n
		a, b := matrixWithoutMemory[T](at, n, size.entries), matrixWithoutMemory[T](at, n, size.entries)
		full, _ := matrix.NewFullVector[T](n, 1)
		few := matrix.NewVector[T](n)
		_ = few.Set(0, 1)
		v, c := matrix.NewVector[T](n, here), matrix.New[T](n, n, here)
		for _, s := range semirings {
			for _, f := range []func(){
				func() { _ = ops.MxV(v, s, a, full) }, func() { _ = ops.VxM(v, s, full, a) },
				func() { _ = ops.MxV(v, s, a, few) }, func() { _ = ops.VxM(v, s, few, a) },
				func() { _ = ops.MxM(c, s, a, b) }, func() { _ = ops.MxM(c.Masked(a.Structure()), s, a, b.T()) },
				func() { _ = ops.Reduce(v, s.Add(), a) }, func() { _, _ = ops.ReduceScalar(s.Add(), a) },
				func() { _ = ops.EWiseAdd(c, s.Add(), a, b) }, func() { _ = ops.EWiseMult(c, s.Mul(), a, b) },
			} {
				attempt(f)
			}
		}
		for _, f := range []func(){
			func() { _ = ops.Transpose(c, a) }, func() { _ = ops.Apply(c, semiring.Abs[T](), a) },
			func() { _ = ops.Select(c, semiring.Tril[T](0), a) }, func() { _ = ops.Select(c, semiring.ValueGT[T](0), a) },
			func() { _ = ops.Extract(c, a, ops.All(), ops.All()) }, func() { _ = ops.Assign(c, a, ops.All(), ops.All()) },
		} {
			attempt(f)
		}
	}
}
