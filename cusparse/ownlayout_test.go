package cusparse

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// slicedText is a layout in groups of 32 rows, column by column, made on the device.
const slicedText = `//hb:layout NAME
//hb:group 32
//hb:extra 1
//hb:flat
HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = g.ptr[r / 32] + r % 32;
	deg = g.extra[r];
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
	p = base + (hb_i64)k * 32;
	u = ((const hb_i32 *)g.idx)[p];
	return true;
}
HB_DEVICE bool hb_slot(const hb_topology &g, hb_i64 e, hb_i32 &r, hb_i32 &u, hb_i64 &p) {
	const hb_i64 group = hb_run_of(g.ptr, (g.nrows + 31) / 32, e);
	r = (hb_i32)(group * 32 + (e - g.ptr[group]) % 32);
	p = e;
	u = ((const hb_i32 *)g.idx)[e];
	const bool is = u >= 0;
	r = r < g.nrows ? r : 0;
	u = is ? u : 0;
	return is;
}
//hb:kernels
HB_KERNEL hb_sizes(hb_i64 rows, const hb_i64 *ptr, const hb_i32 *idx, hb_i64 *sizes) {
	HB_EACH(group, (rows + 31) / 32) {
		hb_i64 most = 0;
		for (hb_i64 r = group * 32; r < rows && r < group * 32 + 32; r++)
			if (ptr[r + 1] - ptr[r] > most) most = ptr[r + 1] - ptr[r];
		sizes[group] = most * 32;
	}
}
HB_KERNEL hb_fill(hb_i64 rows, const hb_i64 *ptr, const hb_i32 *idx, const hb_i64 *at, hb_i32 *toIdx, hb_i64 *entry, hb_i32 *extra) {
	HB_EACH(r, rows) {
		hb_i64 to = at[r / 32] + r % 32;
		extra[r] = (hb_i32)(ptr[r + 1] - ptr[r]);
		for (hb_i64 e = ptr[r]; e < ptr[r + 1]; e++, to += 32) {
			toIdx[to] = idx[e];
			entry[to] = ENTRY;
		}
	}
}
`

// paddedText reads rows that are filled up to whole groups of four slots.
const paddedText = `HB_DEVICE void hb_row(const hb_topology &g, hb_i32 r, hb_i64 &base, hb_i32 &deg) {
	base = g.ptr[r];
	deg = (hb_i32)(g.ptr[r + 1] - base);
}
HB_DEVICE bool hb_edge(const hb_topology &g, hb_i32 r, hb_i64 base, hb_i32 k, hb_i32 &u, hb_i64 &p) {
	p = base + k;
	u = ((const hb_i32 *)g.idx)[p];
	const bool is = u >= 0;
	u = is ? u : 0;
	return is;
}
`

// padded makes the arrays of paddedText.
func padded(r space.CompressedRows) (*space.Slots, error) {
	s := &space.Slots{At: []int64{0}}
	for i := range len(r.Ptr) - 1 {
		for e := r.Ptr[i]; e < r.Ptr[i+1]; e++ {
			s.Columns, s.Entries = append(s.Columns, r.Columns[e]), append(s.Entries, e)
		}
		for len(s.Columns)%4 != 0 {
			s.Columns, s.Entries = append(s.Columns, -1), append(s.Entries, -1)
		}
		s.At = append(s.At, int64(len(s.Columns)))
	}
	return s, nil
}

// onlyFor keeps a layout of a test to matrices of some numbers of rows.
func onlyFor(rows ...int) func(space.Plan, space.Facts) string {
	return func(_ space.Plan, f space.Facts) string {
		if slices.Contains(rows, f.Rows) {
			return ""
		}
		return "it is for another test"
	}
}

// sliced registers slicedText.
func sliced(name, entry string, rows ...int) space.Layout {
	o := sure.Get(space.ReadOwnLayout(strings.NewReplacer("NAME", name, "ENTRY", entry).Replace(slicedText)))
	o.Refuses = onlyFor(rows...)
	return sure.Get(space.RegisterLayout(o))
}

// TestOwnLayouts runs plans with layouts of a user's own, made on the device and on the host.
func TestOwnLayouts(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	rows, every := []int{317, 517, 347}, 97
	if longtest.Enabled() {
		every = 7
	}
	onHost := sure.Get(space.RegisterLayout(space.OwnLayout{Name: "ownpadded", Text: paddedText, Build: padded, Refuses: onlyFor(rows...)}))
	for _, l := range []space.Layout{sliced("ownsliced", "e", rows...), onHost} {
		seen, schedules := 0, map[space.Schedule]bool{}
		keep := func(_ int, p space.Plan) bool {
			plain := p.Block == space.DefaultBlock && p.Order == space.Natural && !p.Columns
			if p.Layout != l || !plain {
				return false
			}
			if seen++; schedules[p.Schedule] && seen%every != 0 {
				return false
			}
			schedules[p.Schedule] = true
			return true
		}
		testPlans(t, d, semiring.PlusTimes[float64](), skewed[float64](317, 517, 5), 1, keep)
		if l == onHost || longtest.Enabled() {
			testPlans(t, d, semiring.MinPlus[int32](), banded[int32](347), 2, keep)
		}
		if flat := schedules[space.EM]; len(schedules) < 8 || flat != (l != onHost) {
			t.Errorf("%s: schedules %v", l, schedules)
		}
	}
}

// TestRangesOfColumns runs plans that walk the columns in ranges.
func TestRangesOfColumns(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	seen, every := map[space.Schedule]int{}, 400
	if longtest.Enabled() {
		every = 29
	}
	keep := func(_ int, p space.Plan) bool {
		if p.Ranges == 0 || p.Layout.Own() != nil || p.Schedule.Own() != nil {
			return false
		}
		seen[p.Schedule]++
		return (seen[p.Schedule]-1)%every == 0
	}
	testPlans(t, d, semiring.PlusTimes[float64](), skewed[float64](300, 500, 5), 1, keep)
	testPlans(t, d, semiring.MinPlus[int32](), banded[int32](333), 2, keep)
	if longtest.Enabled() {
		testPlans(t, d, semiring.MaxMin[int8](), skewed[int8](300, 500, 7), 1, keep)
	}
	testPlans(t, d, semiring.PlusTimes[float64](), matrix.New[float64](40, 30), 1, keep)
	if len(seen) < 9 {
		t.Errorf("schedules %v", seen)
	}
}

// TestOwnLayoutErrors: texts that do not compile, arrays of wrong lengths, wrong entries, plans
// that the declarations exclude.
func TestOwnLayoutErrors(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	const m = 67
	a, x := skewed[float64](m, 81, 5), partial[float64](81, 1)
	check(t, x.SetFormat(matrix.Full))
	product := func(plan string) error {
		w := matrix.NewVector[float64](m, matrix.On(d))
		return ops.MxV(w, semiring.PlusTimes[float64](), a, x, ops.Using(ops.Method(plan)))
	}
	host := func(name, text string, build func(space.CompressedRows) (*space.Slots, error)) {
		sure.Get(space.RegisterLayout(space.OwnLayout{Name: name, Text: text, Build: build, Refuses: onlyFor(m)}))
	}
	change := func(f func(s *space.Slots)) func(space.CompressedRows) (*space.Slots, error) {
		return func(r space.CompressedRows) (*space.Slots, error) {
			s := sure.Get(padded(r))
			f(s)
			return s, nil
		}
	}
	failed := errors.New("no memory for it")
	host("badtext", strings.ReplaceAll(paddedText, "g.idx", "g.index"), padded)
	host("badbuild", paddedText, func(space.CompressedRows) (*space.Slots, error) { return nil, failed })
	host("badat", paddedText, change(func(s *space.Slots) { s.At = s.At[1:] }))
	host("badcolumns", paddedText, change(func(s *space.Slots) { s.Columns = s.Columns[4:] }))
	host("badentries", paddedText, change(func(s *space.Slots) { s.Entries = s.Entries[4:] }))
	host("badextra", paddedText, change(func(s *space.Slots) { s.Extra = []int32{1} }))
	host("badtwice", paddedText, change(func(s *space.Slots) { s.Entries[0] = s.Entries[1] }))
	host("badcolumn", paddedText, change(func(s *space.Slots) { s.Columns[0] = 81 }))
	sliced("badfill", "e - 1", m)
	for _, c := range []struct{ plan, want string }{
		{"pull badat vm", "got 67 offsets in At, want 68"},
		{"pull badcolumns vm", "want as many as slots"},
		{"pull badentries vm", "entries, want as many as slots"},
		{"pull badextra vm", "got 1 extra numbers, want 0"},
		{"pull badtwice vm", "1 slots with an entry twice"},
		{"pull badcolumn vm", "a column outside 0 … 80"},
		{"pull badfill vm", "entries in slots"},
	} {
		var e *space.LayoutError
		if err := product(c.plan); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a LayoutError with %q", c.plan, err, c.want)
		}
	}
	if err := product("pull badbuild vm"); !errors.Is(err, failed) {
		t.Errorf("an error of Build: %v", err)
	}
	if err := product("pull badtext vm"); err == nil || !strings.Contains(err.Error(), "index") {
		t.Errorf("a text that does not compile: %v", err)
	}
	if err := product("pull badtwice em"); !errors.Is(err, ops.ErrMethod) || !strings.Contains(err.Error(), "not declared flat") {
		t.Errorf("a flat schedule: %v", err)
	}
}

// TestTuneOwnLayout: the search has plans with the layout and checks their results, and products
// take such a plan if it was kept.
func TestTuneOwnLayout(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	const m = 71
	right := sliced("tunedsliced", "e", m)
	// The second column of each row twice, in place of the third.
	host := strings.ReplaceAll(paddedText, "p = base + k", "p = base + (k == 2 ? 1 : k)")
	wrong := sure.Get(space.RegisterLayout(space.OwnLayout{Name: "tunedwrong", Text: host, Build: padded, Refuses: onlyFor(m)}))
	a := skewed[float64](m, m, 5)
	u := tunerOf(t, d, a)
	want, err := u.result("")
	check(t, err)
	for _, l := range []space.Layout{right, wrong} {
		p := space.Plan{Layout: l}.Normal()
		var e *space.WrongError
		if err := u.check(p, want); l == right && err != nil || l == wrong && !errors.As(err, &e) {
			t.Errorf("%s: %v", p, err)
		}
		facts, _, err := u.facts(space.Pull)
		check(t, err)
		if !slices.Contains(space.Points(space.Pull, facts), p) {
			t.Errorf("the space has no %s", p)
		}
	}
	p, err := space.Parse("pull tunedsliced vm")
	check(t, err)
	check(t, a.Move(d))
	keepPlan(t, d, a, p)
	w, x := matrix.NewVector[float64](m, matrix.On(d)), partial[float64](m, 1)
	check(t, x.SetFormat(matrix.Full))
	var trace ops.Trace
	check(t, ops.MxV(w, semiring.PlusTimes[float64](), a, x, ops.WithTrace(&trace)))
	if trace.Plan != p.String() {
		t.Errorf("the product ran by %q, want %q", trace.Plan, p)
	}
}

// keepPlan stores a plan as the winner of a search for products of a with a full vector.
func keepPlan(t *testing.T, d *Device, a *matrix.Matrix[float64], p space.Plan) {
	t.Helper()
	u := tunerOf(t, d, a)
	facts, print, err := u.facts(space.Pull)
	check(t, err)
	d.choice.floor = -1 // small matrices are looked at
	found := &Tuning{Ranking: []Timing{{Plan: p}}}
	check(t, d.plans().Keep(found.winners([2]space.Facts{facts, facts}, [2]string{print, print})))
}

// tunerOf is a search for products of a with a full vector.
func tunerOf(t *testing.T, d *Device, a *matrix.Matrix[float64]) *tuner {
	t.Helper()
	u, err := newTuner(t.Context(), d, a, TuneOptions{})
	check(t, err)
	if u.tc.Semiring.Add.Out.Name != sure.Get(device.TypeOf[float64]()).Name {
		t.Fatal("the search has another type")
	}
	return u
}
