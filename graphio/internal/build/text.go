package build

import (
	"bytes"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// LineOf returns the number of the line of a block that begins at start.
func LineOf(b chunk.Block, start int) int64 {
	return b.Line + int64(bytes.Count(b.Data[:start], []byte{'\n'}))
}
