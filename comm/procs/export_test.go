package procs

// JoinMPIBy is JoinMPI with calls of MPI of at most so many items.
var JoinMPIBy = joinMPI
