package sparse

// The densities at which a matrix in automatic format changes format. A listed matrix that receives
// a small update becomes a bitmap if at least one in bitmapShare positions has an entry: the cost
// of the update is then proportional to the update and not to the matrix. A bitmap becomes a list
// below a quarter of that density, so that a matrix near the threshold does not change format at
// each update. A vector becomes a bitmap with fewer entries if it is updated often; see UpdatePays.
// SuiteSparse:GraphBLAS (Davis, ACM TOMS 45, 2019) uses 1/25 for vectors and up to
// 4/10 for matrices. The threshold for vectors is higher here because lists are faster to combine;
// only updates gain from a bitmap.
const (
	vectorShare = 16
	matrixShare = 4
	backShare   = 4
)

func bitmapShare(s *Structure) int64 {
	if s.NRows == 1 {
		return vectorShare
	}
	return matrixShare
}

// BitmapPays reports whether a listed s is dense enough that a small update is faster in a bitmap.
func BitmapPays(s *Structure) bool {
	if !s.Sparse() || s.NVals == 0 {
		return false
	}
	cells, ok := s.Cells()
	return ok && s.NVals >= int64(cells)/bitmapShare(s)
}

// UpdatePays is BitmapPays for a store that counts small updates. A listed vector, where each small
// update copies all entries, becomes a bitmap too once the updates have copied as many entries as
// it has positions: together they cost no more than twice the least of both formats.
func (s *Store) UpdatePays() bool { return BitmapPays(&s.Structure) || s.Sparse() && s.updated() }

// updated reports whether small updates of a vector have copied as many entries as it has
// positions.
func (s *Store) updated() bool { return s.NRows == 1 && s.NVals > 0 && s.Moved >= int64(s.NCols) }

// Conform returns s in the format that suits its density: Full if every position has an entry (the
// values are shared, except the values of a pattern), listed if s is a bitmap with too few entries,
// and s itself otherwise.
func (s *Store) Conform() *Store {
	if s.Format == Full {
		return s
	}
	cells, ok := s.Cells()
	if ok && cells > 0 && s.NVals == int64(cells) && s.Val.Len() == cells {
		return s.With(&Structure{NRows: s.NRows, NCols: s.NCols, Format: Full, NVals: s.NVals})
	}
	return s.Shrink()
}

// Shrink converts a bitmap with too few entries to a list and returns any other s unchanged. A
// vector that became a bitmap because of its updates stays one until it is empty.
func (s *Store) Shrink() *Store {
	if s.Format != Bitmap || s.updated() {
		return s
	}
	if cells, _ := s.Cells(); s.NVals < int64(cells)/(bitmapShare(&s.Structure)*backShare) {
		return s.ToSparse().Settle()
	}
	return s
}

// Convert returns s in format f. Full requires an entry at every position; if s has fewer, the
// result is a bitmap.
func (s *Store) Convert(f Format) *Store {
	switch f {
	case CSR:
		return s.ToCSR()
	case Hypersparse:
		return s.ToHyper()
	case Full:
		if cells, _ := s.Cells(); s.NVals == int64(cells) {
			return s.ToFull(s.Type.Zero)
		}
		return s.ToBitmap()
	case Bitmap:
		return s.ToBitmap()
	}
	return s
}
