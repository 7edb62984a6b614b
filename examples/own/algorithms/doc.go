// Package algorithms has four algorithms that the library does not have, written with its
// operations as a user writes them. Each is one function for every place: it runs where its matrix
// is, on the host, on a GPU or on a group. Their loops are recorded on a GPU where they can be.
// [ops.Explain] among the options tells.
package algorithms
