package matrix

import "github.com/hiveblas/hiveblas/internal/sparse"

// The forms that follow from the contents of a matrix and are kept until these change.

// Rows returns the sparse (CSR or hypersparse) form.
func (a *core) Rows() *sparse.Store {
	st := a.Stored()
	if st.Sparse() {
		return st
	}
	if r := a.asRows.Load(); r != nil {
		return r
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.asRows.Load(); r != nil {
		return r
	}
	r := st.ToSparse()
	a.asRows.Store(r)
	return r
}

// Cols returns the sparse form of the transpose.
func (a *core) Cols() *sparse.Store {
	a.touch(false)
	if c := a.asCols.Load(); c != nil {
		return c
	}
	rows := a.Rows()
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.asCols.Load(); c != nil {
		return c
	}
	c := rows.Transpose(0)
	a.asCols.Store(c)
	return c
}

// Shape returns the structure of Stored.
func (a *core) Shape() *sparse.Structure { return &a.Stored().Structure }

// RowsShape returns the structure of Rows.
func (a *core) RowsShape() *sparse.Structure { return &a.Rows().Structure }

// KeepsCols reports whether Cols is known.
func (a *core) KeepsCols() bool { return a.asCols.Load() != nil }

// KeptColsShape returns ColsShape if it is known, and nil otherwise.
func (a *core) KeptColsShape() *sparse.Structure {
	if c := a.asCols.Load(); c != nil {
		return &c.Structure
	}
	return a.asColsShape.Load()
}

// ColsShape returns the structure of the transpose, without values.
func (a *core) ColsShape() *sparse.Structure {
	if s := a.KeptColsShape(); s != nil {
		return s
	}
	rows := a.RowsShape()
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.KeptColsShape(); s != nil {
		return s
	}
	s := &rows.Pattern().Transpose(0).Structure
	a.asColsShape.Store(s)
	return s
}

// Leads returns the first columns of each row, or the first rows of each column, as sparse.Leads
// does. It returns nil unless the form is CSR.
func (a *core) Leads(cols bool) []int32 {
	s, kept := a.RowsShape(), &a.rowLeads
	if cols && !a.knownSymmetric.Load() {
		s, kept = a.ColsShape(), &a.colLeads
	}
	if a.null || s.Format != sparse.CSR {
		return nil
	}
	if l := kept.Load(); l != nil {
		return *l
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := kept.Load(); l != nil {
		return *l
	}
	l := sparse.Leads(s, 0)
	kept.Store(&l)
	return l
}

// forget discards the derived forms. Most destinations have none, and a load is cheaper than an
// atomic store.
func (a *core) forget() {
	if a.knownSymmetric.Load() {
		a.knownSymmetric.Store(false)
	}
	drop(&a.asRows.p)
	drop(&a.asCols.p)
	drop(&a.asColsShape.p)
	drop(&a.asPattern.p)
	drop(&a.asColsPattern.p)
	drop(&a.rowLeads.p)
	drop(&a.colLeads.p)
}
