package program

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file runs programs on a device. A superstep is a product of the matrix and a vector of
// states or messages, by any plan of the space, and one kernel of package program that applies the
// sums. Supersteps of functions of whole lists are in lists_gpu.go.

//go:embed kernels/program.cu
var programText string

// deviceProgram is a program as text, without type parameters.
type deviceProgram struct {
	name                 string
	state, edge, message device.Type
	gather               device.Semiring
	sends, skips         bool
	lists                lists
	mails                bool // messages do not depend on Totals, and are made with the states
	priority             bool
	idempotent           bool // wide supersteps send the messages of all vertices
	width                float64
	rounds               bool   // a device can run supersteps by itself; see rounds.go
	head                 string // the sum, as kernels/rounds.cu names it
	active               bool   // all vertices begin active
	seeds                []deviceSeed
	everywhere           bool
	totals               int
	halt                 func(int, []float64) bool
	supersteps           int
	body                 string // the functions that kernels/program.cu names
	code                 programKey
	part                 bool // the graph is the part of a rank; see part_run.go

	phases               []*deviceProgram // see gpu_phases.go
	phased, reverse, all bool             // of a phase
}

// deviceSeed is a seed and its state.
type deviceSeed struct {
	id    int
	state device.Scalar
}

// deviceBlock is the number of vertices of a block of threads. Totals are sums of sums of these.
const deviceBlock = 1024

var totalWord = regexp.MustCompile(`\btotal\b`)

// programKey tells programs apart on a device.
type programKey struct {
	body, state, message, edge string
	part, phased               bool
}

// textOf turns a program into text. It returns a *ProgramError if a function has no text.
func textOf(o *outline) (*deviceProgram, error) {
	if o.phased {
		return textOfPhases(o)
	}
	d := &deviceProgram{phased: o.inPhases, reverse: o.reverse, all: o.all, name: o.Name, active: o.Active, everywhere: o.Everywhere, totals: len(o.totals),
		halt: o.halt, supersteps: o.supersteps, sends: o.send.given, skips: o.skip.given, priority: o.priority.given,
		width: o.Width, idempotent: o.Idempotent}
	var err error
	fail := func(e error) {
		if err == nil && e != nil {
			err = e
		}
	}
	typed := func(part string, of *sparse.Type) device.Type {
		t, e := device.TypeFor(sparse.GoType(of))
		if e != nil {
			fail(&ProgramError{d.name, part, e.Error(), "or run the program on the host"})
		}
		return t
	}
	text := func(part string, given bool, cuda string) string {
		if given && cuda == "" {
			fail(&ProgramError{d.name, part, "has no CUDA text, which a device needs", "give it, or run the program on the host"})
		}
		return cuda
	}
	d.state, d.edge, d.message = typed("the state", o.State), typed("the edge value", o.edge), typed("the message", o.Message)
	first := o.init.cuda
	if !o.Value.None() && err == nil {
		var e error
		first, e = literal(o.State, d.state, o.Value.Pointer())
		fail(e)
	}
	f := functions{first: text("Init", true, first), apply: text("Apply", true, o.apply.cuda),
		send: text("Send", d.sends, o.send.cuda), skip: text("Skip", d.skips, o.skip.cuda),
		priority: text("Priority", d.priority, o.priority.cuda)}
	for k, t := range o.totals {
		f.totals = append(f.totals, text(fmt.Sprintf("Totals[%d]", k), true, t.cuda))
	}
	d.lists = lists{edges: o.edges.given, each: o.each, messages: o.messages.given,
		change: text("Message", o.changes, o.change)}
	f.walk, f.list = text("Edges", d.lists.edges, o.edges.cuda), text("Messages", d.lists.messages, o.messages.cuda)
	gather := text("Gather", !d.sends && !d.lists.edges, o.gather.cuda)
	if !o.gather.given {
		text("Gather's condition", o.gatherIf.given, o.gatherIf.cuda)
	}
	name, cuda := o.sumName()
	add := device.Monoid{Any: o.Sum != nil && o.Sum.Any, Func: device.Func{Name: name, Text: text("Sum", !d.lists.messages, cuda),
		X: d.message, Y: d.message, Out: d.message, UsesX: true, UsesY: true}}
	if err != nil {
		return nil, err
	}
	add.Exact = o.sums() && o.Sum.Exact
	if add.Identity = "HB_M()"; !d.lists.messages {
		var e error
		add.Identity, e = literal(o.Message, d.message, o.Sum.Identity.Pointer())
		fail(e)
	}
	for k, id := range o.Seeds {
		d.seeds = append(d.seeds, deviceSeed{id, device.Scalar{Type: d.state, P: o.SeedStates[k]}})
	}
	condition := o.gatherIf.cuda
	if condition == trueText {
		condition = ""
	}
	if d.lists.edges && !d.lists.messages {
		if sent, cond, ok := d.lists.fuse(&f, add, d.message); ok {
			gather, condition, d.sends = sent, cond, f.send != ""
			d.lists = lists{}
		}
	}
	d.compose(f, add, gather, condition)
	if k := o.mul; o.Product != nil && k != nil && k.Binary != nil { // a product as any other
		d.gather.Ends = false // the kernels of products are faster
		d.gather.Mul.UsesX, d.gather.Mul.UsesY = k.UsesX, k.UsesY
	}
	return d, err
}

// functions are the texts of a program.
type functions struct {
	first, send, apply, skip, priority string
	walk, list                         string
	totals                             []string
}

// compose writes the functions that kernels/program.cu names, and the ⊗ of the messages.
func (d *deviceProgram) compose(f functions, add device.Monoid, gather, condition string) {
	const context = "hb_i32 id, hb_i32 degree, hb_i32 n, hb_i32 superstep, const double *total"
	if d.sends && !d.lists.messages && strings.TrimSpace(f.send) == "state" && d.state.Name == d.message.Name {
		d.sends, gather, condition = false, "src", "" // products read the states: no vector of messages is written
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HB_DEVICE HB_V hb_first(hb_i32 id, hb_i32 degree, hb_i32 n) { typedef HB_V V; HB_V state = %s; return state; }\n", f.first)
	fmt.Fprintf(&b, "HB_DEVICE bool hb_step(HB_V &state, const HB_M &sum, %s) { typedef HB_V V; typedef HB_M M; bool active = true; %s; return active; }\n", context, f.apply)
	if d.sends {
		fmt.Fprintf(&b, "HB_DEVICE HB_M hb_message(const HB_V &state, %s) { typedef HB_V V; typedef HB_M M; HB_M message = %s; return message; }\n", context, f.send)
	}
	if d.skips {
		fmt.Fprintf(&b, "HB_DEVICE bool hb_closed(const HB_V &state) { typedef HB_V V; return %s; }\n", f.skip)
	}
	if d.totals > 0 {
		fmt.Fprintf(&b, "HB_DEVICE double hb_term(int k, const HB_V &state, %s) {\n\ttypedef HB_V V;\n\tswitch (k) {\n", context)
		for k, t := range f.totals {
			fmt.Fprintf(&b, "\tcase %d: return (double)(%s);\n", k, t)
		}
		b.WriteString("\t}\n\treturn 0;\n}\n")
	}
	fmt.Fprintf(&b, "#define HB_IDENTITY (%s)\n", add.Identity)
	if d.priority {
		fmt.Fprintf(&b, "HB_DEVICE double hb_priority(const HB_V &state) { typedef HB_V V; return (double)(%s); }\n", f.priority)
	}
	if !d.sends && !d.lists.edges { // as functions, so that x and y may be names of a semiring's text
		const ends = "const HB_E &weight, const HB_V &src, const HB_V &dst"
		has := condition
		if has == "" {
			has = "true"
		}
		fmt.Fprintf(&b, "HB_DEVICE bool hb_has(%s) { typedef HB_E E; typedef HB_V V; typedef HB_M M; return %s; }\n", ends, has)
		fmt.Fprintf(&b, "HB_DEVICE HB_M hb_edge(%s) { const HB_E &x = weight; const HB_V &y = src; %s return (HB_M)(%s); }\n",
			ends, "typedef HB_E E; typedef HB_V V; typedef HB_M M; typedef HB_E A; typedef HB_V B; typedef HB_M C; typedef A T;", gather)
	}
	d.mails = d.sends && !d.phased && !totalWord.MatchString(f.send)
	d.body = b.String()
	if !d.lists.messages {
		d.head = "HB_DEVICE HB_M hb_add(const HB_M &x, const HB_M &y) { typedef HB_M A; typedef HB_M B; typedef HB_M C; typedef HB_M T; return (HB_M)(" + add.Text + "); }\n"
	}
	if d.lists.present() {
		d.lists.compose(f.walk, f.list)
	}
	d.rounds = d.canRound(add)
	d.code = programKey{d.head + d.body + d.lists.changes() + d.lists.user, d.state.Name, d.message.Name, d.edge.Name, d.part, d.phased}
	d.gather = device.Semiring{Name: "the messages of " + d.name, Add: add}
	if d.sends {
		d.gather.Mul = device.Func{Name: "second", Text: "y", X: d.edge, Y: d.message, Out: d.message, UsesY: true}
	} else {
		d.gather.Mul = device.Func{Name: "gather", Text: gather, X: d.edge, Y: d.state, Out: d.message, UsesX: true, UsesY: true}
		d.gather.Ends, d.gather.If = true, condition
		if mul, ok := asProduct(gather, d.gather.Mul); ok && condition == "" {
			d.gather.Mul, d.gather.Ends = mul, false
		}
	}
}

// program is the text for the backend.
func (d *deviceProgram) program() device.Program {
	flag := map[bool]int{true: 1}
	p := device.Program{
		File: "program", Of: d.name, Body: d.body + programText,
		Types: []device.Typedef{{Name: "HB_V", Type: d.state}, {Name: "HB_M", Type: d.message},
			{Name: "HB_E", Type: d.edge}},
		Defines: map[string]any{"HB_IDEMPOTENT": flag[d.idempotent], "HB_SENDS": flag[d.sends], "HB_SKIPS": flag[d.skips], "HB_TOTALS": d.totals,
			"HB_MAILS": flag[d.mails], "HB_UNIT": d.unit(), "HB_PART": flag[d.part],
			"HB_BLOCK": deviceBlock, "HB_THREADS": device.Threads},
	}
	if d.rounds {
		d.withRounds(&p)
	}
	return p
}

// unit is the value of an edge of a pattern.
func (d *deviceProgram) unit() string {
	if d.edge.Number() {
		return "1"
	}
	return "HB_E()"
}

// onDevice checks a program for a graph on a device, and returns it as text.
func (p *outline) onDevice(a rep.View, o Options) (*deviceProgram, error) {
	if device.Of(a.Place()) == nil {
		return nil, &PlanError{p.Name, o.Plan, "the graph is on " + a.Place().String() + ", which runs no programs", "use matrix.Move(nil)"}
	}
	if o.Numbers != nil {
		return nil, &ProgramError{p.Name, "Numbers", "is given, and the graph is on " + a.Place().String(), "leave it out, or use matrix.Move(nil)"}
	}
	return textOf(p)
}

// statesOf returns a vector for n states at a place.
func statesOf[V comparable](n int, at matrix.Place) rep.View {
	return matrix.NewVector[V](n, matrix.On(at)).Inside()
}

// explain turns the error of a plan that does not apply into a *PlanError.
func (d *deviceProgram) explain(o Options, err error) error {
	var declined *device.MethodError
	if errors.As(err, &declined) {
		return &PlanError{d.name, o.Plan, declined.Reason, "use auto, push, pull, or a plan that hiveblas tune --list prints"}
	}
	return err
}

// kept says what becomes of the states of a run: the states of vertices from … to−1 become a result
// on the device, or all states are copied to bytes.
type kept struct {
	from, to int
	bytes    []byte
}

// run runs the supersteps on a device. It returns the states, and the outcome without them.
func (d *deviceProgram) run(
	ctx context.Context, at device.Runner, g device.Operand, n int, o Options, keep kept,
) (states device.Store, out outcome, err error) {
	var methods []string
	for _, p := range d.steps() {
		method, err := p.methodOf(o.Plan)
		if err != nil {
			return states, out, err
		}
		methods = append(methods, method)
	}
	err = at.Run(device.Call{Context: ctx, Op: d.name, Trace: o.Trace != nil}, func(s *device.Session) {
		r := d.steps()[0].on(s, g, n)
		r.start()
		if d.phases == nil {
			out.ended = r.supersteps(methods[0], o)
		} else {
			r, out.ended = d.iterations(r, g, methods, o)
		}
		out.supersteps, out.total, out.active = r.steps, r.total, r.count
		switch {
		case keep.bytes == nil:
			states = r.keep(keep.from, keep.to)
		case n > 0:
			s.Download(unsafe.Pointer(&keep.bytes[0]), r.state.Val, int64(len(keep.bytes)))
		}
	})
	return states, out, d.explain(o, err)
}

// methodOf checks a plan, and returns its method of a product.
func (d *deviceProgram) methodOf(plan string) (string, error) {
	if _, reason := readBuffer(plan); isBuffer(plan) && reason != "" {
		return "", &PlanError{d.name, plan, reason, "use " + strings.Join(BufferPlans(), ", ") + ", the last one with buckets=N or sort=exact, and group=G"}
	}
	if !d.lists.present() {
		return d.method(plan), nil
	}
	if _, err := hostPlan(d.name, plan); err != nil {
		return "", &PlanError{d.name, plan, "is not a plan of functions of whole lists", "use auto"}
	}
	return plan, nil
}

// on returns the run of a program, or of a phase, on a graph.
func (d *deviceProgram) on(s *device.Session, g device.Operand, n int) *deviceRun {
	g.Transposed = g.Transposed != d.reverse
	r := &deviceRun{Session: s, p: d, n: n, graph: g, rows: s.Rows(g), reverse: g}
	r.reverse.Transposed = !g.Transposed
	return r
}

// supersteps runs supersteps until the end.
func (r *deviceRun) supersteps(method string, o Options) Ended {
	d, limit := r.p, limitOf(r.p.supersteps, o.MaxSupersteps)
	for r.Err() == nil && r.n > 0 {
		if r.count == 0 && !(d.everywhere && r.steps == 0) {
			return Quiet
		}
		if limit > 0 && r.steps == limit {
			return Full
		}
		r.Check()
		if o.Progress != nil {
			o.Progress(r.steps, r.count)
		}
		if r.narrow(o.Plan) {
			r.byDevice(o)
			continue
		}
		step := Step{Superstep: r.steps, Active: r.count}
		step.Plan = r.superstep(method, int32(r.steps))
		if r.steps++; r.Err() != nil {
			break
		}
		if o.Trace != nil {
			o.Trace(step)
		}
		if d.halt != nil && d.halt(r.steps-1, r.total) {
			return Halted
		}
	}
	return Quiet
}

// method returns the method of a product for a plan. pushStates pushes lists of values, and Gather
// reads all values.
func (d *deviceProgram) method(plan string) string {
	switch {
	case plan == "auto":
		return ""
	case plan == "push" && d.gather.Ends:
		return pushStates
	}
	return plan
}

// pushStates is the plan of "push" for functions of Gather.
const pushStates = "push csr twc bitmap from=bitmap"

// deviceRun is a run under way.
type deviceRun struct {
	*device.Session
	p       *deviceProgram
	n       int
	rows    device.View // edges by source
	graph   device.Operand
	reverse device.Operand // the matrix with the rows that collect messages
	state   device.View    // states, present where a vertex is active; full if all are
	mail    device.View    // the messages of the active vertices, if they are known; see mails
	closed  device.View    // present where a vertex takes no messages
	sums    device.Buffer  // Totals, on the device
	total   []float64
	steps   int   // supersteps that have run
	count   int64 // active vertices
	edges   int64 // their out-edges
	past    int64 // out-edges of all vertices that were active
	loop    rounds
	idle    device.Buffer // of each edge: 1 if it is not active; zero: all are
	place   *devicePlace  // of the part of a rank; nil for the whole graph
	mine    int64         // of a part: own vertices that are active after the last superstep
	own     []int64       // and after each superstep of byDevice, as in the log
}

func (r *deviceRun) kernel(name string) device.Kernel {
	return r.Kernel(r.Program(r.p.code, r.p.program), "hb_program_"+name)
}

// newVertexSet returns a new set of vertices: bytes in whole words, which kernels set by atomics.
func (r *deviceRun) newVertexSet() device.Buffer { return r.Alloc((int64(r.n) + 7) / 4 * 4) }

// states returns room for states, with a set of active vertices.
func (r *deviceRun) states(t device.Type) device.View {
	present := r.newVertexSet()
	v := r.NewBitmap(r.n, t, present)
	r.Free(present) // the view has it
	return v
}

// start sets the states and the first active vertices.
func (r *deviceRun) start() {
	d, n := r.p, int32(r.n)
	r.total = make([]float64, d.totals)
	r.state = r.states(d.state)
	all := int32(0)
	if d.active {
		all, r.count, r.mine = 1, int64(n), r.place.owned(0, n)
	}
	if d.skips {
		r.closed = r.states(boolType)
	}
	r.Each(r.kernel("start"), int64(n), r.partArguments(n, r.rows.Ptr, r.state.Val, r.state.Present, r.closed.Present, all)...)
	seen := map[int]bool{}
	for _, seed := range d.seeds {
		size := int64(seed.state.Type.Size)
		if seed.state.P != nil { // the states of a file's seeds stand in hb_first
			r.Copy(r.state.Val.At(int64(seed.id)*size), r.Upload(seed.state.P, size), size)
		}
		r.Fill(r.state.Present.At(int64(seed.id)), 1, 1)
		if !d.active && !seen[seed.id] {
			r.count++
			r.mine += r.place.owned(int32(seed.id), int32(seed.id)+1)
		}
		seen[seed.id] = true
	}
	switch {
	case !d.skips:
	case len(seen) <= seedLaunches:
		for id := range seen {
			r.Each(r.kernel("close"), 1, int32(1), r.state.Val.At(int64(id)*int64(d.state.Size)), r.closed.Present.At(int64(id)))
		}
	default:
		r.Each(r.kernel("close"), int64(n), n, r.state.Val, r.closed.Present)
	}
	r.sums = r.Zeros(8 * int64(max(d.totals, 1)))
	r.sumTotals(-1)
	if d.active {
		r.edges, r.past = r.rows.Entries, r.rows.Entries
	}
	r.fillStates()
}

// seedLaunches is the number of seeds up to which there is a launch for each, and not one for all
// vertices.
const seedLaunches = 4

var boolType, _ = device.TypeOf[bool]()

// fillStates makes the states full if all vertices are active.
func (r *deviceRun) fillStates() {
	if r.count == int64(r.n) && r.n > 0 && r.state.Present.Addr != 0 {
		r.state = r.AllPresent(r.state)
	}
	r.state.Entries = r.count
}

// superstep runs one superstep and returns its plan.
func (r *deviceRun) superstep(method string, superstep int32) string {
	d, n := r.p, int32(r.n)
	pulls := method == "pull" || strings.HasPrefix(method, "pull ")
	if method == "" && d.rounds { // the queue takes the others
		method, pulls = "pull", true
	}
	if d.idempotent && pulls && r.wide() { // a product of a full vector is faster
		r.state = r.AllPresent(r.state)
		r.state.Entries = int64(r.n)
	}
	x := r.state
	if d.sends {
		if x = r.mail; x.Val.Addr == 0 {
			x = r.messages(r.state.Present)
			r.Each(r.kernel("send"), int64(n), r.partArguments(n, r.rows.Ptr, r.state.Val, r.state.Present, x.Val, superstep, r.sums)...)
		}
		if r.state.Present.Addr == 0 && x.Present.Addr != 0 {
			x = r.AllPresent(x)
		}
		x.Entries = r.state.Entries
	}
	var mask *device.Mask
	if d.skips {
		mask = &device.Mask{Store: r.closed.Store, Structural: true, Comp: true}
	}
	a := r.reverse
	a.Pattern = a.Pattern || d.sends
	var y device.View
	how := device.Ran{Plan: method}
	switch {
	case d.lists.present():
		y, how.Plan = r.byLists(x, superstep), listed
	case isBuffer(method):
		y = r.byBuffer(method, x)
	default:
		y, how = r.Product(method, d.gather, a, x, mask)
	}
	next := r.states(d.state)
	var mail device.View
	if d.mails {
		mail = r.messages(next.Present)
	}
	blocks := (int64(n) + deviceBlock - 1) / deviceBlock
	numbers := 2 // integers before the totals
	if r.place != nil {
		numbers = 3
	}
	found := make([]float64, numbers+d.totals)
	at := r.Alloc(8 * (int64(len(found)) + blocks*int64(d.totals)))
	parts := at.At(8 * int64(len(found)))
	r.Fill(at, 0, 8*int64(numbers))
	every := int32(0)
	if d.everywhere {
		every = 1
	}
	r.Blocks(r.kernel("apply"), min(blocks, int64(r.Multiprocessors())*8), device.Threads, r.partArguments(n, r.rows.Ptr, r.state.Val,
		y.Present, y.Val, next.Val, next.Present, r.closed.Present, every, superstep, r.sums, at, mail.Val, parts)...)
	if d.totals > 0 {
		r.Blocks(r.kernel("sum"), 1, device.Threads, blocks, parts, r.sums, at.At(8*int64(numbers)))
	}
	if r.Err() != nil {
		return ""
	}
	r.Drop(y)
	if d.sends {
		r.Drop(x)
	}
	r.Drop(r.state)
	r.state, r.mail = next, mail
	r.Download(unsafe.Pointer(&found[0]), at, 8*int64(len(found)))
	r.Free(at)
	r.count, r.edges = int64(math.Float64bits(found[0])), int64(math.Float64bits(found[1]))
	r.past += r.edges
	if r.place != nil {
		r.mine = int64(math.Float64bits(found[2]))
	}
	if d.totals > 0 {
		r.total = found[numbers:]
	}
	r.fillStates()
	if how.Plan != "" {
		return how.Plan
	}
	return how.Method
}

// keep returns the states of vertices from … to−1 as a result.
func (r *deviceRun) keep(from, to int) device.Store {
	if from == 0 && to == r.n {
		return r.Result(r.AllPresent(r.state), int64(to))
	}
	own, size := r.NewFull(1, to-from, r.p.state), int64(r.p.state.Size)
	r.Copy(own.Val, r.state.Val.At(int64(from)*size), int64(to-from)*size)
	return r.Result(own, int64(to-from))
}

// messages returns room for messages of the vertices with a byte in present; zero: of all.
func (r *deviceRun) messages(present device.Buffer) device.View {
	if present.Addr == 0 {
		return r.NewFull(1, r.n, r.p.message)
	}
	return r.NewBitmap(r.n, r.p.message, present)
}

// sumTotals computes Totals: sums of sums of blocks.
func (r *deviceRun) sumTotals(superstep int32) {
	d := r.p
	if d.totals == 0 || r.n == 0 || r.Err() != nil {
		return
	}
	blocks := (int64(r.n) + deviceBlock - 1) / deviceBlock
	total := make([]float64, d.totals)
	at := r.Alloc(8 * (1 + blocks) * int64(d.totals))
	parts := at.At(8 * int64(d.totals))
	r.Blocks(r.kernel("totals"), min(blocks, int64(r.Multiprocessors())*8), device.Threads, r.partArguments(int32(r.n), r.rows.Ptr,
		r.state.Val, superstep, r.sums, parts)...)
	r.Blocks(r.kernel("sum"), 1, device.Threads, blocks, parts, r.sums, at)
	r.Download(unsafe.Pointer(&total[0]), at, 8*int64(d.totals))
	r.Free(at)
	if r.Err() == nil {
		r.total = total
	}
}
