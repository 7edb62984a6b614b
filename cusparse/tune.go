package cusparse

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/internal/results"
	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// TuneOps are the operations that [Tune] knows: a product with a full vector, a product with a
// sparse one, the step that dominates each of four graph algorithms, and a product with a full
// matrix.
var TuneOps = tuned.Ops

// TuneOptions are the settings of [Tune].
type TuneOptions struct {
	Op       string        // one of TuneOps; "" is mxv
	Frontier float64       // share of the entries of a sparse vector, for vxm, bfs and sssp; 0 is .01
	Columns  int           // of the full matrix, for mxm; 0 is 64
	Budget   time.Duration // stop the search after this time; 0 is 20 s
	Dry      bool          // do not keep the winner
	Progress func(done, total int)
}

// A Timing is a plan and what a product by it took.
type Timing struct {
	Plan space.Plan
	// Method is the method of a product with a full matrix, spmm or cusparse; "" for other
	// products.
	Method string
	Time   time.Duration
	Err    error // why it did not run
}

// Tuning is what [Tune] found.
type Tuning struct {
	Op       string
	Facts    space.Facts
	Legal    int      // points of the space that are legal for the operation
	Ranking  []Timing // fastest first; those that failed last
	Chosen   Timing   // the plan that is chosen without a search
	Vendor   time.Duration
	Bound    time.Duration // for the bytes that must move, at the speed of a copy on this device
	Complete bool          // the budget was enough for all candidates
}

// Tune times the plans of a product of a on the device, in stages: first every combination of
// layout, schedule and frame with default numbers, then the numbers, orders and block sizes of the
// fastest. It keeps the winner for this graph beside the compiled kernels, and later products use
// it. Values of a are read as they are; the vector is made up. Errors: a matrix that does not fit,
// an unknown operation, the context's.
func Tune[T matrix.Number](ctx context.Context, d *Device, a matrix.Source[T], o TuneOptions) (*Tuning, error) {
	u, err := newTuner(ctx, d, a, o)
	if err != nil {
		return nil, err
	}
	return u.run()
}

// newTuner checks the arguments of Tune, and makes up the vector.
func newTuner[T matrix.Number](ctx context.Context, d *Device, a matrix.Source[T], o TuneOptions) (*tuner, error) {
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
	tc, err := tuned.CaseOf(o.Op, t)
	if err != nil {
		return nil, err
	}
	v := matrix.AsView[T](a)
	m, n := v.Dims()
	if tc.Flip {
		m, n = n, m
		v = v.T()
	}
	if tc.Columns {
		return tunerOfColumns(ctx, d, v, o, tc)
	}
	x := matrix.NewVector[T](n)
	if tc.Full {
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
	av, err := access.Operand(v, backend{d})
	if err != nil {
		return nil, err
	}
	xv, err := access.Operand(matrix.AsView(x), backend{d})
	if err != nil {
		return nil, err
	}
	if !tc.Semiring.Mul.UsesX && !tc.Semiring.Mul.UsesY || tc.Semiring.Mul.X.Name == "bool" {
		av.Pattern = true
	}
	if tc.Semiring.Mul.Y.Name == "bool" {
		xv.Pattern = true
	}
	return &tuner{d: d, ctx: ctx, o: o, tc: tc, a: av, x: xv, dest: device.Dest{Rows: 1, Cols: m, Type: tc.Semiring.Add.Out, Vector: true}}, nil
}

// tuner is a search under way.
type tuner struct {
	d    *Device
	ctx  context.Context
	o    TuneOptions
	tc   tuned.Case
	a, x device.Operand
	dest device.Dest
}

// facts gathers the facts of a direction, and the fingerprint of the matrix that it walks by rows.
// It makes the transpose where that is not at hand.
func (u *tuner) facts(dir space.Direction) (space.Facts, string, error) {
	f := u.d.begin(device.Call{Context: u.ctx, Op: "Tune"})
	defer f.end()
	w := &walk{frame: f, s: u.tc.Semiring, flip: u.tc.Flip, operand: u.a, u: f.oriented(u.x)}
	if f.err != nil {
		return space.Facts{}, "", f.err
	}
	x := w.look(dir, true)
	if f.err != nil {
		return space.Facts{}, "", f.err
	}
	a := w.rows[dir]
	x.Vendor = x.Vendor && f.vendorLibrary().err == nil
	return *x, f.factsOf(a).fingerprint(a.m, a.n, a.known()), nil
}

func (u *tuner) product(c device.Call) (device.Store, device.Ran, error) {
	if u.tc.Columns {
		return backend{u.d}.MxM(c, u.dest, u.tc.Semiring, u.a, u.x)
	}
	return backend{u.d}.MxV(c, u.dest, u.tc.Semiring, u.tc.Flip, u.a, u.x)
}

// time returns what a product by a method takes.
func (u *tuner) time(method string) (Timing, string, error) {
	var ran device.Ran
	call := device.Call{Context: u.ctx, Method: method, Trace: true} // for the plan
	product := func() error {
		s, r, err := u.product(call)
		if err == nil {
			s.Drop()
		}
		if call.Trace {
			ran = r
		}
		return err
	}
	if err := product(); err != nil { // compiles, makes layouts
		return Timing{Err: err}, "", err
	}
	call.Trace = false // it waits for counts
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

// result returns the product by a method.
func (u *tuner) result(method string) (v results.Vector, err error) {
	at := backend{u.d}
	s, _, err := at.MxV(device.Call{Context: u.ctx, Method: method}, u.dest, u.tc.Semiring, u.tc.Flip, u.a, u.x)
	if err != nil {
		return v, err
	}
	b, err := at.Convert(s, sparse.Bitmap)
	if err != nil {
		return v, err
	}
	shape, err := at.Shape(b)
	if v = (results.Vector{Present: shape.Present, Values: make([]byte, u.dest.Cols*u.dest.Type.Size)}); err == nil && len(v.Values) > 0 {
		err = at.Values(b, unsafe.Pointer(&v.Values[0]), u.dest.Cols)
	}
	return v, err
}

// check compares the product by a plan with another one.
func (u *tuner) check(p space.Plan, want results.Vector) error {
	got, err := u.result(p.String())
	if err != nil {
		return err
	}
	if d := results.Difference(u.dest.Type.Kind, u.dest.Type.Size, want, got); d != "" {
		return &space.WrongError{Plan: p, Difference: d}
	}
	return nil
}

func (u *tuner) run() (*Tuning, error) {
	if u.tc.Columns {
		return u.runColumns()
	}
	out := &Tuning{Op: cmp.Or(u.o.Op, "mxv")}
	start, budget := time.Now(), cmp.Or(u.o.Budget, 20*time.Second)
	chosen, plan, err := u.time("")
	if err != nil {
		return nil, err
	}
	chosen.Plan, _ = space.Parse(plan)
	out.Chosen = chosen
	want, err := u.result("")
	if err != nil {
		return nil, err
	}
	var facts [2]space.Facts
	var prints [2]string
	var seeds []space.Plan
	for _, dir := range []space.Direction{space.Pull, space.Push} {
		if facts[dir], prints[dir], err = u.facts(dir); err != nil {
			return nil, err
		}
		points := space.Points(dir, facts[dir])
		out.Legal += len(points)
		for _, p := range points {
			plain := p
			plain.Block, plain.Lanes, plain.Tile, plain.Ranges, plain.Order, plain.Baked = 0, 0, 0, 0, space.Natural, false
			if p == plain.Normal() && p.Deterministic(facts[dir]) {
				seeds = append(seeds, p)
			}
		}
	}
	out.Facts = facts[space.Pull]
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
			if (p.Schedule.Own() != nil || p.Layout.Own() != nil) && err == nil {
				err = u.check(p, want)
				t.Err = err
			}
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
		more = append(more, space.Neighbours(t.Plan, facts[t.Plan.Direction])...)
	}
	if err := try(more); err != nil {
		return nil, err
	}
	out.rank()
	if out.Bound, err = u.bound(out.Facts); err != nil {
		return nil, err
	}
	if again, _, err := u.time(""); err == nil { // the first may have met a cold device
		out.Chosen.Time = min(out.Chosen.Time, again.Time)
	}
	for _, t := range out.Ranking {
		if t.Plan.Schedule == space.Vendor && t.Err == nil {
			out.Vendor = t.Time
		}
	}
	if len(out.Ranking) == 0 || out.Ranking[0].Err != nil {
		return out, nil
	}
	if !u.o.Dry {
		u.d.mu.Lock()
		err = u.d.plans().Keep(out.winners(facts, prints))
		u.d.mu.Unlock()
	}
	return out, err
}

// winners returns the fastest plan for each set of directions that a later product may have at
// hand.
func (t *Tuning) winners(facts [2]space.Facts, prints [2]string) map[string]string {
	out := map[string]string{}
	for _, x := range t.Ranking {
		if x.Err != nil {
			break
		}
		d := x.Plan.Direction
		for _, other := range []bool{false, true} {
			pull, push := d == space.Pull || other, d == space.Push || other
			for of := range facts { // either direction's facts lead to the plan
				if of == int(d) || other {
					key := tuned.Key(pull, push, facts[of], prints[of])
					if _, found := out[key]; !found {
						out[key] = x.Plan.String()
					}
				}
			}
		}
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
}

// bound returns the time of a copy that moves as many bytes as a product must: the entries, and the
// vectors once.
func (u *tuner) bound(x space.Facts) (time.Duration, error) {
	bytes := x.Entries*int64(4+x.Elements) + int64(x.Rows)*int64(8+x.Result) + int64(x.Cols)*int64(x.Result)
	f := u.d.begin(device.Call{Context: u.ctx, Op: "Tune"})
	n := min(int64(256<<20), max(f.spare()/2, 1<<20))
	from, to := f.zeros(n), f.alloc(n)
	from.share()
	to.share()
	err := f.err
	f.end()
	if err != nil {
		return 0, err
	}
	defer from.release()
	defer to.release()
	var best time.Duration
	for range 5 {
		took, err := u.d.Time(func() error {
			f := u.d.begin(device.Call{Context: u.ctx, Op: "Tune"})
			defer f.end()
			f.copy(to.addr, from.addr, n)
			return f.err
		})
		if err != nil {
			return 0, err
		}
		if best == 0 || took < best {
			best = took
		}
	}
	return time.Duration(float64(bytes) / float64(2*n) * float64(best)), nil
}
