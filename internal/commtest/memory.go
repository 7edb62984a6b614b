package commtest

import (
	"bytes"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
)

// Memory is where buffers live.
type Memory interface {
	// Put returns a buffer with a copy of b, n elements of type t; b may be empty.
	Put(b []byte, t comm.DType, n int) (comm.Buffer, error)
	// Get copies a buffer to the host.
	Get(b comm.Buffer) ([]byte, error)
}

// host is the Memory of Go.
type host struct{}

// nothing is where all empty buffers of the host are, as empty slices of Go are.
var nothing struct{}

func (host) Put(b []byte, t comm.DType, n int) (comm.Buffer, error) {
	if len(b) == 0 {
		return comm.HostAt(unsafe.Pointer(&nothing), t, n), nil
	}
	words := make([]uint64, len(b)/8+1)
	own := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(b))
	copy(own, b)
	return comm.HostAt(unsafe.Pointer(&words[0]), t, n), nil
}

func (host) Get(b comm.Buffer) ([]byte, error) { return bytes.Clone(b.Bytes()), nil }
