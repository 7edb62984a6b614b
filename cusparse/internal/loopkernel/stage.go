package loopkernel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file makes stages of the steps of a pass, and sets the barriers between them.

// pass writes one pass, and reports whether it is to be written again, since more is used at the
// begin of a pass than was known.
func (t *writer) pass() (text string, again bool) {
	t.b.Reset()
	t.notes.Reset()
	t.used, t.stale, t.forward = maps.Clone(t.heads[len(t.List.Blocks)]), map[int]bool{}, map[int]int{}
	t.unset = map[int]int{}
	t.open = nil
	t.note("in stages:")
	again = t.body(len(t.List.Blocks), pass.None, 0, len(t.List.Steps))
	return t.b.String(), again
}

func (t *writer) line(format string, args ...any) { fmt.Fprintf(&t.b, "\t\t"+format+"\n", args...) }

// sync writes a barrier.
func (t *writer) sync() {
	t.line("g.sync();")
	t.waited()
}

// waited writes what follows a barrier.
func (t *writer) waited() {
	t.line("%s", t.updates())
	t.note("barrier")
	t.synced = true
	clear(t.stale)
	clear(t.used)
	clear(t.forward)
}

// updates takes what was added to the numbers since the barrier before the last one.
func (t *writer) updates() string {
	var list []int
	for v := range t.stale {
		list = append(list, v)
	}
	slices.Sort(list)
	text := ""
	for _, v := range list {
		text += fmt.Sprintf("v%d.update(g); ", v)
	}
	return text
}

// clashes reports whether an access needs a barrier before it.
func (t *writer) clashes(a access) bool {
	for b := range t.used {
		if b.v == a.v && (a.write || b.write) && (a.how != b.how || a.how == "") {
			return true
		}
	}
	return false
}

// needs writes a barrier if one of the accesses needs it, or if the totals of one of the variables
// are stale, and records the accesses.
func (t *writer) needs(list []access, totals ...int) {
	wait := slices.ContainsFunc(list, t.clashes)
	for _, v := range totals {
		wait = wait || t.stale[v]
	}
	if wait {
		t.sync()
	}
	for _, a := range list {
		t.used[a] = true
	}
}

// isVector reports whether a variable has a place for each position.
func (t *writer) isVector(v int) bool {
	k := t.Vars[v].Kind
	return v >= 0 && (k == Read || k == Written || k == Result)
}

// step writes the text of a step, or adds it to the open stage.
func (t *writer) step(i int) {
	s := &t.List.Steps[i]
	switch s.Kind {
	case pass.Product:
		t.flush()
		t.product(i)
		t.enter(i)
	case pass.Scatter:
		t.flush()
		t.scatter(i)
		t.enter(i)
	case pass.Gather:
		if t.temps[i] < 0 {
			t.add(pointStep{step: i, from: -1, clear: -1})
			return
		}
		t.flush()
		t.gather(i)
		t.enter(i)
	case pass.Reduce:
		t.flush()
		t.reduce(i)
	case pass.Count:
		t.flush()
		v := &t.Vars[s.A.Var]
		from := "(hb_i64)" + t.size(v.N)
		switch {
		case v.Kind == Uniform:
			from = fmt.Sprintf("(hb_i64)h%d", s.A.Var)
		case v.Kind == Read:
			from = fmt.Sprintf("(hb_i64)W.w[%d]", v.Word+WordEntries)
		case !v.Full:
			t.needs(nil, s.A.Var)
			from = fmt.Sprintf("v%d.cnt", s.A.Var)
		}
		t.line("{ // %s", s.Op)
		t.note("%s", t.List.Equation(i))
		t.line("\tconst bool tb = true;")
		t.line("\tconst %s tv = (%s)%s;", t.Vars[s.Dst].Type.Name, t.Vars[s.Dst].Type.Name, from)
		t.b.WriteString(t.frame(s, pointStep{step: i, from: -1, clear: -1}, "\t\t\t", nil))
		t.line("}")
	case pass.Swap:
		t.flush()
		t.swap(s.Dst, s.A.Var)
	default:
		if t.Vars[s.Dst].Kind == Uniform {
			t.flush()
			t.line("{ // %s", s.Op)
			t.note("%s", t.List.Equation(i))
			t.b.WriteString(t.point(pointStep{step: i, from: -1, clear: -1}, "\t\t\t", nil))
			t.line("}")
			return
		}
		t.add(pointStep{step: i, from: -1, clear: -1})
	}
}

// swap exchanges the contents of two variables.
func (t *writer) swap(a, b int) {
	if a == b {
		return
	}
	if t.Vars[a].Kind == Uniform {
		t.line("hb_swap(h%d, h%d);", a, b)
		t.line("hb_swap(x%d, x%d);", a, b)
		return
	}
	t.line("hb_swap(v%d, v%d);", a, b)
	t.note("%s ↔ %s", t.name(a), t.name(b))
	other := map[int]int{a: b, b: a}
	used := map[access]bool{}
	for x := range t.used {
		if o, ok := other[x.v]; ok {
			x.v = o
		}
		switch x.how {
		case domain{list: a}.how():
			x.how = domain{list: b}.how()
		case domain{list: b}.how():
			x.how = domain{list: a}.how()
		}
		used[x] = true
	}
	t.used = used
	sa, sb := t.stale[a], t.stale[b]
	delete(t.stale, a)
	delete(t.stale, b)
	if sa {
		t.stale[b] = true
	}
	if sb {
		t.stale[a] = true
	}
}

// bounds returns the variables that bound a step: it changes nothing where one of them has no
// entry.
func (t *writer) bounds(ps pointStep) (list []int) {
	if ps.clear >= 0 {
		return []int{ps.clear}
	}
	s := &t.List.Steps[ps.step]
	var support []int // T is within the entries of each
	switch {
	case ps.from >= 0:
		support = []int{ps.from}
	case s.Kind == pass.EWise:
		if s.How == device.Intersection {
			support = []int{s.A.Var, s.B.Var}
		} else if s.A.Var == s.B.Var {
			support = []int{s.A.Var}
		}
	case s.Kind == pass.Apply, s.Kind == pass.Select, s.Kind == pass.Assign:
		support = []int{s.A.Var}
	case s.Kind == pass.Gather:
		support = []int{s.B.Var}
	}
	masked := s.Mask.Var != pass.None && !s.Mask.Comp && !s.Replace
	switch {
	case s.Accum.Text != "" && !s.Replace:
		list = support
	case s.Accum.Text == "":
		if slices.Contains(support, s.Dst) {
			list = []int{s.Dst}
		}
	}
	if masked {
		list = append(list, s.Mask.Var)
	}
	return list
}

// add adds a step to the open stage, or begins one.
func (t *writer) add(ps pointStep) {
	s := &t.List.Steps[ps.step]
	n := t.Vars[s.Dst].N
	if ps.clear >= 0 {
		n = t.Vars[ps.clear].N
	}
	if source := t.source(s); ps.clear < 0 && ps.from < 0 && source >= 0 {
		t.take(ps, domain{list: source, n: n})
		return
	}
	var listed []int
	for _, v := range t.bounds(ps) {
		if t.Vars[v].Listed {
			listed = append(listed, v)
		}
		if t.taken(v) { // it has entries in the open stage alone
			listed = append(listed, t.domain.list)
		}
	}
	if len(t.open) > 0 && t.joins(ps, n, listed) {
		t.open = append(t.open, ps)
		return
	}
	t.flush()
	t.domain = domain{list: -1, n: n}
	if len(listed) > 0 {
		t.domain.list = listed[0]
	}
	t.open = []pointStep{ps}
}

// take adds a step that takes the entries of its destination from a list. What the destination had
// is emptied behind the stage.
func (t *writer) take(ps pointStep, d domain) {
	s := &t.List.Steps[ps.step]
	second := t.second[s.Dst]
	joins := len(t.open) > 0 && t.domain == d && !slices.Contains(t.emptied, second) && !slices.ContainsFunc(t.open, func(o pointStep) bool {
		of := &t.List.Steps[o.step]
		return o.clear == s.Dst || o.clear < 0 && (of.Dst == s.Dst || slices.Contains(uses(of), s.Dst))
	})
	if !joins {
		t.flush()
		t.domain = d
	}
	t.swap(s.Dst, second)
	t.open = append(t.open, ps)
	t.emptied = append(t.emptied, second)
}

// taken reports whether the open stage takes the entries of a vector from its list.
func (t *writer) taken(v int) bool {
	return slices.ContainsFunc(t.open, func(o pointStep) bool {
		s := &t.List.Steps[o.step]
		return o.clear < 0 && o.from < 0 && s.Dst == v && t.source(s) >= 0
	})
}

// joins reports whether a step can be in the open stage.
func (t *writer) joins(ps pointStep, n int, listed []int) bool {
	if t.domain.n != n {
		return false
	}
	if t.domain.list >= 0 && !slices.Contains(listed, t.domain.list) {
		return false
	}
	if t.domain.list < 0 && len(listed) > 0 && ps.clear < 0 {
		return false // its list may be short
	}
	s := &t.List.Steps[ps.step]
	random := -1
	if ps.clear < 0 && s.Kind == pass.Gather {
		random = s.A.Var
	}
	for _, o := range t.open {
		dst := o.clear
		if dst < 0 {
			dst = t.List.Steps[o.step].Dst
		}
		if dst == random {
			return false
		}
		if so := &t.List.Steps[o.step]; o.clear < 0 && so.Kind == pass.Gather && (s.Dst == so.A.Var || ps.clear == so.A.Var) {
			return false
		}
	}
	return true
}

// forwards finds the vectors that a stage gives entries at the entries of another one, and changes
// nowhere else, if that is the only change since the last barrier. A product may read such a mask
// while it is written: a position is set if it is in one of the two.
func (t *writer) forwards(open []pointStep) {
	for _, ps := range open {
		s := &t.List.Steps[ps.step]
		if ps.clear >= 0 || ps.from >= 0 || s.Kind != pass.Fill || s.Accum.Text != "" || s.Replace ||
			s.Mask.Var == pass.None || s.Mask.Comp || !s.Mask.Structural || !t.isVector(s.Mask.Var) || t.Vars[s.Dst].Kind != Written {
			continue
		}
		writes, masks := 0, 0
		for _, o := range open {
			dst := o.clear
			if dst < 0 {
				dst = t.List.Steps[o.step].Dst
			}
			if dst == s.Dst {
				writes++
			}
			if dst == s.Mask.Var {
				masks++
			}
		}
		changed := 0
		for u := range t.used {
			if u.v == s.Dst && u.write || u.v == s.Mask.Var && u.write {
				changed++
			}
		}
		if writes == 1 && masks == 0 && changed == 1 {
			t.forward[s.Dst] = s.Mask.Var
			t.unset[s.Dst] = s.X.Var
		}
	}
}

// enter takes the result of a product into the destination.
func (t *writer) enter(i int) {
	s, temp := &t.List.Steps[i], t.temps[i]
	if t.direct(i) {
		return
	}
	if t.swaps[i] {
		t.sync()
		t.swap(s.Dst, temp)
		// What the destination had goes to the spare vector, which is emptied while the next
		// product has the one that was emptied before.
		spare := t.spares[temp]
		t.swap(temp, spare)
		t.add(pointStep{step: i, from: -1, clear: spare})
		return
	}
	t.add(pointStep{step: i, from: temp, clear: -1, bare: s.Accum.Text != "" && !s.Replace})
	ps := pointStep{step: i, from: -1, clear: temp}
	if t.domain.list == temp || t.domain.list < 0 && t.domain.n == t.Vars[temp].N {
		t.open = append(t.open, ps)
		return
	}
	t.add(ps)
}

// flush writes the open stage.
func (t *writer) flush() {
	if len(t.open) == 0 || t.err != nil {
		t.open = nil
		return
	}
	open, d, emptied := t.open, t.domain, t.emptied
	t.open, t.emptied = nil, nil
	defer func() {
		for _, v := range emptied {
			t.add(pointStep{step: open[0].step, from: -1, clear: v})
			t.flush()
		}
	}()
	how := d.how()
	if t.onlyWipes(open) {
		how = "" // it clears words of bits, of which other threads may have positions
	}
	g := newPoint(t)
	var list []access
	for _, ps := range open {
		g.touch(ps)
	}
	for _, v := range g.order {
		x := g.vars[v]
		if t.expanded(v) >= 0 {
			continue // only its values are written, and the product reads bits
		}
		if x.write {
			list = append(list, access{v, how, true})
		} else {
			list = append(list, access{v, how, false})
		}
	}
	var totals []int
	if d.list >= 0 {
		list = append(list, access{d.list, how, false})
		totals = append(totals, d.list)
	}
	for _, ps := range open {
		if s := &t.List.Steps[ps.step]; ps.clear < 0 && s.Kind == pass.Gather && t.isVector(s.A.Var) {
			list = append(list, access{s.A.Var, "", false})
		}
	}
	for _, v := range g.order { // the length of a list that ends is known
		if x := g.vars[v]; x.cleared || x.write && t.Vars[v].Listed && d.list != v {
			totals = append(totals, v)
		}
	}
	t.needs(list, totals...)
	for _, v := range g.order {
		if g.vars[v].write {
			delete(t.forward, v)
			for of, by := range t.forward {
				if by == v {
					delete(t.forward, of)
				}
			}
		}
	}
	defer t.forwards(open)
	t.describe(open, d)
	if t.wipes(open) {
		return
	}
	t.line("{ // %s", g.title(open))
	short := "false" // the stage goes along a list
	if d.list >= 0 {
		short = fmt.Sprintf("v%d.along()", d.list)
	}
	t.line("\tconst bool listed = %s;", short)
	for _, v := range g.order {
		if g.counts(v) {
			t.line("\thb_i32 d%d = 0;", v)
		}
	}
	g.collect(d)
	g.declare()
	along, at, count, bits := "(const hb_i32 *)0", "0", t.size(d.n), "(const hb_u32 *)0"
	if d.list >= 0 {
		along, at, count = fmt.Sprintf("listed ? v%d.list : (const hb_i32 *)0", d.list), fmt.Sprintf("v%d.at", d.list), fmt.Sprintf("listed ? v%d.len : v%d.n", d.list, d.list)
	}
	if d.list >= 0 {
		bits = fmt.Sprintf("%s ? v%d.bits : (const hb_u32 *)0", g.skips(d), d.list)
	}
	t.line("\thb_stage<%d, hb_r>(g, %s, %s, %s, %s, [&](hb_r &r, hb_i32 p) {", ahead(d.list >= 0), along, at, count, bits)
	g.load()
	t.line("\t}, [&](hb_r &r, hb_i32 p, bool in) {")
	g.begin()
	t.line("\t\tif (in) {")
	for _, ps := range open {
		t.line("\t\t\t{")
		t.b.WriteString(t.point(ps, "\t\t\t\t\t\t", g))
		t.line("\t\t\t}")
	}
	g.store()
	t.line("\t\t}")
	g.enter(d)
	g.put(d)
	t.line("\t});")
	g.flushed(d)
	for _, v := range g.order {
		x := g.vars[v]
		if !x.write {
			continue
		}
		if g.counts(v) {
			t.line("\tg.add(HB_PASS_NUMBERS * v%d.at + 1, d%d);", v, v)
			t.stale[v] = true
		}
		if !t.Vars[v].Listed {
			if x.cleared && t.Vars[v].counted {
				t.line("\tv%d.cnt = 0;", v)
			}
			continue
		}
		switch {
		case x.cleared:
			t.line("\tv%d.unlist(true);", v)
		case d.list == v:
		case d.list < 0:
			t.line("\tv%d.unlist(false);", v)
		default:
			t.line("\tif (!listed) v%d.unlist(false);", v)
			t.stale[v] = true
		}
	}
	t.line("}")
	for _, ps := range open {
		s := &t.List.Steps[ps.step]
		if t.expanded(s.Dst) >= 0 && s.X.Var != pass.None {
			t.line("if (!h%d) { g.sync(); %s} // without a value the entries were deleted", s.X.Var, t.updates())
		}
	}
}

// ahead is how many positions of a thread a stage loads at a time. A list may be short, and more
// loads then are more instructions.
func ahead(listed bool) int {
	if listed {
		return 2
	}
	return 4
}

// describe notes a stage.
func (t *writer) describe(open []pointStep, d domain) {
	var parts []string
	for _, ps := range open {
		switch s := &t.List.Steps[ps.step]; {
		case ps.clear >= 0:
			parts = append(parts, "empty "+t.name(ps.clear))
		case ps.from >= 0:
			parts = append(parts, t.List.Name(s.Dst)+" takes "+t.name(ps.from))
		default:
			parts = append(parts, t.List.Equation(ps.step))
		}
	}
	where := "everywhere"
	if d.list >= 0 {
		where = "along " + t.name(d.list)
	}
	t.note("%s: %s", where, strings.Join(parts, "; "))
}

// name prints a variable of the kernel.
func (t *writer) name(v int) string {
	if v < len(t.List.Vars) {
		return t.List.Name(v)
	}
	return fmt.Sprintf("result %d", v-len(t.List.Vars))
}

// onlyWipes reports whether a stage empties one vector, and nothing else.
func (t *writer) onlyWipes(open []pointStep) bool {
	v := open[0].clear
	return len(open) == 1 && v >= 0 && t.Vars[v].rest == "" && !t.Vars[v].Full
}

// wipes writes a stage that empties one vector, and nothing else.
func (t *writer) wipes(open []pointStep) bool {
	if !t.onlyWipes(open) {
		return false
	}
	v := open[0].clear
	t.line("hb_clear(g, v%d);", v)
	switch of := &t.Vars[v]; {
	case of.Listed:
		t.line("v%d.unlist(true);", v)
	case of.counted:
		t.line("v%d.cnt = 0;", v)
	}
	return true
}
