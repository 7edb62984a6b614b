package cusparse

import (
	"fmt"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file shares a context and its memory with other users of CUDA in the
// process, without a copy, both ways.

// Attach makes a context that is there already a place for matrices; index and props say which GPU
// it is of. The context stays the caller's: Close leaves it as it is. Work is queued on a stream
// of the device's own, so what others have queued that writes to shared memory must be done first,
// and [Device.Sync] comes before others read what operations write.
func Attach(ctx driver.Context, index int, props driver.Properties, opts ...Option) (*Device, error) {
	if ctx == nil {
		return nil, fmt.Errorf("cusparse.Attach: no context")
	}
	return newDevice(index, props, ctx, gather(opts))
}

// A ShareError says why memory cannot be shared.
type ShareError struct{ Op, Reason string }

func (e *ShareError) Error() string { return e.Op + ": " + e.Reason }

// WrapVector returns a full vector of n values in the caller's memory at p, of n elements of T on
// the device. The memory must stay, and only read by others, as long as the vector or anything that
// was made of it is in use. An operation that writes to the vector gives it memory of its own.
func WrapVector[T comparable](d *Device, p driver.Ptr, n int) (*matrix.Vector[T], error) {
	s, err := wrapped[T]("cusparse.WrapVector", d, p, 1, n)
	if err != nil {
		return nil, err
	}
	v := matrix.NewVector[T](n, matrix.On(d))
	v.Inside().SetRemote(s)
	return v, nil
}

// WrapMatrix is [WrapVector] for a full m×n matrix, row after row.
func WrapMatrix[T comparable](d *Device, p driver.Ptr, m, n int) (*matrix.Matrix[T], error) {
	s, err := wrapped[T]("cusparse.WrapMatrix", d, p, m, n)
	if err != nil {
		return nil, err
	}
	a := matrix.New[T](m, n, matrix.On(d))
	access.SetRemote(a, s)
	return a, nil
}

// WrapCSR is [WrapVector] for an m×n matrix by rows: m+1 offsets of 64 bits at
// ptr, nnz columns of 32 bits at idx, ascending in each row and without
// duplicates, and the values at val. That they are so is not checked.
func WrapCSR[T comparable](d *Device, m, n int, nnz int64, ptr, idx, val driver.Ptr) (*matrix.Matrix[T], error) {
	const op = "cusparse.WrapCSR"
	if ptr == 0 || nnz > 0 && (idx == 0 || val == 0) || nnz < 0 {
		return nil, &ShareError{op, fmt.Sprintf("%d entries at addresses %#x, %#x, %#x", nnz, ptr, idx, val)}
	}
	s, err := lent[T](op, d, m, n, sparse.CSR, nnz)
	if err != nil {
		return nil, err
	}
	s.ptr, s.idx, s.val = others(ptr), others(idx), others(val)
	a := matrix.New[T](m, n, matrix.On(d))
	access.SetRemote(a, s)
	return a, nil
}

// others is memory that is not ours to free.
func others(p driver.Ptr) *mem {
	m := &mem{addr: p}
	m.refs.Store(1)
	return m
}

func wrapped[T comparable](op string, d *Device, p driver.Ptr, m, n int) (*store, error) {
	if p == 0 && m != 0 && n != 0 {
		return nil, &ShareError{op, "the address is 0"}
	}
	if m > 0 && int64(n) > maxCells/int64(m) {
		return nil, &ShareError{op, fmt.Sprintf("%d×%d values are more than a device holds", m, n)}
	}
	s, err := lent[T](op, d, m, n, sparse.Full, int64(m)*int64(n))
	if err != nil {
		return nil, err
	}
	s.val = others(p)
	return s, nil
}

// lent is a store without its parts, which are another's.
func lent[T comparable](op string, d *Device, m, n int, format sparse.Format, count int64) (*store, error) {
	if d.missing() {
		return nil, &ShareError{op, "the device is nil or zero; open one with cusparse.Open"}
	}
	if m < 0 || n < 0 || m > matrix.MaxDim || n > matrix.MaxDim {
		return nil, &ShareError{op, fmt.Sprintf("the shape is %d×%d; sizes are from 0 to %d", m, n, matrix.MaxDim)}
	}
	t, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	s := &store{d: d, m: m, n: n, format: format, typ: t, nvec: m, keep: true}
	s.count.Store(count)
	return s, nil
}

// Shared is where a matrix lies on a device. Addresses are 0 where the format has no such part.
type Shared struct {
	Format           matrix.Format
	Rows, Cols       int
	Vecs             int        // rows that Ptr speaks of: all, or the rows of RowIDs
	Slots            int64      // values: entries of a listed matrix, positions of a bitmap or full one
	Ptr, Idx, RowIDs driver.Ptr // 64-bit offsets, 32-bit columns, and rows of a hypersparse matrix
	Present          driver.Ptr // a byte for each position of a bitmap
	Values           driver.Ptr
}

// Share returns where a matrix lies on its device, for others to read. The addresses hold until
// the matrix is written to, moved or forgotten. All that was queued on the device is done when
// Share returns. A matrix that does not live on a device is a ShareError: Move it there.
func Share[T comparable](a *matrix.Matrix[T]) (Shared, error) { return shareOf(a.Inside()) }

// shareOf is Share of a matrix or a vector.
func shareOf(a rep.View) (Shared, error) {
	const op = "cusparse.Share"
	d, ok := a.Place().(*Device)
	if !ok || d.missing() {
		return Shared{}, &ShareError{op, "the matrix does not live on a device; use Move"}
	}
	r, err := a.RemoteOn(backend{d})
	if err != nil {
		return Shared{}, err
	}
	if err := d.Sync(); err != nil {
		return Shared{}, err
	}
	s := r.(*store)
	return Shared{
		Format: matrix.Format(s.format), Rows: s.m, Cols: s.n, Vecs: s.nvec, Slots: s.slots(),
		Ptr: s.ptr.ptr(), Idx: s.idx.ptr(), RowIDs: s.rowids.ptr(), Present: s.present.ptr(), Values: s.val.ptr(),
	}, nil
}

// ShareVector is [Share] for a vector, a matrix of one row.
func ShareVector[T comparable](v *matrix.Vector[T]) (Shared, error) {
	if v == nil {
		return Shared{}, &ShareError{"cusparse.ShareVector", "the vector is nil"}
	}
	return shareOf(v.Inside())
}
