package communities

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"pgregory.net/rapid"
)

// Vertices that move at once, on the host, give right partitions of any graph; the communities of
// Leiden are connected. One thread repeats itself.
func TestCommunitiesAtOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawUndirected(r, rapid.IntRange(1, 25).Draw(r, "n"))
		a := samples.Build[float64](r, s, matrix.CSR)
		o := CommunitiesOptions{Nondeterministic: true, Leiden: rapid.Bool().Draw(r, "Leiden"), Fast: rapid.Bool().Draw(r, "fast")}
		o.Threads = rapid.IntRange(1, 3).Draw(r, "threads")
		res, err := Communities(a, o)
		if err != nil {
			r.Fatal(err)
		}
		checkCommunities(r, s, res, 1)
		if k := pieces(s, sure.Get(res.Membership.Dense(-1))); o.Leiden && k != res.Count {
			r.Errorf("%d communities in %d connected pieces", res.Count, k)
		}
		if o.Threads == 1 {
			again, err := Communities(a, o)
			if err != nil || !again.Membership.Equal(res.Membership) {
				r.Errorf("one thread differs from itself, error %v", err)
			}
		}
	})
}

// Communities that move at once are as good as those with determinism: the medians of five of a
// planted graph and of a skewed one.
func TestCommunitiesAtOnceAreGood(t *testing.T) {
	tuples, _ := gen.Planted(3000, 27000, .3, 3)
	for name, g := range map[string]*gen.Graph{
		"planted": gen.CSR(gen.Symmetrise(tuples)), "R-MAT": gen.CSR(gen.Symmetrise(gen.RMAT(11, 8, gen.RMATOptions{}))),
	} {
		a := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, slices.Repeat([]float64{1}, int(g.NNZ()))))
		for _, leiden := range []bool{false, true} {
			want := samples.Must[*CommunitiesResult](t)(Communities(a, CommunitiesOptions{Leiden: leiden}))
			for _, o := range []CommunitiesOptions{{Nondeterministic: true}, {Fast: true}} {
				o.Leiden, o.Threads = leiden, 2
				var kernel ops.Method
				o.Trace = func(x ops.Trace) { kernel = max(kernel, x.Method) }
				var qs []float64
				for range 5 {
					got := samples.Must[*CommunitiesResult](t)(Communities(a, o))
					if q := samples.Must[float64](t)(Modularity(a, got.Membership)); q != got.Modularity {
						t.Errorf("%s: modularity %v, reported %v", name, q, got.Modularity)
					}
					qs = append(qs, got.Modularity)
				}
				if slices.Sort(qs); qs[2] < want.Modularity-.015 {
					t.Errorf("%s, Leiden %v, fast %v: modularities %v, with determinism %v", name, leiden, o.Fast, qs, want.Modularity)
				}
				if kernel != "local moving at once" {
					t.Errorf("%s: the kernel is %q", name, kernel)
				}
			}
		}
	}
}

// Fast has ever smaller tolerances, at least the one of the options, one pass, and ends with a
// level that shrinks little.
func TestFastSettings(t *testing.T) {
	o := CommunitiesOptions{Fast: true, Leiden: true}
	sure.Do(o.complete("test"))
	var got []string
	for level := range 5 {
		got = append(got, fmt.Sprintf("%.0e", o.toleranceOf(level)))
	}
	if want := []string{"1e-02", "1e-03", "1e-04", "1e-05", "1e-05"}; !slices.Equal(got, want) || o.Passes != 1 || !o.Nondeterministic {
		t.Errorf("tolerances %v, want %v; %d passes", got, want, o.Passes)
	}
	if !o.shrinksLittle(81, 100) || o.shrinksLittle(80, 100) || (&CommunitiesOptions{}).shrinksLittle(100, 100) {
		t.Error("the last level is another one")
	}
	if x := (&CommunitiesOptions{Tolerance: .5}).toleranceOf(1); x != .5 {
		t.Errorf("tolerance %v", x)
	}
}

// On a group, whose processes each compute the communities, Nondeterministic has no effect.
func TestNoMovesAtOnceOnGroup(t *testing.T) {
	tuples, _ := gen.Planted(300, 2000, .3, 3)
	g := gen.CSR(gen.Symmetrise(tuples))
	a := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, slices.Repeat([]float64{1}, int(g.NNZ()))))
	want := samples.Must[*CommunitiesResult](t)(Communities(a))
	sure.Do(a.Move(sure.Get(comm.LocalGroup(2))))
	o := CommunitiesOptions{Nondeterministic: true}
	o.Trace = func(x ops.Trace) {
		if x.Method == "local moving at once" {
			t.Error("vertices move at once")
		}
	}
	got := samples.Must[*CommunitiesResult](t)(Communities(a, o))
	if sure.Do(got.Membership.Move(nil)); !got.Membership.Equal(want.Membership) {
		t.Error("the communities differ")
	}
}
