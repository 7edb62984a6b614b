// Package prefetch tells the processor what will be read soon. It changes
// nothing else, and does nothing on processors that it does not know.
//
// A push goes to rows that are anywhere: two or more lines of memory that
// nobody foresees, each waited for. Asked for four rows ahead, min.plus scatters
// 0.4 million products of R-MAT 18 from 9000 rows in 2.9 ms instead of 4.5, and
// 2.6 million from 58000 in 9.5 instead of 11.1 (one thread, caches cold).
package prefetch
