package graphio

import "github.com/hiveblas/hiveblas/graphio/internal/core"

// Info describes a text file: the header of a Matrix Market file, or the contents
// of an edge list.
type Info struct {
	Rows, Cols int
	Entries    int64    // entries or values listed in the file, before symmetric expansion
	Layout     string   // "coordinate" or "array"; "edges" of an edge list
	Field      string   // "real", "integer" or "pattern"
	Symmetry   string   // "general", "symmetric" or "skew-symmetric"
	Banner     bool     // whether it begins with %%MatrixMarket
	Comments   []string // comment lines of the header, without %, at most 64 KiB
	Terminals  []int    // source and sink of a maximum flow in DIMACS form, from 0, or nil
}

// String returns the size and kind on one line.
func (i Info) String() string { return core.Info(i).String() }
