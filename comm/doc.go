// Package comm moves data among the ranks of a group: goroutines of a process, GPUs of a process,
// or processes that a launcher started. A rank is one member of a group of p ranks, numbered from 0
// to p−1.
//
// This package opens no sockets and no C libraries; packages comm/procs and comm/nccl do. A new one
// is a [Transport].
//
// [Comm] is the interface. Its implementations are
//
//   - [Local]: ranks are goroutines, buffers are host memory;
//   - [Peers]: GPUs of a process, data by kernels that read from the peers, or by copy engines;
//   - nccl.Ranks of comm/nccl: GPUs of a process, data by NCCL;
//   - procs.JoinMPI of comm/procs: processes that mpirun started, data by Open MPI, buffers are
//     host memory; and procs.Join, which with procs.OnGPU makes one process for each GPU, data by
//     NCCL;
//   - [WithFault]: wraps a Comm and makes it fail, for tests.
//
// # Rules
//
// All ranks call the same collectives in the same order, with arguments that agree (SPMD). A Comm
// runs one collective at a time; concurrent calls queue, which is of no use unless all ranks queue
// them in the same order. A collective returns when its result is complete and its source may be
// changed.
//
// # Failure
//
// A group fails as a whole. When a rank fails (an invalid argument, an error of the library below,
// a deadline, a cancelled context, a dead process), the group and all groups split from it are
// dead: the collective under way, or the next one, returns the same [*RankError] on every rank,
// which names the rank that failed, the collective, its number and the cause. Later calls return an
// error that is [ErrGroupClosed] and wraps the first one. The contents of destinations are
// undefined after an error. Nothing is repeated and no rank is replaced: start again from a
// checkpoint.
//
// # Determinism
//
// Data movement is exact. A reduction of integers is the same in every order. A reduction of floats
// is folded in the order of ranks, ((x₀ ⊕ x₁) ⊕ x₂) ⊕ …, by every implementation; one that cannot
// do so returns [ErrNoOp], and [AllReduce] then exchanges the operands and folds them itself. A sum
// that must not depend on p is made of fixed global blocks by [FoldBlocks]. [SumAnyOrder] is the
// sum in whatever order is fastest.
//
// # Example
//
// Each rank of a group of three has a block, and gathers all of them:
//
//	group, err := comm.Local(3)
//	// on the goroutine of rank r, with c := group[r]:
//	err = c.AllGatherV(ctx, comm.Host(all), counts, comm.Host(block))
//
// [Comm.Ledger] counts the bytes of each collective. Package comm/model predicts times from it.
// docs/scale.md explains groups as places of matrices.
package comm
