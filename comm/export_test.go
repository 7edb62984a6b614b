package comm

// SetMPIMax lowers the largest count of a call of MPI.
func SetMPIMax(n int) { mpiMax = n }

// SetPieces lowers the number of bytes from which large blocks go in pieces by way of other ranks.
func SetPieces(n int64) { spreadFrom, relayFrom = n, n }
