//go:build !amd64 && !arm64

package prefetch

import "unsafe"

func Row(val, idx unsafe.Pointer) {}

func Ahead(val, idx unsafe.Pointer) {}
