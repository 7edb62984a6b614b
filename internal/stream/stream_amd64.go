package stream

import "unsafe"

const direct = true

// copyLines copies so many lines, at least one, to dst, which begins a line.
//
//go:noescape
func copyLines(dst, src unsafe.Pointer, lines int)

// fillLines fills so many lines, at least one, from dst, which begins a line.
//
//go:noescape
func fillLines(dst unsafe.Pointer, pattern *[16]byte, lines int)

// fence orders the stores of copyLines and fillLines before all that follow.
func fence()
