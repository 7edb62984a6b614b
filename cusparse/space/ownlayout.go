package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// An OwnLayout is a layout of a user's own: the text by which kernels read it, and how it is made
// of compressed rows. After [RegisterLayout] its name is a word of plans, as the names of the
// built-in layouts are.
type OwnLayout struct {
	Name string // a lower-case letter, then such letters and digits
	// Text is CUDA with the functions hb_row and hb_edge, and with Flat hb_slot; docs/schedules.md
	// says what they return. [ReadOwnLayout] takes the other fields from the text too.
	Text string
	// Kernels is CUDA with the kernels hb_sizes and hb_fill, which make the arrays on the device;
	// "" if Build makes them.
	Kernels string
	// Build makes the arrays on the host; nil if Kernels do.
	Build func(r CompressedRows) (*Slots, error)
	Group int  // neighbouring rows that share an offset in g.ptr; 0 is 1
	Extra int  // numbers in g.extra for each row
	Flat  bool // hb_slot is in the text, and schedules that number all slots may read the layout
	// Refuses returns why a plan with the layout does not suit a product, "" if it does; nil: all
	// plans do.
	Refuses func(p Plan, f Facts) (reason string)
}

// CompressedRows is the structure of a matrix by rows: row r has the entries Ptr[r] to Ptr[r+1]−1,
// with ascending columns.
type CompressedRows struct {
	Cols    int
	Ptr     []int64 // rows + 1 offsets
	Columns []int32
}

// Slots are the arrays of a layout of a user's own, without values: the values of any element type
// follow by the numbers of the entries.
type Slots struct {
	At      []int64 // g.ptr: the first slot of each group of rows, then the number of slots
	Columns []int32 // g.idx: the column of each slot, −1 where it has no entry
	Entries []int64 // the number of the entry in each slot, −1 where it has none
	Extra   []int32 // g.extra
}

// A LayoutError says what is wrong with a layout of a user's own, or with the arrays that were made
// for it.
type LayoutError struct {
	Name   string
	Reason string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("the layout %q %s", e.Name, e.Reason)
}

// ownLayouts are the registered layouts; their numbers follow the numbers of the built-in ones.
var ownLayouts atomic.Pointer[[]OwnLayout]

func registeredLayouts() []OwnLayout {
	if list := ownLayouts.Load(); list != nil {
		return *list
	}
	return nil
}

// Own returns the declarations of a registered layout, nil for a built-in one.
func (l Layout) Own() *OwnLayout {
	if int(l) < len(layouts) {
		return nil
	}
	if list := registeredLayouts(); int(l)-len(layouts) < len(list) {
		return &list[int(l)-len(layouts)]
	}
	return nil
}

// layoutNames are the names of all layouts, in the order of their numbers.
func layoutNames() []string {
	names := slices.Clone(layouts)
	for _, o := range registeredLayouts() {
		names = append(names, o.Name)
	}
	return names
}

// taken reports whether a name is the name of a built-in part of plans.
func taken(name string) bool {
	return slices.Contains(slices.Concat(directions, layouts, schedules, frames, frontiers, orders, flags, numbers), name)
}

// RegisterLayout adds a layout to the space for the rest of the process: [Parse] reads its name,
// [Points] lists its plans, cusparse.Tune times and checks them, and keeps a plan that wins. No
// plan is chosen without a search or ops.Using. Registering the same name and texts again returns
// the same layout. Errors are *LayoutError. RegisterLayout does not compile the text: a plan that
// runs does. The arrays are checked whenever a matrix gets the layout.
func RegisterLayout(o OwnLayout) (Layout, error) {
	bad := func(format string, args ...any) (Layout, error) {
		return 0, &LayoutError{o.Name, fmt.Sprintf(format, args...)}
	}
	if o.Group == 0 {
		o.Group = 1
	}
	switch {
	case !isWord(o.Name):
		return bad("has no name of lower-case letters and digits that begins with a letter")
	case taken(o.Name):
		return bad("has the name of another part of plans; give it another one")
	case !strings.Contains(o.Text, "hb_row") || !strings.Contains(o.Text, "hb_edge"):
		return bad("has no functions hb_row and hb_edge in its text")
	case o.Flat && !strings.Contains(o.Text, "hb_slot"):
		return bad("is declared flat and has no function hb_slot in its text")
	case (o.Build == nil) == (o.Kernels == ""):
		return bad("is made by Build or by Kernels: give one of them")
	case o.Build == nil && (!strings.Contains(o.Kernels, "hb_sizes") || !strings.Contains(o.Kernels, "hb_fill")):
		return bad("has no kernels hb_sizes and hb_fill in Kernels")
	case o.Group < 1 || o.Extra < 0 || o.Extra > 64:
		return bad("has groups of %d rows and %d extra numbers a row; want at least 1, and 0 to 64", o.Group, o.Extra)
	}
	ownsAdd.Lock()
	defer ownsAdd.Unlock()
	list := registeredLayouts()
	for k, other := range list {
		if other.Name == o.Name {
			if other.Text != o.Text || other.Kernels != o.Kernels {
				return bad("is registered with another text; give it another name")
			}
			return Layout(len(layouts) + k), nil
		}
	}
	switch {
	case slices.Contains(scheduleNames(), o.Name):
		return bad("has the name of a schedule; give it another one")
	case len(layouts)+len(list) > 255:
		return bad("is one too many: there are 256 layouts")
	}
	list = append(slices.Clone(list), o)
	ownLayouts.Store(&list)
	return Layout(len(layouts) + len(list) - 1), nil
}

// ReadOwnLayout reads a layout that is made on the device. Its declarations are lines of comments
// in the text, and the kernels stand after the last of them:
//
//	//hb:layout NAME
//	//hb:group 32
//	//hb:extra 1
//	//hb:flat
//	//hb:kernels
//
// The first and the last must be there. Errors are *LayoutError.
func ReadOwnLayout(text string) (OwnLayout, error) {
	var o OwnLayout
	kernels := -1
	lines := strings.SplitAfter(text, "\n")
	for n, line := range lines {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], "//hb:") {
			continue
		}
		key, values := strings.TrimPrefix(words[0], "//hb:"), words[1:]
		bad := func(want string) (OwnLayout, error) {
			return OwnLayout{}, &LayoutError{o.Name, fmt.Sprintf("has the line %d %q, want %s", n+1, strings.TrimSpace(line), want)}
		}
		switch {
		case key == "layout" && len(values) == 1:
			o.Name = values[0]
		case key == "layout":
			return bad("//hb:layout and one name")
		case key == "group" || key == "extra":
			if len(values) != 1 {
				return bad("//hb:" + key + " and one number")
			}
			x, err := strconv.Atoi(values[0])
			if err != nil {
				return bad("//hb:" + key + " and one number")
			}
			if key == "group" {
				o.Group = x
			} else {
				o.Extra = x
			}
		case key == "flat" && len(values) == 0:
			o.Flat = true
		case key == "kernels" && len(values) == 0 && kernels < 0:
			kernels = n
		default:
			return bad("one of //hb:layout, group, extra, flat, kernels")
		}
	}
	switch {
	case o.Name == "":
		return OwnLayout{}, &LayoutError{"", "has no line //hb:layout NAME"}
	case kernels < 0:
		return OwnLayout{}, &LayoutError{o.Name, "has no line //hb:kernels before the kernels hb_sizes and hb_fill"}
	}
	o.Text, o.Kernels = strings.Join(lines[:kernels], ""), strings.Join(lines[kernels:], "")
	return o, nil
}

// Groups is the number of groups of so many rows.
func (o *OwnLayout) Groups(rows int) int { return (rows + o.Group - 1) / o.Group }

// Check compares the lengths of arrays with the declarations, for so many rows. It returns a
// *LayoutError.
func (o *OwnLayout) Check(s *Slots, rows int) error {
	bad := func(format string, args ...any) error {
		return &LayoutError{o.Name, fmt.Sprintf(format, args...)}
	}
	groups := o.Groups(rows)
	switch {
	case s == nil:
		return bad("got no arrays and no error from Build")
	case len(s.At) != groups+1:
		return bad("got %d offsets in At, want %d: one for each of %d groups and the number of slots", len(s.At), groups+1, groups)
	case s.At[0] != 0 || !slices.IsSorted(s.At):
		return bad("got offsets in At that do not ascend from 0")
	case int64(len(s.Columns)) != s.At[groups]:
		return bad("got %d columns, want as many as slots: %d", len(s.Columns), s.At[groups])
	case len(s.Entries) != len(s.Columns):
		return bad("got %d entries, want as many as slots: %d", len(s.Entries), len(s.Columns))
	case len(s.Extra) != rows*o.Extra:
		return bad("got %d extra numbers, want %d for each of %d rows", len(s.Extra), o.Extra, rows)
	}
	return nil
}

// refused returns the part of p that does not fit the layout, and the reason.
func (o *OwnLayout) refused(p Plan, f Facts) (part, reason string) {
	switch {
	case p.Schedule.Flat() && !o.Flat:
		return p.Schedule.String(), "the layout is not declared flat"
	case o.Refuses != nil:
		return "operands", o.Refuses(p, f)
	}
	return "", ""
}
