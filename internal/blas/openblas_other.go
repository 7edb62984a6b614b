//go:build !linux || !(amd64 || arm64)

package blas

// open finds no OpenBLAS.
func open() *library { return nil }
