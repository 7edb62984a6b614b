package space

import (
	"errors"
	"strings"
	"testing"
)

// allowing are facts that allow as many plans as any operands do.
var allowing = Facts{Rows: 1, Cols: 1, Entries: 1, Diagonals: 1, OnDiagonals: 1, FullX: true, ListedMask: true, Any: true, Constant: true, Exact: true, Result: 4, ReadsX: true, Shared: 1}

// TestTexts reads the text of every plan.
func TestTexts(t *testing.T) {
	seen := map[string]bool{}
	total := 0
	for _, d := range []Direction{Pull, Push} {
		for _, p := range Points(d, allowing) {
			total++
			text := p.String()
			if seen[text] {
				t.Fatalf("%q is the text of two plans", text)
			}
			seen[text] = true
			if got, err := Parse(text); err != nil || got != p {
				t.Fatalf("Parse(%q) = %+v, %v; want %+v", text, got, err, p)
			}
			if p.Direction != d {
				t.Fatalf("%q is among the plans of %v", text, d)
			}
		}
	}
	if total < 4480 { // GRAssembler's space
		t.Errorf("%d plans, want at least 4480", total)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "needs a direction"}, {"pull", "a schedule"}, {"pull csr twcx", "did you mean twc?"}, {"pull vm block=96", "power of two"},
		{"pull vm block=2048", "from 32 to 1024"}, {"pull vm block=x", "power of two"}, {"pull vm order=degre", "did you mean degree?"},
		{"pull vm from=lost", "did you mean list?"}, {"pull vm blok=64", "did you mean block?"}, {"pull vm elephant", "one of"},
	} {
		_, err := Parse(c.text)
		var parse *ParseError
		if !errors.As(err, &parse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q): %v, want a ParseError with %q", c.text, err, c.want)
		}
	}
}

// TestDefaults completes plans that name few parts.
func TestDefaults(t *testing.T) {
	for text, want := range map[string]string{
		"pull vm": "pull csr vm store", "vm pull": "pull csr vm store", "push twc": "push csr twc bitmap", "pull em coo": "pull coo em atomic",
		"pull strict": "pull csr strict segmented", "push coo em": "push coo em bitmap", "pull vw lanes=8 block=256": "pull csr vw store lanes=8", "push expand": "push csr expand store",
	} {
		if p, err := Parse(text); err != nil || p.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, p, err, want)
		}
	}
}

func TestClashes(t *testing.T) {
	for text, want := range map[string]string{
		"pull csr vm append": "pull and append", "pull csr strict store": "strict and store", "pull csr vm segmented": "vm and segmented",
		"push csr vm store": "push and store", "push csr tiles bitmap": "push and tiles", "pull csr emv": "emv and csr",
		"push coo em from=list": "em and from=list", "pull csr vm baked": "csr and baked", "push csr vm order=log": "push and order=log",
		"pull csr expand": "pull and expand", "push csr expand bitmap": "expand and bitmap",
	} {
		p, err := Parse(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
			continue
		}
		var clash *ClashError
		if err := p.Legal(allowing); !errors.As(err, &clash) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is legal: %v, want a ClashError of %q", text, err, want)
		}
	}
	wide := allowing
	wide.Result, wide.Cols, wide.Diagonals = 16, 1<<20, 0
	for _, text := range []string{"push csr vm", "pull csr strict atomic", "pull csr16 vm", "pull dia vm"} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.Legal(wide) == nil {
			t.Errorf("%q is legal for 16-byte results in 2²⁰ columns without diagonals", text)
		}
	}
}

// TestTable chooses for kinds of graphs, and only what is legal and deterministic.
func TestTable(t *testing.T) {
	full := Facts{Rows: 1 << 20, Cols: 1 << 20, Entries: 16 << 20, MaxDegree: 20, Variation: 0.1, Seen: true, Frontier: 1, FullX: true, Wanted: 1, ReadsX: true, Result: 4, Elements: 4, Uses: 64}
	for _, c := range []struct {
		change func(f *Facts)
		want   string
	}{
		{func(f *Facts) { f.Diagonals, f.OnDiagonals = 27, 1 }, "pull dia vm store"},
		{func(f *Facts) {}, "pull sell vm store block=128"},
		{func(f *Facts) { f.Variation = 0.3 }, "pull ell vm store block=128"},
		{func(f *Facts) { f.Variation = 5 }, "pull csr tiles segmented"},
		{func(f *Facts) { f.Uses = 1 }, "pull csr tiles segmented"},
		{func(f *Facts) { f.Variation, f.Head, f.Shared = 5, .5, 49152 }, "pull csr tiles segmented hot"},
		{func(f *Facts) { f.Variation, f.Head, f.Shared, f.Masked = 5, .5, 49152, true }, "pull csr tiles segmented"},
		{func(f *Facts) { f.Variation, f.Head, f.Shared = 5, .1, 49152 }, "pull csr tiles segmented hot relabelled"},
		{func(f *Facts) { f.Variation, f.Head, f.Shared, f.Uses = 5, .1, 49152, 4 }, "pull csr tiles segmented"},
		{func(f *Facts) { f.Variation, f.Head, f.Shared, f.Cols = 5, .1, 49152, 1<<18 }, "pull csr tiles segmented"},
		{func(f *Facts) { f.Seen, f.Entries = false, 2<<20 }, "pull csr vw store lanes=2"},
		{func(f *Facts) { f.ListedMask, f.Wanted = true, .1 }, "pull csr vw store from=list lanes=32"},
	} {
		f := full
		c.change(&f)
		p, ok := Choose(&f, nil)
		if !ok || p.String() != c.want {
			t.Errorf("chosen %q, want %q", p, c.want)
		}
	}
	for _, frontier := range []float64{0.001, 0.01, 0.1, 0.5, 1} {
		for _, variation := range []float64{0.01, 0.4, 8} {
			for _, exact := range []bool{true, false} {
				f := full
				f.FullX, f.Frontier, f.Variation, f.Exact, f.ListedX = false, frontier, variation, exact, frontier < 0.05
				p, ok := Choose(&f, &f)
				if !ok || p.Legal(f) != nil || !p.Deterministic(f) {
					t.Errorf("frontier %v, variation %v: chosen %q, %v", frontier, variation, p, ok)
				}
			}
		}
	}
	if _, ok := Choose(nil, nil); ok {
		t.Error("a plan was chosen without facts")
	}
}

func TestReadTable(t *testing.T) {
	for _, text := range []string{"pull csr vm", "x<1: pull csr vm", "mean=1: pull csr vm", "mean<y: pull csr vm", "mean<1: pull"} {
		if _, err := readTable(text); err == nil {
			t.Errorf("readTable(%q) has no error", text)
		}
	}
}
