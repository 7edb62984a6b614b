package loopkernel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the loops and branches in the body of a recorded loop.

// conditions counts the entries of vectors that are conditions.
func (t *writer) conditions() {
	for _, b := range append(t.List.Blocks, pass.Block{Cond: t.List.Cond, True: t.List.True}) {
		switch v := &t.Vars[b.Cond]; {
		case v.Kind == Matrix:
			t.err = &pass.NotRecordable{Op: "the loop", Reason: "a condition is a matrix"}
		case !b.True:
			v.counted = true
		case v.Kind != Uniform:
			t.err = &pass.NotRecordable{Op: "the loop", Reason: "a condition is an operand of a product"}
		}
	}
}

// isCondition reports whether a loop or a branch depends on a vector.
func (t *writer) isCondition(v int) bool {
	return v == t.List.Cond || slices.ContainsFunc(t.List.Blocks, func(b pass.Block) bool { return b.Cond == v })
}

// body writes the body of a loop, whose passes end with known totals: the next one depends on them.
// head is its place among heads.
func (t *writer) body(head, inside, first, end int) (again bool) {
	before := t.synced
	t.synced = false
	t.deep++
	again = t.steps(inside, first, end)
	if len(t.stale) > 0 || !t.synced { // a loop sees that it is to stop at a barrier alone
		t.sync()
	}
	t.deep--
	t.synced = before
	n := len(t.heads[head])
	maps.Copy(t.heads[head], t.used)
	return again || len(t.heads[head]) > n
}

// steps writes the steps and the blocks of a body.
func (t *writer) steps(inside, first, end int) (again bool) {
	l := t.List
	block := inside + 1
	for i := first; t.err == nil; i++ {
		for block < len(l.Blocks) && l.Blocks[block].Inside == inside && l.Blocks[block].First == i {
			again = t.block(block) || again
			i, block = l.Blocks[block].End, l.Past(block)
		}
		if i == end {
			break
		}
		t.step(i)
	}
	t.flush()
	clear(t.forward) // it holds on this way alone
	return again
}

// block writes a loop or a branch. What was used or is stale on one of the ways to its end counts
// there.
func (t *writer) block(k int) (again bool) {
	x := &t.List.Blocks[k]
	t.flush()
	clear(t.forward)
	if t.stale[x.Cond] {
		t.sync()
	}
	t.note("%s", t.List.Head(x))
	maps.Copy(t.used, t.heads[k])
	used, stale := maps.Clone(t.used), maps.Clone(t.stale)
	decide := func() {
		t.line("const bool go = %s;", t.condition(x.Cond, x.True))
		if x.Open {
			t.line("if (go) goto ends; // its steps are not known")
		}
		t.line("HB_DECIDE(go)")
	}
	bound := "true"
	if x.Bounded {
		bound = fmt.Sprintf("n < (hb_i64)W.w[%d]", t.Limits[k])
	}
	switch {
	case x.Open:
		t.line("if (%s) {", strings.ReplaceAll(bound, "n <", "0 <"))
		decide()
	case x.Branch:
		t.line("{")
		decide()
		t.line("if (go) {")
		before := t.synced
		t.deep++
		again = t.steps(k, x.First, x.End)
		t.deep--
		t.synced = before
		t.line("}")
	default:
		t.line("for (hb_i64 n = 0; %s; n++) {", bound)
		decide()
		t.line("if (!go) break;")
		again = t.body(k, k, x.First, x.End)
	}
	t.line("}")
	maps.Copy(t.used, used)
	maps.Copy(t.stale, stale)
	return again
}

// note adds a line to the plan.
func (t *writer) note(format string, args ...any) {
	fmt.Fprintf(&t.notes, strings.Repeat("\t", t.deep)+format+"\n", args...)
}
