package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/record"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Method is a method to compute a product. With Auto the library selects the method.
type Method string

// The methods of MxM, and of MxV and VxM. An operation returns a *MethodError if a forced method
// cannot run; [Trace] reports the method that ran. On a GPU, Auto selects SPA or Hash for each row.
// Hash uses the hash table for rows with products that fit in it and the accumulators of SPA for
// the others. The trace of Auto and of Hash reports SPA if any row used SPA. SPA and Hash need
// elements of at most 16 bytes and a multiplication that does not depend on positions.
const (
	Auto   Method = ""
	SPA    Method = "spa"    // MxM: dense accumulator and bitmap per row
	Sorted Method = "sorted" // MxM: sort the products of each row
	Hash   Method = "hash"   // MxM: hash table per row
	Dot    Method = "dot"    // MxM with a mask: a dot product per mask entry
	SpMM   Method = "spmm"   // MxM with a full second operand
	Expand Method = "expand" // MxM on a GPU: sort all products, add up equal positions
	// MxM with a diagonal operand: scale the columns of the first or the rows of the second
	// operand.
	Diagonal Method = "diagonal"
	Push     Method = "push" // MxV, VxM: scatter the entries of the vector
	Pull     Method = "pull" // MxV, VxM: a dot product per entry of the result
	// MxV and VxM on a GPU with a full vector: Pull on a copy of the columns of the matrix numbered
	// by degree. A forced Relabelled makes the copy, which is kept until the matrix changes; Auto
	// uses an existing copy, and makes one for a matrix of 8M entries and more in half a million
	// columns and more, if its rows are of very unequal lengths. Making it costs about 10 products
	// and saves a third of each.
	Relabelled Method = "relabelled"
	// MxV, VxM and MxM on a GPU: SpMV, SpMM and SpGEMM of NVIDIA's cuSPARSE, and SDDMM for full
	// operands under a mask. It supports plus_times of float32 and float64.
	Vendor Method = "cusparse"
)

// An Option changes how an operation runs. None but [MaskOfRegion] changes its result.
type Option func(*settings)

type settings struct {
	ctx     context.Context
	threads int
	method  Method
	trace   *Trace
	traces  func(Trace)
	repeats int          // Repeats
	region  bool         // MaskOfRegion
	local   *localRun    // of an operation on a block of a group; wholeRun otherwise
	loop    *record.Loop // the loop that the operation is in the body of, or nil

	// Of a loop; see Steps.While.
	passes   int64 // if bounded is set
	bounded  bool
	oneByOne bool
	progress func(pass int64)
	explain  func(text string)
}

// Using forces a method. The operation returns a *MethodError if the method does not apply. For MxV
// and VxM on a GPU the method may also be the text of a plan, such as "push csr twc from=list";
// package cusparse/space lists the plans.
func Using(m Method) Option { return func(s *settings) { s.method = m } }

// Repeats announces that the caller runs the operation n times with the same matrix, as an
// iteration does. With 4 or more, Auto of MxV and VxM makes the transpose that Pull needs for a
// vector with entries at half of its positions, and the matrix keeps it. A transpose takes the time
// of about 8 products of Pull (R-MAT 18, 2026-11-27-cpu-2core-mend), and Push is slower than Pull.
// Without the option Auto judges a single product. Method and result of an operation depend on
// formats and options alone, not on earlier operations.
func Repeats(n int) Option { return func(s *settings) { s.repeats = n } }

// WithThreads bounds the number of threads; 0 is GOMAXPROCS. The operation returns a
// *matrix.InvalidError if the number is negative.
func WithThreads(n int) Option { return func(s *settings) { s.threads = n } }

// WithContext stops the operation once ctx is done. It then returns ctx.Err(), and the destination
// is unchanged. Built-in operators are stopped between blocks of entries; a function of a user,
// such as an operator of semiring.NewBinary or a matrix.CombineFunc, is called at most 256 times
// more by each thread. Conversions between formats and transposes, which call no function, run to
// their end.
func WithContext(ctx context.Context) Option { return func(s *settings) { s.ctx = ctx } }

// WithTrace stores the trace of the operation in t.
func WithTrace(t *Trace) Option { return func(s *settings) { s.trace = t } }

// WithTraces calls f with the trace after each operation, on the goroutine of the operation. It
// serves to trace a pipeline.
func WithTraces(f func(Trace)) Option { return func(s *settings) { s.traces = f } }

// WithOptions combines several options into one.
func WithOptions(opts ...Option) Option {
	return func(s *settings) {
		for _, o := range opts {
			if o != nil {
				o(s)
			}
		}
	}
}

// Trace describes a completed operation.
type Trace struct {
	Op     string // such as "MxM"
	Name   string // the operator, such as "plus_times"; the algorithm of a workflow that begins
	Method Method // the method that ran
	Plan   string // on a GPU, the plan of the kernel if it has one, such as "pull dia vm store"
	Place  string // the device, or "cpu"
	Work   int64  // for products, the number of multiplications examined
	NVals  int64  // entries of the destination afterwards
	// Imbalance is, of a workflow that is divided by ranges among the ranks of a group, the largest
	// share of the work times the number of ranks; 0 of others.
	Imbalance float64
}

// String returns the trace in one line.
func (t Trace) String() string {
	if t.Plan != "" {
		return fmt.Sprintf("%s %s: %s by plan %q on %s, %d products, %d entries", t.Op, t.Name, t.Method, t.Plan, t.Place, t.Work, t.NVals)
	}
	return fmt.Sprintf("%s %s: %s on %s, %d products, %d entries", t.Op, t.Name, t.Method, t.Place, t.Work, t.NVals)
}

// Sentinels for errors.Is. ErrMethod matches a MethodError and ErrOperator an OperatorError.
var (
	ErrMethod   = errors.New("method does not apply")
	ErrOperator = errors.New("operator is not usable")
	ErrPlace    = errors.New("destination is at a place that cannot run operations")
)

// A MethodError reports that a forced method does not apply.
type MethodError struct {
	Op     string
	Method Method
	Reason string
}

func (e *MethodError) Error() string {
	return fmt.Sprintf("%s: method %q does not apply: %s", e.Op, string(e.Method), e.Reason)
}

// Is reports whether target is ErrMethod.
func (e *MethodError) Is(target error) bool { return target == ErrMethod }

// An OperatorError reports that an operator is not usable.
type OperatorError struct{ Op, Reason string }

func (e *OperatorError) Error() string { return e.Op + ": " + e.Reason }

// Is reports whether target is ErrOperator.
func (e *OperatorError) Is(target error) bool { return target == ErrOperator }

func shape(m, n int) string { return fmt.Sprintf("%d×%d", m, n) }

// shapeOf formats the shape of an operand or destination.
func shapeOf(vector bool, m, n int) string {
	if vector {
		return fmt.Sprintf("a vector of %d", n)
	}
	return shape(m, n)
}

// dest is a destination.
type dest struct {
	m       rep.Matrix // nil for a nil destination
	vector  bool
	mask    matrix.Mask // nil: every position is written
	accum   operator    // not given: the result overwrites
	replace bool
}

// destOf returns the parts of a matrix.Destination of any element type, the zero value for nil.
func destOf(dst any) (d dest) {
	given, ok := dst.(interface{ Spec() matrix.Spec })
	if !ok {
		return d
	}
	s := given.Spec()
	if s.Accum != nil {
		d.accum = accumulatorOf(&s)
	}
	d.m, d.vector, d.mask, d.replace = s.Inside(), s.Vector, s.Mask, s.Replace
	return d
}

// dims returns the dimensions of a destination that is not nil.
func (d *dest) dims() (m, n int) {
	if d.m == nil {
		return 0, 0
	}
	return d.m.Dims()
}

// place returns the place of the destination, nil for the host.
func (d *dest) place() matrix.Place {
	if d.m == nil {
		return nil
	}
	return placeOf(d.m)
}

// placeOf returns the place of a matrix, nil for the host.
func placeOf(m rep.Matrix) matrix.Place {
	if p := m.Place(); p != nil {
		return p
	}
	return nil
}

// viewOf returns a matrix.Operand of any element type, the zero value for nil.
func viewOf(a any) (v rep.View) {
	if given, ok := a.(interface{ Inside() rep.View }); ok {
		v = given.Inside()
	}
	return v
}

// target is a checked destination. Its mask is resolved if the destination is on the host.
type target struct {
	dest
	c    *sparse.Type   // of the values
	view rep.Mask       // the mask, if there is one
	mask *cpu.Mask      // nil without one, and where it is not resolved
	at   device.Backend // where the destination lives, nil for the host
	// group is where the destination lives, if it is one of ranks.
	group *comm.Group
	cuts  []int    // of the destination on the group, nil until groupCuts
	own   cpu.Mask // the value that mask points to
}

// maxSpare is the largest number of values of a listed destination that an operation writes its
// result to.
const maxSpare = 1 << 13

// plain reports whether the result overwrites a destination on the host completely.
func (t *target) plain() bool { return t.at == nil && t.dest.mask == nil && !t.accum.given }

// over returns the values of a full destination that the result overwrites completely. The result
// is written to them. It returns none for other destinations, for an operator of a user, which may
// panic, and for more values than are written once the context is done.
func (c *call) over(user bool) (none sparse.Values) {
	if !c.t.plain() {
		return none
	}
	if st := c.t.m.Stored(); st.Format == sparse.Full && c.env().InPlace(user, st.Val.Len()) {
		return st.Val
	}
	return none
}

// spare returns the values of a listed and small destination that the result overwrites completely.
// The result may be written to them, also if it has a different number of entries. No operand may
// be the destination. For other destinations, and for an operator of a user, spare returns none.
func (t *target) spare(user bool) (none sparse.Values) {
	if user || !t.plain() {
		return none
	}
	if st := t.m.Stored(); st.Sparse() && st.Val.Cap() <= maxSpare {
		return st.Val
	}
	return none
}

// holds reports whether st is the storage of the destination: the operation reads and writes the
// same matrix.
func (t *target) holds(st *sparse.Store) bool { return t.at == nil && t.m.Stored() == st }

// prepare checks that the destination is m×n (1×n for a vector) and that the mask has its shape.
func (c *call) prepare(d dest, m, n int) (*target, error) {
	if d.m == nil {
		return nil, &matrix.InvalidError{Op: c.op, Reason: "the destination is nil; make it with matrix.New or matrix.NewVector"}
	}
	if err := d.m.Err(); err != nil {
		return nil, err
	}
	if err := c.methodless(); err != nil {
		return nil, err
	}
	if err := c.checkThreads(); err != nil {
		return nil, err
	}
	if d.accum.given && !d.accum.valid {
		return nil, &OperatorError{c.op, "the accumulator is the zero value; make it with a constructor of package semiring or as a matrix.CombineFunc"}
	}
	t := &c.t
	*t = target{} // in place: a literal would be built apart and copied
	t.dest, t.c = d, d.m.Type()
	if p := d.m.Place(); p != nil {
		if b := device.Of(p); b != nil {
			t.at = b
		} else {
			t.group, _ = p.(*comm.Group)
		}
		if t.at == nil && t.group.Size() == 0 {
			return nil, fmt.Errorf("%s: %w: %s", c.op, ErrPlace, p)
		}
	}
	if c.ctx != nil && c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	dm, dn := d.m.Dims()
	if d.vector {
		dm = 1
	}
	if dm != m || dn != n {
		return nil, c.dim("the destination", shapeOf(d.vector, dm, dn), shapeOf(d.vector, m, n), "make it of that shape")
	}
	if t.at == nil && t.group == nil {
		if err := c.fetch(); err != nil {
			return nil, err
		}
	}
	if d.mask == nil {
		return t, nil
	}
	v := d.mask.MaskView()
	if err := v.Err(); err != nil {
		return nil, c.naming("the mask", err)
	}
	mm, mn := v.Dims()
	if mm != m || mn != n || v.IsVector() != d.vector {
		return nil, c.dim("the mask", shapeOf(v.IsVector(), mm, mn), shapeOf(d.vector, m, n), "a mask has the shape of the destination")
	}
	t.view = v.Inside()
	if t.group != nil && !v.IsVector() { // its rows may decide how the destination is cut
		if err := c.on(t.group).placeMask(); err != nil {
			return nil, err
		}
	}
	if t.at == nil && t.group == nil {
		if err := v.Fetch(); err != nil {
			return nil, err
		}
		t.own = cpu.Mask{S: t.view.Allowed(), Comp: v.Complemented()}
		if t.mask = &t.own; d.vector && t.own.All() {
			t.mask, t.dest.mask = nil, nil
		}
	}
	return t, nil
}

// write stores the result in the destination. The call must own result. filtered reports that all
// entries of result are within the mask.
func (c *call) write(result *sparse.Store, filtered bool) error {
	t := &c.t
	o := cpu.Overlap{
		Mask: t.mask, Replace: t.replace, Filtered: filtered,
		InPlace: true, Adapt: !t.m.Pinned(),
	}
	if t.accum.given {
		o.Accum = t.accum.k
	}
	old := t.m.Stored()
	if !result.Val.Same(old.Val) { // see over
		if err := c.ended(); err != nil {
			return err
		}
	}
	st, err := cpu.Write(c.env(), old, result, o)
	if err != nil {
		return c.sized(err)
	}
	return c.keep(st.Valued())
}

// keep makes st the contents of the destination. st may be the storage of the destination, updated
// in place.
func (c *call) keep(st *sparse.Store) error {
	if c.t.vector && st.Format == sparse.Hypersparse {
		st = st.ToCSR()
	}
	c.t.m.SetResult(st)
	c.emit(st.NVals)
	return nil
}

// needed returns s, with values if the operator reads them.
func needed(s *sparse.Store, reads bool) *sparse.Store {
	if reads {
		return s.Valued()
	}
	return s
}
