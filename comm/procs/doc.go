// Package procs makes groups of processes that a launcher started: [Join] finds the place of this
// process by the variables of the launcher ([Detect]), meets the others and returns its rank.
// Buffers of the host travel by Open MPI ([JoinMPI]), buffers of GPUs by NCCL ([OnGPU]). Beside the
// library that carries the data, every process keeps a TCP connection to rank 0, which carries
// failures: the others see the end of a process at once.
package procs
