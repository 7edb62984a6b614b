// Package gpugroup has the tests of groups of emulated GPUs with collectives that move the memory
// of devices, as in comm.Peers: no copy between host and device grows with the operands, results
// equal the results of one device, and ledgers equal the ledgers of ranks on the host.
package gpugroup
