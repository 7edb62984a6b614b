package matrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Labels is the original ids of the rows or columns of a matrix: Name(i) is
// the id of index i. Ids are 64-bit integers or text. Readers give them in
// ascending order (integers by value, text by bytes), so that the numbering
// does not depend on the order of the edges. Labels may be used by any number
// of goroutines.
type Labels struct {
	ids     []int64 // numeric
	names   []string
	numeric bool

	once    sync.Once
	indices map[string]int
}

// NewLabels returns the labels with the given names, in the given order.
func NewLabels(names []string) *Labels { return &Labels{names: slices.Clone(names)} }

// NewIDs returns the labels with the given integers for names, in the given
// order.
func NewIDs(ids []int64) *Labels { return &Labels{ids: slices.Clone(ids), numeric: true} }

// Len returns the number of labels.
func (l *Labels) Len() int {
	if l == nil {
		return 0
	}
	return max(len(l.ids), len(l.names))
}

// Numeric reports whether the ids are integers.
func (l *Labels) Numeric() bool { return l != nil && l.numeric }

// Name returns the id of index i as text. A nil Labels, and an index beyond
// the labels, give i itself.
func (l *Labels) Name(i int) string {
	switch {
	case l == nil || uint(i) >= uint(l.Len()):
		return strconv.Itoa(i)
	case l.numeric:
		return strconv.FormatInt(l.ids[i], 10)
	}
	return l.names[i]
}

// ID returns the integer id of index i; ok is false for ids that are text and
// for an index beyond the labels.
func (l *Labels) ID(i int) (id int64, ok bool) {
	if !l.Numeric() || uint(i) >= uint(len(l.ids)) {
		return 0, false
	}
	return l.ids[i], true
}

// Index returns the index of the id with this name. The first call takes O(n),
// the others O(1).
func (l *Labels) Index(name string) (i int, ok bool) {
	if l == nil {
		return 0, false
	}
	l.once.Do(func() {
		l.indices = make(map[string]int, l.Len())
		for i := range l.Len() {
			if n := l.Name(i); !hasKey(l.indices, n) {
				l.indices[n] = i
			}
		}
	})
	i, ok = l.indices[name]
	return i, ok
}

func hasKey(m map[string]int, k string) bool {
	_, ok := m[k]
	return ok
}

// append appends the name of index i.
func (l *Labels) append(buf []byte, i int) []byte {
	switch {
	case l == nil:
		return strconv.AppendInt(buf, int64(i), 10)
	case l.numeric:
		return strconv.AppendInt(buf, l.ids[i], 10)
	}
	return append(buf, l.names[i]...)
}

// check verifies that l names n indices in a way that a list can be read back.
func (l *Labels) check(op string, n int) error {
	if l == nil {
		return nil
	}
	if l.Len() < n {
		return &InvalidError{op, fmt.Sprintf("%d labels for %d indices", l.Len(), n)}
	}
	for _, name := range l.names {
		if name == "" || name[0] == '#' || name[0] == '%' || strings.ContainsAny(name, " \t,;\r\n") {
			return &InvalidError{op, fmt.Sprintf("label %s cannot be written: it is empty, begins like a comment, or has a blank, comma or semicolon", quote(name))}
		}
	}
	return nil
}
