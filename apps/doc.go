// Package apps holds graph workflows, each a pipeline of the operations of
// package ops that reads like its mathematics, in a file of its own.
//
// Every function takes its graph as a matrix, an edge from row to column, and
// its settings as an options struct whose zero value is the usual choice. The
// embedded [Run] bounds threads, carries a context and reports progress; the
// [Stage] callback tells what is being done.
package apps
