// Package largest calls the exported functions of packages matrix and ops with matrices of the
// largest dimensions and two entries, under a limit of memory: each takes memory for the entries,
// or returns a *matrix.SizeError.
package largest
