//go:build !amd64

package stream

import "unsafe"

const direct = false

func copyLines(dst, src unsafe.Pointer, lines int) {
	copy(unsafe.Slice((*byte)(dst), lines*line), unsafe.Slice((*byte)(src), lines*line))
}

func fillLines(dst unsafe.Pointer, pattern *[16]byte, lines int) {
	d := unsafe.Slice((*[16]byte)(dst), lines*line/16)
	for i := range d {
		d[i] = *pattern
	}
}

func fence() {}
