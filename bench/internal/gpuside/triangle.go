package gpuside

import (
	"errors"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// TrianglePeer is cuSPARSE's solve with a lower triangular matrix, analysed before.
type TrianglePeer struct {
	Contender
	Analysis time.Duration // on the device, without the allocation of the buffer
	Close    func()
}

// NewTrianglePeer analyses a matrix that has its diagonal, for one right side if columns is 0, else
// for a matrix by rows of so many (SpSV, SpSM).
func NewTrianglePeer[T float32 | float64](s *Peers, g *gen.Graph, val []T, columns int, right []T) (*TrianglePeer, error) {
	m := s.memory()
	a := csr(m, g, val)
	xp, yp := put(m, right), put(m, right)
	if m.err != nil {
		m.free()
		return nil, m.err
	}
	t := valueType[T]()
	solve := &driver.TriangularSolve{Alpha: 1, A: a.mat, Columns: columns > 0, Type: t}
	var undo []func() error
	peer := &TrianglePeer{Close: func() {
		_ = s.do(func() error {
			var err error
			for _, f := range undo {
				err = errors.Join(err, f())
			}
			return errors.Join(err, s.Lib.DestroySpMat(a.mat))
		})
		m.free()
	}}
	err := s.do(func() (err error) {
		if err := s.Lib.SetTriangle(a.mat, false, false); err != nil {
			return err
		}
		for k, p := range []driver.Ptr{xp, yp} {
			to := []*uintptr{&solve.X, &solve.Y}[k]
			if columns > 0 {
				d, err := s.Lib.CreateDnMat(a.n, int64(columns), int64(columns), p, t, driver.RowMajor)
				if err != nil {
					return err
				}
				*to, undo = uintptr(d), append(undo, func() error { return s.Lib.DestroyDnMat(d) })
				continue
			}
			d, err := s.Lib.CreateDnVec(a.n, p, t)
			if err != nil {
				return err
			}
			*to, undo = uintptr(d), append(undo, func() error { return s.Lib.DestroyDnVec(d) })
		}
		if solve.Descr, err = solve.Create(s.Lib); err == nil {
			undo = append(undo, func() error { return solve.Destroy(s.Lib) })
		}
		return err
	})
	var size uint64
	if err == nil {
		err = s.do(func() (err error) { size, err = solve.BufferSize(s.Lib); return err })
	}
	buffer := m.alloc(size)
	if err = errors.Join(err, m.err); err == nil {
		peer.Analysis, err = s.time(func() error { return solve.Analysis(s.Lib, buffer) })
	}
	if err != nil {
		peer.Close()
		return nil, err
	}
	name := "SpSV"
	if columns > 0 {
		name = "SpSM"
	}
	peer.Contender = Contender{Name: peerName(name), Clock: s.time, Do: func() error { return solve.Run(s.Lib) }}
	return peer, nil
}
