// Package blas multiplies dense matrices on the host: by a library that a package registered
// (apps/sage/openblas) and that is on the system, which is opened at the first use, and else by
// gonum. HIVEBLAS_BLAS=gonum excludes the library. The threads of package parallel each call it on
// rows of the result: OpenBLAS's own threads wait actively between products, which slows down other
// work.
package blas

import (
	"os"
	"sync"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Env is the environment variable that chooses the library.
const Env = "HIVEBLAS_BLAS"

// Real is the element type of a matrix.
type Real interface{ float32 | float64 }

// Library is an opened library.
type Library struct {
	Name  string
	Sgemm Gemm[float32]
	Dgemm Gemm[float64]
}

// Gemm is cblas_?gemm.
type Gemm[F Real] func(order, transA, transB, m, n, k int32, alpha F, a *F, lda int32, b *F, ldb int32, beta F, c *F, ldc int32)

var opened = sync.OnceValue(choose)

// registered opens the library that was registered; nil for none.
var registered func() *Library

// Register registers a library before the first product, in an init function. open returns nil if
// the library is not on the system.
func Register(open func() *Library) { registered = open }

// choose opens the library that the environment asks for; nil is gonum.
func choose() *Library {
	if registered == nil || os.Getenv(Env) == "gonum" {
		return nil
	}
	return registered()
}

// Name names the library in use.
func Name() string { return opened().String() }

func (l *Library) String() string {
	if l == nil {
		return "gonum"
	}
	return l.Name
}

// A Matrix is an m×n matrix by rows, without gaps.
type Matrix[F Real] struct {
	Rows, Cols int
	Val        []F
}

// minWork is the number of multiplications from which another thread pays: about 50 µs of work.
const minWork = 1 << 21

// Product sets c = op(a)·op(b) + beta·c, where op transposes if asked, with at most the given
// number of threads, 0 for GOMAXPROCS. The shapes must agree; c must not overlap a or b.
func Product[F Real](threads int, c Matrix[F], a Matrix[F], transA bool, b Matrix[F], transB bool, beta F) {
	product(opened(), threads, c, a, transA, b, transB, beta)
}

func product[F Real](l *Library, threads int, c Matrix[F], a Matrix[F], transA bool, b Matrix[F], transB bool, beta F) {
	m, k := a.Rows, a.Cols
	if transA {
		m, k = k, m
	}
	inner, n := b.Rows, b.Cols
	if transB {
		inner, n = n, inner
	}
	if inner != k || c.Rows != m || c.Cols != n {
		panic("blas: the shapes of a product do not agree")
	}
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range c.Val {
			c.Val[i] *= beta
		}
		return
	}
	if l != nil {
		parts := min(parallel.Share(threads, int64(m*n/minWork*k+m*n%minWork*k/minWork), 1), m)
		parallel.Do(parts, func(p int) {
			lo, hi := m*p/parts, m*(p+1)/parts
			call(l, transA, transB, lo, hi, n, k, a, b, beta, c)
		})
		return
	}
	ta, tb := gonum.NoTrans, gonum.NoTrans
	if transA {
		ta = gonum.Trans
	}
	if transB {
		tb = gonum.Trans
	}
	switch c := any(c).(type) {
	case Matrix[float32]:
		a, b := any(a).(Matrix[float32]), any(b).(Matrix[float32])
		blas32.Implementation().Sgemm(ta, tb, m, n, k, 1, a.Val, a.Cols, b.Val, b.Cols, float32(beta), c.Val, c.Cols)
	case Matrix[float64]:
		a, b := any(a).(Matrix[float64]), any(b).(Matrix[float64])
		blas64.Implementation().Dgemm(ta, tb, m, n, k, 1, a.Val, a.Cols, b.Val, b.Cols, float64(beta), c.Val, c.Cols)
	}
}

// trans is CBLAS_TRANSPOSE.
func trans(t bool) int32 {
	if t {
		return 112
	}
	return 111
}

// call computes one or more rows, lo to hi, of c.
func call[F Real](l *Library, transA, transB bool, lo, hi, n, k int, a, b Matrix[F], beta F, c Matrix[F]) {
	var f Gemm[F]
	switch p := any(&f).(type) {
	case *Gemm[float32]:
		*p = l.Sgemm
	case *Gemm[float64]:
		*p = l.Dgemm
	}
	const rowMajor = 101
	from := lo * a.Cols
	if transA {
		from = lo
	}
	f(rowMajor, trans(transA), trans(transB), int32(hi-lo), int32(n), int32(k), 1, &a.Val[from], int32(a.Cols), &b.Val[0], int32(b.Cols),
		beta, &c.Val[lo*n], int32(n))
}
