package gpuside

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Peers is the device for the peers: its primary context, which they share with the
// library, and a separate stream.
type Peers struct {
	driver driver.Driver
	device int
	ctx    driver.Context
	stream driver.Stream
	code   *code                // kernels written by hand, once they are used
	blocks int                  // that fill the device with them
	Lib    *driver.SparseHandle // nil without cuSPARSE
	NoLib  string               // why there is none
}

// OpenPeers opens a device, and cuSPARSE if peers are requested.
func OpenPeers(d driver.Driver, device int, peers bool) (*Peers, error) {
	ctx, err := d.Open(device)
	if err != nil {
		return nil, err
	}
	s := &Peers{driver: d, device: device, ctx: ctx, NoLib: "left out"}
	err = s.do(func() (err error) {
		if s.stream, err = ctx.NewStream(); err != nil || !peers {
			return err
		}
		lib, err := driver.OpenSparse()
		if err == nil {
			s.Lib, err = lib.NewHandle(s.stream)
		}
		if err != nil {
			s.NoLib = err.Error() // the table omits cuSPARSE
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, ctx.Close())
	}
	return s, nil
}

// Version names cuSPARSE, or says why there is none.
func (s *Peers) Version() string {
	if s.Lib == nil {
		return s.NoLib
	}
	var v int
	if err := s.do(func() (err error) { v, err = s.Lib.Version(); return err }); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d.%d.%d", v/1000, v%1000/100, v%100)
}

func (s *Peers) Close() error {
	return errors.Join(s.do(func() error {
		var err error
		if s.Lib != nil {
			err = s.Lib.Close()
		}
		if s.code != nil {
			err = errors.Join(err, s.ctx.Unload(s.code.module))
		}
		return errors.Join(err, s.ctx.CloseStream(s.stream))
	}), s.ctx.Close())
}

// Do runs fn with the context bound.
func (s *Peers) do(fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := s.ctx.Bind(); err != nil {
		return err
	}
	return fn()
}

// time returns the device time of the work that fn queues on the stream.
func (s *Peers) time(fn func() error) (took time.Duration, err error) {
	err = s.do(func() error {
		from, err := s.ctx.NewEvent()
		if err != nil {
			return err
		}
		to, err := s.ctx.NewEvent()
		if err != nil {
			return errors.Join(err, s.ctx.CloseEvent(from))
		}
		var ms float32
		for _, step := range []func() error{
			func() error { return s.ctx.Record(from, s.stream) },
			fn,
			func() error { return s.ctx.Record(to, s.stream) },
			func() error { return s.ctx.SyncEvent(to) },
			func() (err error) { ms, err = s.ctx.Elapsed(from, to); return err },
		} {
			if err = step(); err != nil {
				break
			}
		}
		took = time.Duration(float64(ms) * float64(time.Millisecond))
		return errors.Join(err, s.ctx.CloseEvent(from), s.ctx.CloseEvent(to))
	})
	return took, err
}

// CopyBandwidth returns the GB/s, read and written, of copies of n bytes on
// the device: the best of ten.
func (s *Peers) CopyBandwidth(n uint64) (float64, error) {
	m := s.memory()
	defer m.free()
	from, to := m.alloc(n), m.alloc(n)
	if m.err != nil {
		return 0, m.err
	}
	var best time.Duration
	for run := range 11 {
		took, err := s.time(func() error { return s.ctx.Copy(to, from, n, s.stream) })
		if err != nil {
			return 0, err
		}
		if run > 0 && (best == 0 || took < best) {
			best = took
		}
	}
	return 2 * float64(n) / max(float64(best.Nanoseconds()), 1), nil
}

// sideMemory is device memory of a peer, with its first error.
type sideMemory struct {
	s    *Peers
	ptrs []driver.Ptr
	err  error
}

func (s *Peers) memory() *sideMemory { return &sideMemory{s: s} }

func (m *sideMemory) alloc(n uint64) (p driver.Ptr) {
	if m.err == nil {
		m.err = m.s.do(func() (err error) { p, err = m.s.ctx.Alloc(max(n, 16)); return err })
	}
	if m.err == nil {
		m.ptrs = append(m.ptrs, p)
	}
	return p
}

func (m *sideMemory) free() {
	_ = m.s.do(func() error {
		_ = m.s.ctx.Sync(m.s.stream)
		for _, p := range m.ptrs {
			_ = m.s.ctx.Free(p)
		}
		return nil
	})
	m.ptrs = nil
}

// put copies host values to the device.
func put[T any](m *sideMemory, val []T) driver.Ptr {
	n := uint64(len(val)) * uint64(unsafe.Sizeof(*new(T)))
	p := m.alloc(n)
	if m.err == nil && n > 0 {
		m.err = m.s.do(func() error {
			return errors.Join(m.s.ctx.ToDevice(p, unsafe.Pointer(unsafe.SliceData(val)), n, m.s.stream), m.s.ctx.Sync(m.s.stream))
		})
	}
	return p
}

// csrPeer is a matrix for cuSPARSE, with offsets of 32 bits.
type csrPeer struct {
	m, n, nnz     int64
	ptr, idx, val driver.Ptr
	mat           driver.SpMat
}

// csr puts a matrix on the device.
func csr[T float32 | float64](m *sideMemory, g *gen.Graph, val []T) (c csrPeer) {
	if g.NNZ() >= 1<<31 {
		m.err = fmt.Errorf("%d entries need offsets of 64 bits", g.NNZ())
		return c
	}
	short := make([]int32, len(g.Ptr))
	for i, p := range g.Ptr {
		short[i] = int32(p)
	}
	c = csrPeer{m: int64(g.NRows), n: int64(g.NCols), nnz: g.NNZ()}
	c.ptr, c.idx, c.val = put(m, short), put(m, g.Idx), put(m, val)
	if m.err == nil {
		m.err = m.s.do(func() (err error) {
			c.mat, err = m.s.Lib.CreateCsr(c.m, c.n, c.nnz, c.ptr, c.idx, c.val, driver.Index32, driver.Index32, valueType[T]())
			return err
		})
	}
	return c
}

func valueType[T float32 | float64]() driver.ValueType {
	if unsafe.Sizeof(*new(T)) == 4 {
		return driver.Float32
	}
	return driver.Float64
}

// peerName is the column of cuSPARSE with an algorithm.
func peerName(algorithm string) string { return "cusparse|" + algorithm }

// SpmvPeers are cuSPARSE's algorithms for y = A·x, each prepared with its own
// buffer; the preparation is not timed.
func SpmvPeers[T float32 | float64](s *Peers, g *gen.Graph, val, x []T) (out []Contender, close func(), err error) {
	m := s.memory()
	a := csr(m, g, val)
	xp, yp := put(m, x), m.alloc(uint64(g.NRows)*uint64(unsafe.Sizeof(*new(T))))
	if m.err != nil {
		m.free()
		return nil, nil, m.err
	}
	var xv, yv driver.DnVec
	err = s.do(func() (err error) {
		if xv, err = s.Lib.CreateDnVec(a.n, xp, valueType[T]()); err != nil {
			return err
		}
		yv, err = s.Lib.CreateDnVec(a.m, yp, valueType[T]())
		return err
	})
	for _, alg := range []struct {
		name string
		id   int
	}{{"default", 0}, {"alg1", driver.SpMVCSR1}, {"alg2", driver.SpMVCSR2}} {
		p := &driver.SpMV{Alpha: 1, A: a.mat, X: xv, Y: yv, Type: valueType[T](), Algorithm: alg.id}
		var buffer driver.Ptr
		prepare := func() error {
			if buffer != 0 {
				return nil
			}
			var size uint64
			if err := s.do(func() (err error) { size, err = p.BufferSize(s.Lib); return err }); err != nil {
				return err
			}
			if buffer = m.alloc(size); m.err != nil {
				return m.err
			}
			return s.do(func() error { return p.Preprocess(s.Lib, buffer) })
		}
		out = append(out, Contender{Name: peerName(alg.name), Clock: s.time, Prepare: prepare, Do: func() error { return p.Run(s.Lib, buffer) }})
	}
	return out, func() {
		_ = s.do(func() error {
			return errors.Join(s.Lib.DestroyDnVec(xv), s.Lib.DestroyDnVec(yv), s.Lib.DestroySpMat(a.mat))
		})
		m.free()
	}, err
}

// SpmmPeers are cuSPARSE's algorithms for C = A·B with B and C of so many
// columns, row by row or column by column.
func SpmmPeers(s *Peers, g *gen.Graph, val []float32, columns int) (out []Contender, close func(), err error) {
	m := s.memory()
	a := csr(m, g, val)
	k := uint64(columns)
	ones := make([]float32, uint64(g.NCols)*k)
	for i := range ones {
		ones[i] = 1
	}
	bp, cp := put(m, ones), m.alloc(4*uint64(g.NRows)*k)
	if m.err != nil {
		m.free()
		return nil, nil, m.err
	}
	var mats []driver.DnMat
	for _, alg := range []struct {
		name  string
		id    int
		order driver.Order
	}{
		{"default", 0, driver.RowMajor}, {"alg2", driver.SpMMCSR2, driver.RowMajor}, {"alg3", driver.SpMMCSR3, driver.RowMajor},
		{"default columns", 0, driver.ColumnMajor}, {"alg1 columns", driver.SpMMCSR1, driver.ColumnMajor},
	} {
		var b, c driver.DnMat
		ldb, ldc := int64(columns), int64(columns)
		if alg.order == driver.ColumnMajor {
			ldb, ldc = a.n, a.m
		}
		err = errors.Join(err, s.do(func() (err error) {
			if b, err = s.Lib.CreateDnMat(a.n, int64(columns), ldb, bp, driver.Float32, alg.order); err != nil {
				return err
			}
			c, err = s.Lib.CreateDnMat(a.m, int64(columns), ldc, cp, driver.Float32, alg.order)
			return err
		}))
		mats = append(mats, b, c)
		p := &driver.SpMM{Alpha: 1, A: a.mat, B: b, C: c, Type: driver.Float32, Algorithm: alg.id}
		var buffer driver.Ptr
		prepare := func() error {
			if buffer != 0 {
				return nil
			}
			var size uint64
			if err := s.do(func() (err error) { size, err = p.BufferSize(s.Lib); return err }); err != nil {
				return err
			}
			if buffer = m.alloc(size); m.err != nil {
				return m.err
			}
			return s.do(func() error { return p.Preprocess(s.Lib, buffer) })
		}
		out = append(out, Contender{Name: peerName(alg.name), Clock: s.time, Prepare: prepare, Do: func() error { return p.Run(s.Lib, buffer) }})
	}
	return out, func() {
		_ = s.do(func() error {
			for _, d := range mats {
				if d != 0 {
					_ = s.Lib.DestroyDnMat(d)
				}
			}
			return s.Lib.DestroySpMat(a.mat)
		})
		m.free()
	}, err
}

// spgemmPeer is one algorithm of cuSPARSE for C = A·B, with all its steps. It keeps its
// buffers between runs, so that allocations are not timed.
type spgemmPeer struct {
	m         *sideMemory
	a, b      csrPeer
	algorithm int
	width     uint64 // of a value: 4 or 8
	buffers   [3]growing
	idx, val  growing
	ptr       driver.Ptr
	nnz       int64
}

// growing is a block that grows on demand.
type growing struct {
	p    driver.Ptr
	size uint64
}

func (w *spgemmPeer) want(g *growing, n uint64) (driver.Ptr, error) {
	if n > g.size || g.p == 0 {
		p, err := w.m.s.ctx.Alloc(max(n, 16))
		if err != nil {
			return 0, err
		}
		w.m.ptrs = append(w.m.ptrs, p)
		g.p, g.size = p, n
	}
	return g.p, nil
}

// Run multiplies once; the context is bound.
func (w *spgemmPeer) run() (err error) {
	lib, values := w.m.s.Lib, driver.Float32
	if w.width == 8 {
		values = driver.Float64
	}
	c, err := lib.CreateCsr(w.a.m, w.b.n, 0, w.ptr, 0, 0, driver.Index32, driver.Index32, values)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lib.DestroySpMat(c)) }()
	d, err := lib.CreateSpGEMM()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lib.DestroySpGEMM(d)) }()
	p := &driver.SpGEMM{Alpha: 1, A: w.a.mat, B: w.b.mat, C: c, Type: values, Algorithm: w.algorithm, Descr: d}
	size, err := p.WorkEstimation(lib, 0, 0)
	if err != nil {
		return err
	}
	first, err := w.want(&w.buffers[0], size)
	if err != nil {
		return err
	}
	if _, err = p.WorkEstimation(lib, size, first); err != nil {
		return err
	}
	if w.algorithm == driver.SpGEMMAlg2 || w.algorithm == driver.SpGEMMAlg3 {
		const fraction = .2 // of the products at a time, as in NVIDIA's example
		own, _, err := p.EstimateMemory(lib, fraction, 0, 0)
		if err != nil {
			return err
		}
		third, err := w.want(&w.buffers[2], own)
		if err != nil {
			return err
		}
		if _, size, err = p.EstimateMemory(lib, fraction, own, third); err != nil {
			return err
		}
	} else if size, err = p.Compute(lib, 0, 0); err != nil {
		return err
	}
	second, err := w.want(&w.buffers[1], size)
	if err != nil {
		return err
	}
	if _, err = p.Compute(lib, size, second); err != nil {
		return err
	}
	if _, _, w.nnz, err = lib.Size(c); err != nil {
		return err
	}
	idx, err := w.want(&w.idx, 4*uint64(w.nnz))
	if err != nil {
		return err
	}
	val, err := w.want(&w.val, w.width*uint64(w.nnz))
	if err != nil {
		return err
	}
	if err = lib.SetPointers(c, w.ptr, idx, val); err != nil {
		return err
	}
	return p.Copy(lib)
}

// SpgemmPeers are cuSPARSE's algorithms for A·B.
func SpgemmPeers[T float32 | float64](s *Peers, a, b *gen.Graph, aval, bval []T) (out []Contender, close func(), err error) {
	m := s.memory()
	ap, bp := csr(m, a, aval), csr(m, b, bval)
	if m.err != nil {
		m.free()
		return nil, nil, m.err
	}
	var peers []*sideMemory
	for _, alg := range []struct {
		name string
		id   int
	}{{"alg1", driver.SpGEMMAlg1}, {"alg2", driver.SpGEMMAlg2}, {"alg3", driver.SpGEMMAlg3}} {
		w := &spgemmPeer{m: s.memory(), a: ap, b: bp, algorithm: alg.id, width: uint64(unsafe.Sizeof(aval[0]))}
		peers = append(peers, w.m)
		prepare := func() error {
			w.ptr = w.m.alloc(4 * uint64(a.NRows+1))
			return w.m.err
		}
		out = append(out, Contender{Name: peerName(alg.name), Clock: s.time, Prepare: prepare, Do: w.run, failed: w.m.free})
	}
	return out, func() {
		for _, p := range peers {
			p.free()
		}
		_ = s.do(func() error { return errors.Join(s.Lib.DestroySpMat(ap.mat), s.Lib.DestroySpMat(bp.mat)) })
		m.free()
	}, nil
}
