package loopkernel

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes the steps of a recorded loop that read or write other positions than their own:
// products, gather, scatter, and sums.

// allowedAt is the mask of a product at row k, for its kernel.
func (t *writer) allowedAt(m pass.Mask, k string) string {
	if m.Var == pass.None {
		return "true"
	}
	text := t.hasAt(m.Var, k)
	if !m.Structural {
		text = fmt.Sprintf("(%s && %s(%s))", text, t.nonzero(t.Vars[m.Var].Type), t.valAt(m.Var, k))
	}
	if m.Comp {
		return "!(" + text + ")"
	}
	return text
}

// term is the product of entry e of row r (of the result) and column c of the matrix with the
// vector. val names the values of the orientation: the rows, or the rows of the transpose.
func (t *writer) term(i, m int, val, r, c string) string {
	s := &t.List.Steps[i]
	f := s.Ring.Mul
	A, X, usesA, usesX := f.X, f.Y, f.UsesX, f.UsesY
	params := A.Name + " x, " + X.Name + " y"
	if s.Flip {
		A, X, usesA, usesX = f.Y, f.X, f.UsesY, f.UsesX
		params = A.Name + " y, " + X.Name + " x"
	}
	name := t.function(f.Out.Name, params+", hb_i32 i, hb_i32 k, hb_i32 j", t.typesOf(f), f.Text)
	a, x := A.Name+"()", X.Name+"()"
	if usesA {
		a = fmt.Sprintf("(m%d_%s ? m%d_%s[e] : (%s)1)", m, val, m, val, A.Name)
		if s.A.Pattern {
			a = fmt.Sprintf("(%s)1", A.Name)
		}
	}
	if usesX {
		x = t.valAt(s.B.Var, c)
		if s.B.Pattern {
			x = fmt.Sprintf("(%s)1", X.Name)
		}
	}
	first, last := r, "0"
	if s.Flip {
		first, last = "0", r
	}
	return fmt.Sprintf("%s(%s, %s, %s, %s, %s)", name, a, x, first, c, last)
}

// better is whether y changes the result of a product at k. A value from the cache may be older,
// and then it says so in vain.
func (t *writer) better(temp int, m device.Monoid) string {
	if less := lessOf(m); less != "" && t.Vars[temp].Full {
		return fmt.Sprintf("y %s v%d.val[k]", less, temp)
	} else if less != "" {
		return fmt.Sprintf("y %s v%d.val[k] || !v%d.has(k)", less, temp, temp)
	}
	return "true"
}

// lessOf is the comparison of a monoid with an atomic instruction, "" of others.
func lessOf(m device.Monoid) string {
	return map[string]string{"atomicMin": "<", "atomicMax": ">"}[nativeJoin(m)]
}

// marked sets the bit of column k of the result of a product, and is whether it was not set. Full
// vectors have no bits, "".
func marked(bits string, m device.Monoid) string {
	if bits == "" {
		return "false"
	}
	if m.Any {
		return fmt.Sprintf("hb_mark(%s, k)", bits)
	}
	return fmt.Sprintf("!hb_marked(%s, k) && hb_mark(%s, k)", bits, bits)
}

// joined adds y to the result of a product at k; fresh says that k is new there. Then also follows.
func (t *writer) joined(temp int, m device.Monoid, also string) string {
	if m.Any {
		return fmt.Sprintf("if (fresh) { v%d.val[k] = y;%s }", temp, also)
	}
	if add := atomically(temp, m); lessOf(m) != "" {
		// Atomic operations on one place wait for each other, and most values are no better by now.
		return fmt.Sprintf("if (y %s ((volatile %s *)v%d.val)[k]) %s", lessOf(m), m.Out.Name, temp, add)
	} else if add != "" {
		return add
	}
	return fmt.Sprintf("hb_join(&v%d.val[k], y, [](%s x, %s y) { return %s(x, y); });", temp, m.Out.Name, m.Out.Name, t.binary(m.Func))
}

// atomically adds y to the result of a product at k by one instruction, "" if there is none.
func atomically(temp int, m device.Monoid) string {
	native, typ := nativeJoin(m), nativeType(m.Out)
	switch {
	case native == "":
		return ""
	case native == "atomicAdd" && m.Out.Size == 8: // the sum of signed integers has the same bits
		typ = "unsigned long long"
	case native == "atomicAdd":
		typ = "unsigned"
	}
	return fmt.Sprintf("%s((%s *)&v%d.val[k], (%s)y);", native, typ, temp, typ)
}

// inList notes that a fresh k is in the list of a result, if the stages that enter positions one by
// one later have to know.
func (t *writer) inList(temp int) string {
	if x := &t.Vars[temp]; !x.Listed || !x.Marked {
		return ""
	}
	return fmt.Sprintf(" if (fresh) hb_mark(v%d.marks, k);", temp)
}

// nativeType is the type of the atomic instructions for integers of 32 and 64 bits, "" for others.
func nativeType(t device.Type) string {
	return map[string]string{"hb_i32": "int", "hb_u32": "unsigned", "hb_i64": "long long", "hb_u64": "unsigned long long"}[t.Name]
}

// nativeJoin is the atomic instruction of a monoid of integers, "" if there is none.
func nativeJoin(m device.Monoid) string {
	if nativeType(m.Out) == "" {
		return ""
	}
	switch m.Text { // of package semiring
	case "x + y":
		return "atomicAdd"
	case "(y < x || x != x) ? y : x":
		return "atomicMin"
	case "(y > x || x != x) ? y : x":
		return "atomicMax"
	}
	return ""
}

// A push is chosen if the matrix has more than alpha times as many entries as the rows that the
// vector pushes along. alphaAny takes its place if one entry of a row suffices.
const (
	alphaAny = 14
	alpha    = 4
)

// allowed writes the barrier that a product needs, and returns its mask at row k.
func (t *writer) allowed(i int) string {
	s := &t.List.Steps[i]
	x, temp, m := s.B.Var, t.temps[i], s.Mask.Var
	list := []access{{x, "", false}, {temp, "", true}}
	if _, ok := t.expands[i]; ok {
		t.needs(list, x, temp)
		return fmt.Sprintf("!hb_marked(v%d.bits, k)", m)
	}
	if m == pass.None {
		t.needs(list, x, temp)
		return "true"
	}
	by, ok := t.forward[m]
	if !ok || !s.Mask.Structural || slices.ContainsFunc(list, t.clashes) || t.clashes(access{by, "", false}) || t.stale[x] || t.stale[temp] {
		t.needs(append(list, access{m, "", false}), x, temp)
		return t.allowedAt(s.Mask, "k")
	}
	set := fmt.Sprintf("(%s || %s)", t.hasAt(m, "k"), t.hasAt(by, "k"))
	if scalar := t.unset[m]; scalar != pass.None {
		set = fmt.Sprintf("(%s || (h%d && %s))", t.hasAt(m, "k"), scalar, t.hasAt(by, "k"))
		t.line("if (!h%d) { g.sync(); %s} // without a value the entries were deleted", scalar, t.updates())
	}
	t.needs(append(list, access{by, "", false}), x, temp)
	t.used[access{m, "", false}] = true
	if s.Mask.Comp {
		return "!" + set
	}
	return set
}

// noteProduct notes a product.
func (t *writer) noteProduct(i int) {
	way, with := "push", ""
	if t.pulls[i] {
		way = "push or pull"
	}
	if _, ok := t.expands[i]; ok {
		with = ", entered into " + t.List.Name(t.List.Steps[i].Mask.Var) + " at once"
	}
	t.note("%s: %s%s%s", way, t.List.Equation(i), t.as(i), with)
}

// as names the variable for the results of a step, "" if that is the destination.
func (t *writer) as(i int) string {
	if t.direct(i) {
		return ""
	}
	return " as " + t.name(t.temps[i])
}

// product writes a product into its variable for results.
func (t *writer) product(i int) {
	s := &t.List.Steps[i]
	m, x, temp := t.matrixVar(s.A), s.B.Var, t.temps[i]
	of := &t.Vars[x]
	allowed := t.allowed(i)
	t.line("{ // %s", s.Op)
	t.noteProduct(i)
	u := fmt.Sprintf("v%d", x)
	parts := false
	switch {
	case of.Full && of.Kind != Read: // has no bits
		u = "u"
		t.line("\tconst hb_read<%s> u = {v%d.val, nullptr, v%d.n, v%d.n};", of.Type.Name, x, x, x)
	case of.Kind == Read:
		u = "u"
		has := fmt.Sprintf("has%d", x)
		if of.Full {
			has = "nullptr"
		}
		t.line("\tconst hb_read<%s> u = {val%d, %s, n%d, (hb_i32)W.w[%d]};", of.Type.Name, x, has, x, of.Word+WordEntries)
	default:
		parts = of.Listed && of.Degrees == fmt.Sprintf("m%d_cols", m)
	}
	t.line("\thb_i32 d = 0;")
	pull := t.pulls[i]
	if pull {
		alpha := alpha
		if s.Ring.Add.Any {
			alpha = alphaAny
		}
		switch {
		case of.Full:
			t.line("\tconst bool push = false;")
		case of.Listed && of.Degrees != "":
			t.line("\tconst bool push = %s.listed ? %s.deg * %d < m%d_nnz : (hb_i64)%s.cnt * %d < %s.n;", u, u, alpha, m, u, alpha, u)
		default:
			t.line("\tconst bool push = (hb_i64)%s.cnt * %d < %s.n;", u, alpha, u)
		}
		t.line("\tif (push) {")
	} else {
		t.line("\t{")
	}
	if !t.direct(i) {
		t.stale[temp] = true
	}
	if of.Listed && of.Kind != Read {
		t.stale[x] = true
		t.line("\t\tif (!%s.listed) {", u)
		whole, rest := of.rest != "", of.rest
		if !whole {
			rest = of.Type.Name + "()"
		}
		t.line("\t\t\thb_list<%s>(g, %s, %s, %v, %s);", of.Type.Name, u, t.degOf(x), whole, rest)
		t.line("\t\t\tg.sync();")
		t.line("\t\t\t%s", t.updates())
		t.line("\t\t}")
		delete(t.stale, x)
	}
	mark, also := t.bitsOf(i), ""
	if _, ok := t.expands[i]; ok { // the results are in the mask at once
		also = fmt.Sprintf(" atomicOr(&v%d.bits[k >> 5], 1u << (k & 31));", temp)
		mark = fmt.Sprintf("v%d.bits", s.Mask.Var)
	}
	C := s.Ring.Add.Out.Name
	open := allowed
	if s.Ring.Add.Any && also == "" {
		open = fmt.Sprintf("!hb_marked(v%d.bits, k) && %s", temp, open)
	}
	count := ""
	if t.counts(i) {
		count = " d += fresh;"
	}
	t.line("\t\thb_push<%v, %s>(g, m%d_cols, m%d_col_idx, %s, v%d, %s,", parts, C, m, m, u, temp, t.degOf(temp))
	t.line("\t\t\t[&](hb_i32 k) -> bool { return %s; },", open)
	t.line("\t\t\t[&](hb_i32 j, hb_i64 e, hb_i32 k) -> %s { return (%s)%s; },", C, C, t.term(i, m, "col_val", "k", "j"))
	t.line("\t\t\t[&](hb_i32 k, %s y) -> bool { return %s; },", C, t.better(temp, s.Ring.Add))
	t.line("\t\t\t[&](hb_i32 k) -> bool { return %s; },", marked(mark, s.Ring.Add))
	t.line("\t\t\t[&](hb_i32 k, %s y, bool fresh) { %s%s%s });", C, t.joined(temp, s.Ring.Add, also), count, t.inList(temp))
	if pull {
		t.line("\t} else {")
		t.pull(i, m, allowed, mark, also)
		if t.Vars[temp].Listed {
			t.line("\t\tv%d.unlist(false);", temp)
		}
	}
	t.line("\t}")
	if t.counts(i) {
		t.line("\tg.add(HB_PASS_NUMBERS * v%d.at + 1, d);", temp)
	}
	t.line("}")
}

// bitsOf names the bits of the results of a step, "" of a full destination.
func (t *writer) bitsOf(i int) string {
	if t.direct(i) {
		return ""
	}
	return fmt.Sprintf("v%d.bits", t.temps[i])
}

// counts reports whether a step counts its results.
func (t *writer) counts(i int) bool { return t.Vars[t.temps[i]].counted && !t.direct(i) }

// tiled reports whether the pull of a product may take the entries of the matrix one after another:
// it reads them all, and no term depends on the row.
func tiled(s *pass.Step) bool {
	return !s.Ring.Add.Any && s.Mask.Var == pass.None && !rowIndex.MatchString(s.Ring.Mul.Text)
}

// rowIndex finds the index of the row, or of the column of a product with the vector first, in the
// text of an operator.
var rowIndex = regexp.MustCompile(`\b[ij]\b`)

// pull writes the pull of a product. mark is the bits that say which rows of the result are new.
func (t *writer) pull(i, m int, allowed, mark, also string) {
	s := &t.List.Steps[i]
	x, temp := s.B.Var, t.temps[i]
	of, to := &t.Vars[x], &t.Vars[temp]
	C, add, has := s.Ring.Add.Out.Name, t.binary(s.Ring.Add.Func), t.hasAt(x, "j")
	if of.counted && of.Kind == Written && !of.Full && !s.Ring.Add.Any {
		t.line("\t\tconst bool whole = v%d.cnt == v%d.n;", x, x)
		has = "(whole || " + has + ")"
	}
	set, count := "", ""
	if also != "" {
		set = fmt.Sprintf("atomicOr(&v%d.bits[w], b); ", s.Mask.Var)
	}
	if t.counts(i) {
		count = " d += fresh;"
	}
	done := fmt.Sprintf("[&](hb_i32 k, %s y) { v%d.val[k] = y; d++; }", C, temp)
	bits := fmt.Sprintf("[&](hb_i32 w, hb_u32 b) { %satomicOr(&v%d.bits[w], b); }", set, temp)
	if t.direct(i) { // a row is one thread's
		done = fmt.Sprintf("[&](hb_i32 k, %s y) { v%d.val[k] = %s(v%d.val[k], y); }", C, temp, add, temp)
		bits = "[](hb_i32 w, hb_u32 b) {}"
	}
	join := fmt.Sprintf("[&](hb_i32 k, %s y) { const bool fresh = %s; %s%s }", C, marked(mark, s.Ring.Add), t.joined(temp, s.Ring.Add, also), count)
	if tiled(s) {
		t.line("\t\tif (m%d_heads) {", m)
		t.line("\t\t\thb_pull_tiles<%s>(g, m%d_nnz, m%d_row_idx, m%d_heads, m%d_tiles, m%d_tile_rows, %s,", C, m, m, m, m, m, s.Ring.Add.Identity)
		t.line("\t\t\t\t[&](hb_i64 e, hb_i32 j, %s &y) -> bool { y = %s; return %s; },", C, t.term(i, m, "row_val", "0", "j"), has)
		t.line("\t\t\t\t[](%s x, %s y) { return %s(x, y); },", C, C, add)
		parts := join
		if native := atomically(temp, s.Ring.Add); native != "" && !t.counts(i) && also == "" {
			// A row has few parts, and an atomic operation with no result makes nobody wait.
			parts = fmt.Sprintf("[&](hb_i32 k, %s y) { %s", C, native)
			if !t.direct(i) {
				parts += fmt.Sprintf(" atomicOr(&v%d.bits[k >> 5], 1u << (k & 31));", temp)
			}
			parts += " }"
		}
		t.line("\t\t\t\t%s,\n\t\t\t\t\t\t%s,\n\t\t\t\t\t\t%s);", done, bits, parts)
		t.line("\t\t} else {")
	}
	rows := fmt.Sprintf("g, %s, m%d_rows, m%d_row_idx, m%d_parts, m%d_nparts, m%d_long", t.size(to.N), m, m, m, m, m)
	if s.Ring.Add.Any {
		t.line("\t\thb_pull_any<%s>(%s,", C, rows)
	} else {
		t.line("\t\thb_pull<%s>(%s, m%d_lanes,", C, rows, m)
	}
	t.line("\t\t\t[&](hb_i32 k) -> bool { return %s; },", allowed)
	t.line("\t\t\t[&](hb_i32 k, hb_i64 e, hb_i32 j, %s &y) -> bool { y = %s; return %s; },", C, t.term(i, m, "row_val", "k", "j"), has)
	t.line("\t\t\t[](%s x, %s y) { return %s(x, y); },", C, C, add)
	t.line("\t\t\t%s,\n\t\t\t\t\t%s,\n\t\t\t\t\t%s);", done, bits, join)
	if tiled(s) {
		t.line("\t\t}")
	}
}

// gathered writes tb and tv of the entry at q.
func (t *writer) gathered(i int, in string) string {
	s := &t.List.Steps[i]
	n, val := t.size(t.Vars[s.A.Var].N), t.valAt(s.A.Var, "q")
	if s.A.Pattern {
		val = "true"
	}
	return fmt.Sprintf(in+"if (q < 0 || q >= %s) {\n"+in+"\tg.fails(%d, p, q, %s);\n"+in+"\ttb = false;\n"+in+"} else if ((tb = %s)) tv = %s;\n",
		n, i, n, t.hasAt(s.A.Var, "q"), val)
}

// gather writes the entries at given positions into the variable for results.
func (t *writer) gather(i int) {
	s := &t.List.Steps[i]
	temp := t.temps[i]
	how := domain{list: -1, n: t.Vars[temp].N}.how()
	list := []access{{s.B.Var, how, false}, {s.A.Var, "", false}, {temp, how, true}}
	if s.Mask.Var != pass.None {
		list = append(list, access{s.Mask.Var, how, false})
	}
	t.needs(list, temp)
	t.line("{ // %s", s.Op)
	t.note("%s as %s", t.List.Equation(i), t.name(temp))
	t.line("\thb_i32 d = 0;")
	t.line("\thb_each(g, %s, [&](hb_i32 p, bool in) {", t.size(t.Vars[temp].N))
	t.line("\t\tbool tb = in;")
	t.line("\t\tif (in) {")
	t.line("\t\t\t%s tv = %s();", t.Vars[temp].Type.Name, t.Vars[temp].Type.Name)
	t.line("\t\t\tconst hb_i64 q = (hb_i64)%s;", t.valAt(s.B.Var, "p"))
	t.b.WriteString(t.gathered(i, "\t\t\t\t\t"))
	t.line("\t\t\ttb = tb && %s;", t.allowedAt(s.Mask, "p"))
	t.line("\t\t\tif (tb) v%d.val[p] = tv;", temp)
	t.line("\t\t}")
	t.line("\t\tif (v%d.bits) hb_enter(v%d.bits, p, false, in, in, tb);", temp, temp)
	t.line("\t\td += tb;")
	t.line("\t});")
	if t.Vars[temp].Listed {
		t.line("\tv%d.unlist(false);", temp)
	}
	if t.Vars[temp].counted {
		t.line("\tg.add(HB_PASS_NUMBERS * v%d.at + 1, d);", temp)
		t.stale[temp] = true
	}
	t.line("}")
}

// scatter writes the sums of entries at given positions.
func (t *writer) scatter(i int) {
	s := &t.List.Steps[i]
	temp, u := t.temps[i], s.A.Var
	list := []access{{s.B.Var, "", false}, {temp, "", true}, {u, "", false}}
	if s.Mask.Var != pass.None {
		list = append(list, access{s.Mask.Var, "", false})
	}
	t.needs(list, u, temp)
	n := t.size(t.Vars[temp].N)
	val := t.valAt(u, "p")
	if s.A.Pattern {
		val = "true"
	}
	t.line("{ // %s", s.Op)
	t.note("%s%s", t.List.Equation(i), t.as(i))
	t.line("\thb_i32 d = 0;")
	along, at, count, bits := "(const hb_i32 *)0", "0", t.size(t.Vars[u].N), "(const hb_u32 *)0"
	if v := &t.Vars[u]; v.Kind != Read && !v.Full {
		bits = fmt.Sprintf("v%d.bits", u)
	}
	if t.Vars[u].Listed {
		along, at, count = fmt.Sprintf("v%d.along() ? v%d.list : (const hb_i32 *)0", u, u), fmt.Sprintf("v%d.at", u), fmt.Sprintf("v%d.along() ? v%d.len : v%d.n", u, u, u)
	}
	t.line("\thb_collector<0> found;")
	t.line("\tstruct hb_r { bool h; hb_i64 k; %s y; };", s.Monoid.Out.Name)
	t.line("\thb_stage<%d, hb_r>(g, %s, %s, %s, %s, [&](hb_r &r, hb_i32 p) {", ahead(t.Vars[u].Listed), along, at, count, bits)
	t.line("\t\tr.h = %s;", t.hasAt(u, "p"))
	t.line("\t\tr.k = (hb_i64)%s;", t.valAt(s.B.Var, "p"))
	t.line("\t\tr.y = (%s)%s;", s.Monoid.Out.Name, val)
	t.line("\t}, [&](hb_r &r, hb_i32 p, bool in) {")
	t.line("\t\tconst hb_i64 k = in && r.h ? r.k : 0;")
	t.line("\t\tconst bool fresh = [&]() -> bool {")
	t.line("\t\t\tif (!in || !r.h) return false;")
	t.line("\t\t\tif (k < 0 || k >= %s) {", n)
	t.line("\t\t\t\tg.fails(%d, p, k, %s);", i, n)
	t.line("\t\t\t\treturn false;")
	t.line("\t\t\t}")
	t.line("\t\t\tif (!(%s)) return false;", t.allowedAt(s.Mask, "k"))
	t.line("\t\t\tconst %s y = r.y;", s.Monoid.Out.Name)
	t.line("\t\t\tconst bool fresh = %s;", marked(t.bitsOf(i), s.Monoid))
	t.line("\t\t\t%s%s", t.joined(temp, s.Monoid, ""), t.inList(temp))
	t.line("\t\t\treturn fresh;")
	t.line("\t\t}();")
	t.line("\t\td += fresh;")
	t.line("\t\tconst hb_i32 one[1] = {(hb_i32)k};")
	t.line("\t\tfound.put(g, v%d, fresh, one, %s);", temp, t.degOf(temp))
	t.line("\t});")
	t.line("\tfound.flush(g, v%d, %s);", temp, t.degOf(temp))
	if t.counts(i) {
		t.line("\tg.add(HB_PASS_NUMBERS * v%d.at + 1, d);", temp)
	}
	t.line("}")
	if !t.direct(i) {
		t.stale[temp] = true
	}
}

// reduce writes the sum of a vector, and enters it.
func (t *writer) reduce(i int) {
	s := &t.List.Steps[i]
	a := s.A.Var
	C := s.Monoid.Out.Name
	t.line("{ // %s", s.Op)
	t.note("%s", t.List.Equation(i))
	if t.Vars[a].Kind == Uniform {
		ha, xa := t.operand(s.A)
		t.line("\tconst bool tb = %s;", ha)
		t.line("\tconst %s tv = %s;", C, xa)
	} else {
		var part Part
		at := 0
		for k := range t.List.Steps[:i] {
			if t.List.Steps[k].Kind == pass.Reduce {
				at++
			}
		}
		part = t.Parts[at]
		d := domain{list: -1, n: t.Vars[a].N}
		list, number, count := "(const hb_i32 *)0", "0", t.size(d.n)
		if t.Vars[a].Listed {
			d.list = a
			list, number, count = fmt.Sprintf("v%d.along() ? v%d.list : (const hb_i32 *)0", a, a), fmt.Sprintf("v%d.at", a), fmt.Sprintf("v%d.along() ? v%d.len : v%d.n", a, a, a)
			t.needs([]access{{a, d.how(), false}}, a)
		} else {
			t.needs([]access{{a, d.how(), false}})
		}
		val := t.valAt(a, "p")
		if s.A.Pattern {
			val = fmt.Sprintf("(%s)1", C)
		}
		t.line("\t%s tv = %s();", C, C)
		t.line("\tconst bool tb = hb_sum(g, %s, %s, %s, (%s *)W.w[%d], (hb_u8 *)W.w[%d], tv,", list, number, count, C, part.Word, part.Word+1)
		t.line("\t\t[&](hb_i64 p, %s &y) -> bool { y = %s; return %s; },", C, val, t.hasAt(a, "p"))
		t.line("\t\t[](%s x, %s y) { return %s(x, y); });", C, C, t.binary(s.Monoid.Func))
		t.waited()
	}
	t.b.WriteString(t.frame(s, pointStep{step: i, from: -1, clear: -1}, "\t\t\t", nil))
	t.line("}")
}

// expansions finds the products under the complement of a mask X with a result F that takes the
// place of the destination, if one step gives X entries at the entries of F, and no other step uses
// X. Such a product enters its result into X at once: a column is open if its bit of X is not set,
// and the product need not read the old F and the new F too. The step then writes the values.
func (t *writer) expansions() {
	for i := range t.List.Steps {
		s := &t.List.Steps[i]
		x, f := s.Mask.Var, s.Dst
		if s.Kind != pass.Product || !t.swaps[i] || !s.Ring.Add.Any || x == pass.None || !s.Mask.Comp || !s.Mask.Structural || x == f || t.isCondition(x) {
			continue
		}
		if v := &t.Vars[x]; v.Kind != Written || v.Listed || v.counted || v.Full {
			continue
		}
		by, ok := -1, true
		for k := range t.List.Steps {
			o := &t.List.Steps[k]
			if k == i {
				ok = ok && s.A.Var != x && s.B.Var != x
				continue
			}
			ok = ok && o.Dst != f && !(o.Kind == pass.Swap && o.A.Var == f)
			if o.Dst != x {
				ok = ok && !slices.Contains(uses(o), x)
				continue
			}
			gives := o.Kind == pass.Fill || (o.Kind == pass.Assign || o.Kind == pass.Apply && o.X.Var == pass.None) && o.A.Var == f
			ok = ok && by < 0 && gives && o.Mask.Var == f && o.Mask.Structural && !o.Mask.Comp && o.Accum.Text == "" && !o.Replace
			by = k
		}
		// The two take turns: no other step is between them but in a pass of the same body.
		between := slices.ContainsFunc(t.List.Blocks, func(b pass.Block) bool {
			lo, hi := min(i, by), max(i, by)
			return b.First > lo && b.First <= hi || b.First <= lo && b.End > lo && b.End <= hi
		})
		if ok && by >= 0 && !between {
			t.expands[i] = by
		}
	}
}

// expanded returns the product that enters its results into v, or −1.
func (t *writer) expanded(v int) int {
	for i := range t.expands {
		if t.List.Steps[i].Mask.Var == v {
			return i
		}
	}
	return -1
}

// ahead reports whether the results of product i wait for their values from one pass to the next.
func (t *writer) ahead(i int) bool { return t.expands[i] < i }
