package sparse

// The densities at which a matrix whose format is automatic changes format. A
// listed matrix that is updated by a few entries becomes a bitmap when it has
// an entry at one in bitmapShare positions: the update then costs its own
// entries and not those of the matrix. A bitmap becomes a list below a quarter
// of that density, so that a matrix near the threshold does not change format
// at each update. SuiteSparse:GraphBLAS (Davis, ACM TOMS 45, 2019) uses 1/25
// for vectors and up to 4/10 for matrices. A vector's threshold is higher
// here because lists are faster to combine; updates alone profit.
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

// BitmapPays reports whether a listed s has so many entries that an update by
// a few is faster in a bitmap.
func BitmapPays(s *Structure) bool {
	if !s.Sparse() || s.NVals == 0 {
		return false
	}
	cells, ok := s.Cells()
	return ok && s.NVals >= int64(cells)/bitmapShare(s)
}

// Conform returns s in the format that its density asks for: Full if every
// position has an entry (the values are shared, except those of a pattern),
// listed if a bitmap has too few entries, s itself otherwise.
func Conform[T any](s *Store[T]) *Store[T] {
	if s.Format == Full {
		return s
	}
	cells, ok := s.Cells()
	if ok && cells > 0 && s.NVals == int64(cells) && len(s.Val) == cells {
		return &Store[T]{Structure: Structure{NRows: s.NRows, NCols: s.NCols, Format: Full, NVals: s.NVals}, Val: s.Val}
	}
	return Shrink(s)
}

// Shrink returns a bitmap with too few entries as a list, and s itself
// otherwise.
func Shrink[T any](s *Store[T]) *Store[T] {
	if s.Format != Bitmap {
		return s
	}
	if cells, _ := s.Cells(); s.NVals < int64(cells)/(bitmapShare(&s.Structure)*backShare) {
		return Settle(ToSparse(s))
	}
	return s
}

// Convert returns s in format f. Full needs an entry at every position; s
// becomes a bitmap if it has fewer.
func Convert[T any](s *Store[T], f Format) *Store[T] {
	switch f {
	case CSR:
		return ToCSR(s)
	case Hypersparse:
		return ToHyper(s)
	case Full:
		if cells, _ := s.Cells(); s.NVals == int64(cells) {
			return ToFull(s, *new(T))
		}
		return ToBitmap(s)
	case Bitmap:
		return ToBitmap(s)
	}
	return s
}
