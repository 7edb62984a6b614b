package loopkernel

import (
	"fmt"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
)

// This file writes what the kernel of a recorded loop does at a position.

// pointVar is how a stage uses a vector at its position.
type pointVar struct {
	has, val       bool // they are read
	write, cleared bool
}

// point is a stage that computes position by position. At position p the registers of vector v are
// h (it has an entry), x (the value), w (it is written), a (p goes into the list).
type point struct {
	t     *writer
	vars  map[int]*pointVar
	order []int
}

func newPoint(t *writer) *point { return &point{t: t, vars: map[int]*pointVar{}} }

func (g *point) of(v int) *pointVar {
	x := g.vars[v]
	if x == nil {
		x = &pointVar{}
		g.vars[v] = x
		g.order = append(g.order, v)
	}
	return x
}

// reads records a use of a vector.
func (g *point) reads(v int, val bool) {
	if v == pass.None || !g.t.isVector(v) {
		return
	}
	x := g.of(v)
	x.has = true
	x.val = x.val || val
}

// touch records what a step uses.
func (g *point) touch(ps pointStep) {
	if ps.clear >= 0 {
		x := g.of(ps.clear)
		x.write, x.cleared = true, true
		return
	}
	s := &g.t.List.Steps[ps.step]
	switch {
	case ps.from >= 0:
		g.reads(ps.from, true)
	case s.Kind == pass.Gather:
		g.reads(s.B.Var, true)
	default:
		g.reads(s.A.Var, !s.A.Pattern)
		g.reads(s.B.Var, !s.B.Pattern)
	}
	if !ps.bare {
		g.reads(s.Mask.Var, !s.Mask.Structural)
	}
	d := g.of(s.Dst)
	d.write = true
	if s.Accum.Text != "" {
		d.has, d.val = true, true
	}
	if v := &g.t.Vars[s.Dst]; v.Listed || v.counted {
		d.has = true
	}
}

// counts reports whether the stage counts the entries of a vector.
func (g *point) counts(v int) bool {
	x := g.vars[v]
	return x.write && !x.cleared && g.t.Vars[v].counted && !g.t.Vars[v].Full
}

func (g *point) title(open []pointStep) string {
	var names []string
	for _, ps := range open {
		s := &g.t.List.Steps[ps.step]
		if ps.clear < 0 {
			names = append(names, s.Op)
		}
	}
	return strings.Join(names, ", ")
}

// declare writes the registers of a position.
func (g *point) declare() {
	g.t.line("\tstruct hb_r {")
	for _, v := range g.order {
		g.t.line("\t\tbool h%d; %s x%d; bool w%d;", v, g.t.Vars[v].Type.Name, v, v)
	}
	g.t.line("\t};")
}

// hasAt and valAt are expressions of a vector at a position.
func (t *writer) hasAt(v int, p string) string {
	switch x := &t.Vars[v]; {
	case x.Full:
		return "true"
	case x.Kind == Read:
		return fmt.Sprintf("has%d[%s] != 0", v, p)
	}
	return fmt.Sprintf("v%d.has(%s)", v, p)
}

func (t *writer) valAt(v int, p string) string {
	if t.Vars[v].Kind == Read {
		return fmt.Sprintf("(val%d ? val%d[%s] : (%s)1)", v, v, p, t.Vars[v].Type.Name)
	}
	return fmt.Sprintf("v%d.val[%s]", v, p)
}

// load reads the registers, also for positions without an entry: no load waits for another one.
func (g *point) load() {
	for _, v := range g.order {
		x, of := g.vars[v], &g.t.Vars[v]
		if x.has || of.Full {
			g.t.line("\t\tr.h%d = %s;", v, g.t.hasAt(v, "p"))
		}
		if x.val {
			g.t.line("\t\tr.x%d = %s;", v, g.t.valAt(v, "p"))
		}
	}
}

// begin gives the registers their names.
func (g *point) begin() {
	for _, v := range g.order {
		of := &g.t.Vars[v]
		g.t.line("\t\tbool &h%d = r.h%d; %s &x%d = r.x%d; bool &w%d = r.w%d;", v, v, of.Type.Name, v, v, v, v)
		if !of.Full {
			g.t.line("\t\th%d = in && h%d;", v, v)
		}
		if g.counts(v) {
			g.t.line("\t\td%d -= h%d;", v, v)
		}
	}
}

// store writes the values back.
func (g *point) store() {
	t := g.t
	for _, v := range g.order {
		x, of := g.vars[v], &t.Vars[v]
		switch {
		case !x.write:
		case x.cleared:
			if of.rest != "" {
				t.line("\t\t\tv%d.val[p] = %s;", v, of.rest)
			}
		default:
			if g.counts(v) {
				t.line("\t\t\td%d += h%d;", v, v)
			}
			t.line("\t\t\tif (w%d && h%d) v%d.val[p] = x%d;", v, v, v, v)
		}
	}
}

// enter writes the bits back, for a whole warp.
func (g *point) enter(d domain) {
	t := g.t
	for _, v := range g.order {
		x, of := g.vars[v], &t.Vars[v]
		if !x.write || of.Full {
			continue
		}
		if t.expanded(v) >= 0 { // the product did
			t.line("\t\thb_enter(v%d.bits, p, true, in, w%d && !h%d, false);", v, v, v)
			continue
		}
		t.line("\t\thb_enter(v%d.bits, p, listed, in, w%d, h%d);", v, v, v)
		if of.Listed && !of.Marked && !x.cleared && d.list >= 0 && d.list != v { // it was empty
			t.line("\t\tconst bool a%d = listed && v%d.listed && h%d;", v, v, v)
		}
		if !of.Listed || !of.Marked {
			continue
		}
		switch {
		case x.cleared:
			t.line("\t\tif (v%d.listed) hb_enter(v%d.marks, p, listed, in, in, false);", v, v)
		case d.list == v:
		case d.list < 0:
			t.line("\t\tif (v%d.listed) hb_enter(v%d.marks, p, false, in, in, false);", v, v)
		default:
			t.line("\t\tconst bool a%d = listed && v%d.listed && h%d && !hb_marked(v%d.marks, in ? p : 0);", v, v, v, v)
			t.line("\t\tif (v%d.listed) hb_enter(v%d.marks, p, listed, in, listed ? a%d : in, a%d);", v, v, v, v)
		}
	}
}

// skips is the condition under which a stage along a list that is not kept may leave out positions
// without an entry: no marks are to be cleared there.
func (g *point) skips(d domain) string {
	text := "true"
	for _, v := range g.order {
		x, of := g.vars[v], &g.t.Vars[v]
		if x.write && of.Listed && of.Marked && (x.cleared || v != d.list) {
			text += fmt.Sprintf(" && !v%d.listed", v)
		}
	}
	return text
}

// appends returns the vectors with lists that the stage appends to.
func (g *point) appends(d domain) (list []int) {
	for _, v := range g.order {
		if x := g.vars[v]; d.list >= 0 && x.write && !x.cleared && g.t.Vars[v].Listed && d.list != v {
			list = append(list, v)
		}
	}
	return list
}

// collect declares the collectors of lists, put appends positions, and flushed writes the rest.
func (g *point) collect(d domain) {
	for k, v := range g.appends(d) {
		g.t.line("\thb_collector<%d> c%d;", k, v)
	}
}

func (g *point) put(d domain) {
	list := g.appends(d)
	if len(list) > 0 {
		g.t.line("\t\tconst hb_i32 one[1] = {(hb_i32)p};")
	}
	for _, v := range list {
		g.t.line("\t\tif (listed) c%d.put(g, v%d, a%d, one, %s);", v, v, v, g.t.degOf(v))
	}
}

func (g *point) flushed(d domain) {
	for _, v := range g.appends(d) {
		g.t.line("\tc%d.flush(g, v%d, %s);", v, v, g.t.degOf(v))
	}
}

// degOf is the offsets by which the edges of a list are counted.
func (t *writer) degOf(v int) string {
	if d := t.Vars[v].Degrees; d != "" {
		return d
	}
	return "(const hb_i64 *)0"
}

// function defines a function of an operator once and returns its name.
func (t *writer) function(out, params, locals, text string) string {
	key := out + "|" + params + "|" + locals + "|" + text
	if name, ok := t.funcs[key]; ok {
		return name
	}
	name := fmt.Sprintf("hb_f%d", len(t.funcs))
	t.funcs[key] = name
	fmt.Fprintf(&t.defs, "HB_DEVICE %s %s(%s) { %s return (%s)(%s); }\n", out, name, params, locals, out, text)
	return name
}

// typesOf are the types that the text of an operator may name.
func (t *writer) typesOf(f device.Func) string {
	y := f.Y.Name
	if y == "" {
		y = f.X.Name
	}
	return fmt.Sprintf("typedef %s A; typedef %s B; typedef %s C; typedef A T;", f.X.Name, y, f.Out.Name)
}

// binary defines an operator x × y.
func (t *writer) binary(f device.Func) string {
	return t.function(f.Out.Name, f.X.Name+" x, "+f.Y.Name+" y", t.typesOf(f), f.Text)
}

// nonzero defines the test of a mask by value.
func (t *writer) nonzero(typ device.Type) string {
	return t.function("bool", "const "+typ.Name+" &x", "", typ.Nonzero)
}

// operand returns the expressions of an operand at the position of the stage.
func (t *writer) operand(u pass.Use) (has, val string) {
	has, val = fmt.Sprintf("h%d", u.Var), fmt.Sprintf("x%d", u.Var)
	if u.Pattern {
		val = "true"
	}
	return has, val
}

// bound returns the expression of an argument that is one value; y says that it is the second one.
func (t *writer) bound(step int, b pass.Bound, second bool) string {
	if b.Var != pass.None {
		return fmt.Sprintf("x%d", b.Var)
	}
	for _, v := range t.Values {
		if v.Step == step && v.Second == second {
			return fmt.Sprintf("(*(const %s *)&W.w[%d])", b.Type.Name, v.Word)
		}
	}
	return b.Type.Name + "()"
}

// point writes a step at the position: its result as tb and tv, which then enters the destination.
func (t *writer) point(ps pointStep, in string, g *point) string {
	var b strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&b, in+format+"\n", args...) }
	if ps.clear >= 0 {
		w("h%d = false;", ps.clear)
		w("w%d = true;", ps.clear)
		return b.String()
	}
	s := &t.List.Steps[ps.step]
	C := t.Vars[s.Dst].Type.Name
	switch {
	case ps.from >= 0:
		w("const bool tb = h%d;", ps.from)
		w("const %s tv = x%d;", C, ps.from)
	case s.Kind == pass.EWise:
		ha, xa := t.operand(s.A)
		hb, xb := t.operand(s.B)
		f := t.binary(s.Func)
		w("bool tb = %s && %s;", ha, hb)
		w("%s tv = %s();", C, C)
		w("if (tb) tv = %s(%s, %s);", f, xa, xb)
		left, right := "("+C+")"+xa, "("+C+")"+xb
		if s.How == device.Filled {
			left = fmt.Sprintf("%s(%s, %s)", f, xa, t.bound(ps.step, s.Y, true))
			right = fmt.Sprintf("%s(%s, %s)", f, t.bound(ps.step, s.X, false), xb)
		}
		if s.How != device.Intersection {
			w("else if (%s) { tb = true; tv = %s; }", ha, left)
			w("else if (%s) { tb = true; tv = %s; }", hb, right)
		}
	case s.Kind == pass.Apply:
		ha, xa := t.operand(s.A)
		f := s.Func
		Y, y := "bool", "false"
		if s.X.Given() {
			Y, y = s.X.Type.Name, t.bound(ps.step, s.X, false)
		}
		params := f.X.Name + " x, " + Y + " y, hb_i64 i, hb_i64 j"
		if s.First {
			params = f.Y.Name + " y, " + Y + " x, hb_i64 i, hb_i64 j"
		}
		name := t.function(f.Out.Name, params, t.typesOf(f), f.Text)
		w("bool tb = %s;", ha)
		if s.X.Var != pass.None {
			w("tb = tb && h%d;", s.X.Var)
		}
		w("%s tv = %s();", C, C)
		w("if (tb) tv = %s(%s, %s, %s, 0);", name, xa, y, t.position(s))
	case s.Kind == pass.Select:
		ha, xa := t.operand(s.A)
		Y, y := "bool", "false"
		if s.X.Given() {
			Y, y = s.X.Type.Name, t.bound(ps.step, s.X, false)
		}
		f := s.Func
		f.Out, f.Y = boolean, f.X
		name := t.function("bool", f.X.Name+" x, "+Y+" y, hb_i64 i, hb_i64 j", t.typesOf(f), f.Text)
		w("bool tb = %s;", ha)
		if s.X.Var != pass.None {
			w("tb = tb && h%d;", s.X.Var)
		}
		w("if (tb) tb = %s(%s, %s, %s, 0);", name, xa, y, t.position(s))
		w("const %s tv = %s;", C, xa)
	case s.Kind == pass.Assign:
		ha, xa := t.operand(s.A)
		w("const bool tb = %s;", ha)
		w("const %s tv = %s;", C, xa)
	case s.Kind == pass.Fill:
		w("const bool tb = %s;", t.given(s.X))
		w("const %s tv = %s;", C, t.bound(ps.step, s.X, false))
	case s.Kind == pass.Gather:
		w("bool tb = h%d;", s.B.Var)
		w("%s tv = %s();", C, C)
		w("if (tb) {")
		w("\tconst hb_i64 q = (hb_i64)x%d;", s.B.Var)
		b.WriteString(t.gathered(ps.step, in+"\t"))
		w("}")
	}
	b.WriteString(t.frame(s, ps, in, g))
	return b.String()
}

// position is the position of a step as its operator sees it.
func (t *writer) position(s *pass.Step) string {
	if t.Vars[s.Dst].Kind == Uniform {
		return "0"
	}
	return "p"
}

// given is whether an argument has a value.
func (t *writer) given(b pass.Bound) string {
	if b.Var != pass.None {
		return fmt.Sprintf("h%d", b.Var)
	}
	return "true"
}

// frame takes tb and tv into the destination, under mask and accumulator.
func (t *writer) frame(s *pass.Step, ps pointStep, in string, g *point) string {
	var b strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&b, in+format+"\n", args...) }
	d := s.Dst
	mark := ""
	if t.Vars[d].Kind != Uniform {
		mark = fmt.Sprintf(" w%d = true;", d)
	}
	allowed := "true"
	if m := s.Mask; m.Var != pass.None && !ps.bare {
		allowed = fmt.Sprintf("h%d", m.Var)
		if !m.Structural {
			allowed = fmt.Sprintf("(h%d && %s(x%d))", m.Var, t.nonzero(t.Vars[m.Var].Type), m.Var)
		}
		if m.Comp {
			allowed = "!" + allowed
		}
	}
	// The mask may be the destination.
	w("const bool ok = %s;", allowed)
	if s.Accum.Text != "" {
		w("if (ok && tb) { x%d = h%d ? %s(x%d, tv) : tv; h%d = true;%s }", d, d, t.binary(s.Accum), d, d, mark)
	} else {
		w("if (ok) { if (tb) x%d = tv; h%d = tb;%s }", d, d, mark)
	}
	if s.Replace {
		w("if (!ok) { h%d = false;%s }", d, mark)
	}
	return b.String()
}

var boolean, _ = device.TypeOf[bool]() // a bool has a type
