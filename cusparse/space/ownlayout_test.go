package space

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const (
	rowsText   = "HB_DEVICE void hb_row() {}\nHB_DEVICE bool hb_edge() {}\n"
	makingText = "HB_KERNEL hb_sizes() {}\nHB_KERNEL hb_fill() {}\n"
	layoutText = "//hb:layout rowsof4\n//hb:group 4\n//hb:extra 2\n" + rowsText + "//hb:kernels\n" + makingText
)

// A registered layout is a word of plans, with the plans that its declarations allow.
func TestOwnLayout(t *testing.T) {
	o, err := ReadOwnLayout(layoutText)
	if err != nil || o.Name != "rowsof4" || o.Group != 4 || o.Extra != 2 || o.Flat || !strings.HasSuffix(o.Text, rowsText) || o.Kernels != "//hb:kernels\n"+makingText {
		t.Fatalf("%+v, %v", o, err)
	}
	o.Refuses = func(_ Plan, f Facts) string {
		if f.Rows != 9 {
			return "it is for 9 rows"
		}
		return ""
	}
	l, err := RegisterLayout(o)
	if err != nil || l.String() != "rowsof4" || l.Own().Groups(9) != 3 {
		t.Fatalf("%v, %v", l, err)
	}
	if again, err := RegisterLayout(o); err != nil || again != l {
		t.Errorf("registered again: %v, %v", again, err)
	}
	p, err := Parse("pull rowsof4 vw lanes=4 ranges=8")
	if err != nil || p.Layout != l || p.String() != "pull rowsof4 vw store lanes=4 ranges=8" {
		t.Errorf("%v, %v", p, err)
	}
	f := Facts{Rows: 9, Cols: 9, Entries: 20, FullX: true, Exact: true, Result: 8, Elements: 8, ReadsX: true}
	seen := map[Schedule]bool{}
	for _, d := range []Direction{Pull, Push} {
		for _, p := range Points(d, f) {
			seen[p.Schedule] = seen[p.Schedule] || p.Layout == l
		}
	}
	for s, want := range map[Schedule]bool{VM: true, VW: true, TWC: true, STRICT: true, EM: false, EMV: false, Tiles: false} {
		if seen[s] != want {
			t.Errorf("plans of the layout by %v: %t", s, seen[s])
		}
	}
	for text, want := range map[string]string{"pull rowsof4 em": "not declared flat", "pull rowsof4 tiles": "its kernel reads csr", "pull rowsof4 cusparse": "it reads csr"} {
		p, err := Parse(text)
		if err == nil {
			err = p.Legal(f)
		}
		var clash *ClashError
		if !errors.As(err, &clash) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	f.Rows = 8
	if err := p.Legal(f); err == nil || !strings.Contains(err.Error(), "it is for 9 rows") {
		t.Errorf("a refused operand: %v", err)
	}
}

// TestRangesLegal: ranges of columns are for pulls that read the values of a vector at random.
func TestRangesLegal(t *testing.T) {
	f := Facts{Rows: 90, Cols: 90, Entries: 200, FullX: true, Exact: true, Result: 8, Elements: 8, ReadsX: true, Diagonals: 3, OnDiagonals: 1}
	counts := map[int8]int{}
	for _, d := range []Direction{Pull, Push} {
		for _, p := range Points(d, f) {
			if counts[p.Ranges]++; p.Ranges != 0 && d == Push {
				t.Errorf("the space has %s", p)
			}
		}
	}
	for _, n := range ColumnRanges {
		if counts[n] == 0 {
			t.Errorf("no plan has %d ranges", n)
		}
	}
	listed, few := f, f
	listed.FullX, listed.ListedX = false, true
	few.Cols = 3
	for text, c := range map[string]struct {
		f    Facts
		want string
	}{
		"push csr vm ranges=4":            {f, "it writes to the columns"},
		"pull dia vm ranges=4":            {f, "read as a whole"},
		"pull csr tiles ranges=4":         {f, "reads the whole matrix"},
		"pull csr vm ranges=4":            {few, "fewer columns than ranges"},
		"pull csr vw ranges=4 relabelled": {listed, "the vector is a list"},
	} {
		p, err := Parse(text)
		if err == nil {
			err = p.Legal(c.f)
		}
		var clash *ClashError
		if !errors.As(err, &clash) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", text, err, c.want)
		}
	}
	p, err := Parse("pull csr vw")
	if err != nil || !slices.ContainsFunc(Neighbours(p, f), func(q Plan) bool { return q.Ranges == 8 && q.Schedule == VW }) {
		t.Errorf("%v: no neighbour of %s has ranges", err, p)
	}
}

func TestOwnLayoutErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{rowsText, "has no line //hb:layout NAME"},
		{"//hb:layout\n" + rowsText, "want //hb:layout and one name"},
		{"//hb:layout a\n" + rowsText, "has no line //hb:kernels"},
		{"//hb:layout a\n//hb:group many\n", "want //hb:group and one number"},
		{"//hb:layout a\n//hb:extra\n", "want //hb:extra and one number"},
		{"//hb:layout a\n//hb:threads 3\n", "want one of //hb:layout, group"},
	} {
		var e *LayoutError
		if _, err := ReadOwnLayout(c.text); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	build := func(CompressedRows) (*Slots, error) { return nil, nil }
	for _, c := range []struct {
		o    OwnLayout
		want string
	}{
		{OwnLayout{Name: "Mine", Text: rowsText, Build: build}, "lower-case letters"},
		{OwnLayout{Name: "csr", Text: rowsText, Build: build}, "the name of another part"},
		{OwnLayout{Name: "lines", Text: "int x;", Build: build}, "has no functions hb_row and hb_edge"},
		{OwnLayout{Name: "lines", Text: rowsText, Build: build, Flat: true}, "no function hb_slot"},
		{OwnLayout{Name: "lines", Text: rowsText}, "give one of them"},
		{OwnLayout{Name: "lines", Text: rowsText, Build: build, Kernels: makingText}, "give one of them"},
		{OwnLayout{Name: "lines", Text: rowsText, Kernels: "int x;"}, "no kernels hb_sizes and hb_fill"},
		{OwnLayout{Name: "lines", Text: rowsText, Build: build, Group: -1}, "groups of -1 rows"},
		{OwnLayout{Name: "lines", Text: rowsText, Build: build, Extra: 65}, "65 extra numbers a row"},
	} {
		var e *LayoutError
		if _, err := RegisterLayout(c.o); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	o := OwnLayout{Name: "lines", Text: rowsText, Build: build, Group: 2}
	if _, err := RegisterLayout(o); err != nil {
		t.Error(err)
	}
	if _, err := Register(Own{Name: "lines", Text: "hb_walk"}); err == nil || !strings.Contains(err.Error(), "the name of a layout") {
		t.Errorf("a schedule with the name of a layout: %v", err)
	}
	o.Text += " "
	if _, err := RegisterLayout(o); err == nil || !strings.Contains(err.Error(), "another text") {
		t.Errorf("another text: %v", err)
	}
	for _, c := range []struct {
		s    *Slots
		want string
	}{
		{nil, "no arrays and no error"},
		{&Slots{At: []int64{0, 1}}, "got 2 offsets in At, want 3"},
		{&Slots{At: []int64{0, 2, 1}}, "do not ascend"},
		{&Slots{At: []int64{0, 1, 2}, Columns: []int32{1}}, "got 1 columns"},
		{&Slots{At: []int64{0, 1, 2}, Columns: []int32{1, 0}}, "got 0 entries"},
		{&Slots{At: []int64{0, 1, 2}, Columns: []int32{1, 0}, Entries: []int64{0, 1}, Extra: []int32{1}}, "got 1 extra numbers, want 0"},
	} {
		if err := o.Check(c.s, 3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
}
