package space

import "fmt"

// Facts are what a plan is chosen from: facts of the matrix that is walked by rows, of the
// operation and of the device.
type Facts struct {
	Rows, Cols int
	Entries    int64
	Seen       bool // the degrees and diagonals were looked at
	Hyper      bool // only rows with entries have a place
	Tall       bool // far more rows than entries
	Wide       bool // far more columns than entries
	MaxDegree  int64
	Variation  float64 // of the degrees: standard deviation / mean
	// Diagonals is the number of diagonals that hold most of the entries, and OnDiagonals the share
	// that they hold; 0 where no 63 diagonals hold half of them.
	Diagonals   int
	OnDiagonals float64

	Head       float64 // pull: share of the entries in the columns with an x that fits in shared memory; 0: not known
	Frontier   float64 // share of the entries that the vector has
	ListedX    bool    // the vector is a list
	VastX      bool    // the vector is a list of a few of very many positions
	FullX      bool    // pull: x has a value for every column
	Masked     bool
	ListedMask bool    // pull: the mask lists the positions that are wanted
	Wanted     float64 // pull: share of the rows that a listed mask wants, else 1
	ReadsX     bool    // pull: ⊗ reads the values of x
	Shared     int     // pull: values of x that fit in shared memory
	Any        bool    // ⊕ takes any of its terms
	Constant   bool    // ⊗ reads neither operand
	Exact      bool    // sums in any order are equal, bit for bit
	Result     int     // bytes of a result
	Elements   int     // bytes of an element of the matrix, 0 for a pattern
	Position   bool    // ⊗ reads positions
	Ends       bool    // ⊗ reads the vector at both ends of an edge
	Uses       float64 // products that the matrix is expected to serve
	Vendor     bool    // pull: cuSPARSE has the product, and may be chosen
}

// A ClashError is two parts of a plan that do not fit together, or a part that does not fit the
// operands.
type ClashError struct {
	Plan   Plan
	A, B   string
	Reason string
}

func (e *ClashError) Error() string {
	return fmt.Sprintf("plan %q: %s and %s clash: %s", e.Plan.String(), e.A, e.B, e.Reason)
}

// MaxDiagonals is the largest number of diagonals of DIA: a word of 64 bits says which of them a
// row has entries on, and whether it has others.
const MaxDiagonals = 63

// Legal reports why a plan is not in the space of an operation, as a *ClashError.
func (p Plan) Legal(f Facts) error {
	p = p.Normal()
	clash := func(a, b, reason string) error { return &ClashError{p, a, b, reason} }
	sched, layout, frame := p.Schedule.String(), p.Layout.String(), p.Frame.String()
	if o := p.Schedule.Own(); o != nil {
		if part, reason := o.refused(p, f); reason != "" {
			return clash(sched, part, reason)
		}
	}
	if o := p.Layout.Own(); o != nil {
		if part, reason := o.refused(p, f); reason != "" {
			return clash(layout, part, reason)
		}
	}
	if part, reason := p.vendor(f); reason != "" {
		return clash(sched, part, reason)
	}
	if part, reason := p.ranges(f); reason != "" {
		return clash("ranges", part, reason)
	}
	if p.Direction == Pull {
		if p.Schedule == Expand {
			return clash("pull", sched, "it multiplies the entries of the vector; use push")
		}
		switch p.Frame {
		case Bitmap, Append:
			return clash("pull", frame, "a row collects its own result; use store, segmented or atomic")
		case Store:
			if p.Schedule.Split() {
				return clash(sched, frame, "several threads have parts of a row; use segmented or atomic")
			}
		case Segmented:
			if !p.Schedule.Tiled() {
				return clash(sched, frame, "only strict, mpp and tiles cut rows into parts with a fixed order")
			}
		case Atomic:
			if !p.Schedule.Split() || p.Schedule == Tiles {
				return clash(sched, frame, "one thread has the whole result of a row; use store")
			}
			if err := p.atomics(f); err != nil {
				return err
			}
			if f.Any && !f.Constant {
				return clash(frame, "any", "parts of a row may have different values")
			}
		}
		if p.From == Listed {
			return clash("pull", "from=bitmap", "use from=all with a mask")
		}
		if p.From == List && !f.ListedMask {
			return clash("pull", "from=list", "no mask lists the rows that are wanted")
		}
	} else if p.Schedule == Expand {
		switch {
		case f.Ends:
			return clash(sched, "operands", "it reads the vector at one end of an edge")
		case p.Frame != Store:
			return clash(sched, frame, "it adds up sorted terms; use store")
		case p.Layout != CSR:
			return clash(sched, layout, "it reads csr")
		case p.From != List:
			return clash(sched, "from="+p.From.String(), "it takes a list of entries")
		}
	} else {
		if p.Frame != Bitmap && p.Frame != Append {
			return clash("push", frame, "several rows write to one position; use bitmap or append")
		}
		if p.Schedule == Tiles {
			return clash("push", sched, "its kernel only pulls")
		}
		if err := p.atomics(f); err != nil {
			return err
		}
	}
	if p.Schedule.Flat() && p.From == List {
		return clash(sched, "from=list", "its threads take all edges; use from=bitmap")
	}
	if p.Schedule == EMV && p.Layout != COO {
		return clash(sched, layout, "it reads row numbers by fours; use coo")
	}
	if p.Schedule == MPP && p.From != All {
		return clash(sched, "from="+p.From.String(), "its tiles are those of the whole matrix; use strict")
	}
	if p.Schedule == Tiles {
		switch {
		case p.Layout != CSR:
			return clash(sched, layout, "its kernel reads csr")
		case !f.FullX || f.Any || f.Position || f.Ends || f.Result > 16 || f.Elements > 16 || p.From != All:
			return clash(sched, "operands", "it needs a full vector, elements of at most 16 bytes, a product without positions and of one end of an edge, and a ⊕ other than any")
		case p.Frame != Segmented:
			return clash(sched, frame, "its sums have a fixed order; use segmented")
		case p.Hot && f.Shared == 0:
			return clash(sched+" hot", "operands", "no values of the vector are read, or the device has too little shared memory")
		}
	} else if p.Hot {
		return clash(sched, "hot", "only tiles has values of the vector in shared memory")
	}
	if p.Columns {
		switch {
		case p.Direction == Push:
			return clash("push", "relabelled", "it writes to the columns; use pull")
		case p.Layout == DIA || p.Layout == Hyper || f.Hyper:
			return clash(layout, "relabelled", "columns by degree have no diagonals, and hypersparse rows stay as they are")
		case !f.ReadsX:
			return clash(sched+" relabelled", "operands", "no values of the vector are read")
		case !f.FullX || f.Any || f.Position || f.Ends:
			return clash("relabelled", "operands", "it needs a full vector, a product of one end of an edge without positions, and a ⊕ other than any")
		}
	}
	if p.Schedule == Expand && p.Order != Natural {
		return clash(sched, "order="+p.Order.String(), "its terms are sorted by position")
	}
	if f.Tall && p.Layout != CSR && p.Layout != Hyper {
		return clash(layout, "matrix", "it has far more rows than entries; use csr or hyper")
	}
	if f.Wide && p.Direction == Push && p.Schedule != Expand {
		return clash(frame, "matrix", "results have far more positions than entries; use expand")
	}
	switch p.Layout {
	case DIA:
		if f.Diagonals == 0 || f.OnDiagonals < 0.5 {
			return clash(layout, "matrix", "no 63 diagonals hold half of its entries")
		}
	case ELL:
		if f.Entries > 0 && f.MaxDegree > 0 && f.Rows == 0 {
			return clash(layout, "matrix", "it has no rows")
		}
	case CSR16:
		if f.Cols > 1<<16 {
			return clash(layout, "matrix", "it has more than 65536 columns")
		}
	}
	if p.Baked && p.Layout != DIA {
		return clash(layout, "baked", "only dia has diagonals")
	}
	if p.Order != Natural {
		switch {
		case p.Layout == SELL:
		case p.Layout == Hyper || p.Layout == CSR && f.Hyper || p.Schedule.Flat() || p.Schedule == MPP || p.Schedule == Tiles:
			return clash(sched+" "+layout, "order="+p.Order.String(), "its rows stand as they are")
		case p.From != All:
			return clash("from="+p.From.String(), "order="+p.Order.String(), "the frontier has an order of its own")
		case p.Direction == Push:
			return clash("push", "order="+p.Order.String(), "only sell and pulls reorder rows")
		}
	}
	if p.Layout == SELL && p.Schedule.Flat() && p.Order != Natural && p.Direction == Push && p.From == List {
		return clash(layout, "from=list", "use from=bitmap")
	}
	return nil
}

// vendor returns why cuSPARSE does not run the plan, and the part that it clashes with.
func (p Plan) vendor(f Facts) (part, reason string) {
	switch {
	case p.Schedule != Vendor:
	case p.Direction == Push:
		return "push", "it multiplies by rows; use pull"
	case p.Layout != CSR:
		return p.Layout.String(), "it reads csr"
	case p.Frame != Store:
		return p.Frame.String(), "it writes results itself; use store"
	case p.From != All || p.Order != Natural:
		return "from, order", "it walks all rows as they stand"
	case p.Columns:
		return "relabelled", "it reads the columns as they stand"
	case !f.Vendor:
		return "operands", "it has plus_times of float32 and float64, of a matrix with values and a full vector, without a mask; and the library must be there and not forbidden"
	}
	return "", ""
}

// ranges returns why the columns are not walked in ranges, and the part that this clashes with.
func (p Plan) ranges(f Facts) (part, reason string) {
	switch {
	case p.Ranges == 0:
	case p.Direction == Push:
		return "push", "it writes to the columns; use pull"
	case p.Schedule == Tiles || p.Schedule == Vendor || p.Schedule == Expand:
		return p.Schedule.String(), "its kernel reads the whole matrix"
	case p.Layout == DIA || p.Layout == Hyper || f.Hyper:
		return p.Layout.String(), "diagonals and hypersparse rows are read as a whole"
	case !f.ReadsX:
		return "operands", "no values of the vector are read"
	case f.ListedX:
		return "operands", "the vector is a list; use a full vector or a bitmap"
	case int(p.Ranges) > f.Cols:
		return "matrix", "it has fewer columns than ranges"
	}
	return "", ""
}

// atomics checks what atomic addition needs.
func (p Plan) atomics(f Facts) error {
	switch f.Result {
	case 1, 2, 4, 8:
		return nil
	}
	return &ClashError{p, p.Frame.String(), "elements", fmt.Sprintf("atomic addition takes 1, 2, 4 or 8 bytes, and results have %d; use pull with store or segmented", f.Result)}
}

// Deterministic reports whether a plan gives the same bits in every run.
func (p Plan) Deterministic(f Facts) bool {
	switch {
	case p.Schedule == Expand:
		return true
	case p.Direction == Push && f.Any:
		return f.Constant
	case p.Direction == Push || p.Frame == Atomic:
		return f.Exact
	}
	return true
}

// Blocks are the block sizes of the space, Widths the lanes of VW, and ColumnRanges the numbers of
// ranges of columns.
var (
	Blocks = []int16{64, 128, 256, 512, 1024}
	Widths = []int8{2, 4, 8, 16, 32}
	sizes  = []int16{256, 512, 1024}

	ColumnRanges = []int8{2, 4, 8, 16}
)

// Points returns the plans of a direction that are legal for an operation, in a fixed order.
func Points(d Direction, f Facts) []Plan {
	var out []Plan
	for l := range layoutNames() {
		for s := range scheduleNames() {
			for fr := range frames {
				for from := range frontiers {
					for o := range orders {
						p := Plan{Direction: d, Layout: Layout(l), Schedule: Schedule(s), Frame: Frame(fr), From: Frontier(from), Order: Order(o)}
						out = append(out, variants(p, f)...)
					}
				}
			}
		}
	}
	return out
}

// variants returns p with every legal choice of its numbers.
func variants(p Plan, f Facts) []Plan {
	if p.Legal(f) != nil {
		return nil
	}
	out := []Plan{p}
	each := func(change func(p Plan) []Plan) {
		var next []Plan
		for _, q := range out {
			next = append(next, change(q)...)
		}
		out = next
	}
	switch p.Schedule {
	case Tiles:
		hot, columns, both := p, p, p
		hot.Hot, columns.Columns, both.Hot, both.Columns = true, true, true, true
		return []Plan{p.Normal(), hot.Normal(), columns.Normal(), both.Normal()}
	case Expand, Vendor:
		return []Plan{p.Normal()}
	}
	each(func(p Plan) (to []Plan) {
		for _, b := range Blocks {
			p.Block = b
			to = append(to, p)
		}
		return to
	})
	if p.Schedule == VW {
		each(func(p Plan) (to []Plan) {
			for _, w := range Widths {
				p.Lanes = w
				to = append(to, p)
			}
			return to
		})
	}
	if p.Schedule == STRICT || p.Schedule == MPP {
		each(func(p Plan) (to []Plan) {
			for _, n := range sizes {
				p.Tile = n
				to = append(to, p)
			}
			return to
		})
	}
	if p.Layout == DIA {
		each(func(p Plan) []Plan {
			q := p
			q.Baked = true
			return []Plan{p, q}
		})
	}
	each(func(p Plan) []Plan {
		to := []Plan{p}
		for _, n := range ColumnRanges {
			q := p
			if q.Ranges = n; q.Legal(f) == nil && q.Normal().Block == DefaultBlock {
				to = append(to, q)
			}
		}
		return to
	})
	columns := p
	columns.Columns = true
	if columns.Legal(f) == nil {
		each(func(p Plan) []Plan {
			q := p
			q.Columns = true
			return []Plan{p, q}
		})
	}
	for i := range out {
		out[i] = out[i].Normal()
	}
	return out
}

// Neighbours are the legal plans that differ from p in its numbers, its order, its ranges or in
// whether diagonals are baked.
func Neighbours(p Plan, f Facts) []Plan {
	var out []Plan
	add := func(change func(q *Plan)) {
		q := p
		change(&q)
		if q = q.Normal(); q.Legal(f) == nil {
			out = append(out, q)
		}
	}
	for _, b := range Blocks {
		add(func(q *Plan) { q.Block = b })
	}
	for _, hot := range []bool{false, true} {
		add(func(q *Plan) { q.Hot, q.Columns = hot, !hot })
		add(func(q *Plan) { q.Hot, q.Columns = hot, true })
	}
	for _, w := range Widths {
		add(func(q *Plan) { q.Lanes = w })
	}
	for _, o := range []Order{Degree, Log, Linear} {
		add(func(q *Plan) { q.Order = o })
	}
	for _, n := range []int16{128, 256, 1024, 2048} {
		add(func(q *Plan) { q.Tile = n })
	}
	for _, n := range ColumnRanges {
		add(func(q *Plan) { q.Ranges = n })
	}
	for _, b := range Blocks {
		add(func(q *Plan) { q.Baked, q.Block = true, b })
	}
	return out
}
