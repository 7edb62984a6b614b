package cusparse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// loopWorld is the operands of a random loop.
type loopWorld struct {
	n      int
	a, sym *matrix.Matrix[int32]
	v      []*matrix.Vector[int32] // the last is full
	b      []*matrix.Vector[bool]
	s      []*matrix.Scalar[int32]
	count  *matrix.Scalar[int64]
	idx    *matrix.Vector[int32] // full, and not written
	spare  *matrix.Vector[int32] // not written
	goOn   *matrix.Scalar[bool]
	flag   *matrix.Scalar[bool]
}

// newLoopWorld makes the operands that seed gives, at a place.
func newLoopWorld(t *testing.T, seed uint64, at matrix.Place) *loopWorld {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &loopWorld{n: 5 + r.IntN(60)}
	n := w.n
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	edges := func(sym bool) *matrix.Matrix[int32] {
		var rows, cols []int
		var vals []int32
		add := func(i, j int, x int32) { rows, cols, vals = append(rows, i), append(cols, j), append(vals, x) }
		for range n * (1 + r.IntN(4)) {
			i, j, x := r.IntN(n), r.IntN(n), int32(r.IntN(9)+1)
			if r.IntN(3) == 0 {
				i = 0 // a long row
			}
			add(i, j, x)
			if sym {
				add(j, i, x)
			}
		}
		a, err := matrix.FromTuples(n, n, rows, cols, vals, semiring.Min[int32]())
		must(err)
		if sym {
			a.IsSymmetric()
		}
		must(a.Move(at))
		return a
	}
	w.a, w.sym = edges(false), edges(true)
	vector := func(density int) *matrix.Vector[int32] {
		v := matrix.NewVector[int32](n)
		for i := range n {
			if r.IntN(100) < density {
				must(v.Set(i, int32(r.IntN(21)-5)))
			}
		}
		must(v.Move(at))
		return v
	}
	for _, density := range []int{0, 10, 60, 100} {
		w.v = append(w.v, vector(density))
	}
	w.spare = vector(50)
	w.idx = matrix.NewVector[int32](n)
	for i := range n {
		must(w.idx.Set(i, int32(r.IntN(n))))
	}
	must(w.idx.Move(at))
	for k := range 2 {
		b := matrix.NewVector[bool](n)
		for i := range n {
			if r.IntN(3) == k {
				must(b.Set(i, r.IntN(3) != 0))
			}
		}
		must(b.Move(at))
		w.b = append(w.b, b)
	}
	here := matrix.On(at)
	w.s = []*matrix.Scalar[int32]{matrix.ScalarOf(int32(r.IntN(7)), here), matrix.NewScalar[int32](here)}
	w.count = matrix.NewScalar[int64](here)
	w.goOn = matrix.ScalarOf(true, here)
	w.flag = matrix.ScalarOf(r.IntN(2) == 0, here)
	return w
}

// state prints all operands.
func (w *loopWorld) state() string {
	var b strings.Builder
	for k, v := range w.v {
		fmt.Fprintf(&b, "v%d", k)
		for i, x := range v.All() {
			fmt.Fprintf(&b, " %d:%d", i, x)
		}
		fmt.Fprintf(&b, " (%d) %v\n", v.NVals(), v.Err())
	}
	for k, v := range w.b {
		fmt.Fprintf(&b, "b%d", k)
		for i, x := range v.All() {
			fmt.Fprintf(&b, " %d:%v", i, x)
		}
		fmt.Fprintf(&b, " (%d) %v\n", v.NVals(), v.Err())
	}
	for _, s := range w.s {
		x, err := s.Value()
		fmt.Fprintf(&b, "s %d %v\n", x, err)
	}
	c, err := w.count.Value()
	fmt.Fprintf(&b, "count %d %v\n", c, err)
	f, err := w.flag.Value()
	fmt.Fprintf(&b, "flag %v %v\n", f, err)
	return b.String()
}

// loopStep is an operation of a random loop.
type loopStep func(w *loopWorld, in ops.Option) error

// randomLoopStep returns an operation and its name.
func randomLoopStep(r *rand.Rand) (loopStep, string) {
	k, a, b, m, sc := r.IntN(20), r.IntN(4), r.IntN(4), r.IntN(9), r.IntN(2)
	dst := r.IntN(3)
	if r.IntN(5) == 0 {
		dst = 3
	}
	accum, replace, value := r.IntN(3) == 0, r.IntN(3) == 0, int32(r.IntN(9)-2)
	mask := func(w *loopWorld) matrix.Mask {
		switch m {
		case 0:
			return w.b[0].Structure()
		case 1:
			return w.b[1]
		case 2:
			return w.v[a].Structure().Not()
		case 3:
			return w.v[b].MaskView()
		case 4:
			return w.b[1].Structure().Not()
		}
		return nil
	}
	to := func(w *loopWorld) matrix.Destination[int32] {
		d := w.v[dst].Masked(mask(w))
		if accum {
			by := []semiring.Monoid[int32]{semiring.Max[int32](), semiring.Min[int32](), semiring.Plus[int32]()}
			d = d.Accum(by[(dst+a+b)%3])
		}
		if replace {
			d = d.Replace()
		}
		return d
	}
	target := func(w *loopWorld) matrix.VectorTarget[int32] { return to(w).(matrix.VectorTarget[int32]) }
	of := func(w *loopWorld, i int) *matrix.Vector[int32] {
		if i == 3 && sc == 1 {
			return w.spare
		}
		return w.v[i]
	}
	graph := func(w *loopWorld) *matrix.Matrix[int32] {
		if sc == 0 {
			return w.sym
		}
		return w.a
	}
	name := func(what string) string {
		return fmt.Sprintf("%s v%d⟨%d accum %v replace %v⟩ of %d, %d, %d", what, dst, m, accum, replace, a, b, sc)
	}
	switch k {
	case 0, 1, 2:
		return func(w *loopWorld, in ops.Option) error {
			return ops.VxM(target(w), semiring.MinPlus[int32](), of(w, a), graph(w), in)
		}, name("VxM min.plus")
	case 3:
		return func(w *loopWorld, in ops.Option) error {
			return ops.MxV(target(w), semiring.PlusTimes[int32](), graph(w), of(w, a), in)
		}, name("MxV plus.times")
	case 4, 5:
		return func(w *loopWorld, in ops.Option) error {
			d := w.b[sc].Masked(mask(w))
			if replace {
				d = d.Replace()
			}
			return ops.VxM(d, semiring.AnyPair[bool](), w.b[a%2].Pattern(), graph(w).Pattern(), in)
		}, name("VxM any.pair b")
	case 6:
		return func(w *loopWorld, in ops.Option) error {
			return ops.VxM(target(w), semiring.MinSecondi[int32](0), w.b[a%2].Pattern(), graph(w).Pattern(), in)
		}, name("VxM min.secondi")
	case 7:
		return func(w *loopWorld, in ops.Option) error {
			return ops.EWiseAdd(to(w), semiring.Plus[int32](), of(w, a), of(w, b), in)
		}, name("EWiseAdd")
	case 8:
		return func(w *loopWorld, in ops.Option) error {
			return ops.EWiseMult(to(w), semiring.Minus[int32](), of(w, a), of(w, b), in)
		}, name("EWiseMult")
	case 9:
		return func(w *loopWorld, in ops.Option) error {
			return ops.EWiseUnion(to(w), semiring.Minus[int32](), of(w, a), value, of(w, b), 3, in)
		}, name("EWiseUnion")
	case 10:
		return func(w *loopWorld, in ops.Option) error {
			return ops.Apply(to(w), semiring.Abs[int32](), of(w, a), in)
		}, name("Apply")
	case 11:
		return func(w *loopWorld, in ops.Option) error {
			return ops.ApplyIndex(to(w), semiring.RowIndex[int32, int32](value), of(w, a), in)
		}, name("ApplyIndex")
	case 12:
		return func(w *loopWorld, in ops.Option) error {
			if replace {
				return ops.ApplyFirst(to(w), semiring.Minus[int32](), value, of(w, a), in)
			}
			return ops.ApplySecondFrom(to(w), semiring.Minus[int32](), of(w, a), w.s[sc], in)
		}, name("ApplyBound")
	case 13:
		return func(w *loopWorld, in ops.Option) error {
			if accum {
				return ops.SelectFrom(to(w), semiring.Gt[int32](), of(w, a), w.s[sc], in)
			}
			return ops.Select(to(w), semiring.ValueGT(value), of(w, a), in)
		}, name("Select")
	case 14:
		return func(w *loopWorld, in ops.Option) error {
			return ops.AssignVector(target(w), of(w, a), ops.All(), in)
		}, name("AssignVector")
	case 15:
		return func(w *loopWorld, in ops.Option) error {
			if b%2 == 0 {
				return ops.AssignVectorScalar(target(w), value, ops.All(), in)
			}
			return ops.AssignVectorFrom(target(w), w.s[sc], ops.All(), in)
		}, name("AssignScalar")
	case 16:
		return func(w *loopWorld, in ops.Option) error {
			return ops.ExtractVector(target(w), of(w, a), ops.ValuesOf(w.idx), in)
		}, name("ExtractVector")
	case 17:
		return func(w *loopWorld, in ops.Option) error {
			return ops.ScatterVector(target(w), semiring.Max[int32](), of(w, a), ops.ValuesOf(w.idx), in)
		}, name("ScatterVector")
	case 18:
		return func(w *loopWorld, in ops.Option) error {
			if b%2 == 0 {
				return ops.CountInto(w.count, of(w, a), in)
			}
			if accum {
				return ops.ReduceInto(w.s[sc].Accum(semiring.Min[int32]()), semiring.Plus[int32](), of(w, a), in)
			}
			return ops.ReduceInto(w.s[sc], semiring.Max[int32](), of(w, a), in)
		}, name("Reduce")
	}
	return func(w *loopWorld, in ops.Option) error {
		if b%2 == 0 {
			return ops.Swap(w.s[0], w.s[1], in)
		}
		return ops.Swap(w.v[a], w.v[dst], in)
	}, name("Swap")
}

// loopNode is an operation of a random loop, or a loop or a branch in its body.
type loopNode struct {
	name   string
	step   loopStep // nil for a block
	branch bool
	cond   int
	passes int64
	leaves int // the call of the body that ends with break; 0 for none
	body   []*loopNode
}

// randomLoopNodes returns a body of random operations, and of blocks up to a depth.
func randomLoopNodes(r *rand.Rand, depth int) (list []*loopNode) {
	for range 1 + r.IntN(5+depth) {
		x := &loopNode{cond: r.IntN(8), passes: int64(r.IntN(5))}
		switch k := r.IntN(12); {
		case depth > 0 && k < 2, depth > 0 && k < 4:
			if x.branch = k < 2; r.IntN(12) == 0 {
				x.leaves = 1 + r.IntN(6)
			}
			x.body = randomLoopNodes(r, depth-1)
			x.name = fmt.Sprintf("block, branch %v, of condition %d, %d passes, leaves %d", x.branch, x.cond, x.passes, x.leaves)
		case depth > 0 && k == 4:
			value := int32(r.IntN(9) - 2)
			x.name = fmt.Sprintf("flag by %d, %d", x.cond, value)
			x.step = func(w *loopWorld, in ops.Option) error {
				if x.cond < 4 {
					return ops.ApplySecond(w.flag, semiring.Gt[int32](), w.s[x.cond%2], value, in)
				}
				return ops.ReduceInto(w.flag, semiring.Lor(), w.b[x.cond%2], in)
			}
		default:
			x.step, x.name = randomLoopStep(r)
		}
		list = append(list, x)
	}
	return list
}

// text prints nodes, a line each.
func textOfLoop(list []*loopNode, in string) string {
	text := ""
	for _, x := range list {
		text += in + x.name + "\n" + textOfLoop(x.body, in+"\t")
	}
	return text
}

// randomLoop is a body of random operations, bounded passes and a condition.
type randomLoop struct {
	body   []*loopNode
	passes int64
	cond   int
}

// newRandomLoop returns a loop with blocks in its body up to a depth.
func newRandomLoop(seed uint64, depth int) *randomLoop {
	r := rand.New(rand.NewPCG(seed, 2))
	l := &randomLoop{passes: int64(1 + r.IntN(5)), cond: min(r.IntN(12), 6)}
	if depth > 0 {
		l.cond = 6 - min(r.IntN(7), 1)*(1+r.IntN(6))*(r.IntN(3)/2)
	}
	l.body = randomLoopNodes(r, depth)
	return l
}

// loopRun is a run of a random loop; order has the calls of the bodies.
type loopRun struct {
	w     *loopWorld
	s     ops.Steps
	order strings.Builder
	calls map[*loopNode]int
}

func (run *loopRun) condition(k int) ops.Condition {
	switch w := run.w; {
	case k < 4:
		return w.v[k]
	case k < 6:
		return w.b[k-4]
	case k == 6:
		return w.goOn
	}
	return run.w.flag
}

// do runs the operations and blocks of a body.
func (run *loopRun) do(list []*loopNode, in ops.Option) {
	for k, x := range list {
		switch {
		case x.step != nil:
			run.s.Do(x.step(run.w, in))
		case x.branch:
			for in := range run.s.If(run.condition(x.cond), in) {
				if !run.enters(x, k, in) {
					break
				}
			}
		default:
			for in := range run.s.While(run.condition(x.cond), in, ops.Passes(x.passes)) {
				if !run.enters(x, k, in) {
					break
				}
			}
		}
	}
}

// enters runs the body of a block, and reports whether the block is not left.
func (run *loopRun) enters(x *loopNode, k int, in ops.Option) bool {
	fmt.Fprintf(&run.order, "(%d", k)
	run.do(x.body, in)
	fmt.Fprintf(&run.order, ")")
	run.calls[x]++
	return run.calls[x] != x.leaves
}

// run runs the loop, and returns what its operands become.
func (l *randomLoop) run(t *testing.T, seed uint64, at matrix.Place, opts ...ops.Option) string {
	run := &loopRun{w: newLoopWorld(t, seed, at), calls: map[*loopNode]int{}}
	for in := range run.s.While(run.condition(l.cond), append(opts, ops.Passes(l.passes))...) {
		run.order.WriteString(".")
		run.do(l.body, in)
		if l.cond == 6 { // the condition has to be written
			run.s.Do(ops.Apply(run.w.goOn, semiring.Identity[bool](), run.w.goOn, in))
		}
	}
	return fmt.Sprintf("%s, %v\n%s", run.order.String(), run.s.Err(), run.w.state())
}

// testLoops compares random loops that are recorded with their operations one by one. Every other
// loop has loops and branches in its body.
func testLoops(t *testing.T, d *Device, from, to uint64) {
	recorded, blocks := 0, 0
	for seed := from; seed < to; seed++ {
		l := newRandomLoop(seed, int(seed%2)*(1+int(seed/2%3)))
		var said []string
		got := l.run(t, seed, d, ops.Explain(func(s string) { said = append(said, s) }))
		if len(said) > 0 && strings.HasPrefix(said[0], "while ") {
			recorded++
			if strings.Contains(said[0], "\n\tif ") || strings.Contains(said[0], "\n\twhile ") {
				blocks++
			}
		}
		if want := l.run(t, seed, nil); got != want {
			t.Errorf("loop %d:\n%s\nbecomes\n%s\nwant\n%s\n%s", seed, textOfLoop(l.body, ""), got, want, strings.Join(said, "\n"))
			if t.Failed() && !longtest.Enabled() {
				return
			}
		}
	}
	// About 15 of 24 are recorded, and 4 with blocks: 0 to 8, as the seeds fall, but 17 of 100.
	if n := int(to - from); recorded < n/3 || blocks < n/25 {
		t.Errorf("%d of %d loops were recorded, %d with blocks", recorded, n, blocks)
	}
}

// TestLoops runs random loops on the emulator.
func TestLoops(t *testing.T) {
	d, _ := emulated(t)
	n := uint64(8)
	if longtest.Enabled() {
		n = 100
	}
	from := uint64(longtest.Turn()) * 1000
	testLoops(t, d, from, from+n)
}

// TestLoopsOnGPU runs random loops on a GPU.
func TestLoopsOnGPU(t *testing.T) {
	from, n := uint64(longtest.Turn())*1000, uint64(40)
	if testing.Short() {
		n = 8
	}
	testLoops(t, realDevice(t), from, from+n)
}
