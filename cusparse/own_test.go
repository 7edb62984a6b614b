package cusparse

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// ownRows is a schedule in which some threads divide a row; DEGREE and END are filled in.
const ownRows = `//hb:schedule NAME
//hb:threads 4
//hb:parts
HB_KERNEL hb_walk(hb_topology g, hb_items items, hb_op op) {
	const hb_i64 threads = (hb_i64)gridDim.x * HB_BLOCK;
	for (hb_i64 i = (hb_i64)blockIdx.x * HB_BLOCK + threadIdx.x; i < items.count * 4; i += threads) {
		hb_task t = hb_take(g, items, op, i / 4);
		if (t.r < 0) continue;
		hb_acc sum = hb_none();
		hb_i32 visited = 0;
		for (hb_i32 k = i % 4; k < DEGREE; k += 4, visited++) {
			hb_i32 u;
			hb_i64 p;
			bool is = hb_edge(g, t.r, t.base, k, u, p);
			hb_visit(g, op, t.v, t.at, u, p, is, sum);
		}
#if HB_REDUCES
		if (visited) hb_part(op, i, t.v, sum);
#endif
	}
}
`

// ownSchedule registers a schedule for matrices of some numbers of rows, so that the spaces of
// other tests stay as they are.
func ownSchedule(t *testing.T, text string, rows ...int) space.Schedule {
	t.Helper()
	o, err := space.ReadOwn(text)
	check(t, err)
	o.Refuses = func(_ space.Plan, f space.Facts) string {
		if slices.Contains(rows, f.Rows) {
			return ""
		}
		return "it is for another test"
	}
	s, err := space.Register(o)
	check(t, err)
	return s
}

// TestOwnSchedules runs plans with schedules of a user's own: the text of vm, and one with parts of
// rows.
func TestOwnSchedules(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	rows, every := []int{311, 511, 343}, 17
	if longtest.Enabled() {
		every = 3
	}
	strided := ownSchedule(t, "//hb:schedule ownvm\n"+kernelText["schedule/vm"], rows...)
	parts := ownSchedule(t, strings.NewReplacer("NAME", "ownparts", "DEGREE", "t.deg").Replace(ownRows), rows...)
	for _, s := range []space.Schedule{strided, parts} {
		seen := 0
		keep := func(_ int, p space.Plan) bool {
			plain := p.Block == space.DefaultBlock && p.Order == space.Natural && !p.Baked && !p.Columns
			if p.Schedule != s || !plain {
				return false
			}
			seen++
			return seen%every == 1
		}
		testPlans(t, d, semiring.PlusTimes[float64](), skewed[float64](311, 511, 5), 1, keep)
		testPlans(t, d, semiring.MinPlus[int32](), banded[int32](343), 2, keep)
		if seen < 40 {
			t.Errorf("%s: %d plans", s, seen)
		}
	}
}

// TestOwnScheduleIsChecked: a schedule that leaves out edges computes another result, which the
// search reports, and one that does not compile is an error of its plans.
func TestOwnScheduleIsChecked(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	ownSchedule(t, strings.NewReplacer("NAME", "ownright", "DEGREE", "t.deg").Replace(ownRows), 61, 81)
	ownSchedule(t, strings.NewReplacer("NAME", "ownwrong", "DEGREE", "t.deg - 1").Replace(ownRows), 61, 81)
	ownSchedule(t, strings.NewReplacer("NAME", "ownbroken", "DEGREE", "degree").Replace(ownRows), 61, 81)
	a, x := skewed[float64](61, 81, 5), partial[float64](81, 1)
	check(t, x.SetFormat(matrix.Full))
	tc := sure.Get(tuned.CaseOf("mxv", sure.Get(device.TypeOf[float64]())))
	u := &tuner{d: d, ctx: t.Context(), tc: tc, a: sure.Get(access.Operand(a.View(), backend{d})), x: sure.Get(access.Operand(matrix.AsView(x), backend{d})),
		dest: device.Dest{Rows: 1, Cols: 61, Type: tc.Semiring.Add.Out, Vector: true}}
	want, err := u.result("")
	check(t, err)
	for text, c := range map[string]func(error) bool{
		"pull csr ownright":  func(err error) bool { return err == nil },
		"pull csr ownwrong":  func(err error) bool { var e *space.WrongError; return errors.As(err, &e) && e.Difference != "" },
		"pull csr ownbroken": func(err error) bool { return err != nil && strings.Contains(err.Error(), "degree") },
	} {
		p, err := space.Parse(text)
		check(t, err)
		if err := u.check(p, want); !c(err) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
