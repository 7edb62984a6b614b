package cusparse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// TuneOps are the operations that [Tune] knows: a product with a full vector, a product with a sparse
// one, and the step that dominates each of four graph algorithms.
var TuneOps = []string{"mxv", "vxm", "bfs", "sssp", "pagerank", "cc"}

// TuneOptions are the settings of [Tune].
type TuneOptions struct {
	Op       string        // one of TuneOps; "" is mxv
	Frontier float64       // share of the entries of a sparse vector, for vxm, bfs and sssp; 0 is .01
	Budget   time.Duration // stop the search after this time; 0 is 20 s
	Dry      bool          // do not keep the winner
	Progress func(done, total int)
}

// A Timing is a plan and what a product by it took.
type Timing struct {
	Plan space.Plan
	Time time.Duration
	Err  error // why it did not run
}

// Tuning is what [Tune] found.
type Tuning struct {
	Op       string
	Facts    space.Facts
	Legal    int      // points of the space that are legal for the operation
	Ranking  []Timing // fastest first; those that failed last
	Chosen   Timing   // the plan that is chosen without a search
	Vendor   time.Duration
	Bound    time.Duration // for the bytes that must move, at the memory's speed
	Complete bool          // the budget was enough for all candidates
}

// tuneCase is a product that is timed.
type tuneCase struct {
	s    device.Semiring
	flip bool
	full bool // x has every entry
}

func monoidOf(name, text, identity string, t device.Type) device.Monoid {
	return device.Monoid{Identity: identity, Any: name == "any", Func: device.Func{Name: name, Text: text, X: t, Y: t, Out: t, UsesX: true, UsesY: true, Commutative: true}}
}

func tuneCaseOf(op string, t device.Type) (tuneCase, error) {
	_, most := t.Limits()
	zero := "((" + t.Name + ")0)"
	times := device.Func{Name: "times", Text: "x * y", X: t, Y: t, Out: t, UsesX: true, UsesY: true}
	plus := device.Func{Name: "plus", Text: "x + y", X: t, Y: t, Out: t, UsesX: true, UsesY: true}
	second := device.Func{Name: "second", Text: "y", X: boolType, Y: t, Out: t, UsesY: true}
	pair := device.Func{Name: "pair", Text: "1", X: boolType, Y: boolType, Out: boolType}
	switch op {
	case "", "mxv":
		return tuneCase{s: device.Semiring{Name: "plus_times", Add: monoidOf("plus", "x + y", zero, t), Mul: times}, full: true}, nil
	case "vxm":
		return tuneCase{s: device.Semiring{Name: "plus_times", Add: monoidOf("plus", "x + y", zero, t), Mul: times}, flip: true}, nil
	case "bfs":
		return tuneCase{s: device.Semiring{Name: "any_pair", Add: monoidOf("any", "y", "false", boolType), Mul: pair}, flip: true}, nil
	case "sssp":
		return tuneCase{s: device.Semiring{Name: "min_plus", Add: monoidOf("min", "x < y ? x : y", most, t), Mul: plus}, flip: true}, nil
	case "pagerank":
		return tuneCase{s: device.Semiring{Name: "plus_second", Add: monoidOf("plus", "x + y", zero, t), Mul: second}, full: true}, nil
	case "cc":
		return tuneCase{s: device.Semiring{Name: "min_second", Add: monoidOf("min", "x < y ? x : y", most, t), Mul: second}, full: true}, nil
	}
	return tuneCase{}, &matrix.InvalidError{Op: "cusparse.Tune", Reason: fmt.Sprintf("operation %q is none of %s", op, strings.Join(TuneOps, ", "))}
}

// Tune times the plans of a product of a on the device, in stages: first every combination of layout,
// schedule and frame with default numbers, then the numbers, orders and block sizes of the fastest. It
// keeps the winner for this graph beside the compiled kernels, and later products use it. Values of a
// are read as they are; the vector is made up. Errors: a matrix that does not fit, an unknown
// operation, the context's.
func Tune[T matrix.Number](ctx context.Context, d *Device, a matrix.Source[T], o TuneOptions) (*Tuning, error) {
	if d.missing() {
		return nil, errNoDevice
	}
	if a == nil {
		return nil, &matrix.InvalidError{Op: "cusparse.Tune", Reason: "the matrix is nil"}
	}
	t, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	tc, err := tuneCaseOf(o.Op, t)
	if err != nil {
		return nil, err
	}
	v := a.View()
	m, n := v.Dims()
	if tc.flip {
		m, n = n, m
		v = v.T()
	}
	x := matrix.NewVector[T](n)
	if tc.full {
		x, err = matrix.NewFullVector[T](n, 1)
		if err != nil {
			return nil, err
		}
	} else {
		share := cmp.Or(o.Frontier, .01)
		step := max(int(1/share), 1)
		for j := step / 2; j < n; j += step {
			if err := x.Set(j, 1); err != nil {
				return nil, err
			}
		}
	}
	av, err := access.Operand(v, d)
	if err != nil {
		return nil, err
	}
	xv, err := access.Operand(x.View(), d)
	if err != nil {
		return nil, err
	}
	if !tc.s.Mul.UsesX && !tc.s.Mul.UsesY || tc.s.Mul.X.Name == "bool" {
		av.Pattern = true
	}
	if tc.s.Mul.Y.Name == "bool" {
		xv.Pattern = true
	}
	u := &tuner{d: d, ctx: ctx, o: o, tc: tc, a: av, x: xv, dest: device.Dest{Rows: 1, Cols: m, Type: tc.s.Add.Out, Vector: true}}
	return u.run()
}

// tuner is a search under way.
type tuner struct {
	d    *Device
	ctx  context.Context
	o    TuneOptions
	tc   tuneCase
	a, x device.Operand
	dest device.Dest
}

// facts gathers the facts of the matrix whose rows a direction walks.
func (u *tuner) facts(dir space.Direction) (space.Facts, string, error) {
	f := u.d.begin(device.Call{Context: u.ctx, Op: "Tune"})
	defer f.end()
	rows := f.rows
	if dir == space.Push {
		rows = f.cols
	}
	a := rows(u.a)
	if f.err != nil {
		return space.Facts{}, "", f.err
	}
	x := f.oriented(u.x)
	facts := f.spaceFacts(u.tc.s, a, x, nil)
	if dir == space.Pull {
		facts.FullX = true
		if x.isListed() {
			facts.FullX = x.known() == int64(x.n)
		}
	}
	facts.Uses = defaultUses
	kept := f.factsOf(a)
	if f.err != nil {
		return facts, "", f.err
	}
	return facts, kept.fingerprint(a.m, a.n, a.known()), nil
}

// time returns what a product by a method takes.
func (u *tuner) time(method string) (Timing, string, error) {
	var ran device.Ran
	product := func() error {
		s, r, err := u.d.MxV(device.Call{Context: u.ctx, Method: method}, u.dest, u.tc.s, u.tc.flip, u.a, u.x)
		if err == nil {
			s.Drop()
		}
		ran = r
		return err
	}
	if err := product(); err != nil { // compiles, makes layouts
		return Timing{Err: err}, "", err
	}
	reps := 4
	var best time.Duration
	for round := 0; round < 4; round++ {
		took, err := u.d.Time(func() error {
			for range reps {
				if err := product(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return Timing{Err: err}, "", err
		}
		each := took / time.Duration(reps)
		if round == 0 {
			reps = int(min(max(time.Millisecond/max(each, 1), 3), 50))
			continue
		}
		if best == 0 || each < best {
			best = each
		}
		if each > 20*time.Millisecond {
			break
		}
	}
	return Timing{Time: best}, ran.Plan, nil
}

func (u *tuner) run() (*Tuning, error) {
	out := &Tuning{Op: cmp.Or(u.o.Op, "mxv")}
	start, budget := time.Now(), cmp.Or(u.o.Budget, 20*time.Second)
	chosen, plan, err := u.time("")
	if err != nil {
		return nil, err
	}
	chosen.Plan, _ = space.Parse(plan)
	out.Chosen = chosen
	keys := [2]string{}
	var seeds []space.Plan
	for _, dir := range []space.Direction{space.Pull, space.Push} {
		facts, print, err := u.facts(dir)
		if err != nil {
			return nil, err
		}
		if dir == space.Pull {
			out.Facts = facts
		}
		points := space.Points(dir, facts)
		out.Legal += len(points)
		keys[dir] = tuningKey(dir, facts, print)
		for _, p := range points {
			plain := p
			plain.Block, plain.Lanes, plain.Tile, plain.Order, plain.Baked = 0, 0, 0, space.Natural, false
			if p == plain.Normal() && p.Deterministic(facts) {
				seeds = append(seeds, p)
			}
		}
	}
	tried := map[space.Plan]bool{}
	try := func(plans []space.Plan) error {
		for i, p := range plans {
			if err := u.ctx.Err(); err != nil {
				return err
			}
			if tried[p] {
				continue
			}
			if time.Since(start) > budget {
				out.Complete = false
				return nil
			}
			tried[p] = true
			t, _, err := u.time(p.String())
			t.Plan = p
			if err != nil && errors.Is(err, ErrClosed) {
				return err
			}
			out.Ranking = append(out.Ranking, t)
			if u.o.Progress != nil {
				u.o.Progress(i+1, len(plans))
			}
		}
		return nil
	}
	out.Complete = true
	if err := try(seeds); err != nil {
		return nil, err
	}
	out.rank()
	var more []space.Plan
	refined := out.Ranking[:min(len(out.Ranking), 5)]
	if i := slices.IndexFunc(out.Ranking, func(t Timing) bool { return t.Err == nil && t.Plan.Layout == space.DIA }); i >= len(refined) {
		refined = append(slices.Clone(refined), out.Ranking[i]) // it gains most from numbers
	}
	for _, t := range refined {
		facts, _, err := u.facts(t.Plan.Direction)
		if err != nil {
			return nil, err
		}
		more = append(more, neighbours(t.Plan, facts)...)
	}
	if err := try(more); err != nil {
		return nil, err
	}
	out.rank()
	if again, _, err := u.time(""); err == nil { // the first may have met a cold device
		out.Chosen.Time = min(out.Chosen.Time, again.Time)
	}
	if u.tc.full && u.tc.s.Name == "plus_times" && u.dest.Type.Float() {
		if t, _, err := u.time("cusparse"); err == nil {
			out.Vendor = t.Time
		}
	}
	if len(out.Ranking) == 0 || out.Ranking[0].Err != nil {
		return out, nil
	}
	if !u.o.Dry {
		best := out.Ranking[0].Plan
		u.d.mu.Lock()
		err = u.d.plans().keep(keys[best.Direction], best)
		u.d.mu.Unlock()
	}
	return out, err
}

// neighbours are the plans that differ from p in its numbers, order or baking.
func neighbours(p space.Plan, f space.Facts) []space.Plan {
	var out []space.Plan
	add := func(q space.Plan) {
		if q = q.Normal(); q.Legal(f) == nil {
			out = append(out, q)
		}
	}
	for _, b := range space.Blocks {
		q := p
		q.Block = b
		add(q)
	}
	for _, w := range space.Widths {
		q := p
		q.Lanes = w
		add(q)
	}
	for _, o := range []space.Order{space.Degree, space.Log, space.Linear} {
		q := p
		q.Order = o
		add(q)
	}
	for _, n := range []int16{128, 256, 1024, 2048} {
		q := p
		q.Tile = n
		add(q)
	}
	for _, b := range append([]int16{}, space.Blocks...) {
		q := p
		q.Baked, q.Block = true, b
		add(q)
	}
	return out
}

func (t *Tuning) rank() {
	slices.SortStableFunc(t.Ranking, func(a, b Timing) int {
		if (a.Err != nil) != (b.Err != nil) {
			if a.Err != nil {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Time, b.Time)
	})
	f := t.Facts
	bytes := f.Entries*int64(4+f.Elements) + int64(f.Rows)*int64(8+f.Result) + int64(f.Cols)*int64(f.Result)
	t.Bound = time.Duration(float64(bytes) / 4.3e12 * 1e9) // H200's measured copy speed
}

// Kept returns the number of tuned plans that the device knows.
func (d *Device) Kept() int {
	if d.missing() {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.plans().Plans)
}
