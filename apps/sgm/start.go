package sgm

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// given returns SGMOptions.From as a matching of positions, nil if there is none. Vertices that it
// leaves out are matched with those left of the same label: seeds first, then by number.
func (p *candidates) given() ([]int32, error) {
	from := p.opts.From
	if from == nil {
		return nil, nil
	}
	if err := from.Err(); err != nil {
		return nil, err
	}
	if from.Size() != p.realA {
		return nil, &matrix.DimensionError{Op: "SGM", Arg: "From", Got: fmt.Sprint(from.Size()), Want: fmt.Sprint(p.realA),
			Remedy: "give a vertex of B for each vertex of A, or no entry"}
	}
	atA, atB := slices.Repeat([]int32{-1}, p.n), slices.Repeat([]int32{-1}, p.n)
	for k, v := range p.rows {
		atA[v] = int32(k)
	}
	for k, w := range p.cols {
		atB[w] = int32(k)
	}
	class := p.classes()
	t, taken := slices.Repeat([]int32{-1}, len(p.rows)), make([]bool, len(p.rows))
	bad := func(v int, w int32, want string) error {
		return workflow.AboutPairs("SGM", "From({0})", "{other}", want, []int{v}, []int{int(w)})
	}
	for v, w := range from.All() {
		if w < 0 || int(w) >= p.realB {
			return nil, &matrix.IndexError{Op: "SGM", Arg: fmt.Sprintf("From(%d)", v), Index: int64(w), Limit: int64(p.realB)}
		}
		k, q := atA[v], atB[w]
		switch {
		case k < 0 || q < 0:
			if !slices.Contains(p.seeds, SeedPair{v, int(w)}) {
				return nil, bad(v, w, "the fixed seed of the vertex")
			}
		case class[k] != class[q]:
			return nil, bad(v, w, "a vertex of the same label")
		case taken[q]:
			return nil, bad(v, w, "a vertex that no other has")
		default:
			t[k], taken[q] = q, true
		}
	}
	for _, s := range p.soft {
		if t[s.A] < 0 && !taken[s.B] {
			t[s.A], taken[s.B] = int32(s.B), true
		}
	}
	p.complete(t, taken)
	return t, nil
}

// complete matches the positions that t leaves out, −1, with those left of the same label, by
// number.
func (p *candidates) complete(t []int32, taken []bool) {
	first := 0
	for _, end := range p.ends {
		q := first
		for k := first; k < end; k++ {
			if t[k] >= 0 {
				continue
			}
			for taken[q] {
				q++
			}
			t[k], taken[q] = int32(q), true
		}
		first = end
	}
}

// classes returns the label class of each position.
func (p *candidates) classes() []int {
	class := make([]int, len(p.rows))
	from := 0
	for c, end := range p.ends {
		for k := from; k < end; k++ {
			class[k] = c
		}
		from = end
	}
	return class
}

// random returns a random matching of positions that keeps soft seeds and labels.
func (p *candidates) random(seed uint64) []int32 {
	t := make([]int32, len(p.rows))
	isRow, isCol := make([]bool, len(p.rows)), make([]bool, len(p.rows))
	for _, s := range p.soft {
		t[s.A], isRow[s.A], isCol[s.B] = int32(s.B), true, true
	}
	from := 0
	for _, end := range p.ends {
		var cols []int32
		for q := from; q < end; q++ {
			if !isCol[q] {
				cols = append(cols, int32(q))
			}
		}
		for k := len(cols) - 1; k > 0; k-- {
			seed = splitmix.Mix(seed + uint64(k))
			other := int(seed % uint64(k+1))
			cols[k], cols[other] = cols[other], cols[k]
		}
		for k := from; k < end; k++ {
			if !isRow[k] {
				t[k], cols = cols[0], cols[1:]
			}
		}
		from = end
	}
	return t
}

// enter puts P at a matching.
func (f *relaxation[T]) enter(t []int32) error {
	var s ops.Steps
	var err error
	f.spread, f.start, f.at = nil, 0, t
	f.g, err = f.product(nil, f.whole(t))
	s.Do(err)
	f.p, err = f.permutation(t)
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	f.gp, err = f.trace(f.g, f.p)
	s.Do(err)
	f.lp, err = f.likeness(t)
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	f.s, err = f.square(t)
	return err
}

// square returns tr(ÂᵀPB̂Pᵀ) at a matching.
func (f *relaxation[T]) square(t []int32) (float64, error) {
	match := f.whole(t)
	b := f.matrix(f.n, f.n)
	if err := ops.Extract(b, f.bh, ops.Of(match...), ops.Of(match...), f.with); err != nil {
		return 0, err
	}
	return f.trace(f.ah, b)
}

// writeOut stores the spread with the rest of P, and its gradient with the rest of the gradient: n²
// entries, after which assignments miss nothing.
func (f *relaxation[T]) writeOut() error {
	var s ops.Steps
	plus := semiring.Plus[T]()
	write := func(x **matrix.Matrix[T], left, right *matrix.Matrix[T]) {
		sum := f.matrix(len(f.rows), len(f.cols))
		s.Do(ops.MxM(sum, semiring.PlusTimes[T](), left, right.T(), f.with))
		s.Do(ops.ApplySecond(sum, semiring.Times[T](), sum, T(f.start), f.with))
		s.Do(ops.EWiseAdd(sum, plus, sum, *x, f.with))
		*x = sum
	}
	for k, w := range f.spread.w {
		write(&f.g, w, f.spread.z[k])
	}
	write(&f.p, f.spread.x, f.spread.y)
	f.work += f.g.NVals() + f.p.NVals()
	f.spread, f.start = nil, 0
	if !s.OK() {
		return s.Err()
	}
	var err error
	f.gp, err = f.trace(f.g, f.p)
	return err
}

// stray moves P some way to a random matching.
func (f *relaxation[T]) stray(away float64) error {
	t := f.random(f.opts.Seed)
	h, err := f.product(nil, f.whole(t))
	if err != nil {
		return err
	}
	_, err = f.search(t, h, away, &SGMIteration{})
	return err
}
