// Package space names the kernels that walk the edges of a matrix on a GPU. A kernel is a [Plan]: a
// direction, a layout of the matrix, a schedule of its edges, a frame for the results, and numbers.
// A plan is comparable and has a text form, such as
//
//	pull csr twc store block=256
//
// which ops.Using takes and a trace shows. The parts are the parts of GRAssembler (Jeong et al.,
// 2022) with the additions that measurement asked for; what does not fit together is not in the
// space.
package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Direction says how the edges of a product w = A·u are read.
type Direction uint8

// The directions.
const (
	Pull Direction = iota // each row of A collects its terms
	Push                  // each entry of u sends its terms along a column of A
)

// A Layout says how the edges of a matrix are stored.
type Layout uint8

// The layouts. CSR is what operations return; the others are made of it and kept with the matrix.
const (
	CSR   Layout = iota
	Hyper        // compressed rows, only those with entries: matrices with few rows in use
	COO          // a row number beside each column
	ELL          // the first entries of each row column by column, the rest in CSR
	DIA          // the diagonals that hold most entries, the rest in CSR
	SELL         // groups of 32 rows column by column: Medusa's adjacency
	CSR16        // 16-bit columns, for at most 65536 of them
)

// A Schedule says which thread takes which edges.
type Schedule uint8

// The schedules.
const (
	VM     Schedule = iota // a thread takes a row
	VW                     // some lanes take a row: lanes=2…32
	WM                     // a warp takes 32 rows and deals out their edges
	CM                     // a block takes as many rows as it has threads and deals out their edges
	TWC                    // large rows go to blocks, middle ones to warps, small ones are dealt out
	TWCE                   // likewise, each row cut into parts for blocks, warps and threads
	STRICT                 // equal tiles of edges, whatever their rows
	MPP                    // STRICT with the first row of each tile kept with the matrix
	EM                     // a thread takes an edge
	EMV                    // a thread takes four consecutive edges
	Tiles                  // equal tiles of entries in registers, by hand: kernels/spmv.cu
	Expand                 // all terms are written, sorted and added up in order: kernels/expand.cu
	Vendor                 // cuSPARSE's SpMV
)

// A Frame says where results go.
type Frame uint8

// The frames. Pull has the first three, push the other two, and store with expand.
const (
	Store     Frame = iota // one thread writes a result
	Segmented              // parts of a row are added up in a fixed order by a second kernel
	Atomic                 // parts of a row are added atomically, in any order
	Bitmap                 // results are added atomically to a bitmap vector
	Append                 // likewise, and positions written first are listed
)

// A Frontier says which rows a kernel walks.
type Frontier uint8

// The frontiers.
const (
	All    Frontier = iota // every row
	List                   // the rows of a list
	Listed                 // the rows with their byte set: from=bitmap
)

// An Order says in which order rows stand in SELL, or are walked in other layouts.
type Order uint8

// The orders.
const (
	Natural Order = iota
	Degree        // by descending degree, exactly
	Log           // by the logarithm of the degree
	Linear        // by 64 buckets that are a linear projection of the degree (Zhong et al., §4.1)
)

// A Plan is a kernel. The zero value of a number means its default.
type Plan struct {
	Direction Direction
	Layout    Layout
	Schedule  Schedule
	Frame     Frame
	From      Frontier
	Order     Order
	Baked     bool  // DIA: the diagonals are constants of the text
	Hot       bool  // Tiles: the first places of x are in shared memory
	Columns   bool  // pull: columns stand by degree; x is permuted before
	Block     int16 // threads of a block
	Lanes     int8  // of VW
	Tile      int16 // edges of a tile of STRICT and MPP
	Ranges    int8  // pull: ranges of columns that are walked one after another, for the caches
}

var (
	directions = []string{"pull", "push"}
	layouts    = []string{"csr", "hyper", "coo", "ell", "dia", "sell", "csr16"}
	schedules  = []string{"vm", "vw", "wm", "cm", "twc", "twce", "strict", "mpp", "em", "emv", "tiles",
		"expand", "cusparse"}
	frames    = []string{"store", "segmented", "atomic", "bitmap", "append"}
	frontiers = []string{"all", "list", "bitmap"}
	orders    = []string{"natural", "degree", "log", "linear"}
	flags     = []string{"baked", "hot", "relabelled"}
	numbers   = []string{"block", "lanes", "tile", "ranges", "from", "order"}
)

func (d Direction) String() string { return name(directions, int(d)) }
func (l Layout) String() string {
	if o := l.Own(); o != nil {
		return o.Name
	}
	return name(layouts, int(l))
}
func (s Schedule) String() string {
	if o := s.Own(); o != nil {
		return o.Name
	}
	return name(schedules, int(s))
}
func (f Frame) String() string    { return name(frames, int(f)) }
func (f Frontier) String() string { return name(frontiers, int(f)) }
func (o Order) String() string    { return name(orders, int(o)) }

func name(of []string, i int) string {
	if i < len(of) {
		return of[i]
	}
	return "?"
}

// The defaults of numbers.
const (
	DefaultBlock = 256
	DefaultLanes = 8
	DefaultTile  = 512
)

// Normal returns p with the defaults in place of zeros, and without numbers that its parts ignore.
func (p Plan) Normal() Plan {
	if p.Block == 0 || p.Schedule == Tiles || p.Schedule == Expand || p.Schedule == Vendor {
		p.Block = DefaultBlock
	}
	if p.Schedule != VW {
		p.Lanes = 0
	} else if p.Lanes == 0 {
		p.Lanes = DefaultLanes
	}
	if p.Schedule != STRICT && p.Schedule != MPP {
		p.Tile = 0
	} else if p.Tile == 0 {
		p.Tile = DefaultTile
	}
	return p
}

// String returns the text of p, which [Parse] reads. Defaults are left out.
func (p Plan) String() string {
	p = p.Normal()
	out := []string{p.Direction.String(), p.Layout.String(), p.Schedule.String(), p.Frame.String()}
	add := func(on bool, text string) {
		if on {
			out = append(out, text)
		}
	}
	add(p.From != All && p.Schedule != Expand, "from="+p.From.String())
	add(p.Order != Natural, "order="+p.Order.String())
	add(p.Baked, flags[0])
	add(p.Hot, flags[1])
	add(p.Columns, flags[2])
	add(p.Lanes != 0, "lanes="+strconv.Itoa(int(p.Lanes)))
	add(p.Ranges != 0, "ranges="+strconv.Itoa(int(p.Ranges)))
	add(p.Tile != 0 && p.Tile != DefaultTile, "tile="+strconv.Itoa(int(p.Tile)))
	add(p.Block != DefaultBlock, "block="+strconv.Itoa(int(p.Block)))
	return strings.Join(out, " ")
}

// A ParseError is a text that is no plan.
type ParseError struct {
	Text, Word string
	Reason     string
}

func (e *ParseError) Error() string {
	if e.Word == "" {
		return fmt.Sprintf("plan %q: %s", e.Text, e.Reason)
	}
	return fmt.Sprintf("plan %q: %q %s", e.Text, e.Word, e.Reason)
}

// Parse reads a plan. Parts may stand in any order; a part that is missing is csr, the frame that
// suits the others, or the default of a number. A direction and a schedule are needed. Errors are
// *ParseError.
func Parse(text string) (Plan, error) {
	var p Plan
	var direction, schedule, frame bool
	layouts, schedules := layoutNames(), scheduleNames()
	for _, word := range strings.Fields(text) {
		key, value, number := strings.Cut(word, "=")
		fail := func(reason string) (Plan, error) { return Plan{}, &ParseError{text, word, reason} }
		if number {
			switch key {
			case "from":
				i := slices.Index(frontiers, value)
				if i < 0 {
					return fail("names no frontier: " + suggest(value, frontiers))
				}
				p.From = Frontier(i)
			case "order":
				i := slices.Index(orders, value)
				if i < 0 {
					return fail("names no order: " + suggest(value, orders))
				}
				p.Order = Order(i)
			case "block", "lanes", "tile", "ranges":
				n, err := strconv.Atoi(value)
				limits := map[string][2]int{"block": {32, 1024}, "lanes": {2, 32}, "tile": {32, 8192}, "ranges": {2, 64}}[key]
				if err != nil || n < limits[0] || n > limits[1] || n&(n-1) != 0 {
					return fail(fmt.Sprintf("is not a power of two from %d to %d", limits[0], limits[1]))
				}
				switch key {
				case "block":
					p.Block = int16(n)
				case "lanes":
					p.Lanes = int8(n)
				case "ranges":
					p.Ranges = int8(n)
				default:
					p.Tile = int16(n)
				}
			default:
				return fail("is no number of a plan: " + suggest(key, numbers))
			}
			continue
		}
		if i := slices.Index(directions, word); i >= 0 {
			p.Direction, direction = Direction(i), true
		} else if i := slices.Index(layouts, word); i >= 0 {
			p.Layout = Layout(i)
		} else if i := slices.Index(schedules, word); i >= 0 {
			p.Schedule, schedule = Schedule(i), true
		} else if i := slices.Index(frames, word); i >= 0 {
			p.Frame, frame = Frame(i), true
		} else if i := slices.Index(flags, word); i >= 0 {
			switch i {
			case 0:
				p.Baked = true
			case 1:
				p.Hot = true
			default:
				p.Columns = true
			}
		} else {
			return fail("is no part of a plan: " + suggest(word, slices.Concat(directions, layouts, schedules, frames, flags)))
		}
	}
	if !direction || !schedule {
		return Plan{}, &ParseError{text, "", "it needs a direction (pull, push) and a schedule (" + strings.Join(schedules, ", ") + ")"}
	}
	if !frame {
		p.Frame = frameFor(p)
	}
	if p.Schedule == Expand && p.From == All {
		p.From = List
	}
	return p.Normal(), nil
}

// frameFor is the frame that a plan has when none is named.
func frameFor(p Plan) Frame {
	switch {
	case p.Schedule == Expand:
		return Store
	case p.Direction == Push:
		return Bitmap
	case p.Schedule.Tiled():
		return Segmented
	case p.Schedule.Split():
		return Atomic
	}
	return Store
}

// Tiled reports whether a schedule cuts the edges of all rows into equal tiles.
func (s Schedule) Tiled() bool { return s == STRICT || s == MPP || s == Tiles }

// Flat reports whether a schedule numbers edges without regard to rows.
func (s Schedule) Flat() bool { return s == EM || s == EMV }

// suggest names the word that is most like w.
func suggest(w string, of []string) string {
	best, least := "", 3
	for _, o := range of {
		if d := distance(w, o); d < least {
			best, least = o, d
		}
	}
	if best == "" {
		return "one of " + strings.Join(of, ", ")
	}
	return "did you mean " + best + "?"
}

// distance is the number of single-letter edits between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
