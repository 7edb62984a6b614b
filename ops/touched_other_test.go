//go:build !linux

package ops_test

import "testing"

// smallPages skips the test: only Linux shows the pages that a process touches.
func smallPages(t *testing.T) { t.Skip("needs Linux") }

// touched runs fn and returns -1.
func touched(fn func()) int64 {
	fn()
	return -1
}
