package ops

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Concat computes C⟨M⟩ ⊕= the matrix of the given tiles: tiles[i][j] is in row i and column j of
// the grid, as in GxB_Matrix_concat. The tiles of a row of the grid have equally many rows, the
// tiles of a column equally many columns. On the host it takes O(entries + rows·tiles across) time,
// where rows without entries take none if the tiles are hypersparse; on a device the tiles are
// assigned one by one. Concat returns the same errors as [MxM].
func Concat[T comparable](dst matrix.Target[T], tiles [][]matrix.Source[T], opts ...Option) error {
	views := make([][]rep.View, len(tiles))
	for i, row := range tiles {
		for _, a := range row {
			views[i] = append(views[i], viewOf(a))
		}
	}
	return begin("Concat", "", opts).concat(destOf(dst), views)
}

func (c *call) concat(d dest, views [][]rep.View) error {
	rows, cols, err := c.grid(views)
	if err != nil {
		return err
	}
	m, n := rows[len(rows)-1], cols[len(cols)-1]
	if m > matrix.MaxDim || n > matrix.MaxDim {
		return &matrix.SizeError{Op: c.op, Arg: "side of the result", Got: int64(max(m, n)), Limit: matrix.MaxDim}
	}
	t, err := c.prepare(d, m, n)
	if err != nil {
		return err
	}
	if t.at != nil || t.group != nil {
		whole := newMatrix(t.c, m, n, d.place())
		for i, row := range views {
			for j, v := range row {
				if err := c.step("Assign").assign(dest{m: whole}, v, Span(rows[i], rows[i+1]), Span(cols[j], cols[j+1])); err != nil {
					return err
				}
			}
		}
		return c.step("Extract").extract(d, rep.View{Matrix: whole}, All(), All())
	}
	stored := make([][]*sparse.Store, len(views))
	for i, row := range views {
		for _, v := range row {
			stored[i] = append(stored[i], v.Rows().Valued().ToHyper())
		}
	}
	out, err := cpu.Concat(c.env(), t.c, stored, rows, cols)
	if err != nil {
		return c.sized(err)
	}
	c.traced("concat", out.NVals)
	return c.write(out.Settle(), false)
}

// step returns the call of an operation with the options of c.
func (c *call) step(op string) *call {
	own := c.settings
	return begin(op, "", []Option{func(s *settings) { *s = own }})
}

// grid checks the tiles of a grid and returns where the rows and columns of tiles begin.
func (c *call) grid(tiles [][]rep.View) (rows, cols []int, err error) {
	if len(tiles) == 0 || len(tiles[0]) == 0 {
		return nil, nil, &matrix.InvalidError{Op: c.op, Reason: "there are no tiles; give at least one row of at least one"}
	}
	rows, cols = []int{0}, []int{0}
	for i, row := range tiles {
		if len(row) != len(tiles[0]) {
			return nil, nil, &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("row %d has %d tiles and row 0 has %d; give every row as many", i, len(row), len(tiles[0]))}
		}
		for j, v := range row {
			name := fmt.Sprintf("tile (%d, %d)", i, j)
			if err := c.operand(name, v); err != nil {
				return nil, nil, err
			}
			am, an := v.Dims()
			if j == 0 {
				rows = append(rows, rows[i]+am)
			}
			if i == 0 {
				cols = append(cols, cols[j]+an)
			}
			if wm, wn := rows[i+1]-rows[i], cols[j+1]-cols[j]; am != wm || an != wn {
				return nil, nil, c.dim(name, shape(am, an), shape(wm, wn), "tiles of a row have the same height, tiles of a column the same width")
			}
		}
	}
	return rows, cols, nil
}

// Split is the inverse of [Concat]: it computes dsts[i][j]⟨M⟩ ⊕= the tile of a in row i and column
// j of the grid, as GxB_Matrix_split does. The shapes of the destinations make up the grid and
// together the shape of a. It takes O(entries) time for each destination. An error leaves some
// destinations written.
func Split[T comparable](dsts [][]matrix.Target[T], a matrix.Source[T], opts ...Option) error {
	list := make([][]dest, len(dsts))
	for i, row := range dsts {
		for _, d := range row {
			list[i] = append(list[i], destOf(d))
		}
	}
	return begin("Split", "", opts).split(list, viewOf(a))
}

func (c *call) split(dsts [][]dest, a rep.View) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	if len(dsts) == 0 || len(dsts[0]) == 0 {
		return &matrix.InvalidError{Op: c.op, Reason: "there are no destinations; give at least one row of at least one"}
	}
	m, n := a.Dims()
	rows, cols := []int{0}, []int{0}
	for i, row := range dsts {
		if len(row) != len(dsts[0]) {
			return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("row %d has %d destinations and row 0 has %d; give every row as many", i, len(row), len(dsts[0]))}
		}
		for j, d := range row {
			if d.m == nil {
				return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("destination (%d, %d) is nil; make it with matrix.New", i, j)}
			}
			dm, dn := d.m.Dims()
			if j == 0 {
				rows = append(rows, rows[i]+dm)
			}
			if i == 0 {
				cols = append(cols, cols[j]+dn)
			}
		}
	}
	if h, w := rows[len(rows)-1], cols[len(cols)-1]; h != m || w != n {
		return c.dim("the destinations", shape(h, w)+" together", shape(m, n), "their shapes make up that of a")
	}
	for i, row := range dsts {
		for j, d := range row {
			if err := c.step("Extract").extract(d, a, Span(rows[i], rows[i+1]), Span(cols[j], cols[j+1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tile computes C⟨M⟩ ⊕= a grid of down×across copies of a. It is [Concat] of them, of at most 2²⁰;
// the [Kronecker] product with a matrix of ones has no such limit.
func Tile[T comparable](dst matrix.Target[T], a matrix.Source[T], down, across int, opts ...Option) error {
	if down < 1 || across < 1 || down > matrix.MaxDim || across > matrix.MaxDim {
		return &matrix.InvalidError{Op: "Tile", Reason: fmt.Sprintf("%d×%d copies asked for; give at least one in each direction", down, across)}
	}
	return begin("Tile", "", opts).tile(destOf(dst), viewOf(a), down, across)
}

func (c *call) tile(d dest, a rep.View, down, across int) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	m, n := a.Dims()
	for _, d := range []struct {
		name  string
		x, by int
	}{{"number of rows", m, down}, {"number of columns", n, across}} {
		if p := int64(d.x) * int64(d.by); p > matrix.MaxDim {
			return &matrix.SizeError{Op: c.op, Arg: d.name, Got: p, Limit: matrix.MaxDim}
		}
	}
	const most = 1 << 20 // a view for each copy
	if down > most/across {
		return &matrix.SizeError{Op: c.op, Arg: "number of copies", Got: int64(down) * int64(across), Limit: most}
	}
	tiles := make([][]rep.View, down)
	for i := range tiles {
		tiles[i] = slices.Repeat([]rep.View{a}, across)
	}
	return c.step("Concat").concat(d, tiles)
}
