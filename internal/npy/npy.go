// Package npy reads and writes arrays of NumPy: files .npy of one array, and .npz, zip files of
// several. It knows arrays of one and two dimensions of numbers and of Booleans, little-endian,
// which it reads as float32 or float64.
//
// Source: NumPy Enhancement Proposal 1, versions 1.0 to 3.0 of the format. github.com/sbinet/npyio
// reads more, and brings a reader of pickles along.
package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

const magic = "\x93NUMPY"

// An Array is an array of rows × columns by rows. An array of one dimension has one row.
type Array struct {
	Rows, Cols int
	Dims       int // 1 or 2
	Val        []float64
}

// maxItems bounds the items of an array whose header is believed before its data are seen.
const maxItems = 1 << 20

// Read reads an array.
func Read(r io.Reader) (*Array, error) {
	text, err := headerText(r)
	if err != nil {
		return nil, err
	}
	kind, fortran, shape, err := header(text)
	if err != nil {
		return nil, err
	}
	for _, n := range shape {
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("a dimension of %d, the limit is %d", n, math.MaxInt32)
		}
	}
	a := &Array{Rows: 1, Cols: 1, Dims: len(shape)}
	switch len(shape) {
	case 1:
		a.Cols = shape[0]
	case 2:
		a.Rows, a.Cols = shape[0], shape[1]
	default:
		return nil, fmt.Errorf("the array has %d dimensions, want 1 or 2", len(shape))
	}
	width, read, err := reader(kind)
	if err != nil {
		return nil, err
	}
	items, buf := a.Rows*a.Cols, make([]byte, width<<12)
	a.Val = make([]float64, 0, min(items, maxItems))
	for len(a.Val) < items {
		part := buf[:min(len(buf), (items-len(a.Val))*width)]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, fmt.Errorf("the file ends after %d of %d numbers", len(a.Val), items)
		}
		for p := 0; p < len(part); p += width {
			a.Val = append(a.Val, read(part[p:]))
		}
	}
	if fortran && a.Dims == 2 {
		v := make([]float64, items)
		for i := range a.Rows {
			for j := range a.Cols {
				v[i*a.Cols+j] = a.Val[j*a.Rows+i]
			}
		}
		a.Val = v
	}
	return a, nil
}

// headerText reads the bytes before the items, and returns the dictionary.
func headerText(r io.Reader) (string, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:6]) != magic {
		return "", errors.New("the file does not begin as one of NumPy does")
	}
	size := 2
	if head[6] > 1 {
		size = 4
	}
	length := make([]byte, 4)
	if _, err := io.ReadFull(r, length[:size]); err != nil || head[6] < 1 || head[6] > 3 {
		return "", fmt.Errorf("version %d.%d of the format is not known, or the file is cut", head[6], head[7])
	}
	n := binary.LittleEndian.Uint32(length)
	if n > 1<<16 {
		return "", fmt.Errorf("the header has %d bytes, the limit is %d", n, 1<<16)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", errors.New("the file ends within its header")
	}
	return string(text), nil
}

// header parses the dictionary of a header, such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
func header(text string) (kind string, fortran bool, shape []int, err error) {
	bad := func(what string) (string, bool, []int, error) {
		return "", false, nil, fmt.Errorf("the header has no %s: %.80q", what, text)
	}
	value := func(key string) (string, bool) {
		_, rest, ok := strings.Cut(text, "'"+key+"'")
		rest = strings.TrimLeft(rest, " ")
		return strings.TrimLeft(strings.TrimPrefix(rest, ":"), " "), ok && strings.HasPrefix(rest, ":")
	}
	d, ok := value("descr")
	if !ok || len(d) < 2 || d[0] != '\'' {
		return bad("type")
	}
	kind, _, ok = strings.Cut(d[1:], "'")
	if !ok || kind == "" {
		return bad("type")
	}
	order, ok := value("fortran_order")
	if fortran = strings.HasPrefix(order, "True"); !ok || !fortran && !strings.HasPrefix(order, "False") {
		return bad("order")
	}
	s, ok := value("shape")
	if !ok || !strings.HasPrefix(s, "(") {
		return bad("shape")
	}
	s, _, ok = strings.Cut(s[1:], ")")
	if !ok {
		return bad("shape")
	}
	items := 1
	for f := range strings.SplitSeq(s, ",") {
		if f = strings.TrimSpace(f); f == "" {
			continue
		}
		n, e := strconv.Atoi(f)
		if e != nil || n < 0 || n > 1<<40 || n > 0 && items > (1<<40)/n {
			return bad("usable shape")
		}
		shape, items = append(shape, n), items*n
	}
	return kind, fortran, shape, nil
}

// reader returns the width of a type in bytes and the function that reads an item.
func reader(kind string) (width int, read func(b []byte) float64, err error) {
	le := binary.LittleEndian
	switch strings.TrimLeft(kind, "<|=") {
	case "f4":
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }, nil
	case "f8":
		return 8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }, nil
	case "f2":
		return 2, func(b []byte) float64 { return float64(fromHalf(le.Uint16(b))) }, nil
	case "i1":
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }, nil
	case "u1", "b1":
		return 1, func(b []byte) float64 { return float64(b[0]) }, nil
	case "i2":
		return 2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }, nil
	case "u2":
		return 2, func(b []byte) float64 { return float64(le.Uint16(b)) }, nil
	case "i4":
		return 4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }, nil
	case "u4":
		return 4, func(b []byte) float64 { return float64(le.Uint32(b)) }, nil
	case "i8":
		return 8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }, nil
	case "u8":
		return 8, func(b []byte) float64 { return float64(le.Uint64(b)) }, nil
	}
	return 0, nil, fmt.Errorf("the elements are %q, want numbers, little-endian", kind)
}

// fromHalf converts a number of 16 bits by IEEE 754.
func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch {
	case exponent == 31:
		return math.Float32frombits(sign | 0xFF<<23 | fraction<<13)
	case exponent == 0:
		x := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(x))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// Write writes an array as float32, or as float64 if wide.
func Write(w io.Writer, a *Array, wide bool) error {
	kind, shape := "<f4", fmt.Sprintf("(%d, %d)", a.Rows, a.Cols)
	if wide {
		kind = "<f8"
	}
	if a.Dims == 1 {
		shape = fmt.Sprintf("(%d,)", a.Cols)
	}
	buf := AppendHeader(nil, kind, shape)
	for _, x := range a.Val {
		if wide {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
		} else {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(x)))
		}
		if len(buf) > 1<<16 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err := w.Write(buf)
	return err
}

// AppendHeader appends the bytes before the items of an array of a type such as <f8 and a shape
// such as (3, 4), (3,) or ().
func AppendHeader(buf []byte, kind, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	buf = append(append(buf, magic...), 1, 0)
	buf = binary.LittleEndian.AppendUint16(buf, uint16(len(text)))
	return append(buf, text...)
}

// ReadZip reads the arrays of a .npz file, by name.
func ReadZip(data []byte) (map[string]*Array, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("no .npz file: %w", err)
	}
	all := map[string]*Array{}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		a, err := Read(r)
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		all[name] = a
	}
	return all, nil
}

// WriteZip writes arrays as a .npz file, in the order of their names. Those that wide names are
// float64.
func WriteZip(w io.Writer, all map[string]*Array, wide func(name string) bool) error {
	z := zip.NewWriter(w)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err == nil {
			err = Write(out, all[name], wide(name))
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}
