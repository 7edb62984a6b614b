package cusparse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the loops and branches in the body of a recorded loop, and reads the log of the
// conditions that the kernel evaluates.

// conditions counts the entries of vectors that are conditions.
func (t *passText) conditions() {
	for _, b := range append(t.list.Blocks, pass.Block{Cond: t.list.Cond, True: t.list.True}) {
		switch v := &t.vars[b.Cond]; {
		case v.kind == passMatrix:
			t.err = &pass.NotRecordable{Op: "the loop", Reason: "a condition is a matrix"}
		case !b.True:
			v.counted = true
		case v.kind != passUniform:
			t.err = &pass.NotRecordable{Op: "the loop", Reason: "a condition is an operand of a product"}
		}
	}
}

// isCondition reports whether a loop or a branch depends on a vector.
func (t *passText) isCondition(v int) bool {
	return v == t.list.Cond || slices.ContainsFunc(t.list.Blocks, func(b pass.Block) bool { return b.Cond == v })
}

// body writes the body of a loop, whose passes end with known totals: the next one depends on them.
// head is its place among heads.
func (t *passText) body(head, inside, first, end int) (again bool) {
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
func (t *passText) steps(inside, first, end int) (again bool) {
	l := t.list
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
func (t *passText) block(k int) (again bool) {
	x := &t.list.Blocks[k]
	t.flush()
	clear(t.forward)
	if t.stale[x.Cond] {
		t.sync()
	}
	t.note("%s", t.list.Head(x))
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
		bound = fmt.Sprintf("n < (hb_i64)W.w[%d]", t.limits[k])
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
func (t *passText) note(format string, args ...any) {
	fmt.Fprintf(&t.notes, strings.Repeat("\t", t.deep)+format+"\n", args...)
}

// passLog is the number of decisions that a run may take, a byte each behind the numbers. A run
// that comes to the end of the log ends, and the loop begins a new one.
const passLog = 1 << 16

// log is the place of a decision in the log: 0 if it is not taken, 1 if it is false, 2 if true.
func (r *passRun) log(k int64) unsafe.Pointer {
	return unsafe.Add(r.room.host, passRoomBytes+k)
}

// Decision returns whether condition number k held, and whether the loop has ended.
func (r *passRun) Decision(k int64) (holds, known, ended bool) {
	if r.err != nil {
		return false, false, true
	}
	ended = r.ended() // before the log, which may be complete afterwards
	if k >= passLog {
		return false, false, ended
	}
	four := atomic.LoadUint32((*uint32)(r.log(k &^ 3)))
	is := byte(four >> (k & 3 * 8))
	return is == 2, is != 0, ended
}

// ended reports whether the loop has ended.
func (r *passRun) ended() bool { return r.err != nil || atomic.LoadInt64(&r.numbers()[hostEnded]) != 0 }

// Plan prints the list by stages.
func (r *passRun) Plan() string { return r.prog.plan }
