package matrix

import (
	"fmt"
	"iter"

	"github.com/hiveblas/hiveblas/internal/rep"
)

// PatternView is the structure of a matrix of any type, as an operand with all entries true. It is
// a Source[bool]; [AsView] makes a *View[bool] of it.
type PatternView struct{ v rep.View }

func patternView(v rep.View) PatternView {
	v.Matrix = v.Pattern()
	return PatternView{v}
}

// Inside returns the view as the packages of this module see it; see [Matrix.Inside].
func (p PatternView) Inside() rep.View {
	if p.v.Matrix == nil {
		p.v.Matrix = nullOf(boolType).Pattern()
	}
	return p.v
}

func (p PatternView) isOf(bool) {}

// T returns the transposed view.
func (p PatternView) T() PatternView { return PatternView{p.Inside().T()} }

// Pattern returns p itself.
func (p PatternView) Pattern() PatternView { return p }

// Dims returns the number of rows and columns of the view.
func (p PatternView) Dims() (rows, cols int) { return p.Inside().Dims() }

// NVals returns the number of entries.
func (p PatternView) NVals() int64 { return p.Inside().NVals() }

// At reports whether there is an entry at row i, column j, twice: its value is true.
func (p PatternView) At(i, j int) (x, ok bool) { return AsView[bool](p).At(i, j) }

// Row iterates over the columns of row i; see [View.Row].
func (p PatternView) Row(i int) iter.Seq2[int, bool] { return AsView[bool](p).Row(i) }

// All iterates over the entries in row-major order; see [View.All].
func (p PatternView) All() iter.Seq2[Coord, bool] { return AsView[bool](p).All() }

// Err returns the error of the viewed matrix; see [Matrix.Err].
func (p PatternView) Err() error { return p.Inside().Err() }

// Fetch is [Matrix.Fetch] for the viewed matrix.
func (p PatternView) Fetch() error { return p.Inside().Fetched() }

// Place returns the place of the viewed matrix; nil is the host.
func (p PatternView) Place() Place { return placeOf(p.Inside()) }

// String describes the view on one line, such as “4×3 transposed pattern view of bool, 3 entries”.
func (p PatternView) String() string { return viewText(p.Inside()) }

// VectorPattern is the structure of a vector, as an operand with all entries true.
type VectorPattern struct{ p PatternView }

func (p VectorPattern) isVector() {}
func (p VectorPattern) isOf(bool) {}

// Inside returns the view as the packages of this module see it; see [Matrix.Inside].
func (p VectorPattern) Inside() rep.View { return p.p.Inside() }

// NVals returns the number of entries.
func (p VectorPattern) NVals() int64 { return p.p.NVals() }

// Err returns the error of the viewed vector; see [Vector.Err].
func (p VectorPattern) Err() error { return p.p.Err() }

// placeOf returns the place of a matrix, nil for the host.
func placeOf(v rep.View) Place {
	if p := v.Place(); p != nil {
		return p
	}
	return nil
}

// viewText describes a view on one line.
func viewText(v rep.View) string {
	if err := v.Err(); err != nil {
		return "invalid view: " + err.Error()
	}
	kind := ""
	if v.Transposed {
		kind = "transposed "
	}
	if v.IsPattern() {
		kind += "pattern "
	}
	m, n := v.Dims()
	return fmt.Sprintf("%d×%d %sview of %s, %s", m, n, kind, v.Type(), entriesWord(v.NVals()))
}
