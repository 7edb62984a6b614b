package comm

// SetMPIMax lowers the largest count of a call of MPI.
func SetMPIMax(n int) { mpiMax = n }

// SetPieces lowers the number of bytes from which a broadcast goes in pieces.
func SetPieces(n int64) { spreadFrom = n }
