package matching

import (
	"slices"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// A patch is the gradient ÂPB̂ᵀ (and ÂᵀPB̂ of directed graphs) of few vertices of A and the
// partners that they have in B, P being the matching of a tally. It reads their edges only, in the
// time that the edges and the products take.
type patch[T semiring.Float] struct {
	count              *tally[T]
	vertices, partners []int
	loose              bool          // the vertices are unmatched: they are no part of P
	loop               float64       // Â = 2A + loop·I
	like               *edgeLists[T] // similarities, or nil
	slot               []int32       // by vertex of B: its place among the partners, from 1; 0 for none
	free               []bool        // the vertices, of all of A
	first              []int32       // by vertex of B: the first of its links, −1 for none
	links              []link        // edges from vertices of B to the partners
	sum                []float64     // of a row, by partner
	met                []bool
	read               int64
}

// A link says that a vertex of B has an edge to a partner.
type link struct {
	partner, next int32
	weight        float64
}

func newPatch[T semiring.Float](count *tally[T]) *patch[T] {
	n := len(count.match)
	return &patch[T]{count: count, free: make([]bool, n), first: slices.Repeat([]int32{-1}, n), slot: make([]int32, n)}
}

// begin takes up vertices of A and their partners.
func (p *patch[T]) begin(vertices, partners []int, loose bool, loop float64) {
	p.vertices, p.partners, p.loose, p.loop, p.read = vertices, partners, loose, loop, 0
	for _, v := range vertices {
		p.free[v] = true
	}
	p.sum = slices.Grow(p.sum[:0], len(partners))[:len(partners)]
	p.met = slices.Grow(p.met[:0], len(partners))[:len(partners)]
	clear(p.sum)
	clear(p.met)
}

// end returns the number of entries read, and makes ready for other vertices.
func (p *patch[T]) end() int64 {
	for _, v := range p.vertices {
		p.free[v] = false
	}
	return p.read
}

// costs returns the gradient of vertices lo … hi−1 and their partners, times jitterScale, with
// jitter added to its entries.
func (p *patch[T]) costs(lo, hi int, jitter func(v, w int) float64) (*matrix.Matrix[float64], error) {
	rows := make([][]int32, hi-lo)
	vals := make([][]float64, hi-lo)
	for side := range p.count.a {
		p.join(side, lo, hi)
		for i := range rows {
			rows[i], vals[i] = p.row(side, p.vertices[lo+i], rows[i], vals[i])
		}
		p.part(side, lo, hi)
	}
	if p.like != nil {
		for j, w := range p.partners[lo:hi] {
			p.slot[w] = int32(j + 1)
		}
		for i := range rows {
			rows[i], vals[i] = p.resemble(p.vertices[lo+i], rows[i], vals[i])
		}
		for _, w := range p.partners[lo:hi] {
			p.slot[w] = 0
		}
	}
	ptr := make([]int64, len(rows)+1)
	for i, row := range rows {
		ptr[i+1] = ptr[i] + int64(len(row))
	}
	idx, val := make([]int32, 0, ptr[len(rows)]), make([]float64, 0, ptr[len(rows)])
	for i, row := range rows {
		for k, j := range row {
			idx = append(idx, j)
			val = append(val, jitterScale*vals[i][k]+jitter(p.vertices[lo+i], p.partners[lo+int(j)]))
		}
	}
	p.read += int64(len(idx))
	return matrix.FromCSR(hi-lo, hi-lo, ptr, idx, val)
}

// join lists, for each vertex of B, the partners lo … hi−1 that it has an edge to.
func (p *patch[T]) join(side, lo, hi int) {
	p.links = p.links[:0]
	add := func(w int32, j int, weight float64) {
		p.links = append(p.links, link{int32(j), p.first[w], weight})
		p.first[w] = int32(len(p.links) - 1)
	}
	for j, w := range p.partners[lo:hi] {
		xs, y := p.count.b[side].of(w)
		for k, x := range xs {
			add(x, j, 2*float64(y[k]))
		}
		if p.loop != 0 {
			add(int32(w), j, p.loop)
		}
	}
	p.read += int64(len(p.links))
}

// part undoes join.
func (p *patch[T]) part(side, lo, hi int) {
	for _, w := range p.partners[lo:hi] {
		xs, _ := p.count.b[side].of(w)
		for _, x := range xs {
			p.first[x] = -1
		}
		p.first[w] = -1
	}
}

// row adds the products of a vertex of A to a row of the gradient, in order of columns.
func (p *patch[T]) row(side, v int, idx []int32, val []float64) ([]int32, []float64) {
	p.open(idx, val)
	take := func(u int, weight float64) {
		p.read++
		if p.loose && p.free[u] {
			return
		}
		for at := p.first[p.count.match[u]]; at >= 0; at = p.links[at].next {
			l := p.links[at]
			if !p.met[l.partner] {
				p.met[l.partner] = true
				idx = append(idx, l.partner)
			}
			p.sum[l.partner] += weight * l.weight
			p.read++
		}
	}
	us, x := p.count.a[side].of(v)
	for k, u := range us {
		take(int(u), 2*float64(x[k]))
	}
	if p.loop != 0 {
		take(v, p.loop)
	}
	return p.close(idx, val)
}

// open takes up a row of costs, and close writes it in order of columns.
func (p *patch[T]) open(idx []int32, val []float64) {
	for k, j := range idx {
		p.sum[j], p.met[j] = val[k], true
	}
}

func (p *patch[T]) close(idx []int32, val []float64) ([]int32, []float64) {
	slices.Sort(idx)
	val = val[:0]
	for _, j := range idx {
		val = append(val, p.sum[j])
		p.sum[j], p.met[j] = 0, false
	}
	return idx, val
}

// resemble adds the similarities of a vertex and the partners to a row, in units of the gradient:
// once for each of its terms.
func (p *patch[T]) resemble(v int, idx []int32, val []float64) ([]int32, []float64) {
	p.open(idx, val)
	near, x := p.like.of(v)
	for k, w := range near {
		j := p.slot[w] - 1
		p.read++
		if j < 0 {
			continue
		}
		if !p.met[j] {
			p.met[j] = true
			idx = append(idx, j)
		}
		p.sum[j] += float64(len(p.count.a)) * float64(x[k])
	}
	return p.close(idx, val)
}
