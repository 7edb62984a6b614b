package procs

// SetMPIMax lowers the largest count of a call of MPI.
func SetMPIMax(n int) { mpiMax = n }
