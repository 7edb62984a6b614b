package sparse

// The densities at which a matrix in automatic format changes format. A listed matrix that receives
// a small update becomes a bitmap if at least one in bitmapShare positions has an entry: the cost
// of the update is then proportional to the update and not to the matrix. A bitmap becomes a list
// below a quarter of that density, so that a matrix near the threshold does not change format at
// each update. SuiteSparse:GraphBLAS (Davis, ACM TOMS 45, 2019) uses 1/25 for vectors and up to
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

// Conform returns s in the format that suits its density: Full if every position has an entry (the
// values are shared, except those of a pattern), listed if s is a bitmap with too few entries, and
// s itself otherwise.
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

// Shrink converts a bitmap with too few entries to a list and returns any other s unchanged.
func Shrink[T any](s *Store[T]) *Store[T] {
	if s.Format != Bitmap {
		return s
	}
	if cells, _ := s.Cells(); s.NVals < int64(cells)/(bitmapShare(&s.Structure)*backShare) {
		return Settle(ToSparse(s))
	}
	return s
}

// Convert returns s in format f. Full requires an entry at every position; if s has fewer, the
// result is a bitmap.
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
