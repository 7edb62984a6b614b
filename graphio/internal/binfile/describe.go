package binfile

import (
	"bytes"
	"errors"
	"io"
	"reflect"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/hgb"
)

// Describe describes a file in the binary form.
func Describe(op string, i *core.FileInfo, r io.Reader, o *core.ReadOptions) error {
	plain, _, err := chunk.Open(r)
	if err != nil {
		return o.StreamError(0, err)
	}
	head := make([]byte, hgb.HeadBytes)
	n, err := io.ReadFull(plain, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return o.StreamError(0, err)
	}
	i.Vector = n > 10 && head[10] == hgb.Vector
	h, err := hgb.NewReader(bytes.NewReader(head[:n]), &hgb.Options{Convert: true}).Head(i.Vector, o.E.Item())
	if err != nil {
		return binaryError(o, op, err)
	}
	st := &h.Shape
	i.Rows, i.Cols, i.Element, i.Field, i.Symmetry = st.NRows, st.NCols, h.Element.String(), "integer", "general"
	switch h.Element {
	case reflect.Bool:
		i.Field = "pattern"
	case reflect.Float32, reflect.Float64:
		i.Field = "real"
	}
	i.Entries = st.NVals
	return nil
}
