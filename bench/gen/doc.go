// Package gen makes the graphs and matrices that the benchmarks and tests run on: R-MAT, power-law
// bipartite, Erdős–Rényi, grid and small-world; and pairs of graphs that are alike, for graph
// matching.
//
// Every generator is a pure function of its arguments. Random numbers come from splitmix64 used as
// a counter-based generator (number k of a stream is a hash of k), so edges can be drawn by any
// number of goroutines in any order and the result is the same bit for bit on every platform; no
// floating-point function that a platform may round differently is used. The golden hashes in the
// tests check this.
//
// A generator returns raw [Tuples], duplicates and self loops included. [CSR] turns tuples into a
// [Graph]: rows sorted, duplicates merged, self loops dropped unless [KeepLoops] asks for them.
// [Symmetrise] between the two makes the graph undirected. [UniformFloats] and [UniformInts]
// compute weights from the positions of the entries alone.
//
//	g := gen.CSR(gen.Symmetrise(gen.RMAT(20, 16, gen.RMATOptions{})))
//	w := gen.UniformInts(g, 1, 255, 7, true)
package gen
