// Package inputs makes the graphs, values and settings that several tables of benchmarks measure,
// and checks results.
package inputs
