package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// A Stream is an array; its items are read a part at a time, with the exact values of their type.
type Stream struct {
	Kind    byte // f float, i signed, u unsigned, b Boolean, S bytes, U text
	Width   int  // bytes of an item
	Fortran bool // the first index runs fastest
	Shape   []int

	order binary.ByteOrder
	r     io.Reader
	left  int // items
	buf   []byte
}

// Open reads the header of an array.
func Open(r io.Reader) (*Stream, error) {
	text, err := headerText(r)
	if err != nil {
		return nil, err
	}
	kind, fortran, shape, err := header(text)
	if err != nil {
		return nil, err
	}
	s := &Stream{Fortran: fortran, Shape: shape, order: binary.LittleEndian, r: r, left: 1}
	switch kind[0] {
	case '>':
		s.order, kind = binary.BigEndian, kind[1:]
	case '<', '|', '=':
		kind = kind[1:]
	}
	for _, n := range shape {
		s.left *= n
	}
	if len(kind) < 2 {
		return nil, fmt.Errorf("the elements are %q, want numbers", kind)
	}
	s.Kind = kind[0]
	if s.Width, err = strconv.Atoi(kind[1:]); err != nil || s.Width < 1 || s.Width > 1<<24 {
		return nil, fmt.Errorf("the elements are %q, want numbers", kind)
	}
	ok := false
	switch s.Kind {
	case 'f':
		ok = s.Width == 2 || s.Width == 4 || s.Width == 8
	case 'i', 'u':
		ok = s.Width == 1 || s.Width == 2 || s.Width == 4 || s.Width == 8
	case 'b':
		ok = s.Width == 1
	case 'U':
		s.Width *= 4
		ok = true
	case 'S':
		ok = true
	}
	if !ok {
		return nil, fmt.Errorf("the elements are %q, want real numbers", kind)
	}
	return s, nil
}

// Len returns the number of items that are left.
func (s *Stream) Len() int { return s.left }

// Little reports whether the items are little-endian.
func (s *Stream) Little() bool { return s.Width == 1 || s.order == binary.LittleEndian }

// Next returns the bytes of the next items, at most most of them, until the next call.
func (s *Stream) Next(most int) ([]byte, error) {
	n := min(most, s.left, max(1, 1<<16/max(s.Width, 1)))
	if cap(s.buf) < n*s.Width {
		s.buf = make([]byte, n*s.Width)
	}
	b := s.buf[:n*s.Width]
	if _, err := io.ReadFull(s.r, b); err != nil {
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the file ends before the last %d items: %w", s.left, io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	s.left -= n
	return b, nil
}

// Integers returns an error unless the items are integers, of kind i, u or b.
func (s *Stream) Integers() error {
	if s.Kind != 'i' && s.Kind != 'u' && s.Kind != 'b' {
		return errors.New("the items are no integers")
	}
	return nil
}

// Ints fills the front of dst with the next integers and returns their number, 0 after the last.
func (s *Stream) Ints(dst []int64) (int, error) {
	if err := s.Integers(); err != nil {
		return 0, err
	}
	if s.left == 0 || len(dst) == 0 {
		return 0, nil
	}
	b, err := s.Next(len(dst))
	if err != nil {
		return 0, err
	}
	n := len(b) / s.Width
	s.DecodeInts(dst[:n], b)
	return n, nil
}

// DecodeInts fills dst with integers of kind i, u or b, given by their bytes. Unsigned integers of
// 64 bits become the bits of int64. Calls may run concurrently.
func (s *Stream) DecodeInts(dst []int64, b []byte) {
	for k := range dst {
		x := b[k*s.Width:]
		switch {
		case s.Width == 1 && s.Kind == 'i':
			dst[k] = int64(int8(x[0]))
		case s.Width == 1:
			dst[k] = int64(x[0])
		case s.Width == 2 && s.Kind == 'i':
			dst[k] = int64(int16(s.order.Uint16(x)))
		case s.Width == 2:
			dst[k] = int64(s.order.Uint16(x))
		case s.Width == 4 && s.Kind == 'i':
			dst[k] = int64(int32(s.order.Uint32(x)))
		case s.Width == 4:
			dst[k] = int64(s.order.Uint32(x))
		default:
			dst[k] = int64(s.order.Uint64(x))
		}
	}
}

// DecodeFloats is DecodeInts for items of kind f.
func (s *Stream) DecodeFloats(dst []float64, b []byte) {
	for k := range dst {
		x := b[k*s.Width:]
		switch s.Width {
		case 2:
			dst[k] = float64(fromHalf(s.order.Uint16(x)))
		case 4:
			dst[k] = float64(math.Float32frombits(s.order.Uint32(x)))
		default:
			dst[k] = math.Float64frombits(s.order.Uint64(x))
		}
	}
}

// Zero reports whether a number given by its bytes is zero. A float has a sign, which does not
// count.
func (s *Stream) Zero(item []byte) bool {
	sign := len(item) // no byte
	if s.Kind == 'f' {
		if sign = 0; s.Little() {
			sign = len(item) - 1
		}
	}
	for k, x := range item {
		if k == sign {
			x &= 0x7f
		}
		if x != 0 {
			return false
		}
	}
	return true
}

// Text returns the next item of kind S or U as UTF-8, without the zeros that fill it.
func (s *Stream) Text() (string, error) {
	switch {
	case s.Kind != 'S' && s.Kind != 'U':
		return "", errors.New("the items are no text")
	case s.left == 0:
		return "", io.EOF
	}
	b, err := s.Next(1)
	if err != nil {
		return "", err
	}
	if s.Kind == 'S' {
		for len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
		return string(b), nil
	}
	var text []byte
	end := 0
	for k := 0; k < len(b); k += 4 {
		text = utf8.AppendRune(text, rune(s.order.Uint32(b[k:])))
		if text[len(text)-1] != 0 {
			end = len(text)
		}
	}
	return string(text[:end]), nil
}
