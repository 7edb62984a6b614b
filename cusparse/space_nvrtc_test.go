package cusparse

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// composition is a point of all that decides the text of a walk.
type composition struct {
	plan    space.Plan
	sums    string // of compositionSums
	x       sparse.Format
	mask    bool
	pattern bool // the matrix has no values
	flip    bool
}

// compositionSums are semirings of different kinds.
var compositionSums = map[string]func(t *testing.T) device.Semiring{
	"plus_times float":  func(t *testing.T) device.Semiring { return semiringOf[float32](t, "mxv") },
	"plus_times double": func(t *testing.T) device.Semiring { return semiringOf[float64](t, "mxv") },
	"plus_times int8":   func(t *testing.T) device.Semiring { return semiringOf[int8](t, "mxv") },
	"min_plus int32":    func(t *testing.T) device.Semiring { return semiringOf[int32](t, "sssp") },
	"any_pair":          func(t *testing.T) device.Semiring { return semiringOf[float32](t, "bfs") },
	"min_second uint64": func(t *testing.T) device.Semiring { return semiringOf[uint64](t, "cc") },
	"user struct": func(t *testing.T) device.Semiring {
		pair := device.Type{Name: "hb_test_pair", Size: 12, Go: "pair",
			Def: "struct hb_test_pair { float a; int b[2]; };\n"}
		join := device.Func{Name: "nearer", Text: "x.a < y.a ? x : y", X: pair, Y: pair, Out: pair,
			UsesX: true, UsesY: true}
		return device.Semiring{Name: "user", Mul: device.Func{Name: "join", Text: "x.a < y.a ? y : x",
			X: pair, Y: pair, Out: pair, UsesX: true, UsesY: true},
			Add: device.Monoid{Func: join, Identity: "hb_test_pair()"}}
	},
	"positional": func(t *testing.T) device.Semiring {
		s := semiringOf[int64](t, "cc")
		s.Position = 1
		s.Mul.Text, s.Mul.UsesX, s.Mul.UsesY = "i + k", false, false
		return s
	},
}

func semiringOf[T any](t *testing.T, op string) device.Semiring {
	t.Helper()
	typ, err := device.TypeOf[T]()
	check(t, err)
	c, err := tuned.CaseOf(op, typ)
	check(t, err)
	return c.Semiring
}

// source composes the kernels of c; ok is false where the parts do not fit.
func (c composition) source(t *testing.T) (text, title string, ok bool) {
	s := compositionSums[c.sums](t)
	pull := c.plan.Direction == space.Pull
	facts := space.Facts{
		Rows: 1000, Cols: 1000, Entries: 10000, Seen: true, MaxDegree: 20, Diagonals: 5,
		OnDiagonals: .9, FullX: c.x == sparse.Full, ListedX: c.x == sparse.CSR, ListedMask: c.mask,
		Any: s.Add.Any, Exact: s.Add.Exact, Result: s.Add.Out.Size, Position: s.Position != 0,
		Constant: !s.Mul.UsesX && !s.Mul.UsesY && s.Position == 0, Elements: s.Mul.X.Size,
	}
	if c.plan.Legal(facts) != nil || c.pattern && s.Mul.X.Def != "" {
		return "", "", false
	}
	typ, of := s.Mul.X, s.Mul.Y
	if c.flip {
		typ, of = of, typ
	}
	w := &walk{s: s, flip: c.flip, plan: c.plan}
	w.a = &store{m: 1000, n: 1000, typ: typ, val: &mem{}}
	w.u = &store{m: 1, n: 1000, typ: of, format: c.x, val: &mem{}}
	w.a.count.Store(10000)
	w.u.count.Store(1000)
	if c.pattern {
		w.a.val = nil
	}
	key := walkKey{plan: launchedPlan(c.plan), s: s, flip: c.flip, bareA: c.pattern, xFormat: c.x,
		mask: c.mask && (!pull || c.plan.From != space.List), ordered: c.plan.Order != space.Natural,
		hit: !pull || c.x != sparse.Full || c.mask || c.plan.Layout == space.Hyper || s.Add.Any,
		at:  !pull && c.x == sparse.Bitmap, rest: c.mask, bits: 1, width: 5}
	key.plan.From = w.from()
	if c.plan.Baked {
		key.diagonals = "-2, -1, 0, 1, 2"
	}
	p := w.program(key)
	return p.source(), fmt.Sprint(p.title(), c), true
}

// features are what pairs are made of.
func (c composition) features() []string {
	p := c.plan
	return []string{p.Direction.String() + " " + p.Layout.String(), p.Schedule.String(),
		p.Frame.String(), "from " + p.From.String(), "order " + p.Order.String(),
		fmt.Sprint("baked ", p.Baked), fmt.Sprint("ranges ", p.Ranges != 0), c.sums, "x " + c.x.String(), fmt.Sprint("mask ", c.mask),
		fmt.Sprint("pattern ", c.pattern), fmt.Sprint("flip ", c.flip)}
}

// compositions returns every legal plan of any operands, of default numbers but for one of each.
func compositionPlans() []space.Plan {
	every := space.Facts{Rows: 1000, Cols: 1000, Entries: 10000, Seen: true, MaxDegree: 20,
		Diagonals: 5, OnDiagonals: .9, FullX: true, ListedMask: true, Exact: true, Constant: true,
		Result: 4, ReadsX: true, Shared: 1}
	var plans []space.Plan
	for _, d := range []space.Direction{space.Pull, space.Push} {
		for _, p := range space.Points(d, every) {
			if p.Schedule != space.Tiles && p.Schedule != space.Expand {
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// cover picks compositions until every pair of features that some composition has is in one of
// them.
func cover(t *testing.T, r *rand.Rand) []composition {
	plans := compositionPlans()
	var sums []string
	for name := range compositionSums {
		sums = append(sums, name)
	}
	covered := map[[2]string]bool{}
	fresh := func(c composition) (n int) {
		f := c.features()
		for i := range f {
			for _, g := range f[i+1:] {
				if !covered[[2]string{f[i], g}] {
					n++
				}
			}
		}
		return n
	}
	var out []composition
	for idle := 0; idle < 400; {
		var best composition
		most := 0
		for range 60 {
			c := composition{plan: plans[r.IntN(len(plans))], sums: sums[r.IntN(len(sums))],
				x:    []sparse.Format{sparse.CSR, sparse.Bitmap, sparse.Full}[r.IntN(3)],
				mask: r.IntN(2) == 0, pattern: r.IntN(2) == 0, flip: r.IntN(2) == 0}
			if n := fresh(c); n > most {
				if _, _, ok := c.source(t); ok {
					best, most = c, n
				}
			}
		}
		if most == 0 {
			idle += 60
			continue
		}
		out = append(out, best)
		f := best.features()
		for i := range f {
			for _, g := range f[i+1:] {
				covered[[2]string{f[i], g}] = true
			}
		}
	}
	return out
}

// TestSpaceByNVRTC gives the composed kernels to NVRTC, for the architectures at both ends: a set
// that has every part beside every other, chosen by HIVEBLAS_SEED, or with HIVEBLAS_SPACE=all each
// plan of the space. It needs HIVEBLAS_NVRTC, not a GPU.
func TestSpaceByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC names no compiler; scripts/nvrtc.sh fetches one")
	}
	nvrtc, err := driver.OpenCompiler()
	check(t, err)
	seed := uint64(longtest.Turn())
	own := sliced("nvrtcsliced", "e", 1000)
	archs := []string{"sm_70", "sm_90"}
	set := cover(t, rand.New(rand.NewPCG(seed, 14)))
	if os.Getenv("HIVEBLAS_SPACE") == "all" {
		archs, set = archs[1:], nil
		for i, p := range compositionPlans() {
			sums := "plus_times float"
			if i%3 == 1 {
				sums = "min_plus int32"
			}
			set = append(set, composition{plan: p, sums: sums, x: []sparse.Format{sparse.Full, sparse.Bitmap}[i%2], mask: true})
		}
	}
	t.Logf("%d compositions, seed %d", len(set), seed)
	if len(set) < 60 {
		t.Errorf("%d compositions cannot have every schedule with every layout", len(set))
	}
	type job struct{ source, title, arch string }
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				if _, err := nvrtc.Compile(j.source, j.title, j.arch); err != nil {
					t.Errorf("%s for %s: %v", j.title, j.arch, err)
				}
			}
		}()
	}
	for _, arch := range archs {
		p := compose("layout", own.String())
		p.parts, p.own = []string{"common"}, own.Own().Kernels
		jobs <- job{p.source(), "the kernels of " + own.String(), arch}
	}
	seen := map[string]bool{}
	for _, c := range set {
		source, title, ok := c.source(t)
		if !ok || seen[source] {
			continue
		}
		seen[source] = true
		for _, arch := range archs {
			jobs <- job{source, title, arch}
		}
	}
	close(jobs)
	wg.Wait()
}
