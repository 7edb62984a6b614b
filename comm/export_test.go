package comm

// SetPieces lowers the number of bytes from which a broadcast goes in pieces.
func SetPieces(n int64) { spreadFrom = n }
