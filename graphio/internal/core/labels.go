package core

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/matrix"
)

// BothSides returns labels that rows and columns share.
func BothSides(l *Labels) Sides { return Sides{l, l} }

// LabelsOf returns labels of names: integers if all are, nil if they are 0, 1, 2, ….
func LabelsOf(names []string) *Labels {
	ids := make([]int64, len(names))
	plain := true
	for i, name := range names {
		id, ok := IDOf([]byte(name))
		if !ok {
			return &Labels{names: names}
		}
		ids[i] = id
		plain = plain && id == int64(i)
	}
	if plain {
		return nil
	}
	return &Labels{ids: ids, byID: true}
}

// Labels are the names of rows or columns; see graphio.Labels, which has the same methods.
type Labels struct {
	ids     []int64 // where byID
	names   []string
	byID    bool
	first   int64 // of counted labels, which are first, first+1, …
	counted int   // their number

	also *Labels // other names of the same indices, for Index alone, or nil

	once  sync.Once
	order []int32 // indices in the order of their names, nil if that is their own order
}

// OfNames returns labels that are text. They keep names.
func OfNames(names []string) *Labels { return &Labels{names: names} }

// OfIDs returns labels that are integers. They keep ids.
func OfIDs(ids []int64) *Labels { return &Labels{ids: ids, byID: true} }

// AlsoNamed gives the indices of l other names, by which Index finds them too.
func (l *Labels) AlsoNamed(names []string) { l.also = OfNames(names) }

// CountedFrom returns n labels that count from first.
func CountedFrom(first int64, n int) *Labels {
	return &Labels{byID: true, first: first, counted: n}
}

// IDAt returns the integer id of an index within the labels.
func (l *Labels) IDAt(i int) int64 {
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
func (l *Labels) Numeric() bool { return l != nil && l.byID }

// Name returns the id of index i as text, and i itself if l is nil or has no label
// i.
func (l *Labels) Name(i int) string {
	switch {
	case l == nil || uint(i) >= uint(l.Len()):
		return strconv.Itoa(i)
	case l.byID:
		return strconv.FormatInt(l.IDAt(i), 10)
	}
	return l.names[i]
}

// ID returns the integer id of index i; ok is false if ids are text or l has no
// label i.
func (l *Labels) ID(i int) (id int64, ok bool) {
	if !l.Numeric() || uint(i) >= uint(l.Len()) {
		return 0, false
	}
	return l.IDAt(i), true
}

// Index returns the index of the id with this name, the first of several; where no id has it, the
// index of the vertex with this id in a file of GraphML, GEXF or GML, where labels are the names.
// It takes O(log n) time. The first call of labels that do not ascend sorts them, in O(n log n)
// time.
func (l *Labels) Index(name string) (i int, ok bool) {
	if l == nil {
		return 0, false
	}
	if i, ok = l.index(name); !ok && l.also != nil {
		return l.also.Index(name)
	}
	return i, ok
}

// index is Index by the names alone.
func (l *Labels) index(name string) (i int, ok bool) {
	n := l.Len()
	if !l.byID {
		return l.search(n, func(i int) int { return strings.Compare(l.names[i], name) })
	}
	id, ok := IDOf([]byte(name))
	switch {
	case !ok:
		return 0, false
	case l.ids == nil:
		at := uint64(id) - uint64(l.first)
		if id < l.first || at >= uint64(n) {
			return 0, false
		}
		return int(at), true
	}
	return l.search(n, func(i int) int { return cmp.Compare(l.ids[i], id) })
}

// Ambiguous reports whether several indices have this name. It takes the time of [Labels.Index].
func (l *Labels) Ambiguous(name string) bool {
	i, ok := l.Index(name)
	if !ok || l.byID && l.ids == nil {
		return false
	}
	order := l.sorted()
	if order == nil {
		return i+1 < l.Len() && l.Name(i+1) == name
	}
	k := sort.Search(len(order), func(k int) bool { return l.compare(int(order[k]), i) > 0 })
	return int(order[k-1]) != i
}

// compare compares label i with label k.
func (l *Labels) compare(i, k int) int {
	if l.byID {
		return cmp.Compare(l.ids[i], l.ids[k])
	}
	return strings.Compare(l.names[i], l.names[k])
}

// search finds the first of n labels that is equal by compare, which compares label i with the one
// that is sought.
func (l *Labels) search(n int, compare func(i int) int) (i int, ok bool) {
	order := l.sorted()
	at := func(k int) int {
		if order == nil {
			return k
		}
		return int(order[k])
	}
	k := sort.Search(n, func(k int) bool { return compare(at(k)) >= 0 })
	if k == n || compare(at(k)) != 0 {
		return 0, false
	}
	return at(k), true
}

// sorted returns the indices in the order of their names, nil if that is their own order. Equal
// names stand in the order of their indices.
func (l *Labels) sorted() []int32 {
	l.once.Do(func() {
		switch {
		case l.order != nil || l.byID && l.ids == nil: // read from a file, or counted
			return
		case l.byID:
			l.order = orderOf(l.ids)
		default:
			l.order = orderOf(l.names)
		}
	})
	return l.order
}

func orderOf[E cmp.Ordered](names []E) []int32 {
	if slices.IsSorted(names) {
		return nil
	}
	order := make([]int32, len(names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(names[a], names[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return order
}

// Extract returns the labels of the given indices, in their order, as ops.Extract takes rows and
// columns. Extract returns a *matrix.IndexError if an index has no label. Labels of nil are nil.
func (l *Labels) Extract(indices []int) (*Labels, error) {
	if l == nil {
		return nil, nil
	}
	for _, i := range indices {
		if uint(i) >= uint(l.Len()) {
			return nil, &matrix.IndexError{Op: "Labels.Extract", Arg: "index", Index: int64(i), Limit: int64(l.Len())}
		}
	}
	out := &Labels{byID: l.byID}
	if l.byID {
		out.ids = make([]int64, len(indices))
		for k, i := range indices {
			out.ids[k] = l.IDAt(i)
		}
		return out, nil
	}
	out.names = make([]string, len(indices))
	for k, i := range indices {
		out.names[k] = l.names[i]
	}
	return out, nil
}

// Equal reports whether l and m name the same indices by the same names.
func (l *Labels) Equal(m *Labels) bool {
	if l == m {
		return true
	}
	if l == nil || m == nil || l.Len() != m.Len() || l.byID != m.byID {
		return false
	}
	if !l.byID {
		return slices.Equal(l.names, m.names)
	}
	for i := range l.Len() {
		if l.IDAt(i) != m.IDAt(i) {
			return false
		}
	}
	return true
}

// Appender returns the function that appends the name of an index as a field of a
// list with the given delimiter. It quotes names with a delimiter, a quotation mark
// or blanks around them, several numbers, and a first field that looks like a comment.
func (l *Labels) Appender(delim byte, first bool) func(buf []byte, i int) []byte {
	switch {
	case l == nil:
		return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, int64(i), 10) }
	case l.byID:
		return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, l.IDAt(i), 10) }
	}
	special := "\",;|\t\r" + string(rune(delim))
	return func(buf []byte, i int) []byte {
		name := l.names[i]
		if !strings.ContainsAny(name, special) && name[0] > ' ' && name[len(name)-1] > ' ' && !SeveralNumbers(name) && !(first && (name[0] == '#' || name[0] == '%' || name[0] == 0xef)) {
			return append(buf, name...)
		}
		return append(append(append(buf, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
	}
}

// Check verifies that l names n indices.
func (l *Labels) Check(op string, n int) error {
	if l == nil {
		return nil
	}
	if err := l.checkCount(op, n); err != nil {
		return err
	}
	for i, name := range l.names {
		switch {
		case name == "":
			return &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("label %d is empty and could not be read back", i)}
		case strings.IndexByte(name, '\n') >= 0:
			return &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("label %s has a line break", Quote(name))}
		}
	}
	return nil
}

// head returns the first n labels.
func (l *Labels) head(n int) *Labels {
	switch {
	case l == nil || l.Len() == n:
		return l
	case l.byID && l.ids == nil:
		return CountedFrom(l.first, n)
	case l.byID:
		return &Labels{ids: l.ids[:n], byID: true}
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

// Sides are the labels of the rows and of the columns.
type Sides struct{ Rows, Cols *Labels }

// Both returns the labels of the rows if the columns have the same, else nil.
func (s Sides) Both() *Labels {
	if s.Rows == s.Cols {
		return s.Rows
	}
	return nil
}

// CheckCounts verifies that the labels of an m×n matrix suffice.
func (s Sides) CheckCounts(op string, m, n int) error {
	if err := s.Rows.checkCount(op, m); err != nil {
		return err
	}
	return s.Cols.checkCount(op, n)
}

// File returns the labels of an m×n matrix for the binary form.
func (s Sides) File(m, n int) hgb.Sides {
	f := hgb.Sides{Rows: s.Rows.file(m)}
	if f.Cols = f.Rows; s.Rows != s.Cols || m != n {
		f.Cols = s.Cols.file(n)
	}
	return f
}

func (l *Labels) file(n int) *hgb.Labels {
	switch l = l.head(n); {
	case l == nil:
		return nil
	case l.byID && l.ids == nil:
		return &hgb.Labels{Counted: true, First: l.first, N: n}
	}
	return &hgb.Labels{IDs: l.ids, Names: l.names, Order: l.sorted()}
}

// LabelsOfFile is the reverse of sides.file.
func LabelsOfFile(f hgb.Sides) (s Sides) {
	of := func(l *hgb.Labels) *Labels {
		switch {
		case l == nil:
			return nil
		case l.Counted:
			return CountedFrom(l.First, l.N)
		}
		return &Labels{ids: l.IDs, names: l.Names, byID: l.IDs != nil, order: l.Order}
	}
	if s.Rows = of(f.Rows); f.Rows == f.Cols {
		return Sides{s.Rows, s.Rows}
	}
	return Sides{s.Rows, of(f.Cols)}
}

// OneLine replaces line breaks and tabs in names by blanks, a run of them by one, and returns the
// number of names that it changed.
func (o *ReadOptions) OneLine(names []string) (changed int) {
	for v, name := range names {
		if strings.ContainsAny(name, lineBreaks) {
			names[v] = strings.Join(strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune(lineBreaks, c) }), " ")
			changed++
		}
	}
	return changed
}

// lineBreaks are the characters that a name has not.
const lineBreaks = "\n\r\t\v\f"

// WarnBroken warns of names that OneLine changed.
func (o *ReadOptions) WarnBroken(changed int) {
	switch {
	case changed == 1:
		o.Warning(RemedyText, "1 name has a line break or a tab, which is read as a blank")
	case changed > 1:
		o.Warning(RemedyText, fmt.Sprintf("%d names have line breaks or tabs, which are read as blanks", changed))
	}
}
