package chunked

import (
	"fmt"
	"hash/crc64"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
)

var polynomial = crc64.MakeTable(crc64.ECMA)

// job describes the computation: the semiring, the types and the contents of the factors. A run
// resumes only a file of the same job.
func (r *run[A, B, C]) job() ([]byte, error) {
	x, err := fingerprint(r.x)
	if err != nil {
		return nil, err
	}
	y, err := fingerprint(r.y)
	if err != nil {
		return nil, err
	}
	mask := "none"
	if r.o.mask != nil {
		print, err := fingerprint[bool](r.o.mask)
		if err != nil {
			return nil, err
		}
		mask = fmt.Sprint(print, r.o.complement)
	}
	return fmt.Appendf(nil, "mxm %s %T x %s y %s mask %s offdiagonal %v", r.s.Name(), *new(C), x, y, mask, r.o.offDiagonal), nil
}

// fingerprint identifies a matrix by the checksum of its arrays.
func fingerprint[T comparable](a matrix.Source[T]) (string, error) {
	v := matrix.AsView[T](a)
	st := access.Stored(v)
	if err := v.Err(); err != nil {
		return "", err
	}
	sum := uint64(0)
	for _, b := range [][]byte{raw(st.Ptr), raw(st.RowIDs), raw(st.Idx), st.Present, raw(st.Val)} {
		sum = crc64.Update(sum, polynomial, b)
	}
	m, n := v.Dims()
	return fmt.Sprintf("%d×%d %d %v %T %v %016x", m, n, v.NVals(), st.Format, *new(T), v.Inside().Transposed, sum), nil
}

// raw returns the memory of items as bytes.
func raw[E any](items []E) []byte {
	if len(items) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*int(unsafe.Sizeof(items[0])))
}
