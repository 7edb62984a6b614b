// Package cpu measures hiveblas on processors: Run beside its peers, Cores by the number of
// threads.
package cpu
