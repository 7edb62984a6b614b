package rowsum

import "testing"

// The loops of other processors.
func TestRowsPlain(t *testing.T) {
	defer func(before bool) { wide = before }(wide)
	wide = false
	TestRows(t)
}
