// Package zerovalues tests that no exported function or method of the public packages panics on
// zero values: nil pointers, interfaces, functions and slices, zero structs, 0 and "". Its code
// generates the tables of functions for the test. The build tag long adds the second table: the
// generic functions and types of most packages.
package zerovalues
