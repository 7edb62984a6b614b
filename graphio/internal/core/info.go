package core

import "fmt"

// FileInfo is graphio.FileInfo without the format.
type FileInfo struct {
	Rows, Cols int    // −1 where only the whole file tells
	Entries    int64  // listed in the file, −1 where only the whole file tells
	Field      string // kind of values: "pattern", "integer", "real"; "" where only the whole file tells
	Element    string // Go type of the values of a binary format, such as "float32"; "" of text
	Symmetry   string // "symmetric", "skew-symmetric" or "general"; "" where only the whole file tells
	Vector     bool   // a vector in the binary form, or an array of one dimension
}

// Info is graphio.Info, and has the same fields.
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

// MaxComments bounds the bytes of Info.Comments.
const MaxComments = 1 << 16

// String returns the size and kind on one line.
func (i Info) String() string {
	return fmt.Sprintf("%d×%d %s %s %s, %d entries listed", i.Rows, i.Cols, i.Layout, i.Field, i.Symmetry, i.Entries)
}

// Coordinate reports whether the file lists entries with their positions.
func (i *Info) Coordinate() bool { return i.Layout == "coordinate" }

// Skew reports whether the matrix is skew-symmetric.
func (i *Info) Skew() bool { return i.Symmetry == "skew-symmetric" }

// General reports whether the file lists all entries.
func (i *Info) General() bool { return i.Symmetry == "general" }
