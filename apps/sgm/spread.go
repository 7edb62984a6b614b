package sgm

import (
	"cmp"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A spread is the part of P that the barycentre gives to the vertices that are no seeds, in
// proportion to the relaxation's start: X·Yᵀ, where column c of X marks the rows of label c, and
// column c of Y has 1 over their number. Its gradient is Σ W·Zᵀ over the terms. Neither product is
// computed.
type spread[T semiring.Float] struct {
	x, y *matrix.Matrix[T]
	w, z []*matrix.Matrix[T]
	// W and Z less their means over a label, on the host and as matrices. The means
	// are offsets of rows and columns, and the rest is small.
	rows, cols [][]float64
	cw, cz     []*matrix.Matrix[T]
}

// disperse adds the spread of the barycentre to P and to the objective.
func (f *relaxation[T]) disperse() error {
	var s ops.Steps
	d := &spread[T]{}
	x, y, err := f.marks()
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	d.x, d.y = f.matrix(len(f.rows), len(f.ends)), f.matrix(len(f.cols), len(f.ends))
	s.Do(ops.Extract(d.x, x, ops.Of(f.rows...), ops.All(), f.with))
	s.Do(ops.Extract(d.y, y, ops.Of(f.cols...), ops.All(), f.with))
	for _, t := range f.terms {
		w, err := f.times(t.left, x)
		s.Do(err)
		z, err := f.times(t.right.T(), y)
		s.Do(err)
		d.w, d.z = append(d.w, w), append(d.z, z)
	}
	f.spread = d
	if !s.OK() {
		return s.Err()
	}
	cross, err := f.flat(f.g)
	s.Do(err)
	own, err := d.own(f.sums)
	s.Do(err)
	f.s += f.factor*cross + f.factor/2*own
	s.Do(d.centre(f))
	return s.Err()
}

// marks returns X and Y for all n vertices.
func (f *relaxation[T]) marks() (x, y *matrix.Matrix[T], err error) {
	seedA, seedB := make([]bool, f.n), make([]bool, f.n)
	for _, p := range f.seeds {
		seedA[p.A], seedB[p.B] = true, true
	}
	from := 0
	bx, by := matrix.NewBuilder[T](f.n, len(f.ends)), matrix.NewBuilder[T](f.n, len(f.ends))
	for c, end := range f.ends {
		members := 0
		for _, v := range f.rows[from:end] {
			if !seedA[v] {
				bx.Add(v, c, 1)
				members++
			}
		}
		for _, v := range f.cols[from:end] {
			if !seedB[v] {
				by.Add(v, c, 1/T(members))
			}
		}
		from = end
	}
	if x, err = bx.BuildOn(f.place, nil); err != nil {
		return nil, nil, err
	}
	y, err = by.BuildOn(f.place, nil)
	return x, y, err
}

// centre computes W and Z less their means.
func (d *spread[T]) centre(f *relaxation[T]) error {
	for k := range d.w {
		for _, side := range []struct {
			from *matrix.Matrix[T]
			host *[][]float64
			to   *[]*matrix.Matrix[T]
		}{{d.w[k], &d.rows, &d.cw}, {d.z[k], &d.cols, &d.cz}} {
			dense := centred(side.from, f.ends)
			values := make([]T, len(dense))
			for i, x := range dense {
				values[i] = T(x)
			}
			m, c := side.from.Dims()
			full, err := matrix.FromDense(m, c, values)
			if err != nil {
				return err
			}
			if err := full.Move(f.place); err != nil {
				return err
			}
			*side.host, *side.to = append(*side.host, dense), append(*side.to, full)
		}
	}
	return nil
}

// centred returns the values of w, row by row, less the mean of their column
// over the rows of the same label.
func centred[T semiring.Float](w *matrix.Matrix[T], ends []int) []float64 {
	m, c := w.Dims()
	dense := make([]float64, m*c)
	for at, x := range w.All() {
		dense[at.Row*c+at.Col] = float64(x)
	}
	from := 0
	for _, end := range ends {
		for j := range c {
			var sum float64
			for i := from; i < end; i++ {
				sum += dense[i*c+j]
			}
			for i := from; i < end; i++ {
				dense[i*c+j] -= sum / float64(end-from)
			}
		}
		from = end
	}
	return dense
}

// flat returns ⟨M, XYᵀ⟩.
func (f *relaxation[T]) flat(m matrix.Source[T]) (float64, error) {
	my, err := f.times(m, f.spread.y)
	if err != nil {
		return 0, err
	}
	return f.trace(my, f.spread.x)
}

// gradient returns ⟨Σ WZᵀ, M⟩.
func (d *spread[T]) gradient(f sums[T], m matrix.Source[T]) (sum float64, err error) {
	for k, w := range d.w {
		mz, err := f.times(m, d.z[k])
		if err != nil {
			return 0, err
		}
		part, err := f.trace(mz, w)
		if err != nil {
			return 0, err
		}
		sum += part
	}
	return sum, nil
}

// own returns ⟨Σ WZᵀ, XYᵀ⟩ = Σ ⟨WᵀX, ZᵀY⟩.
func (d *spread[T]) own(f sums[T]) (sum float64, err error) {
	for k, w := range d.w {
		wx, err := f.times(w.T(), d.x)
		if err != nil {
			return 0, err
		}
		zy, err := f.times(d.z[k].T(), d.y)
		if err != nil {
			return 0, err
		}
		part, err := f.trace(wx, zy)
		if err != nil {
			return 0, err
		}
		sum += part
	}
	return sum, nil
}

// tilted returns g + ω·Σ W′Z′ᵀ where g has entries, with W′ and Z′ being W and Z less their means.
// It neglects the product elsewhere; see settled.
func (f *relaxation[T]) tilted() (*matrix.Matrix[T], error) {
	var s ops.Steps
	e := f.matrix(len(f.rows), len(f.cols))
	for k, w := range f.spread.cw {
		s.Do(ops.MxM(e.Masked(f.g.Structure()).Accum(semiring.Plus[T]()), semiring.PlusTimes[T](), w, f.spread.cz[k].T(), f.with))
	}
	s.Do(ops.ApplySecond(e, semiring.Times[T](), e, T(f.start), f.with))
	s.Do(ops.EWiseAdd(e, semiring.Plus[T](), e, f.g, f.with))
	return e, s.Err()
}

// settled returns t with the rows that it matches outside the entries of g matched among themselves
// in the order of their W′ and Z′. That is the best for the neglected product if it has rank one,
// as for symmetric graphs without labels (the rearrangement inequality).
func (f *relaxation[T]) settled(t []int32) ([]int32, error) {
	to, err := f.permutation(t)
	if err != nil {
		return nil, err
	}
	hit := f.matrix(len(t), len(t))
	if err := ops.EWiseMult(hit, semiring.Second[T, T](), to, f.g, f.with); err != nil {
		return nil, err
	}
	listed := make([]bool, len(t))
	for at := range hit.All() {
		listed[at.Row] = true
	}
	if err := hit.Err(); err != nil {
		return nil, err
	}
	next := slices.Clone(t)
	rowKey, colKey := keys(f.spread.rows, len(t)), keys(f.spread.cols, len(t))
	from := 0
	for _, end := range f.ends {
		var rows, cols []int32
		for i := from; i < end; i++ {
			if !listed[i] {
				rows, cols = append(rows, int32(i)), append(cols, t[i])
			}
		}
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(cmp.Compare(rowKey[a], rowKey[b]), cmp.Compare(a, b)) })
		slices.SortFunc(cols, func(a, b int32) int { return cmp.Or(cmp.Compare(colKey[a], colKey[b]), cmp.Compare(a, b)) })
		for k, i := range rows {
			next[i] = cols[k]
		}
		from = end
	}
	return next, nil
}

// score returns ⟨g + ω·Σ W′Z′ᵀ, T⟩.
func (f *relaxation[T]) score(t []int32) (float64, error) {
	to, err := f.permutation(t)
	if err != nil {
		return 0, err
	}
	sum, err := f.trace(f.g, to)
	if err != nil {
		return 0, err
	}
	like, err := f.likeness(t)
	sum += 2 / f.factor * like
	c := len(f.ends)
	for k, w := range f.spread.rows {
		z := f.spread.cols[k]
		for i, j := range t {
			for l := range c {
				sum += f.start * w[i*c+l] * z[int(j)*c+l]
			}
		}
	}
	return sum, err
}

// keys adds up the values of each of n rows.
func keys(parts [][]float64, n int) []float64 {
	key := make([]float64, n)
	for _, p := range parts {
		for at, x := range p {
			key[at*n/len(p)] += x
		}
	}
	return key
}

// most bounds ⟨Σ W′Z′ᵀ, Q⟩ over the parts Q of matchings.
func (d *spread[T]) most() (sum float64) {
	for k := range d.rows {
		var w, z float64
		for _, x := range d.rows[k] {
			w += x * x
		}
		for _, x := range d.cols[k] {
			z += x * x
		}
		sum += math.Sqrt(w * z)
	}
	return sum
}
