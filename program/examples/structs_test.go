package examples_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

// nearest is the state of structFiles: the distance, the hops of the shortest path, and whether the
// vertex was ever reached.
type nearest struct {
	far     float64
	hops    int32
	reached bool
}

const nearestFile = `state { float64 far; int hops; bool reached }
edge float32
message { float64 far; int hops }
init {INFINITY, -1}
seed 3 {0, 0, true}
gather {src.far + weight, src.hops + 1}
if src.reached
sum x.far < y.far || x.far == y.far && x.hops <= y.hops ? x : y
identity {INFINITY, 0x7fffffff}
apply active = sum.far < state.far || sum.far == state.far && sum.hops < state.hops;
  if (active) { state.far = sum.far; state.hops = sum.hops; state.reached = true; }
`

// structFiles runs programs of text with structs as states, messages and edges, and compares them
// with the same programs in Go.
func structFiles(t *testing.T, host, there *matrix.Matrix[float32]) {
	type mail struct {
		far  float64
		hops int32
	}
	least := func(x, y mail) mail {
		if x.far < y.far || x.far == y.far && x.hops <= y.hops {
			return x
		}
		return y
	}
	want, err := program.Run(context.Background(), host, program.Program[nearest, float32, mail]{
		Init:  program.Value(nearest{math.Inf(1), -1, false}),
		Seeds: program.At(3, nearest{0, 0, true}),
		Gather: program.GatherIf(func(src, _ nearest, w float32) (mail, bool) {
			return mail{src.far + float64(w), src.hops + 1}, src.reached
		}, "", ""),
		Sum: semiring.NewMonoid(semiring.NewBinary("nearest", least), mail{math.Inf(1), math.MaxInt32}),
		Apply: program.Apply(func(_ program.Vertex, s nearest, sum mail) (nearest, bool) {
			if sum.far < s.far || sum.far == s.far && sum.hops < s.hops {
				return nearest{sum.far, sum.hops, true}, true
			}
			return s, false
		}, ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := program.ReadFile(strings.NewReader(nearestFile), "nearest.prog")
	if err != nil {
		t.Fatal(err)
	}
	expect := sure.Get(want.State.Dense(nearest{}))
	for plan, g := range map[string]*matrix.Matrix[float32]{"": there, "pull csr vm store": there, "buffer rows": there, "auto": host, "push": host, "pull": host} {
		got, err := program.RunFile[nearest](context.Background(), g, file, program.Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		if states := sure.Get(got.State.Dense(nearest{})); !slices.Equal(states, expect) || got.Supersteps != want.Supersteps {
			t.Errorf("%q: %v after %d supersteps, want %v after %d", plan, states, got.Supersteps, expect, want.Supersteps)
		}
		if err := got.State.Move(nil); err != nil || !got.State.Equal(want.State) {
			t.Errorf("%q: moved to the host: %v", plan, err)
		}
	}

	for _, g := range []*matrix.Matrix[float32]{host, there} {
		structColumns(t, g, file, want)
	}
	roadFile(t, host, there, expect)

	var bad *program.FileError
	number := levelFile(file)
	for _, run := range []func() error{
		func() error {
			_, err := program.RunFile[struct {
				far  float64
				hops int32
			}](context.Background(), there, file)
			return err
		},
		func() error {
			_, err := program.RunFile[struct {
				far, hops float64
				reached   bool
			}](context.Background(), host, file)
			return err
		},
		func() error { _, err := program.RunFile[float64](context.Background(), there, file); return err },
		func() error { _, err := program.RunFile[nearest](context.Background(), host, number); return err },
	} {
		if err := run(); !errors.As(err, &bad) || !strings.Contains(err.Error(), "the caller wants") {
			t.Errorf("states of another type: %v", err)
		}
	}
}

// levelFile is a program with a number as its state, and the sum any of structs.
func levelFile(f *program.File) *program.File {
	number := *f
	number.State, number.Message, number.Init, number.Gather, number.If = "int16", "{ int16 a; int16 b }", "-1", "{src + 1, 7}", ""
	number.Seeds, number.Sum, number.Identity = []program.FileSeed{{ID: 3, State: "0"}}, "any", ""
	number.Apply, number.Skip = "state = sum.b == 7 ? sum.a : -100", "state >= 0"
	return &number
}

// structColumns runs the file of nearest, and levelFile, on a graph.
func structColumns(t *testing.T, g *matrix.Matrix[float32], file *program.File, want *program.Result[nearest]) {
	t.Helper()
	expect := sure.Get(want.State.Dense(nearest{}))
	columns, err := program.RunFileColumns(context.Background(), g, file)
	if err != nil {
		t.Fatal(err)
	}
	if columns.Supersteps != want.Supersteps || columns.Ended != program.Quiet || columns.Active != 0 || len(columns.Columns) != 3 {
		t.Fatalf("%+v", columns)
	}
	far, hops, reached := columns.Columns[0], columns.Columns[1], columns.Columns[2]
	for v, s := range expect {
		if far.Name != "far" || far.Values.([]float64)[v] != s.far || hops.Name != "hops" || hops.Values.([]int32)[v] != s.hops ||
			reached.Name != "reached" || reached.Values.([]bool)[v] != s.reached {
			t.Fatalf("vertex %d: %v %v %v, want %+v", v, far.Values, hops.Values, reached.Values, s)
		}
	}
	limited, err := program.RunFileColumns(context.Background(), g, file, program.Options{MaxSupersteps: 1})
	if !errors.Is(err, program.ErrLimit) || limited == nil || limited.Supersteps != 1 || limited.Active == 0 {
		t.Errorf("a limit gives %+v, %v", limited, err)
	}

	// A state that is a number is one column; any is a sum of structs.
	levels, err := program.RunFileColumns(context.Background(), g, levelFile(file))
	if err != nil {
		t.Fatal(err)
	}
	for v, level := range levels.Columns[0].Values.([]int16) {
		if (level >= 0) != expect[v].reached || level > int16(expect[v].hops) && expect[v].reached || level == 0 && v != 3 {
			t.Errorf("vertex %d has level %d, and the shortest path %d hops", v, level, expect[v].hops)
		}
	}

}

// roadFile runs a program with edges that have fields.
func roadFile(t *testing.T, host, there *matrix.Matrix[float32], expect []nearest) {
	t.Helper()
	type road struct {
		length float32
		lanes  uint8
		toll   float64 // more than a word
	}
	roads := matrix.New[road](host.Dims())
	split := semiring.NewUnary("split", func(w float32) road { return road{w, uint8(8 * w), float64(w)} })
	if err := ops.Apply(roads, split, host); err != nil {
		t.Fatal(err)
	}
	lanes := make([]int64, len(expect))
	for at, r := range roads.All() {
		if r.length > .3 && r.toll > .3 {
			lanes[at.Col] += int64(r.lanes)
		}
	}
	far := roads.Clone()
	if err := far.Move(there.Place()); err != nil {
		t.Fatal(err)
	}
	text := "state int64\nedge { float length; uint8 lanes; double toll }\nmessage int64\ninit 0\ngather weight.lanes\nif weight.length > .3f && weight.toll > .3\n" +
		"sum plus\napply state = sum\nsupersteps 1\n"
	count, err := program.ReadFile(strings.NewReader(text), "lanes.prog")
	if err != nil {
		t.Fatal(err)
	}
	for plan, g := range map[string]*matrix.Matrix[road]{"": far, "push": far, "buffer rows": far, "auto": roads, "pull": roads} {
		got, err := program.RunFile[int64](context.Background(), g, count, program.Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		if got := sure.Get(got.State.Dense(0)); !slices.Equal(got, lanes) {
			t.Errorf("%q: lanes %v, want %v", plan, got, lanes)
		}
	}

	var bad *program.FileError
	for _, g := range []*matrix.Matrix[float32]{host, there} {
		if _, err := program.RunFile[int64](context.Background(), g, count); !errors.As(err, &bad) || !strings.Contains(err.Error(), "lanes") {
			t.Errorf("a graph of numbers for edges with fields: %v", err)
		}
	}
}
