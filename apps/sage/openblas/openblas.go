// Package openblas lets the dense products of GraphSAGE run by OpenBLAS. A program imports it for
// its effect:
//
//	import _ "github.com/hiveblas/hiveblas/apps/sage/openblas"
//
// The first product opens libopenblas.so.0 if it is on the system, without cgo, on Linux for amd64
// and arm64. Without the library or this import, products run by gonum. HIVEBLAS_BLAS=gonum in the
// environment excludes the library. Where cgo is on, programs that open libraries are linked by the
// C compiler, which packages apps and sage do not need otherwise.
package openblas
