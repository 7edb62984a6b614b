// Package workload runs workflows on groups of ranks and returns their volumes, for the model of
// comm/model. It draws the inputs that a workflow needs beside the graph by hashes; the benchmarks
// draw theirs by the same functions.
package workload
