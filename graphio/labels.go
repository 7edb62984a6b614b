package graphio

import (
	"iter"
	"slices"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
)

// Labels are the names of the rows or columns of a matrix: Name(i) is the name of index i. Names
// are 64-bit integers (ids) or text. Readers of edge lists number them in ascending order (integers
// by value, text by bytes), so that the numbering does not depend on the order of the edges. Labels
// do not change after construction and are safe for concurrent use. A nil *Labels names index i by
// its number.
type Labels core.Labels

// core returns the labels as readers and writers see them.
func (l *Labels) core() *core.Labels { return (*core.Labels)(l) }

// NewLabels returns the labels with the given names, in the given order.
func NewLabels(names []string) *Labels { return (*Labels)(core.OfNames(slices.Clone(names))) }

// NewIDs returns labels that are integers, in the given order.
func NewIDs(ids []int64) *Labels { return (*Labels)(core.OfIDs(slices.Clone(ids))) }

// Len returns the number of labels.
func (l *Labels) Len() int { return l.core().Len() }

// Numeric reports whether the ids are integers.
func (l *Labels) Numeric() bool { return l.core().Numeric() }

// Name returns the id of index i as text, and i itself if l is nil or has no label
// i.
func (l *Labels) Name(i int) string { return l.core().Name(i) }

// All iterates over the indices and their names.
func (l *Labels) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range l.Len() {
			if !yield(i, l.Name(i)) {
				return
			}
		}
	}
}

// ID returns the integer id of index i; ok is false if ids are text or l has no
// label i.
func (l *Labels) ID(i int) (id int64, ok bool) { return l.core().ID(i) }

// Index returns the index of the id with this name, the first of several; where no id has it, the
// index of the vertex with this id in a file of GraphML, GEXF or GML, where labels are the names.
// It takes O(log n) time. The first call of labels that do not ascend sorts them, in O(n log n)
// time.
func (l *Labels) Index(name string) (i int, ok bool) { return l.core().Index(name) }

// Ambiguous reports whether several indices have this name. It takes the time of [Labels.Index].
func (l *Labels) Ambiguous(name string) bool { return l.core().Ambiguous(name) }

// Extract returns the labels of the given indices, in their order, as ops.Extract takes rows and
// columns. Extract returns a *[matrix.IndexError] if an index has no label. Labels of nil are nil.
func (l *Labels) Extract(indices []int) (*Labels, error) {
	out, err := l.core().Extract(indices)
	return (*Labels)(out), err
}

// Equal reports whether l and m name the same indices by the same names.
func (l *Labels) Equal(m *Labels) bool { return l.core().Equal(m.core()) }

// shared returns the labels of the rows if the columns have the same, else nil.
func shared(s core.Sides) *Labels { return (*Labels)(s.Both()) }
