//go:build !linux

package capacity

import "math"

// addressSpace returns the bytes that a limit of the address space leaves to the process.
func addressSpace() int64 { return math.MaxInt64 }
