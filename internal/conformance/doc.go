// Package conformance tests the operations of package ops on every backend of hiveblas: random and
// hand-made cases against naive dense oracles, written from the mathematics of the GraphBLAS C API.
//
// A case is data: a few small dense inputs, their storage and use (format, transpose, pattern,
// aliasing), and the settings of the write (mask, accumulator, replace) and of the run (method,
// threads). A run builds fresh matrices, calls the operation, and compares the destination with
//
//	Z = accum(C, T),  C⟨M, r⟩ = Z
//
// where T is the result of the oracle. It also checks the storage invariants and that the operands
// and, after an error, the destination are unchanged. The entries of a failing case are removed one
// by one while it fails; the report contains the reduced case and its seed.
//
// Matrices of 2³¹−1 rows are small dense matrices too: an [Axis] lists the few positions that a
// case uses.
package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// Backend is the place of destinations under test.
type Backend interface {
	// Name is the name in the output.
	Name() string
	// Place is the place of destinations; nil is the host.
	Place() matrix.Place
	// Skip returns the reason to skip a case, or "". The name of a case is operation/element
	// type/operator/method, such as "MxM/float64/plus_times/hash".
	Skip(caseName string) string
}

// Host is the backend of the CPU.
type Host struct{}

// Name is "cpu".
func (Host) Name() string { return "cpu" }

// Place is the host.
func (Host) Place() matrix.Place { return nil }

// Skip skips nothing.
func (Host) Skip(string) string { return "" }

// Numbers of cases of a generator of weight 1: see [Run].
const (
	longBudget  = 30
	quickBudget = 8
	shortBudget = 4
)

// Run runs the kit against b, in the form that package longtest selects. A backend may have these
// optional methods:
//
//	Budget() int    // largest number of cases per unit of weight; long 30, quick 8, -short 4
//	Every() int     // run every n-th generator of each operation
//	First() int     // from this one on, counted from 0
//	Parallel() bool // whether generators run in parallel
func Run(t *testing.T, b Backend) {
	budget, every, first, parallel := quickBudget, 1, 0, false
	switch {
	case testing.Short():
		budget = shortBudget
	case longtest.Enabled():
		budget = longBudget
	}
	if slow, ok := b.(interface{ Budget() int }); ok {
		budget = min(budget, slow.Budget())
	}
	if sampled, ok := b.(interface{ Every() int }); ok {
		every = max(1, sampled.Every())
	}
	if later, ok := b.(interface{ First() int }); ok {
		first = later.First()
	}
	if safe, ok := b.(interface{ Parallel() bool }); ok {
		parallel = safe.Parallel()
	}
	number := map[string]int{} // of generators of each operation so far
	for _, g := range generators() {
		if every > 1 && b.Skip(g.name+"/") != "" { // skipped generators do not count
			continue
		}
		op, _, _ := strings.Cut(g.name, "/")
		if number[op]++; (number[op]-1)%every != first%every {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			if parallel {
				t.Parallel()
			}
			skipped := map[string]bool{}
			for it := range max(1, budget*g.weight) {
				seed := uint64(it)
				if failure := once(b, g, seed, skipped); failure != "" {
					t.Error(failure)
					return
				}
			}
			for reason := range skipped {
				t.Log("skipped:", reason)
			}
		})
	}
	t.Run("errors", func(t *testing.T) { testErrors(t, b) })
	t.Run("cancellation", func(t *testing.T) { testCancellation(t, b) })
}

// generator makes the cases of one operation.
type generator struct {
	name   string // operation/element type/operator
	weight int    // how many cases per unit of budget
	make   func(p *plan) func(r *runner) error
}

// Types returns the element types of the generators of an operation, such as "MxM", in order. The
// types of package longtest's build tag long are among them if the tag is set.
func Types(op string) []string {
	var list []string
	for _, g := range generators() {
		if parts := strings.Split(g.name, "/"); parts[0] == op && !slices.Contains(list, parts[1]) {
			list = append(list, parts[1])
		}
	}
	slices.Sort(list)
	return list
}

// once runs one case and returns a description of its failure, or "".
func once(b Backend, g generator, seed uint64, skipped map[string]bool) string {
	p := newPlan(seed, g.name)
	run := g.make(p)
	name := g.name + "/" + p.methodName()
	if reason := b.Skip(name); reason != "" {
		skipped[reason] = true
		return ""
	}
	err := attempt(b, p, run)
	if err == nil {
		return ""
	}
	shrink(p, func() bool { return attempt(b, p, run) != nil })
	small := attempt(b, p, run)
	var out strings.Builder
	fmt.Fprintf(&out, "%s on %s, seed %d: %v\n", name, b.Name(), seed, err)
	first, _, _ := strings.Cut(fmt.Sprint(small), "\n")
	fmt.Fprintf(&out, "shrunk: %s\n%s", first, p)
	return out.String()
}

// attempt runs a case once. A panic is a failure.
func attempt(b Backend, p *plan, run func(r *runner) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, stack())
		}
	}()
	r := &runner{b: b, plan: p, made: map[any]any{}}
	return run(r)
}

// shrink removes entries from the inputs of p while the case fails.
func shrink(p *plan, fails func() bool) {
	end := time.Now().Add(3 * time.Second)
	for again := true; again; {
		again = false
		for _, in := range p.inputs {
			for c := range in.cells() {
				if time.Now().After(end) {
					return
				}
				restore := in.drop(c)
				if restore == nil {
					continue
				}
				if fails() {
					again = true
				} else {
					restore()
				}
			}
		}
	}
}

func newPlan(seed uint64, name string) *plan {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	p := &plan{Rand: rand.New(rand.NewPCG(seed, h))}
	p.special = p.IntN(4) == 0
	p.alias = p.IntN(3) == 0
	p.lists = int((seed ^ h>>7) % 8)
	return p
}
