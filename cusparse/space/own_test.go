package space

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const ownText = "//hb:schedule mine\n//hb:threads 4\n//hb:parts\n//hb:layouts csr ell\n//hb:directions pull\nHB_KERNEL hb_walk(hb_topology g, hb_items items, hb_op op) {}\n"

// A registered schedule is a word of plans, with the plans that its declarations allow.
func TestOwn(t *testing.T) {
	o, err := ReadOwn(ownText)
	if err != nil || o.Name != "mine" || o.Threads != 4 || !o.Parts || !slices.Equal(o.Layouts, []Layout{CSR, ELL}) || !slices.Equal(o.Directions, []Direction{Pull}) {
		t.Fatalf("%+v, %v", o, err)
	}
	o.Refuses = func(p Plan, f Facts) string {
		if !f.FullX {
			return "it wants a full vector"
		}
		return ""
	}
	s, err := Register(o)
	if err != nil || s.String() != "mine" || s.Own().Text != ownText {
		t.Fatalf("%v, %v", s, err)
	}
	if again, err := Register(o); err != nil || again != s {
		t.Errorf("registered again: %v, %v", again, err)
	}
	p, err := Parse("pull ell mine block=128")
	if err != nil || p.Schedule != s || p.Frame != Atomic || p.String() != "pull ell mine atomic block=128" {
		t.Errorf("%v, %v", p, err)
	}
	f := Facts{Rows: 9, Cols: 9, Entries: 20, FullX: true, Exact: true, Result: 8, Elements: 8, ReadsX: true}
	plans := 0
	for _, d := range []Direction{Pull, Push} {
		for _, p := range Points(d, f) {
			if p.Schedule != s {
				continue
			}
			if plans++; p.Direction != Pull || p.Layout != CSR && p.Layout != ELL || p.Frame != Atomic {
				t.Errorf("the space has %s", p)
			}
		}
	}
	if plans == 0 {
		t.Error("the space has no plan with the schedule")
	}
	for text, want := range map[string]string{"pull coo mine": "does not declare the layout", "push csr mine": "does not declare the direction",
		"pull csr mine store": "several threads have parts of a row"} {
		p, err := Parse(text)
		if err == nil {
			err = p.Legal(f)
		}
		var clash *ClashError
		if !errors.As(err, &clash) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	f.FullX = false
	if err := p.Legal(f); err == nil || !strings.Contains(err.Error(), "it wants a full vector") {
		t.Errorf("a refused operand: %v", err)
	}
}

func TestOwnErrors(t *testing.T) {
	kernel := "HB_KERNEL hb_walk(hb_topology g) {}"
	for _, c := range []struct{ text, want string }{
		{kernel, "has no line //hb:schedule NAME"},
		{"//hb:schedule\n" + kernel, "want //hb:schedule and one name"},
		{"//hb:schedule a b\n" + kernel, "want //hb:schedule and one name"},
		{"//hb:schedule a\n//hb:threads many\n" + kernel, `the schedule "a" has the line 2 "//hb:threads many", want //hb:threads and one number`},
		{"//hb:schedule a\n//hb:layouts csr elll\n" + kernel, "did you mean ell?"},
		{"//hb:schedule a\n//hb:directions sideways\n" + kernel, "want pull, push or both"},
		{"//hb:schedule a\n//hb:layout csr\n" + kernel, "want one of //hb:schedule, threads"},
	} {
		var e *OwnError
		if _, err := ReadOwn(c.text); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	for _, c := range []struct {
		o    Own
		want string
	}{
		{Own{Name: "Mine", Text: kernel}, "lower-case letters"},
		{Own{Name: "", Text: kernel}, "lower-case letters"},
		{Own{Name: "vm", Text: kernel}, "the name of another part"},
		{Own{Name: "csr", Text: kernel}, "the name of another part"},
		{Own{Name: "walker", Text: "int x;"}, "has no kernel hb_walk"},
		{Own{Name: "walker", Text: kernel, Threads: 3}, "takes 3 threads"},
		{Own{Name: "walker", Text: kernel, Threads: -1}, "takes -1 threads"},
	} {
		var e *OwnError
		if _, err := Register(c.o); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if _, err := Register(Own{Name: "twice", Text: kernel}); err != nil {
		t.Error(err)
	}
	if _, err := Register(Own{Name: "twice", Text: kernel + " "}); err == nil || !strings.Contains(err.Error(), "another text") {
		t.Errorf("another text: %v", err)
	}
	if p, err := Parse("pull csr walker"); err == nil {
		t.Errorf("a schedule that was refused is in the space: %v", p)
	}
}
