package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// naivePhases runs a program with phases of Send or Gather as its definition reads: phase by phase,
// edge by edge, each message in a list.
func naivePhases[V, E, M comparable](g *matrix.Matrix[E], p program.Program[V, E, M]) (state []V, iterations int) {
	n, _ := g.Dims()
	round := program.Round{Superstep: -1, N: n}
	degrees := func(reverse bool) []int32 {
		d := make([]int32, n)
		for at := range g.All() {
			if reverse {
				d[at.Col]++
			} else {
				d[at.Row]++
			}
		}
		return d
	}
	state, active := make([]V, n), make([]bool, n)
	var degree []int32
	vertex := func(v int) program.Vertex { return program.Vertex{ID: int32(v), Degree: degree[v], Round: &round} }
	total := func() {
		round.Total = make([]float64, len(p.Totals))
		for k, f := range p.Totals {
			for v := range n {
				round.Total[k] += f.Func(vertex(v), state[v])
			}
		}
	}
	degree = degrees(p.Phases[0].Reverse)
	for v := range n {
		state[v], active[v] = p.Init.Func(vertex(v)), p.Init.Active
	}
	for _, s := range p.Seeds {
		state[s.ID], active[s.ID] = s.State, true
	}
	total()
	first := p.Phases[0]
	for ; iterations < p.Supersteps || p.Supersteps == 0; iterations++ {
		if !slices.Contains(active, true) && !((first.All || first.Everywhere) && iterations == 0) {
			break
		}
		round.Superstep = iterations
		for _, f := range p.Phases {
			degree = degrees(f.Reverse)
			mail := make([][]M, n)
			for at, w := range g.All() {
				u, v := at.Row, at.Col
				if f.Reverse {
					u, v = v, u
				}
				switch {
				case !active[u] && !f.All || f.Skip.Func != nil && f.Skip.Func(state[v]):
				case f.Send.Func != nil:
					mail[v] = append(mail[v], f.Send.Func(vertex(u), state[u]))
				case f.Gather.Func != nil:
					mail[v] = append(mail[v], f.Gather.Func(state[u], state[v], w))
				default:
					if m, ok := f.Gather.FuncIf(state[u], state[v], w); ok {
						mail[v] = append(mail[v], m)
					}
				}
			}
			next := slices.Clone(state)
			for v := range n {
				active[v] = false
				if len(mail[v]) == 0 && !f.Everywhere {
					continue
				}
				sum := f.Sum.Identity()
				for _, m := range mail[v] {
					sum = f.Sum.Combine(sum, m)
				}
				next[v], active[v] = f.Apply.Func(vertex(v), state[v], sum)
			}
			state = next
			total()
		}
	}
	return state, iterations
}

// The pool of functions of random phases, with their texts.
type phase = program.Phase[int32, int32, int32]

var (
	randomSends = []program.SendFunc[int32, int32]{
		program.Send(func(_ program.Vertex, s int32) int32 { return s }, "state"),
		program.Send(func(v program.Vertex, s int32) int32 { return s*3 + v.ID }, "state * 3 + id"),
		program.Send(func(v program.Vertex, s int32) int32 { return s ^ (v.Degree + int32(v.Superstep)) }, "state ^ degree + superstep"),
	}
	randomGathers = []program.GatherFunc[int32, int32, int32]{
		program.Gather(func(src, _, w int32) int32 { return src + w }, "src + weight"),
		program.Gather(func(src, dst, w int32) int32 { return src - dst*w }, "src - dst * weight"),
		program.GatherIf(func(src, dst, w int32) (int32, bool) { return src ^ w, src > dst }, "src ^ weight", "src > dst"),
	}
	randomSums = []struct {
		name string
		sum  semiring.Monoid[int32]
	}{{"plus", semiring.Plus[int32]()}, {"min", semiring.Min[int32]()}, {"max", semiring.Max[int32]()}}
	randomApplies = []program.ApplyFunc[int32, int32]{
		program.Apply(func(_ program.Vertex, s, sum int32) (int32, bool) { return max(s, sum&0xffff), sum > s }, "active = sum > state; state = max(state, sum & 0xffff);"),
		program.Apply(func(v program.Vertex, s, sum int32) (int32, bool) { return s + sum&7, (s+v.ID)&1 == 0 }, "active = ((state + id) & 1) == 0; state = state + (sum & 7);"),
		program.Apply(func(v program.Vertex, s, sum int32) (int32, bool) { return sum - s, v.Degree > 1 }, "state = sum - state; active = degree > 1;"),
	}
	randomSkip = program.Skip(func(s int32) bool { return s > 40 }, "state > 40")
)

// randomPhases returns a random program of two or three phases, and the same program as a file.
func randomPhases(r *rand.Rand, n int) (program.Program[int32, int32, int32], string) {
	p := program.Program[int32, int32, int32]{Supersteps: 2 + r.IntN(4),
		Init: program.Init(func(v program.Vertex) int32 { return v.ID*7%23 + v.Degree }, "id * 7 % 23 + degree")}
	var b strings.Builder
	fmt.Fprintf(&b, "state int32\nedge int32\nmessage int32\ninit %s\nsupersteps %d\n", p.Init.CUDA, p.Supersteps)
	if r.IntN(2) == 0 {
		p.Init.Active = false
		for range 3 {
			v := r.IntN(n)
			if !slices.ContainsFunc(p.Seeds, func(s program.Seed[int32]) bool { return s.ID == v }) {
				p.Seeds = append(p.Seeds, program.Seed[int32]{ID: v, State: 5})
				fmt.Fprintf(&b, "seed %d 5\n", v)
			}
		}
	}
	for k := range 2 + r.IntN(2) {
		f := phase{Name: fmt.Sprintf("p%d", k), Reverse: r.IntN(2) == 0, All: r.IntN(3) == 0, Everywhere: r.IntN(3) == 0}
		fmt.Fprintf(&b, "phase %s\n", f.Name)
		for word, on := range map[string]bool{"reverse": f.Reverse, "all": f.All, "everywhere": f.Everywhere} {
			if on {
				fmt.Fprintln(&b, word)
			}
		}
		if j := r.IntN(3); r.IntN(2) == 0 {
			f.Send = randomSends[j]
			fmt.Fprintf(&b, "send %s\n", f.Send.CUDA)
		} else {
			f.Gather = randomGathers[j]
			fmt.Fprintf(&b, "gather %s\n", f.Gather.CUDA)
			if f.Gather.If != "" {
				fmt.Fprintf(&b, "if %s\n", f.Gather.If)
			}
		}
		sum := randomSums[r.IntN(len(randomSums))]
		f.Sum, f.Apply = sum.sum, randomApplies[r.IntN(len(randomApplies))]
		fmt.Fprintf(&b, "sum %s\napply %s\n", sum.name, f.Apply.CUDA)
		if !f.Everywhere && r.IntN(3) == 0 {
			f.Skip = randomSkip
			fmt.Fprintf(&b, "skip %s\n", f.Skip.CUDA)
		}
		p.Phases = append(p.Phases, f)
	}
	return p, b.String()
}

// randomWeights returns a random directed graph with small weights.
func randomWeights(r *rand.Rand, n int) *matrix.Matrix[int32] {
	b := matrix.NewBuilder[int32](n, n)
	for range 4 * n {
		b.Add(r.IntN(n), r.IntN(1+r.IntN(n)), int32(1+r.IntN(5)))
	}
	return sure.Get(b.Build(semiring.Max[int32]()))
}

// TestPhases compares random programs of two and three phases with a naive run: as functions and as
// files, by each plan, on threads, groups and the emulated device.
func TestPhases(t *testing.T) {
	rounds := 60
	if longtest.Enabled() {
		rounds = 600
	}
	r := rand.New(rand.NewPCG(uint64(longtest.Turn()), 77))
	ctx, endings := context.Background(), map[program.Ended]int{}
	for round := range rounds {
		n := 1 + r.IntN(60)
		g := randomWeights(r, n)
		p, text := randomPhases(r, n)
		want, iterations := naivePhases(g, p)
		file, err := program.ReadFile(strings.NewReader(text), "random.prog")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		check := func(what string, res *program.Result[int32], err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v\n%s", what, err, text)
			}
			if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) || res.Supersteps != iterations {
				t.Fatalf("round %d, %s: %v after %d iterations, want %v after %d\n%s", round, what, got, res.Supersteps, want, iterations, text)
			}
			endings[res.Ended]++
		}
		for _, plan := range []string{"auto", "push", "pull"} {
			for _, threads := range []int{1, 3} {
				o := program.Options{Plan: plan, Threads: threads}
				res, err := program.Run(ctx, g, p, o)
				check(fmt.Sprintf("%s, %d threads", plan, threads), res, err)
				res, err = program.RunFile[int32](ctx, g, file, o)
				check(fmt.Sprintf("a file, %s, %d threads", plan, threads), res, err)
			}
		}
		group := sure.Get(comm.LocalGroup(1 + r.IntN(4)))
		there := g.Clone()
		sure.Do(there.Move(group))
		for _, plan := range []string{"auto", "push"} {
			o := program.Options{Plan: plan, Hops: r.IntN(3)}
			res, err := program.Run(ctx, there, p, o)
			check("a group, "+plan, res, err)
			res, err = program.RunFile[int32](ctx, there, file, o)
			check("a file on a group, "+plan, res, err)
		}
		sure.Do(group.Close())
	}
	if len(endings) < 2 {
		t.Errorf("all runs ended alike: %v", endings)
	}
}

// TestPhasesOnDevice runs random programs of phases on the emulated device.
func TestPhasesOnDevice(t *testing.T) {
	dev := emulated(t)
	rounds, plans := 1, []string{"auto", "buffer rows vm"} // a kernel takes seconds to compile
	if longtest.Enabled() {
		rounds, plans = 10, []string{"auto", "push", "pull csr vm store", "buffer rows vm"}
	}
	r := rand.New(rand.NewPCG(uint64(longtest.Turn()), 78))
	ctx := context.Background()
	for range rounds {
		n := 20 + r.IntN(80)
		g := randomWeights(r, n)
		p, text := randomPhases(r, n)
		want, iterations := naivePhases(g, p)
		there := g.Clone()
		sure.Do(there.Move(dev))
		file := sure.Get(program.ReadFile(strings.NewReader(text), "random.prog"))
		for _, plan := range plans {
			o := program.Options{Plan: plan}
			res, err := program.Run(ctx, there, p, o)
			var clash *program.PlanError
			if errors.As(err, &clash) && strings.Contains(clash.Reason, "clash") {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", plan, err, text)
			}
			if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) || res.Supersteps != iterations {
				t.Fatalf("%s: %v after %d iterations, want %v after %d\n%s", plan, got, res.Supersteps, want, iterations, text)
			}
			if plan != "auto" && !longtest.Enabled() {
				continue
			}
			if res, err = program.RunFile[int32](ctx, there, file, o); err != nil {
				t.Fatalf("a file, %s: %v\n%s", plan, err, text)
			}
			if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) || res.Supersteps != iterations {
				t.Fatalf("a file, %s: %v after %d iterations, want %v after %d\n%s", plan, got, res.Supersteps, want, iterations, text)
			}
		}
	}
}

// TestPhasesOnGPUs runs a program with phases on a group of emulated GPUs, whole on each.
func TestPhasesOnGPUs(t *testing.T) {
	list, _ := emulate.Devices(t, 2)
	r := rand.New(rand.NewPCG(5, 79))
	g := randomWeights(r, 40)
	p, text := randomPhases(r, 40)
	want, iterations := naivePhases(g, p)
	group := emulate.Group(list...)
	defer group.Close()
	there := g.Clone()
	sure.Do(there.Move(group))
	res, err := program.Run(context.Background(), there, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) || res.Supersteps != iterations {
		t.Errorf("%v after %d iterations, want %v after %d\n%s", got, res.Supersteps, want, iterations, text)
	}
}

// unit scales a vector to length 1.
func unit(x []float64) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = v / math.Sqrt(sum)
	}
	return out
}

func near(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
}

// TestHITS compares HITS with the power iteration of its definition, on the host, a group and the
// emulated device.
func TestHITS(t *testing.T) {
	g := randomWeights(rand.New(rand.NewPCG(3, 80)), 50)
	n, _ := g.Dims()
	hub, authority := make([]float64, n), make([]float64, n)
	for v := range hub {
		hub[v] = 1
	}
	const iterations = 12
	for range iterations {
		hub, authority = unit(hub), make([]float64, n)
		for at := range g.All() {
			authority[at.Col] += hub[at.Row]
		}
		hub, authority = make([]float64, n), unit(authority)
		for at := range g.All() {
			hub[at.Row] += authority[at.Col]
		}
	}
	places := []comm.Place{nil}
	group := sure.Get(comm.LocalGroup(3))
	defer group.Close()
	places = append(places, group)
	if dev, err := openEmulated(); err == nil {
		places = append(places, dev)
	}
	for _, place := range places {
		there := g.Clone()
		if place != nil {
			sure.Do(there.Move(place))
		}
		var trace []program.Step
		res, err := program.Run(context.Background(), there.Pattern(), examples.HITS(iterations), program.Options{
			Trace: func(s program.Step) { trace = append(trace, s) }})
		if err != nil {
			t.Fatal(err)
		}
		var hubs, authorities []float64
		for _, s := range sure.Get(res.State.Dense(examples.Scores{})) {
			hubs, authorities = append(hubs, s.Hub), append(authorities, s.Authority)
		}
		if !near(unit(hubs), unit(hub)) || !near(unit(authorities), unit(authority)) {
			t.Errorf("%v: hubs %v and authorities %v, want %v and %v", place, unit(hubs), unit(authorities), unit(hub), unit(authority))
		}
		if last := trace[len(trace)-1]; len(trace) != 2*iterations || last.Superstep != iterations-1 || last.Phase != 1 || last.Active != int64(n) {
			t.Errorf("%v: %d steps, the last %+v", place, len(trace), last)
		}
		if res.Ended != program.Full || res.Supersteps != iterations {
			t.Errorf("%v: %s after %d iterations", place, res.Ended, res.Supersteps)
		}
	}
}

func exampleFile(t *testing.T, name string) *program.File {
	t.Helper()
	return sure.Get(program.ReadFile(bytes.NewReader(sure.Get(os.ReadFile(name))), name))
}

// TestSALSA compares the file with the walk of its definition: the scores of hubs and authorities
// are divided by the numbers of out- and in-edges.
func TestSALSA(t *testing.T) {
	g := randomWeights(rand.New(rand.NewPCG(4, 81)), 40)
	n, _ := g.Dims()
	out, in := make([]float64, n), make([]float64, n)
	for at := range g.All() {
		out[at.Row]++
		in[at.Col]++
	}
	hub, authority := make([]float64, n), make([]float64, n)
	for v := range hub {
		hub[v] = 1 / float64(n)
	}
	for range 30 {
		clear(authority)
		for at := range g.All() {
			authority[at.Col] += hub[at.Row] / out[at.Row]
		}
		clear(hub)
		for at := range g.All() {
			hub[at.Row] += authority[at.Col] / in[at.Col]
		}
	}
	res, err := program.RunFileColumns(context.Background(), g, exampleFile(t, "salsa.prog"))
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Columns[0].Values.([]float64); res.Columns[0].Name != "hub" || !near(got, hub) {
		t.Errorf("hubs %v, want %v", got, hub)
	}
	if got := res.Columns[1].Values.([]float64); !near(got, authority) {
		t.Errorf("authorities %v, want %v", got, authority)
	}
}

// TestIndependent: no two members are neighbours, and each other vertex has a member beside it; the
// file agrees, as do a group and the emulated device.
func TestIndependent(t *testing.T) {
	for name, g := range graphs(t, 8) {
		if name == "directed" {
			continue
		}
		want := sure.Get(program.Run(context.Background(), g.Pattern(), examples.Independent()))
		state := sure.Get(want.State.Dense(-1))
		beside := make([]bool, len(state))
		for at := range g.All() {
			if at.Row == at.Col {
				continue
			}
			if state[at.Row] == examples.Member && state[at.Col] == examples.Member {
				t.Fatalf("%s: members %d and %d are neighbours", name, at.Row, at.Col)
			}
			beside[at.Col] = beside[at.Col] || state[at.Row] == examples.Member
		}
		for v, s := range state {
			if s == examples.Undecided || s == examples.Neighbour != beside[v] {
				t.Fatalf("%s: vertex %d has state %d, and a member beside it: %t", name, v, s, beside[v])
			}
		}
		if want.Supersteps < 2 || want.Ended != program.Quiet {
			t.Errorf("%s: %s after %d iterations", name, want.Ended, want.Supersteps)
		}
		places := []*matrix.Matrix[float64]{g.Clone(), g.Clone()}
		group := sure.Get(comm.LocalGroup(2))
		sure.Do(places[1].Move(group))
		var dev *cusparse.Device
		if open, err := openEmulated(); err == nil && (name == "R-MAT" || longtest.Enabled()) {
			dev = open
			places = append(places, g.Clone())
			sure.Do(places[2].Move(dev))
		}
		for _, there := range places {
			got, err := program.RunFile[int32](context.Background(), there, exampleFile(t, "independent.prog"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sure.Get(got.State.Dense(-1)), state) || got.Supersteps != want.Supersteps {
				t.Errorf("%s: the file on %v differs", name, there.Place())
			}
		}
		sure.Do(group.Close())
	}
}

func TestPhaseErrors(t *testing.T) {
	g := randomWeights(rand.New(rand.NewPCG(6, 82)), 5)
	whole := func() program.Program[int32, int32, int32] {
		return program.Program[int32, int32, int32]{
			Name: "two", Init: program.Init(func(program.Vertex) int32 { return 1 }, "1"), Supersteps: 2,
			Phases: []phase{{Send: randomSends[0], Sum: semiring.Plus[int32](), Apply: randomApplies[0]},
				{Name: "back", Reverse: true, Gather: randomGathers[0], Sum: semiring.Min[int32](), Apply: randomApplies[1]}},
		}
	}
	for _, c := range []struct {
		reason, part, of string
		change           func(p *program.Program[int32, int32, int32])
	}{
		{"no phases", "Phases", "two", func(p *program.Program[int32, int32, int32]) { p.Phases = p.Phases[:0] }},
		{"an empty phase", "Send, Gather, Edges", "two, phase 0", func(p *program.Program[int32, int32, int32]) { p.Phases[0] = phase{} }},
		{"a phase without a sum", "Sum, Messages", "two, phase back", func(p *program.Program[int32, int32, int32]) { p.Phases[1].Sum = semiring.Monoid[int32]{} }},
		{"a phase without Apply", "Apply", "two, phase back", func(p *program.Program[int32, int32, int32]) {
			p.Phases[1].Apply = program.ApplyFunc[int32, int32]{}
		}},
		{"a sum that is not the sum of its semiring", "Sum", "two, phase back", func(p *program.Program[int32, int32, int32]) {
			p.Phases[1].Gather = program.GatherOf(semiring.MaxPlus[int32]())
		}},
		{"functions beside phases", "Send", "two", func(p *program.Program[int32, int32, int32]) { p.Send = randomSends[0] }},
		{"Apply beside phases", "Apply", "two", func(p *program.Program[int32, int32, int32]) { p.Apply = randomApplies[0] }},
		{"Priority", "Priority", "two", func(p *program.Program[int32, int32, int32]) {
			p.Priority, p.Width = program.Priority(func(s int32) float64 { return float64(s) }, "state"), 1
		}},
		{"Idempotent", "Idempotent", "two", func(p *program.Program[int32, int32, int32]) { p.Idempotent = true }},
		{"a seed outside", "Seeds[0]", "two, phase 0", func(p *program.Program[int32, int32, int32]) { p.Seeds = program.At(9, int32(0)) }},
		{"a negative limit", "Supersteps", "two", func(p *program.Program[int32, int32, int32]) { p.Supersteps = -1 }},
	} {
		p := whole()
		if _, err := program.Run(context.Background(), g, p); err != nil {
			t.Fatal(err)
		}
		c.change(&p)
		_, err := program.Run(context.Background(), g, p)
		var bad *program.ProgramError
		if !errors.As(err, &bad) || bad.Part != c.part || bad.Program != c.of {
			t.Errorf("%s: %v, want an error of %s of %s", c.reason, err, c.part, c.of)
		}
	}
	p := whole()
	p.Phases[1].Apply.CUDA = ""
	if dev, err := openEmulated(); err == nil {
		there := g.Clone()
		sure.Do(there.Move(dev))
		var bad *program.ProgramError
		if _, err := program.Run(context.Background(), there, p); !errors.As(err, &bad) || bad.Part != "Apply" || bad.Program != "two, phase back" {
			t.Errorf("a phase without text on a device: %v", err)
		}
	}
	p = whole()
	p.Supersteps = 0
	p.Phases[1].Apply = program.Apply(func(_ program.Vertex, s, _ int32) (int32, bool) { return s, true }, "")
	p.Phases[1].Everywhere, p.Phases[1].All = true, true
	res, err := program.Run(context.Background(), g, p, program.Options{MaxSupersteps: 3})
	if !errors.Is(err, program.ErrLimit) || res == nil || res.Supersteps != 3 {
		t.Errorf("a program that never ends: %+v, %v", res, err)
	}
	if err := program.Check(whole(), 1); err != nil {
		t.Errorf("Check: %v", err)
	}
	p = whole()
	p.Phases[1].Sum = semiring.NewMonoid(semiring.NewBinary("minus", func(x, y int32) int32 { return x - y }), 0)
	var law *program.LawError
	if err := program.Check(p, 1); !errors.As(err, &law) {
		t.Errorf("Check of a difference as the sum of a phase: %v", err)
	}
}

const phasedFile = `state int32
message int32
init id
phase there
send state
sum plus
apply state = sum;
phase back
reverse
message { int32 least, most }
send {state, state}
sum {min(x.least, y.least), max(x.most, y.most)}
identity {INT_MAX, INT_MIN}
apply state = sum.most - sum.least;
`

func TestPhaseFileErrors(t *testing.T) {
	if f, err := program.ReadFile(strings.NewReader(phasedFile), "p.prog"); err != nil || len(f.Phases) != 2 || !f.Phases[1].Reverse {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, c := range []struct{ reason, old, new, want string }{
		{"a phase without a name", "phase back", "phase", `p.prog:8: the phase is named ""`},
		{"two phases of a name", "phase back", "phase there", `p.prog:8: there are two phases "there"`},
		{"an empty phase", "phase back", "phase none\nphase back", "p.prog: phase none: give one of send and gather"},
		{"a phase without apply", "apply state = sum;\n", "", "p.prog: phase there: there is no apply"},
		{"a part twice", "reverse", "reverse\nreverse", "p.prog:10: reverse is given twice, first in line 9"},
		{"a flag with text", "reverse", "reverse yes", `p.prog:9: reverse is followed by "yes"`},
		{"a part of the program in a phase", "reverse", "init id", "p.prog:9: init stands in a phase"},
		{"reverse without phases", "phase there\n", "reverse\nphase there\n", "p.prog:4: reverse belongs to a phase"},
		{"functions before the phases", "init id", "init id\nskip state > 0", "p.prog: skip is given for the whole program"},
		{"idempotent in a phase", "reverse", "idempotent", "p.prog:9: idempotent stands in a phase"},
		{"a field of the message of another phase", "state = sum.most - sum.least", "state = sum.mist", "p.prog:14: apply has sum.mist"},
		{"a named sum of fields", "sum {min(x.least, y.least), max(x.most, y.most)}\nidentity {INT_MAX, INT_MIN}", "sum min", "p.prog:12: sum is min, and the message is a struct"},
		{"no state", "state int32\n", "", "p.prog: there is no state"},
	} {
		text := strings.Replace(phasedFile, c.old, c.new, 1)
		_, err := program.ReadFile(strings.NewReader(text), "p.prog")
		var bad *program.FileError
		if text == phasedFile || !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	g := randomWeights(rand.New(rand.NewPCG(7, 83)), 5)
	file := sure.Get(program.ReadFile(strings.NewReader(strings.Replace(phasedFile, "send state", "send stat", 1)), "p.prog"))
	var bad *program.FileError
	if _, err := program.RunFile[int32](context.Background(), g, file); !errors.As(err, &bad) || !strings.HasPrefix(bad.Reason, "phase there: send") {
		t.Errorf("a name that does not exist: %v", err)
	}
}

// TestMedusaPhases runs a program whose phases are functions of Medusa, of whole lists: the median
// of the in-neighbours, and then its spread against the edges. It compares the host and the
// emulated device with a naive run, and Halt ends it.
func TestMedusaPhases(t *testing.T) {
	type edges = program.EdgeList[int32, int32, int32]
	g := randomWeights(rand.New(rand.NewPCG(8, 84)), 40)
	p := program.Program[int32, int32, int32]{
		Name: "medusa", Init: program.Init(func(v program.Vertex) int32 { return v.ID * 13 % 31 }, "id * 13 % 31"),
		Halt: func(superstep int, _ []float64) bool { return superstep == 2 },
		Phases: []phase{
			program.EdgeMessageVertex[int32, int32, int32]{
				Name:  "median",
				EList: func(_ program.Vertex, state int32, el *edges) { el.SendAll(state) },
				MList: func(_ program.Vertex, _ int32, m []int32) int32 {
					slices.Sort(m)
					return m[len(m)/2]
				},
				Vertex: func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true },
				CUDA: program.EMVText{EList: "edges.send_all(state)",
					MList: "messages.sort(); sum = messages[messages.len() / 2]", Vertex: "state = sum;"},
			}.Phase(),
			program.EdgeMessageVertex[int32, int32, int32]{
				Name:     "spread",
				Edge:     func(e *program.Edge[int32, int32, int32]) { e.Send(e.Src() + e.Weight()) },
				Combiner: semiring.Max[int32](), All: true,
				Vertex: func(_ program.Vertex, state, sum int32) (int32, bool) { return (state ^ sum) & 63, true },
				CUDA: program.EMVText{Edge: "edge.send(edge.src() + edge.weight())",
					Vertex: "state = (state ^ sum) & 63;"},
			}.Phase(),
		},
	}
	p.Phases[1].Reverse = true
	n, _ := g.Dims()
	want, active := make([]int32, n), make([]bool, n)
	for v := range want {
		want[v], active[v] = int32(v)*13%31, true
	}
	for range 3 {
		lists := make([][]int32, n)
		for at := range g.All() {
			if active[at.Row] {
				lists[at.Col] = append(lists[at.Col], want[at.Row])
			}
		}
		for v, list := range lists {
			if active[v] = len(list) > 0; active[v] {
				slices.Sort(list)
				want[v] = list[len(list)/2]
			}
		}
		sums := make([]int32, n)
		for v := range sums {
			sums[v] = math.MinInt32
		}
		for at, w := range g.All() {
			if active[at.Col] {
				sums[at.Row] = max(sums[at.Row], want[at.Col]+w)
			}
		}
		for v := range want {
			want[v], active[v] = (want[v]^sums[v])&63, true
		}
	}
	places := []*matrix.Matrix[int32]{g}
	if dev, err := openEmulated(); err == nil {
		places = append(places, g.Clone())
		sure.Do(places[1].Move(dev))
	}
	for _, there := range places {
		res, err := program.Run(context.Background(), there, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := sure.Get(res.State.Dense(-1)); !slices.Equal(got, want) || res.Ended != program.Halted || res.Supersteps != 3 {
			t.Errorf("%v: %v, %s after %d iterations, want %v", there.Place(), got, res.Ended, res.Supersteps, want)
		}
	}
	group := sure.Get(comm.LocalGroup(2))
	defer group.Close()
	there := g.Clone()
	sure.Do(there.Move(group))
	var bad *program.ProgramError
	if _, err := program.Run(context.Background(), there, p); !errors.As(err, &bad) || bad.Part != "Edges" {
		t.Errorf("Edges of a phase on a group: %v", err)
	}
}
