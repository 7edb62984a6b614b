package matrix

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
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

// sides are the labels of the rows and of the columns.
type sides struct{ rows, cols *Labels }

// both returns the labels of the rows if the columns have the same, else nil.
func (s sides) both() *Labels {
	if s.rows == s.cols {
		return s.rows
	}
	return nil
}

// kinds returns the bytes of a head that describe the labels.
func (s sides) kinds(m, n int) (rows, cols byte) {
	rows, cols = s.rows.fileKind(m), s.cols.fileKind(n)
	if s.rows != nil && s.rows == s.cols && m == n {
		cols = labelsShared
	}
	return rows, cols
}

func (l *Labels) fileKind(n int) byte {
	switch {
	case l == nil || n == 0:
		return labelsNone
	case l.numeric && l.ids == nil:
		return labelsCounted
	case l.numeric && l.head(n).sorted() == nil:
		return labelsIDs
	case l.numeric:
		return labelsIDOrder
	case l.head(n).sorted() == nil:
		return labelsNames
	}
	return labelsOrder
}

// head returns the first n labels.
func (l *Labels) head(n int) *Labels {
	switch {
	case l == nil || l.Len() == n:
		return l
	case l.numeric && l.ids == nil:
		return countedFrom(l.first, n)
	case l.numeric:
		return &Labels{ids: l.ids[:n], numeric: true}
	}
	return &Labels{names: l.names[:n]}
}

// checkCount verifies that there are labels for n rows or columns.
func (l *Labels) checkCount(op string, n int) error {
	if l != nil && l.Len() < n {
		return &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("%d labels for %d indices", l.Len(), n)}
	}
	return nil
}

// checkCounts verifies that the labels of a binary file suffice.
func (s sides) checkCounts(op string, m, n int) error {
	if err := s.rows.checkCount(op, m); err != nil {
		return err
	}
	return s.cols.checkCount(op, n)
}

// write writes the sections of the labels of an m×n matrix.
func (s sides) write(w io.Writer, m, n int) error {
	rows, cols := s.kinds(m, n)
	if err := s.rows.head(m).writeSections(w, rows); err != nil {
		return err
	}
	return s.cols.head(n).writeSections(w, cols)
}

func (l *Labels) writeSections(w io.Writer, kind byte) error {
	switch kind {
	case labelsNone, labelsShared:
		return nil
	case labelsCounted:
		return writeSection(w, sectionIDs, []int64{l.first}, 8)
	case labelsIDs, labelsIDOrder:
		if err := writeSection(w, sectionIDs, l.ids, 8); err != nil {
			return err
		}
	default:
		offsets := make([]int64, 1, len(l.names)+1)
		var text []byte
		for _, name := range l.names {
			text = append(text, name...)
			offsets = append(offsets, int64(len(text)))
		}
		if err := writeSection(w, sectionOffsets, offsets, 8); err != nil {
			return err
		}
		if err := writeSection(w, sectionText, text, 1); err != nil {
			return err
		}
	}
	if kind == labelsIDOrder || kind == labelsOrder {
		return writeSection(w, sectionOrder, l.sorted(), 4)
	}
	return nil
}

// bytes returns the size of the sections of the labels of an m×n matrix.
func (s sides) bytes(m, n int) int64 {
	rows, cols := s.kinds(m, n)
	return s.rows.head(m).sectionBytes(rows) + s.cols.head(n).sectionBytes(cols)
}

func (l *Labels) sectionBytes(kind byte) (size int64) {
	switch kind {
	case labelsNone, labelsShared:
		return 0
	case labelsCounted:
		return sectionBytes(1, 8)
	case labelsIDs, labelsIDOrder:
		size = sectionBytes(int64(len(l.ids)), 8)
	default:
		text := int64(0)
		for _, name := range l.names {
			text += int64(len(name))
		}
		size = sectionBytes(int64(len(l.names)+1), 8) + sectionBytes(text, 1)
	}
	if kind == labelsIDOrder || kind == labelsOrder {
		size += sectionBytes(int64(l.Len()), 4)
	}
	return size
}

// readSides reads the sections of the labels of an m×n matrix.
func readSides(rd *binaryReader, kinds [2]byte, m, n int) (s sides, err error) {
	if kinds[0] >= labelsShared || kinds[1] > labelsShared || kinds[1] == labelsShared && m != n {
		return s, rd.damaged("head", fmt.Sprintf("unknown labels %d and %d", kinds[0], kinds[1]))
	}
	if s.rows, err = readLabels(rd, kinds[0], int64(m)); err != nil {
		return s, err
	}
	if kinds[1] == labelsShared {
		s.cols = s.rows
		return s, nil
	}
	s.cols, err = readLabels(rd, kinds[1], int64(n))
	return s, err
}

func readLabels(rd *binaryReader, kind byte, n int64) (l *Labels, err error) {
	switch kind {
	case labelsNone:
		return nil, nil
	case labelsCounted:
		first, err := readSection[int64](rd, sectionIDs, 1, 8)
		if err != nil {
			return nil, err
		}
		if first[0] > math.MaxInt64-n {
			return nil, rd.damaged("section "+sectionNames[sectionIDs], "the ids exceed 64 bits")
		}
		return countedFrom(first[0], int(n)), nil
	case labelsIDs, labelsIDOrder:
		l = &Labels{numeric: true}
		if l.ids, err = readSection[int64](rd, sectionIDs, n, 8); err != nil {
			return nil, err
		}
	default:
		l = &Labels{}
		if l.names, err = readNames(rd, n); err != nil {
			return nil, err
		}
	}
	var order []int32
	if kind == labelsIDOrder || kind == labelsOrder {
		if order, err = readSection[int32](rd, sectionOrder, n, 4); err != nil {
			return nil, err
		}
	}
	if !l.ordered(order, rd.o.threads) {
		return nil, rd.damaged("section "+sectionNames[sectionOrder], "the labels do not ascend in the given order")
	}
	l.order = order
	return l, nil
}

// labelGrain is the number of labels of a piece of a loop over them.
const labelGrain = 1 << 14

// ordered reports whether the labels ascend in the given order (nil: that of the indices), and
// equal ones by index.
func (l *Labels) ordered(order []int32, threads int) bool {
	n := l.Len()
	var wrong atomic.Bool
	_ = parallel.Range(nil, threads, n, labelGrain, func(_, lo, hi int) {
		before := -1
		for k := max(lo-1, 0); k < hi; k++ {
			at := k
			if order != nil {
				at = int(order[k])
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

// readNames reads the names of n labels, which share one text.
func readNames(rd *binaryReader, n int64) ([]string, error) {
	offsets, err := readSection[int64](rd, sectionOffsets, n+1, 8)
	if err != nil {
		return nil, err
	}
	if offsets[0] != 0 || !slices.IsSorted(offsets) {
		return nil, rd.damaged("section "+sectionNames[sectionOffsets], "the offsets do not ascend from 0")
	}
	text, err := readSection[uint8](rd, sectionText, offsets[n], 1)
	if err != nil {
		return nil, err
	}
	all := unsafe.String(unsafe.SliceData(text), len(text))
	names := make([]string, n)
	_ = parallel.Range(nil, rd.o.threads, len(names), labelGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			names[i] = all[offsets[i]:offsets[i+1]]
		}
	})
	return names, nil
}

// overlaySides reads the labels of a mapped file from the bytes after its values.
func overlaySides(rd *binaryReader, left []byte, kinds [2]byte, m, n int) (sides, error) {
	again := &binaryReader{r: bytes.NewReader(left), o: rd.o, taken: rd.taken}
	return readSides(again, kinds, m, n)
}
