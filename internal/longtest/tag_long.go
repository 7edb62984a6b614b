//go:build long

package longtest

// AllTypes reports whether the build tag long is set.
const AllTypes = true
