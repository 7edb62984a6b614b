// Package bench measures hiveblas against its peers and lays the figures out.
//
// [Interleave] runs contenders in rounds, in rotating order, so that a slow minute of the machine
// falls on all of them; what it compares is the ratio within each round. [Table] renders
// comparisons as text, Markdown or JSON, with the bandwidth each case reaches and what that is of
// the machine's ceiling, [Triad].
//
// The inputs come from package bench/gen, the peers from package bench/peers.
package bench
