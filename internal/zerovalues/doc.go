// Package zerovalues tests that no exported function or method of the public packages panics on
// zero values: nil pointers, interfaces, functions and slices, zero structs, 0 and "". Its code
// generates the table of functions for the test.
package zerovalues
