// Package hiveblas is the root of a sparse linear algebra library in the manner
// of GraphBLAS: matrices and vectors over any semiring, on the CPU and on NVIDIA
// GPUs, and graph workflows written with them. This package holds no code.
//
// Begin with these packages:
//
//   - matrix: matrices, vectors, builders and views;
//   - graphio: readers and writers of files, names of vertices;
//   - semiring: operators, monoids and semirings, built in or the user's own;
//   - ops: the operations, such as MxM, EWiseAdd, Apply, Select and Assign, with
//     masks, accumulators and transposes as views of their operands;
//   - apps: the workflows, such as breadth-first search, shortest paths,
//     PageRank, projection and seeded graph matching;
//   - auction: linear sum assignment;
//   - chunked: products larger than the memory of a device or a machine;
//   - cusparse: a GPU as the place of matrices and operations;
//   - program: graph programs of a few functions, run in supersteps;
//   - generate: random and regular graphs of any size;
//   - comm: collectives among goroutines, GPUs and processes.
//
// The command line is cmd/hiveblas. docs/getting-started.md is the first page to
// read, and docs/idioms.md writes the common algorithms of the GraphBLAS user guide
// with this library.
package hiveblas
