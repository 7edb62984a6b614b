package graphio

import (
	"fmt"
	"os"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// FileInfo is what the first bytes of a file tell of it, so that a program can choose the element
// type of [ReadFile].
type FileInfo struct {
	Format     FileFormat
	Rows, Cols int    // −1 where only the whole file tells
	Entries    int64  // listed in the file, −1 where only the whole file tells
	Field      string // kind of values: "pattern", "integer", "real"; "" where only the whole file tells
	Element    string // Go type of the values of a binary format, such as "float32"; "" of text
	Symmetry   string // "symmetric", "skew-symmetric" or "general"; "" where only the whole file tells
	Vector     bool   // a vector in the binary form, or an array of one dimension
}

// String returns the information on one line.
func (i FileInfo) String() string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(i.Format.String())
	if i.Rows >= 0 {
		add(fmt.Sprintf("%d×%d", i.Rows, i.Cols))
	}
	if i.Vector {
		add("vector")
	}
	add(i.Field)
	add(i.Element)
	add(i.Symmetry)
	if i.Entries >= 0 {
		add(fmt.Sprintf("%d entries listed", i.Entries))
	}
	return strings.Join(parts, " ")
}

// ReadFileInfo reads the header of the file at path, in any of [Formats], and no entries. The first
// 100 lines of an edge list tell the kind of its values. Files of GraphML, GEXF and GML have no
// header. It returns the same errors as [ReadFile]. The time does not depend on the size of the
// file.
func ReadFileInfo(path string, opts ...ReadOption) (FileInfo, error) {
	f, i, err := readFileInfo("graphio.ReadFileInfo", path, readOptionsOf(opts))
	return FileInfo{f, i.Rows, i.Cols, i.Entries, i.Field, i.Element, i.Symmetry, i.Vector}, err
}

func readFileInfo(op, path string, o *core.ReadOptions) (format FileFormat, i core.FileInfo, err error) {
	i = core.FileInfo{Rows: -1, Cols: -1, Entries: -1}
	o.E = core.ElementOf(sparse.TypeOf[float64]()) // of no matrix
	f, err := os.Open(path)
	if err != nil {
		return 0, i, err
	}
	defer f.Close()
	nameFile(o, path)
	r, format, err := settleFormat(op, f, o)
	if err != nil {
		return 0, i, err
	}
	return format, i, table()[format].describe(op, &i, r, o)
}
