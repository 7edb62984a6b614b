// Package ranks has small functions of numbers that belong to ranks, for the packages of comm.
package ranks

import "fmt"

// Sum returns the sum of counts.
func Sum(counts []int) (s int64) {
	for _, n := range counts {
		s += int64(n)
	}
	return s
}

// Offsets returns where the block of each rank begins, and where the last one ends.
func Offsets(counts []int) []int {
	at := make([]int, len(counts)+1)
	for i, n := range counts {
		at[i+1] = at[i] + n
	}
	return at
}

// Short prints counts, of many the first and a hash.
func Short(counts []int) string {
	if len(counts) <= 8 {
		return fmt.Sprint(counts)
	}
	h := uint64(14695981039346656037) // FNV-1a by words
	for _, n := range counts {
		h = (h ^ uint64(n)) * 1099511628211
	}
	return fmt.Sprintf("%v … of %d, hash %x", counts[:4], len(counts), h)
}
