// Package zerovalues tests that no exported function or method of the public packages panics on
// zero values: nil pointers, interfaces, functions and slices, zero structs, 0 and "". It has no
// code besides its test.
package zerovalues
