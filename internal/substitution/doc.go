// Package substitution solves systems with triangular matrices on a device: it sorts the rows by
// levels on the host, once for a matrix, and launches kernels/substitution.cu. It knows a matrix by
// its structure, and values by their type. Package solve has the public form.
package substitution
