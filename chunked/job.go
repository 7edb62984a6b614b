package chunked

import (
	"fmt"
	"hash/crc64"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

var polynomial = crc64.MakeTable(crc64.ECMA)

// job describes the computation: the semiring, the types and the contents of the factors. A run
// resumes only a file of the same job.
func (r *run) job() ([]byte, error) {
	x, err := fingerprint(r.x)
	if err != nil {
		return nil, err
	}
	y, err := fingerprint(r.y)
	if err != nil {
		return nil, err
	}
	mask := "none"
	if r.o.masked() {
		print, err := fingerprint(r.o.mask)
		if err != nil {
			return nil, err
		}
		mask = fmt.Sprint(print, r.o.complement)
	}
	return fmt.Appendf(nil, "mxm %s %v x %s y %s mask %s offdiagonal %v", r.s.name, r.s.of, x, y, mask, r.o.offDiagonal), nil
}

// fingerprint identifies a matrix by the checksum of its arrays.
func fingerprint(v rep.View) (string, error) {
	st := v.Stored()
	if err := v.Err(); err != nil {
		return "", err
	}
	sum := uint64(0)
	for _, b := range [][]byte{raw(st.Ptr), raw(st.RowIDs), raw(st.Idx), st.Present, memoryOf(st)} {
		sum = crc64.Update(sum, polynomial, b)
	}
	m, n := v.Dims()
	return fmt.Sprintf("%d×%d %d %v %v %v %016x", m, n, v.NVals(), st.Format, v.Type(), v.Transposed, sum), nil
}

// memoryOf returns the memory of values as bytes.
func memoryOf(st *sparse.Store) []byte {
	if st.Val.Len() == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(st.Val.Pointer()), int64(st.Val.Len())*st.Type.Size)
}

// raw returns the memory of items as bytes.
func raw[E any](items []E) []byte {
	if len(items) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*int(unsafe.Sizeof(items[0])))
}
