// Package npy reads and writes arrays of NumPy: files .npy of one array, and .npz, zip files of
// several. It knows arrays of one and two dimensions of numbers and of Booleans, little-endian,
// which it reads as float32 or float64, and in .npz files lists of texts.
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
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const magic = "\x93NUMPY"

// An Array is an array of rows × columns by rows. An array of one dimension has one row.
type Array struct {
	Rows, Cols int
	Dims       int // 1 or 2
	Val        []float64
}

// maxItems bounds the items of an array that the header may claim before the data are read.
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
	return numbers(r, kind, fortran, shape)
}

// numbers reads the items of an array.
func numbers(r io.Reader, kind string, fortran bool, shape []int) (*Array, error) {
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

// maxText bounds the characters of a text.
const maxText = 1 << 20

// texts reads the items of a list of texts of width characters, which are UTF-32.
func texts(r io.Reader, kind string, shape []int) ([]string, error) {
	width, err := strconv.Atoi(strings.TrimPrefix(strings.TrimLeft(kind, "<="), "U"))
	if err != nil || width < 0 || width > maxText {
		return nil, fmt.Errorf("the elements are %q, want texts <U1 to <U%d", kind, maxText)
	}
	if len(shape) != 1 {
		return nil, fmt.Errorf("the array of texts has %d dimensions, want 1", len(shape))
	}
	var list []string
	item := make([]byte, 4*width)
	for len(list) < shape[0] && width > 0 {
		if _, err := io.ReadFull(r, item); err != nil {
			return nil, fmt.Errorf("the file ends after %d of %d texts", len(list), shape[0])
		}
		var text strings.Builder
		for p := 0; p < len(item); p += 4 {
			text.WriteRune(rune(binary.LittleEndian.Uint32(item[p:])))
		}
		list = append(list, strings.TrimRight(text.String(), "\x00"))
	}
	if len(list) < shape[0] {
		return nil, fmt.Errorf("%d texts without characters", shape[0])
	}
	return list, nil
}

// writeTexts writes a list of texts. A text that is not UTF-8, or with a zero character, which the
// format would lose, is an error.
func writeTexts(w io.Writer, list []string) error {
	width := 1
	for _, text := range list {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("the text %q is not UTF-8, or has a zero character", text)
		}
		width = max(width, utf8.RuneCountInString(text))
	}
	if width > maxText {
		return fmt.Errorf("a text has %d characters, the limit is %d", width, maxText)
	}
	if _, err := w.Write(AppendHeader(nil, fmt.Sprintf("<U%d", width), fmt.Sprintf("(%d,)", len(list)))); err != nil {
		return err
	}
	item := make([]byte, 4*width)
	for _, text := range list {
		clear(item)
		at := 0
		for _, c := range text {
			binary.LittleEndian.PutUint32(item[at:], uint32(c))
			at += 4
		}
		if _, err := w.Write(item); err != nil {
			return err
		}
	}
	return nil
}

// Zip is the content of a .npz file, by name.
type Zip struct {
	Arrays map[string]*Array
	Texts  map[string][]string // arrays of one dimension
}

// ReadZip reads a .npz file.
func ReadZip(data []byte) (*Zip, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("no .npz file: %w", err)
	}
	all := &Zip{map[string]*Array{}, map[string][]string{}}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		err = all.read(r, name)
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
	}
	return all, nil
}

// read reads the array of a name.
func (z *Zip) read(r io.Reader, name string) error {
	text, err := headerText(r)
	if err != nil {
		return err
	}
	kind, fortran, shape, err := header(text)
	if err != nil {
		return err
	}
	if strings.HasPrefix(strings.TrimLeft(kind, "<="), "U") {
		z.Texts[name], err = texts(r, kind, shape)
	} else {
		z.Arrays[name], err = numbers(r, kind, fortran, shape)
	}
	return err
}

// Write writes a .npz file, in the order of the names. Numbers that wide names are float64.
func (z *Zip) Write(w io.Writer, wide func(name string) bool) error {
	names := slices.Concat(slices.Collect(maps.Keys(z.Arrays)), slices.Collect(maps.Keys(z.Texts)))
	slices.Sort(names)
	to := zip.NewWriter(w)
	for _, name := range names {
		out, err := to.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		switch list, text := z.Texts[name]; {
		case err != nil:
		case text:
			err = writeTexts(out, list)
		default:
			err = Write(out, z.Arrays[name], wide(name))
		}
		if err != nil {
			return err
		}
	}
	return to.Close()
}
