// Package bench measures hiveblas against its peers and formats the figures.
//
// [Interleave] runs contenders in rounds, in rotating order, so that a slow minute of the machine
// affects all of them; it compares the ratio within each round. [Table] renders comparisons as
// text, Markdown or JSON, with the bandwidth of each case and its percentage of the machine's
// ceiling, [Triad].
//
//	table, err := cpu.Run(ctx, cpu.Options{Only: []string{"triangles"}})
//
// Packages cpu, gpu, collectives, idioms, programs and report measure the tables, which command
// hiveblas-bench prints. Package bench/gen generates the inputs; package bench/peers runs the
// peers. docs/performance.md has the results.
package bench
