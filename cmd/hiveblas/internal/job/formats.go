package job

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hiveblas/hiveblas/graphio"
)

// FormatNames returns the values of --format but auto.
func FormatNames() (names []string) {
	for _, f := range graphio.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// wanted says why the extension of the output is refused, and what it may be.
func (o *Output) wanted() string {
	if o.Gz && slices.Contains(o.Kinds, o.Kind) {
		return o.Kind + " is not compressed by gzip; leave .gz out"
	}
	want := "the extension tells no format; want " + strings.Join(o.Kinds, ", ")
	zips := slices.DeleteFunc(slices.Clone(o.Kinds), func(kind string) bool { return slices.Contains(unzipped, kind) })
	switch {
	case len(zips) == len(o.Kinds):
		want += ", or one of these and .gz"
	case len(zips) > 0:
		want += fmt.Sprintf(", or %s and .gz", strings.Join(zips, ", "))
	}
	if len(o.Kinds) > 1 {
		want += ", or --output-format"
	}
	return want
}

// PrintFormats is hiveblas help formats.
func PrintFormats(out io.Writer) error {
	b := bufio.NewWriter(out)
	fmt.Fprintf(b, `The formats of graphs, by their first bytes or their extension, or by --format. All
but .npz and .npy are read with .gz too.

`)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "--format\textension\twritten\tnames of vertices\tcontents\n")
	for _, f := range graphio.Formats() {
		written, names := "", f.Names
		if f.Writes && f.Format != graphio.FormatEdges {
			written = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Name, strings.Join(f.Extensions, " "), written, names, f.Title)
	}
	w.Flush()
	fmt.Fprintf(b, `
Zeros of dense files (.npy, .mtx array) are no entries without --keep-zeros. Text is
UTF-8, or UTF-16 with a byte order mark; GraphML and GEXF name their encoding.
hiveblas-parquet, a command of its own, converts Parquet edge lists. --names FILE
gives names to vertices of any format.
`)
	return b.Flush()
}
