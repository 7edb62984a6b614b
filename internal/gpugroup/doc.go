// Package gpugroup has the tests of groups of emulated GPUs whose collectives move the memory of
// devices, as those of comm.Peers do: no copy between host and device grows with the operands,
// results are those of one device, and ledgers are those of ranks on the host.
package gpugroup
