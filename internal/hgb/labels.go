package hgb

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// The kinds of labels in bytes 13 (rows) and 14 (columns) of a head.
const (
	labelsNone    = iota
	labelsCounted // section 9 holds the first of ids that count upwards
	labelsIDs     // section 9 holds the ids, which ascend
	labelsIDOrder // section 9 holds the ids, section 12 the indices in their order
	labelsNames   // sections 10 and 11 hold the names, which ascend
	labelsOrder   // sections 10 and 11 hold the names, section 12 the indices in their order
	labelsShared  // the columns have the labels of the rows
)

// Labels are the labels of rows or columns: one list, or the ids that count from First if Counted
// is set.
type Labels struct {
	IDs     []int64
	Names   []string
	Counted bool
	First   int64
	N       int     // of counted labels
	Order   []int32 // the indices in the order of the labels, nil if that is their own order
}

// Len returns the number of labels.
func (l *Labels) Len() int {
	if l.Counted {
		return l.N
	}
	return max(len(l.IDs), len(l.Names))
}

// kind returns the byte of a head.
func (l *Labels) kind() byte {
	switch {
	case l == nil || l.Len() == 0:
		return labelsNone
	case l.Counted:
		return labelsCounted
	case l.IDs != nil && l.Order == nil:
		return labelsIDs
	case l.IDs != nil:
		return labelsIDOrder
	case l.Order == nil:
		return labelsNames
	}
	return labelsOrder
}

// Sides are the labels of the rows and of the columns, nil for none. Both are the same pointer if
// the columns share the labels of the rows.
type Sides struct{ Rows, Cols *Labels }

// kinds returns the bytes of a head that describe the labels.
func (s Sides) kinds() (rows, cols byte) {
	rows, cols = s.Rows.kind(), s.Cols.kind()
	if s.Rows != nil && s.Rows == s.Cols {
		cols = labelsShared
	}
	return rows, cols
}

// Write writes the sections of the labels.
func (s Sides) Write(w io.Writer) error {
	rows, cols := s.kinds()
	if err := s.Rows.write(w, rows); err != nil {
		return err
	}
	return s.Cols.write(w, cols)
}

func (l *Labels) write(w io.Writer, kind byte) error {
	switch kind {
	case labelsNone, labelsShared:
		return nil
	case labelsCounted:
		return WriteSection(w, sectionIDs, []int64{l.First})
	case labelsIDs, labelsIDOrder:
		if err := WriteSection(w, sectionIDs, l.IDs); err != nil {
			return err
		}
	default:
		offsets := make([]int64, 1, len(l.Names)+1)
		var text []byte
		for _, name := range l.Names {
			text = append(text, name...)
			offsets = append(offsets, int64(len(text)))
		}
		if err := WriteSection(w, sectionOffsets, offsets); err != nil {
			return err
		}
		if err := WriteSection(w, sectionText, text); err != nil {
			return err
		}
	}
	if kind == labelsIDOrder || kind == labelsOrder {
		return WriteSection(w, sectionOrder, l.Order)
	}
	return nil
}

// Bytes returns the size of the sections of the labels.
func (s Sides) Bytes() int64 {
	rows, cols := s.kinds()
	return s.Rows.bytes(rows) + s.Cols.bytes(cols)
}

func (l *Labels) bytes(kind byte) (size int64) {
	switch kind {
	case labelsNone, labelsShared:
		return 0
	case labelsCounted:
		return SectionBytes(1, 8)
	case labelsIDs, labelsIDOrder:
		size = SectionBytes(int64(len(l.IDs)), 8)
	default:
		text := int64(0)
		for _, name := range l.Names {
			text += int64(len(name))
		}
		size = SectionBytes(int64(len(l.Names)+1), 8) + SectionBytes(text, 1)
	}
	if kind == labelsIDOrder || kind == labelsOrder {
		size += SectionBytes(int64(l.Len()), 4)
	}
	return size
}

// Sides reads the sections of the labels of the matrix of a head.
func (rd *Reader) Sides(h *Head) (s Sides, err error) {
	m, n, kinds := h.Shape.NRows, h.Shape.NCols, h.labels
	if kinds[0] >= labelsShared || kinds[1] > labelsShared || kinds[1] == labelsShared && m != n {
		return s, damaged("head", fmt.Sprintf("unknown labels %d and %d", kinds[0], kinds[1]))
	}
	if s.Rows, err = rd.labels(kinds[0], int64(m)); err != nil {
		return s, err
	}
	if kinds[1] == labelsShared {
		s.Cols = s.Rows
		return s, nil
	}
	s.Cols, err = rd.labels(kinds[1], int64(n))
	return s, err
}

func (rd *Reader) labels(kind byte, n int64) (l *Labels, err error) {
	switch kind {
	case labelsNone:
		return nil, nil
	case labelsCounted:
		first, err := Section[int64](rd, sectionIDs, 1)
		if err != nil {
			return nil, err
		}
		if first[0] > math.MaxInt64-n {
			return nil, damaged(SectionName(sectionIDs), "the ids exceed 64 bits")
		}
		return &Labels{Counted: true, First: first[0], N: int(n)}, nil
	case labelsIDs, labelsIDOrder:
		l = &Labels{}
		if l.IDs, err = Section[int64](rd, sectionIDs, n); err != nil {
			return nil, err
		}
	default:
		l = &Labels{}
		if l.Names, err = rd.names(n); err != nil {
			return nil, err
		}
	}
	if kind == labelsIDOrder || kind == labelsOrder {
		if l.Order, err = Section[int32](rd, sectionOrder, n); err != nil {
			return nil, err
		}
	}
	if !l.ordered(rd.o.Threads) {
		return nil, damaged(SectionName(sectionOrder), "the labels do not ascend in the given order")
	}
	return l, nil
}

// labelGrain is the number of labels of a piece of a loop over them.
const labelGrain = 1 << 14

// ordered reports whether the labels ascend in their order, and equal ones by index.
func (l *Labels) ordered(threads int) bool {
	n := l.Len()
	var wrong atomic.Bool
	_ = parallel.Range(nil, threads, n, labelGrain, func(_, lo, hi int) {
		before := -1
		for k := max(lo-1, 0); k < hi; k++ {
			at := k
			if l.Order != nil {
				at = int(l.Order[k])
			}
			if at < 0 || at >= n {
				wrong.Store(true)
				return
			}
			if before >= 0 {
				if c := l.compare(before, at); c > 0 || c == 0 && before >= at {
					wrong.Store(true)
					return
				}
			}
			before = at
		}
	})
	return !wrong.Load()
}

// compare compares label i with label k.
func (l *Labels) compare(i, k int) int {
	if l.IDs != nil {
		return cmp.Compare(l.IDs[i], l.IDs[k])
	}
	return strings.Compare(l.Names[i], l.Names[k])
}

// names reads the names of n labels, which share one text.
func (rd *Reader) names(n int64) ([]string, error) {
	offsets, err := Section[int64](rd, sectionOffsets, n+1)
	if err != nil {
		return nil, err
	}
	if offsets[0] != 0 || !slices.IsSorted(offsets) {
		return nil, damaged(SectionName(sectionOffsets), "the offsets do not ascend from 0")
	}
	text, err := Section[uint8](rd, sectionText, offsets[n])
	if err != nil {
		return nil, err
	}
	all := unsafe.String(unsafe.SliceData(text), len(text))
	names := make([]string, n)
	_ = parallel.Range(nil, rd.o.Threads, len(names), labelGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			names[i] = all[offsets[i]:offsets[i+1]]
		}
	})
	return names, nil
}
