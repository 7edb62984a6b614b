package ops

import (
	"iter"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/record"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Condition of a loop is a vector or a matrix, which holds while there are entries, or a
// *matrix.Scalar[bool], which holds while the value is true.
type Condition interface{ Inside() rep.View }

// Passes bounds the number of passes of a loop. A loop that ends by it is no error.
func Passes(n int64) Option {
	return func(s *settings) { s.passes, s.bounded = n, true }
}

// Progress calls f with the number of each pass of a loop, from 1 on, on the goroutine of the loop,
// when the pass has begun.
func Progress(f func(pass int64)) Option { return func(s *settings) { s.progress = f } }

// Explain calls f when a loop begins to run on a device: with the list of the operations of a pass,
// or with the reason why they run one by one.
func Explain(f func(text string)) Option { return func(s *settings) { s.explain = f } }

// OneByOne runs the operations of a loop one by one, as without the option that the loop gives its
// body. The result is the same.
func OneByOne() Option { return func(s *settings) { s.oneByOne = true } }

// While is a loop with an operand as its condition. The body gets an option, which it gives to each
// operation, and to each loop and branch:
//
//	for in := range s.While(frontier) {
//		s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
//		s.Do(ops.VxM(frontier.Masked(unvisited).Replace(), anyPair, frontier.Pattern(), a.Pattern(), in))
//		s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
//	}
//
// On a device the operations of the first pass wait in a list. The device then runs the loop to its
// end by that list, as one kernel. Meanwhile the body is called once for each pass that has begun:
// its operations compute nothing and check that they equal the list. So the body runs as often as
// written, and the result is always what the operations one by one give:
//
//   - A pass that differs from the list, by a number that changes, a branch of Go, or vectors that
//     exchange their names, ends the run; the rest runs one by one. A number that changes belongs
//     into a *matrix.Scalar, [Steps.If] is a branch, and [Swap] exchanges vectors.
//   - A read or a write of an operand of the list by other means, such as NVals, Set or an
//     operation without the option, runs the waiting operations first, and the rest one by one.
//   - break, return and panics leave the loop after the operations before them.
//
// A loop or a branch in the body that gets the option belongs to the list: the device decides how
// often it runs. The first pass of the loop around runs at once, and loops in it by their own
// lists. Where the device comes to a block that has not run yet, the run ends; that pass runs at
// once, and the device takes the next one.
//
// Lists may have the operations on vectors MxV, VxM, EWiseAdd, EWiseMult, EWiseUnion, Apply and its
// variants, Select, AssignVector and AssignVectorScalar to all positions, ExtractVector and
// ScatterVector by a full vector of indices, [ReduceInto], [CountInto] and [Swap], where the order
// of sums makes no difference. With others, on the host and on groups, the operations run one by
// one. [Explain] tells which. Options of the loop, but for [Passes], [Progress] and [Explain], are
// options of its operations too.
//
// An operation that fails on the device ends the loop with its error; its operands are as they were
// before the run by the list then.
func (s *Steps) While(cond Condition, opts ...Option) iter.Seq[Option] {
	return s.loop("Steps.While", cond, false, opts)
}

// If is a branch: for in := range s.If(cond, in) calls its body once if the condition holds. With
// the option of a loop around it a device decides; see [Steps.While]. break and continue in the
// body leave the branch.
func (s *Steps) If(cond Condition, opts ...Option) iter.Seq[Option] {
	return s.loop("Steps.If", cond, true, opts)
}

// loop is While, or If with branch set.
func (s *Steps) loop(op string, cond Condition, branch bool, opts []Option) iter.Seq[Option] {
	return func(yield func(Option) bool) {
		if !s.OK() {
			return
		}
		if cond == nil {
			s.Do(&matrix.InvalidError{Op: op, Reason: "the condition is nil; give a vector or a *matrix.Scalar[bool]"})
			return
		}
		given, own := WithOptions(opts...), settings{}
		if given(&own); branch {
			own.passes, own.bounded = 1, true
		}
		_, value := cond.(*matrix.Scalar[bool])
		l := record.New(record.Settings{
			Context: own.ctx, Cond: cond.Inside(), True: value, Branch: branch,
			Passes: own.passes, Bounded: own.bounded, Progress: own.progress, Explain: own.explain,
			OK: s.OK, Fail: func(err error) { s.Do(err) },
		})
		switch {
		case own.oneByOne:
			l.Refused = "the option OneByOne"
		case own.trace != nil || own.traces != nil:
			l.Refused = "its operations are traced"
		}
		in := func(c *settings) {
			given(c)
			c.loop, c.bounded, c.progress, c.explain = nil, false, nil, nil
			if l.Records() {
				c.loop = l
			}
		}
		l.Body = func() bool { return yield(in) }
		l.Run(own.loop)
	}
}

// recorded reports whether the operation goes to the list of a loop. For an operation of the body
// that cannot, it runs the waiting operations first.
func (c *call) recorded() bool { return c.loop != nil && c.loop.Takes(c.op, c.t.at, c.method != Auto) }

// variable returns the number of a matrix in the list of the loop.
func (h *remoteCall) variable(m rep.Matrix, vector bool) int {
	m = m.Matrix() // of a pattern too: its values have their own type
	if v, ok := h.c.loop.Variable(m); ok {
		return v
	}
	return h.c.loop.Add(m, vector, h.typeOf(m.Type()))
}

// use returns an operand of the list.
func (h *remoteCall) use(v rep.View) pass.Use {
	return pass.Use{Var: h.variable(v.Matrix, v.Vector), Transposed: v.Transposed, Pattern: v.IsPattern(), Symmetric: v.Symmetric()}
}

// value returns a scalar as an argument of a step.
func (h *remoteCall) value(x rep.View) pass.Bound {
	return pass.Bound{Var: h.variable(x.Matrix, true), Type: h.typeOf(x.Type())}
}

// listed takes the operation into the list of the loop, or compares it with the list. fill fills
// its step, unless key says that the step is the one of the list, and run runs the operation by
// itself.
func (c *call) listed(kind pass.Kind, key record.Key, fill func(h *remoteCall, s *pass.Step), run func() error) error {
	t := &c.t
	key.Kind, key.Op, key.Dst, key.Replace, key.Accum = kind, c.op, t.m, t.replace, unsafe.Pointer(t.accum.k)
	if t.dest.mask != nil {
		key.Mask, key.Structural, key.Comp = t.view.Matrix.Matrix(), t.view.Structural || t.view.IsPattern(), t.view.Complement
	}
	if c.alone = run; c.loop.Again(&key, c) {
		return nil
	}
	h := &remoteCall{c: c, at: t.at}
	s := c.loop.Step(kind, c.op)
	s.Dst, s.Replace = h.variable(t.m, t.vector), t.replace
	if key.Mask != nil {
		s.Mask = pass.Mask{Var: h.variable(key.Mask, t.vector), Structural: key.Structural, Comp: key.Comp}
	}
	if t.accum.given {
		if f := h.accumulate(&t.accum); f != nil {
			s.Accum = *f
		}
	}
	if fill(h, s); h.err != nil {
		return h.err
	}
	return c.loop.Record(s, c)
}

// Run runs an operation of a list by itself, and Drop ends one that need not run.
func (c *call) Run() error {
	c.loop = nil
	return c.alone()
}

func (c *call) Drop() {
	*c = call{}
	calls.Put(c)
}
