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
	first   int64 // of counted labels, which are first, first+1, …
	counted int   // their number

	once    sync.Once
	indices map[string]int
}

// NewLabels returns the labels with the given names, in the given order.
func NewLabels(names []string) *Labels { return &Labels{names: slices.Clone(names)} }

// NewIDs returns the labels with the given integers for names, in the given
// order.
func NewIDs(ids []int64) *Labels { return &Labels{ids: slices.Clone(ids), numeric: true} }

// countedFrom returns n labels that count from first.
func countedFrom(first int64, n int) *Labels {
	return &Labels{numeric: true, first: first, counted: n}
}

// id returns the integer id of an index within the labels.
func (l *Labels) id(i int) int64 {
	if l.ids == nil {
		return l.first + int64(i)
	}
	return l.ids[i]
}

// Len returns the number of labels.
func (l *Labels) Len() int {
	if l == nil {
		return 0
	}
	return max(len(l.ids), len(l.names), l.counted)
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
		return strconv.FormatInt(l.id(i), 10)
	}
	return l.names[i]
}

// ID returns the integer id of index i; ok is false for ids that are text and
// for an index beyond the labels.
func (l *Labels) ID(i int) (id int64, ok bool) {
	if !l.Numeric() || uint(i) >= uint(l.Len()) {
		return 0, false
	}
	return l.id(i), true
}

// Index returns the index of the id with this name. The first call takes O(n),
// the others O(1).
func (l *Labels) Index(name string) (i int, ok bool) {
	if l == nil {
		return 0, false
	}
	if l.counted > 0 {
		id, ok := idOf([]byte(name))
		if id -= l.first; !ok || id < 0 || id >= int64(l.counted) {
			return 0, false
		}
		return int(id), true
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

// appender returns the function that appends the name of an index as a field of
// a list with the given delimiter: quoted where it needs it. The first field of
// a line must not look like a comment.
func (l *Labels) appender(delim byte, first bool) func(buf []byte, i int) []byte {
	switch {
	case l == nil:
		return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, int64(i), 10) }
	case l.numeric:
		return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, l.id(i), 10) }
	}
	special := "\",;|\t\r" + string(rune(delim))
	return func(buf []byte, i int) []byte {
		name := l.names[i]
		if !strings.ContainsAny(name, special) && name[0] > ' ' && name[len(name)-1] > ' ' && !(first && (name[0] == '#' || name[0] == '%' || name[0] == 0xef)) {
			return append(buf, name...)
		}
		return append(append(append(buf, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
	}
}

// check verifies that l names n indices.
func (l *Labels) check(op string, n int) error {
	if l == nil {
		return nil
	}
	if l.Len() < n {
		return &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("%d labels for %d indices", l.Len(), n)}
	}
	for i, name := range l.names {
		switch {
		case name == "":
			return &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("label %d is empty and could not be read back", i)}
		case strings.IndexByte(name, '\n') >= 0:
			return &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("label %s has a line break", quote(name))}
		}
	}
	return nil
}
