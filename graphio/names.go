package graphio

import (
	"bufio"
	"io"
	"os"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/matrixmarket"
)

// WriteLabels writes the names of l, one a line, for [ReadLabels]. A name that begins with a
// quotation mark, or has blanks around it or a carriage return, stands in quotation marks, doubled
// inside it. WriteLabels returns an *[OptionError] if a name has a line break.
func WriteLabels(w io.Writer, l *Labels, opts ...WriteOption) error {
	return matrixmarket.WriteLabels(w, l.core(), writeOptionsOf(opts))
}

// ReadLabels reads names, one a line, gzip-compressed or not: line i, from 0, is the name of index
// i. Blanks around a name are no part of it, unless it stands in quotation marks, which are doubled
// inside it. The labels are integers if all names are. ReadLabels returns a *[ParseError] if a line
// is empty.
func ReadLabels(r io.Reader, opts ...ReadOption) (*Labels, error) {
	l, err := matrixmarket.ReadLabels(r, readOptionsOf(opts))
	return (*Labels)(l), err
}

// ReadLabelsFile is [ReadLabels] of the file at path.
func ReadLabelsFile(path string, opts ...ReadOption) (*Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadLabels(bufio.NewReaderSize(f, 1<<16), append([]ReadOption{FileName(path)}, opts...)...)
}

// NamesBeside names the file that is read or written, for formats without names: a Matrix Market
// file PATH or PATH.gz has them in PATH.names (or PATH.rows and PATH.columns), which its comments
// mention. [ReadFile], [ReadLabelledFile] and [WriteFile] set it. Without it such a writer omits
// names, and a reader gives a [Warning].
//
// WriteFile replaces the files together: after an error the old ones are as they were. A crash of
// the machine between their renames leaves new names beside the old matrix, which a reader reports.
// Another writer writes the names at its end, and its caller has the rest of the file to write.
func NamesBeside(path string) FileOption {
	return fileOption(func(o *core.Common) { o.Beside = core.WithoutGz(path) })
}
