package cusparse

import (
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file launches kernels/triangles.cu, C⟨A⟩ = A plus_pair Aᵀ.

// triangles is what is kept of a matrix for counting the columns that two rows have in common.
type triangles struct {
	fill                      int32
	packed, ptr2              *mem
	other, from, quads, place *mem
	units, light, sizes       *mem
	searched                  int64 // probes of rows with columns beyond, by halving
}

func (p *triangles) parts() []**mem {
	return []**mem{&p.packed, &p.ptr2, &p.other, &p.from, &p.quads, &p.place, &p.units, &p.light, &p.sizes}
}

func (p *triangles) drop() {
	for _, m := range p.parts() {
		(*m).release()
		*m = nil
	}
}

const (
	// triangleChunk is HB_TRI_CHUNK.
	triangleChunk = 4096
	// searchedMost is the probes an entry up to which rows with columns beyond are
	// searched: A⟨L⟩ = L·Lᵀ of R-MAT 20 by number and not by degree took 4.2 s so.
	searchedMost = 8
	// triangleColumns is how many columns have a number of 16 bits and a bit of the bitmap.
	triangleColumns = 65504
)

// commonColumns computes a·bᵀ at the entries of mask, a plus_pair of one structure three times; nil
// if it is not such a product, or if a count could come to 0 in the type it is given in.
func (f *frame) commonColumns(s device.Semiring, a, b, mask *store) *store {
	o := a.origin()
	if !countsPairs(s) || s.Add.Out.Size < 4 || o != b.origin() || o != mask.origin() || a.format != sparse.CSR || a.m != a.n || a.n > 1<<30 || a.known() == 0 {
		return nil
	}
	if !f.affords(a.known() * 24) {
		return nil
	}
	p := kept(f, a, "triangles", func() *triangles { return &triangles{} })
	if p.packed == nil {
		f.prepareTriangles(p, a)
	}
	t, nnz := s.Add.Out, a.known()
	if p.searched > searchedMost*nnz {
		return nil
	}
	counts := f.alloc(4 * nnz)
	if f.err == nil {
		f.fail(f.d.ctx.Fill(p.sizes.addr+16, 0, 16, f.d.stream))
	}
	grid := [3]uint32{uint32(f.d.props.Multiprocessors * 8), 1, 1}
	f.launch(f.triangleKernel("hb_tri_intersect"), grid, [3]uint32{256, 1, 1}, int(p.fill)/8+4,
		p.fill, a.ptr, a.idx, p.packed, p.ptr2, p.other, p.from, p.quads, p.place, p.units, p.light, p.sizes, counts)
	return f.compactedBy(f.countsKept(t), mask, counts, t, counts)
}

func (f *frame) triangleKernel(name string) *kernel {
	return f.kernel(f.fixed("triangles", "common columns"), name)
}

// countsKept is kernels/compact.cu for counts of 32 bits that become numbers of a type where they
// are not 0.
func (f *frame) countsKept(t device.Type) *program {
	type countsKey struct{ t device.Type }
	return f.once(countsKey{t}, func() *program {
		return compose("compact", "counts").typ("HB_V", t).define("HB_IN", "hb_u32").define("HB_FLAG", "hb_u32").define("HB_TILE", keptTile)
	})
}

// prepareTriangles packs the rows of a and assigns its entries to their owners.
func (f *frame) prepareTriangles(to *triangles, a *store) {
	n, nnz := int64(a.n), a.known()
	p := &triangles{fill: int32(min((n+31)/32*32, triangleColumns))}
	p.packed = f.alloc(16 * ((nnz+7*n)/8 + 1))
	beyond := f.alloc(n)
	rows := (n + 7) / 8 // blocks, of a warp each
	f.blocks(f.triangleKernel("hb_tri_pack"), rows, 256, n, p.fill, a.ptr, a.idx, f.frequentFirst(a, p.fill), p.packed, beyond)
	tasks, work := f.zeros(8*n), f.zeros(8*n)
	f.blocks(f.triangleKernel("hb_tri_count"), rows, 256, n, a.ptr, a.idx, tasks, work)
	p.ptr2 = f.scan(tasks, n, 8)
	if f.err == nil {
		f.copy(tasks.addr, p.ptr2.addr, 8*n) // from now on, the next free place
	}
	p.other, p.from, p.quads, p.place = f.alloc(4*nnz), f.alloc(4*nnz), f.alloc(4*nnz), f.alloc(8*nnz)
	f.blocks(f.triangleKernel("hb_tri_fill"), rows, 256, n, a.ptr, a.idx, tasks, p.other, p.from, p.quads, p.place)
	p.units, p.light, p.sizes = f.alloc(32*(n+nnz/triangleChunk)), f.alloc(4*n), f.zeros(40)
	f.blocks(f.triangleKernel("hb_tri_split"), (n+255)/256, 256, n, a.ptr, p.ptr2, work, beyond, p.units, p.light, p.sizes)
	if p.searched = f.read(p.sizes, 4); f.err != nil {
		return
	}
	for _, m := range p.parts() {
		(*m).share()
	}
	*to = *p
}

// frequentFirst numbers the columns of a so that columns with many entries come first; nil if fill
// stands for none of them.
func (f *frame) frequentFirst(a *store, fill int32) *mem {
	n, nnz := int64(a.n), a.known()
	if n <= int64(fill) {
		return nil
	}
	hist, keys := f.zeros(4*n), f.alloc(4*n)
	f.each(f.triangleKernel("hb_tri_columns"), nnz, nnz, a.idx, hist)
	f.each(f.triangleKernel("hb_tri_keys"), n, n, hist, keys)
	_, places := f.sort(keys, n, 4, 8)
	rank := f.alloc(4 * n)
	f.each(f.triangleKernel("hb_tri_rank"), n, n, places, rank)
	return rank
}
