// Package idioms measures algorithms written with operations beside plain Go loops.
//
// Each idiom has a loop that computes the same result. A row compares times and allocations of both
// with bars.
package idioms
