package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// An Own is a schedule of a user's own: the text of its kernel, and what composing and launching it
// needs to know. After [Register] its name is a word of plans, as the names of the built-in
// schedules are.
type Own struct {
	Name string // a lower-case letter, then such letters and digits
	// Text is CUDA with a kernel hb_walk; docs/schedules.md says what it may use and what it must
	// do. [ReadOwn] takes the other fields from the text too.
	Text    string
	Threads int // that a row takes in the grid, a power of two up to 1024; 0 is 1
	// Parts says that the kernel gives parts of a row to hb_part, in place of each whole row to
	// hb_put. Pulls then have the frame atomic.
	Parts      bool
	Layouts    []Layout    // that the text reads; nil: all
	Directions []Direction // nil: both
	// Refuses returns why a plan with the schedule does not suit a product, "" if it does; nil: all
	// plans do.
	Refuses func(p Plan, f Facts) (reason string)
}

// A WrongError says that a plan with a schedule or a layout of a user's own computed another result
// than the plan that is chosen without a search.
type WrongError struct {
	Plan       Plan
	Difference string
}

func (e *WrongError) Error() string {
	return fmt.Sprintf("plan %q is wrong: %s; see docs/schedules.md for what a schedule and a layout must do", e.Plan.String(), e.Difference)
}

// An OwnError says what is wrong with a schedule of a user's own.
type OwnError struct {
	Name   string
	Reason string
}

func (e *OwnError) Error() string { return fmt.Sprintf("the schedule %q %s", e.Name, e.Reason) }

// owns are the registered schedules; their numbers follow the numbers of the built-in ones.
var (
	owns    atomic.Pointer[[]Own]
	ownsAdd sync.Mutex
)

func registered() []Own {
	if list := owns.Load(); list != nil {
		return *list
	}
	return nil
}

// Own returns the declarations of a registered schedule, nil for a built-in one.
func (s Schedule) Own() *Own {
	if int(s) < len(schedules) {
		return nil
	}
	if list := registered(); int(s)-len(schedules) < len(list) {
		return &list[int(s)-len(schedules)]
	}
	return nil
}

// Split reports whether several threads have parts of a row.
func (s Schedule) Split() bool {
	o := s.Own()
	return s.Tiled() || s.Flat() || o != nil && o.Parts
}

// scheduleNames are the names of all schedules, in the order of their numbers.
func scheduleNames() []string {
	names := slices.Clone(schedules)
	for _, o := range registered() {
		names = append(names, o.Name)
	}
	return names
}

// isWord reports whether a name is a lower-case letter and then such letters and digits.
func isWord(name string) bool {
	for k, c := range name {
		if (c < 'a' || c > 'z') && (k == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Register adds a schedule to the space for the rest of the process: [Parse] reads its name,
// [Points] lists its plans, and cusparse.Tune times them. No plan is chosen without a search or
// ops.Using. Registering the same name and text again returns the same schedule. Register returns
// an *OwnError for a name that is no word or is another part's, a text without hb_walk, or threads
// that are no power of two. It does not compile the text: a plan that runs does, and cusparse.Tune
// compares its result with the result of the plan that is chosen without a search.
func Register(o Own) (Schedule, error) {
	bad := func(format string, args ...any) (Schedule, error) {
		return 0, &OwnError{o.Name, fmt.Sprintf(format, args...)}
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	switch {
	case !isWord(o.Name):
		return bad("has no name of lower-case letters and digits that begins with a letter")
	case taken(o.Name):
		return bad("has the name of another part of plans; give it another one")
	case !strings.Contains(o.Text, "hb_walk"):
		return bad("has no kernel hb_walk in its text; see docs/schedules.md")
	case o.Threads < 1 || o.Threads > 1024 || o.Threads&(o.Threads-1) != 0:
		return bad("takes %d threads for a row, want a power of two from 1 to 1024", o.Threads)
	}
	ownsAdd.Lock()
	defer ownsAdd.Unlock()
	list := registered()
	for k, other := range list {
		if other.Name == o.Name {
			if other.Text != o.Text {
				return bad("is registered with another text; give it another name")
			}
			return Schedule(len(schedules) + k), nil
		}
	}
	switch {
	case slices.Contains(layoutNames(), o.Name):
		return bad("has the name of a layout; give it another one")
	case len(schedules)+len(list) > 255:
		return bad("is one too many: there are 256 schedules")
	}
	list = append(slices.Clone(list), o)
	owns.Store(&list)
	return Schedule(len(schedules) + len(list) - 1), nil
}

// ReadOwn reads a schedule with its declarations, which are lines of comments in the text:
//
//	//hb:schedule NAME
//	//hb:threads 8
//	//hb:parts
//	//hb:layouts csr ell
//	//hb:directions pull
//
// All but the first may be missing. Errors are *OwnError.
func ReadOwn(text string) (Own, error) {
	o := Own{Text: text}
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], "//hb:") {
			continue
		}
		key, values := strings.TrimPrefix(words[0], "//hb:"), words[1:]
		bad := func(want string) (Own, error) {
			return Own{}, &OwnError{o.Name, fmt.Sprintf("has the line %d %q, want %s", n+1, strings.TrimSpace(line), want)}
		}
		switch {
		case key == "schedule" && len(values) == 1:
			o.Name = values[0]
		case key == "schedule":
			return bad("//hb:schedule and one name")
		case key == "threads":
			var err error
			if len(values) == 1 {
				o.Threads, err = strconv.Atoi(values[0])
			}
			if err != nil || len(values) != 1 {
				return bad("//hb:threads and one number")
			}
		case key == "parts" && len(values) == 0:
			o.Parts = true
		case key == "layouts":
			for _, v := range values {
				i := slices.Index(layoutNames(), v)
				if i < 0 {
					return bad("layouts: " + suggest(v, layoutNames()))
				}
				o.Layouts = append(o.Layouts, Layout(i))
			}
		case key == "directions":
			for _, v := range values {
				i := slices.Index(directions, v)
				if i < 0 {
					return bad("pull, push or both")
				}
				o.Directions = append(o.Directions, Direction(i))
			}
		default:
			return bad("one of //hb:schedule, threads, parts, layouts, directions")
		}
	}
	if o.Name == "" {
		return Own{}, &OwnError{"", "has no line //hb:schedule NAME"}
	}
	return o, nil
}

// refused returns the part of p that the declarations of its schedule exclude, and the reason.
func (o *Own) refused(p Plan, f Facts) (part, reason string) {
	switch {
	case o.Layouts != nil && !slices.Contains(o.Layouts, p.Layout):
		return p.Layout.String(), "the schedule does not declare the layout"
	case o.Directions != nil && !slices.Contains(o.Directions, p.Direction):
		return p.Direction.String(), "the schedule does not declare the direction"
	case o.Refuses != nil:
		return "operands", o.Refuses(p, f)
	}
	return "", ""
}
