package ops_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// entries are the entries of a row, by column.
type entry struct {
	col int
	x   float64
}

// rowsOf lists the rows of a matrix.
func rowsOf(a *matrix.Matrix[float64]) [][]entry {
	m, _ := a.Dims()
	rows := make([][]entry, m)
	for at, x := range a.All() {
		rows[at.Row] = append(rows[at.Row], entry{at.Col, x})
	}
	return rows
}

// ties returns a random matrix with many equal values, NaN and infinities.
func ties(t *testing.T, m, n, entries int) *matrix.Matrix[float64] {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	b := matrix.NewBuilder[float64](m, n)
	values := []float64{0, 1, 1, 2, -3, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 7.5}
	for range entries {
		b.Add(rng.IntN(m), rng.IntN(n), values[rng.IntN(len(values))])
	}
	a := sure.Get(b.Build(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })))
	return a
}

// same compares rows; NaN equals NaN.
func sameRows(x, y [][]entry) bool {
	return slices.EqualFunc(x, y, func(x, y []entry) bool {
		return slices.EqualFunc(x, y, func(x, y entry) bool { return x.col == y.col && cmp.Compare(x.x, y.x) == 0 })
	})
}

func TestTopKSortArg(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {7, 30, 100}, {300, 50, 4000}, {5, 100000, 300}, {100000, 5, 40}, {4, 4, 0}} {
		m, n := shape[0], shape[1]
		a := ties(t, m, n, shape[2])
		rows := rowsOf(a)
		descending := func(x, y entry) int { return cmp.Compare(y.x, x.x) }
		for _, k := range []int{0, 1, 3, 1000} {
			want := make([][]entry, m)
			for i, r := range rows {
				r = slices.Clone(r)
				slices.SortStableFunc(r, descending)
				r = r[:min(k, len(r))]
				slices.SortFunc(r, func(x, y entry) int { return x.col - y.col })
				if len(r) > 0 {
					want[i] = r
				}
			}
			c := matrix.New[float64](m, n)
			if err := ops.TopK(c, a, k); err != nil {
				t.Fatal(err)
			}
			if !sameRows(rowsOf(c), want) {
				t.Errorf("%v: TopK(%d) is %v, want %v", shape, k, rowsOf(c), want)
			}
		}
		largest, least := matrix.NewVector[int32](m), matrix.NewVector[int32](m)
		sure.Do(ops.ArgMax(largest, a), ops.ArgMin(least, a))
		for i, r := range rows {
			at, ok := largest.At(i)
			low, _ := least.At(i)
			if ok != (len(r) > 0) {
				t.Fatalf("%v: row %d has an ArgMax: %v", shape, i, ok)
			}
			if !ok {
				continue
			}
			hi := slices.MinFunc(r, descending)
			lo := slices.MinFunc(r, func(x, y entry) int { return cmp.Compare(x.x, y.x) })
			if int(at) != hi.col || int(low) != lo.col {
				t.Errorf("%v: row %d: ArgMax %d and ArgMin %d, want %d and %d", shape, i, at, low, hi.col, lo.col)
			}
		}
		values, columns := matrix.New[float64](m, n), matrix.New[int32](m, n)
		if err := ops.Sort(values, columns, a, func(x, y float64) bool { return cmp.Compare(x, y) < 0 }); err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			slices.SortStableFunc(r, func(x, y entry) int { return cmp.Compare(x.x, y.x) })
			for e, want := range r {
				x, _ := values.At(i, e)
				col, ok := columns.At(i, e)
				if !ok || int(col) != want.col || cmp.Compare(x, want.x) != 0 {
					t.Fatalf("%v: entry %d of row %d is %v of column %d, want %v", shape, e, i, x, col, want)
				}
			}
		}
		if values.NVals() != a.NVals() || columns.NVals() != a.NVals() {
			t.Errorf("%v: sorting %d entries gives %d and %d", shape, a.NVals(), values.NVals(), columns.NVals())
		}
	}
	u, _ := matrix.VectorOf([]float64{3, math.NaN(), 9, 9, -1})
	idx, val, err := ops.TopKVector(u, 3)
	if err != nil || !slices.Equal(idx, []int{2, 3, 0}) || !slices.Equal(val, []float64{9, 9, 3}) {
		t.Errorf("TopKVector: %v %v %v", idx, val, err)
	}
	if _, _, err := ops.TopKVector(u, -1); err == nil {
		t.Error("TopKVector takes −1")
	}
	if err := ops.TopK[float64](matrix.New[float64](2, 2), nil, 1); err == nil {
		t.Error("TopK takes nil")
	}
	if err := ops.Sort[float64](nil, nil, matrix.New[float64](2, 2), nil); !errors.Is(err, ops.ErrOperator) {
		t.Errorf("Sort without an order: %v", err)
	}
}

// TestConcatSplitTile compares a grid of tiles with the values at their places, and splits it
// again.
func TestConcatSplitTile(t *testing.T) {
	heights, widths := []int{3, 0, 70}, []int{5, 40, 1}
	var tiles [][]matrix.Source[float64]
	var parts [][]matrix.Target[float64]
	want := map[matrix.Coord]float64{}
	top := 0
	for i, h := range heights {
		tiles, parts = append(tiles, nil), append(parts, nil)
		left := 0
		for j, w := range widths {
			var a *matrix.Matrix[float64]
			if h == 0 {
				a = matrix.New[float64](0, w)
			} else {
				a = powerLawTile(t, h, w, uint64(10*i+j))
			}
			for at, x := range a.All() {
				want[matrix.Coord{Row: top + at.Row, Col: left + at.Col}] = x
			}
			if j == 1 && h > 0 { // a transposed view as a tile
				b := matrix.New[float64](w, h)
				if err := ops.Transpose(b, a); err != nil {
					t.Fatal(err)
				}
				tiles[i] = append(tiles[i], b.T())
			} else {
				tiles[i] = append(tiles[i], a)
			}
			parts[i] = append(parts[i], matrix.New[float64](h, w))
			left += w
		}
		top += h
	}
	c := matrix.New[float64](73, 46)
	if err := ops.Concat(c, tiles); err != nil {
		t.Fatal(err)
	}
	if int(c.NVals()) != len(want) || len(want) == 0 {
		t.Fatalf("%d entries, want %d", c.NVals(), len(want))
	}
	for at, x := range c.All() {
		if want[at] != x {
			t.Fatalf("%v is %v, want %v", at, x, want[at])
		}
	}
	if err := ops.Split(parts, c); err != nil {
		t.Fatal(err)
	}
	for i, row := range parts {
		for j, part := range row {
			whole := matrix.New[float64](heights[i], widths[j])
			if err := ops.Extract(whole, tiles[i][j], ops.All(), ops.All()); err != nil {
				t.Fatal(err)
			}
			if !part.(*matrix.Matrix[float64]).Equal(whole) {
				t.Errorf("part (%d, %d) differs from its tile", i, j)
			}
		}
	}
	two := matrix.New[float64](146, 138)
	if err := ops.Tile(two, c, 2, 3); err != nil {
		t.Fatal(err)
	}
	kron := matrix.New[float64](146, 138)
	ones, err := matrix.NewFull(2, 3, 1.0)
	if err == nil {
		err = ops.Kronecker(kron, semiring.Times[float64](), ones, c)
	}
	if err != nil || !two.Equal(kron) {
		t.Errorf("Tile differs from the Kronecker product with ones (%v)", err)
	}
	ragged := [][]matrix.Source[float64]{{c, c}, {c}}
	misfit := [][]matrix.Source[float64]{{c, matrix.New[float64](72, 2)}}
	for name, err := range map[string]error{
		"no tiles": ops.Concat[float64](c, nil), "ragged": ops.Concat(c, ragged), "nil": ops.Concat(c, [][]matrix.Source[float64]{{nil}}),
		"misfit": ops.Concat(c, misfit), "no copies": ops.Tile(c, c, 0, 1), "too many": ops.Tile(c, c, math.MaxInt32, 1),
		"parts": ops.Split([][]matrix.Target[float64]{{matrix.New[float64](1, 1)}}, c), "none": ops.Split[float64](nil, c),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var dim *matrix.DimensionError
	if err := ops.Concat(c, misfit); !errors.As(err, &dim) || dim.Arg != "tile (0, 1)" {
		t.Errorf("misfit: %v", err)
	}
}

func powerLawTile(t *testing.T, m, n int, seed uint64) *matrix.Matrix[float64] {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	b := matrix.NewBuilder[float64](m, n)
	for range m * n / 3 {
		b.Add(rng.IntN(m), rng.IntN(n), rng.Float64())
	}
	a := sure.Get(b.Build(matrix.CombineFunc[float64](math.Max)))
	return a
}

func TestInnerOuter(t *testing.T) {
	u, _ := matrix.VectorFromTuples(5, []int{0, 2, 4}, []float64{2, 3, 5}, nil)
	v, _ := matrix.VectorFromTuples(5, []int{1, 2, 4}, []float64{7, 11, 13}, nil)
	w, _ := matrix.VectorFromTuples(5, []int{1, 3}, []float64{7, 11}, nil)
	if x, err := ops.Inner(semiring.PlusTimes[float64](), u, v); err != nil || x != 98 {
		t.Errorf("u·v = %v (%v), want 98", x, err)
	}
	if x, err := ops.Inner(semiring.MinPlus[float64](), u, w); err != nil || !math.IsInf(x, 1) {
		t.Errorf("u·w over min.plus = %v (%v), want the identity", x, err)
	}
	if _, err := ops.Inner(semiring.PlusTimes[float64](), u, matrix.NewVector[float64](4)); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("sizes 5 and 4: %v", err)
	}
	c := matrix.New[float64](5, 5)
	if err := ops.Outer(c, semiring.PlusTimes[float64](), u, v); err != nil || c.NVals() != 9 {
		t.Fatalf("%d entries (%v), want 9", c.NVals(), err)
	}
	for at, x := range c.All() {
		a, _ := u.At(at.Row)
		b, _ := v.At(at.Col)
		if x != a*b {
			t.Errorf("%v is %v, want %v", at, x, a*b)
		}
	}
	if x, err := ops.DiagonalSum(semiring.Plus[float64](), c); err != nil || x != 98 {
		t.Errorf("the trace is %v (%v), want 98", x, err)
	}
	if err := ops.Outer[float64, float64, float64](c, semiring.PlusTimes[float64](), u, nil); err == nil {
		t.Error("Outer takes nil")
	}
}

func ExampleTopK() {
	ratings, _ := matrix.FromTuples(2, 4, []int{0, 0, 0, 1}, []int{0, 1, 3, 2}, []float64{3.5, 5, 4, 2}, nil)
	best := matrix.New[float64](2, 4)
	if err := ops.TopK(best, ratings, 2); err != nil {
		fmt.Println(err)
	}
	for at, x := range best.All() {
		fmt.Println(at.Row, at.Col, x)
	}
	// Output:
	// 0 1 5
	// 0 3 4
	// 1 2 2
}
