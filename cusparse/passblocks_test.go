package cusparse

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// loopCores finds core numbers: vertices of degree k or less leave, and the degrees of their
// neighbours fall.
func loopCores(a *matrix.Matrix[bool], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	here := matrix.On(at)
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	degree, low, lost, core := vector(), vector(), vector(), vector()
	k, least, none := matrix.ScalarOf[int32](0, here), matrix.NewScalar[int32](here), matrix.NewScalar[int32](here)
	one := sure.Get(matrix.NewFullVector(n, true))
	sure.Do(one.Move(at))
	pair, all := semiring.PlusPair[int32](), ops.All()
	var s ops.Steps
	s.Do(ops.MxV(degree, pair, a.Pattern(), one.Pattern()))
	for in := range s.While(degree, opts...) {
		s.Do(ops.ReduceInto(least, semiring.Min[int32](), degree, in))
		s.Do(ops.EWiseAdd(k, semiring.Max[int32](), k, least, in))
		s.Do(ops.SelectFrom(low, semiring.Le[int32](), degree, k, in))
		for in := range s.While(low, in) {
			s.Do(ops.AssignVectorFrom(core.Masked(low.Structure()), k, all, in))
			s.Do(ops.AssignVectorFrom(degree.Masked(low.Structure()), none, all, in))
			s.Do(ops.VxM(lost.Masked(core.Structure().Not()).Replace(), pair, low.Pattern(), a.Pattern(), in))
			s.Do(ops.EWiseMult(lost, semiring.Minus[int32](), degree, lost, in))
			s.Do(ops.AssignVector(degree.Masked(lost.Structure()), lost, all, in))
			s.Do(ops.SelectFrom(low, semiring.Le[int32](), lost, k, in))
		}
	}
	return core, s.Err()
}

// loopPaths is the search of Bellman and Ford.
func loopPaths(a *matrix.Matrix[int32], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	here := matrix.On(at)
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	dist, front, reach, worse := vector(), vector(), vector(), matrix.NewVector[bool](n, here)
	var s ops.Steps
	s.Do(dist.Set(0, 0))
	s.Do(front.Set(0, 0))
	for in := range s.While(front, opts...) {
		s.Do(ops.VxM(reach, semiring.MinPlus[int32](), front, a, in))
		s.Do(ops.EWiseMult(worse, semiring.Ge[int32](), reach, dist, in))
		s.Do(ops.Apply(front.Masked(worse.MaskView().Not()).Replace(), semiring.Identity[int32](), reach, in))
		s.Do(ops.Apply(dist.Accum(semiring.Min[int32]()), semiring.Identity[int32](), front, in))
	}
	return dist, s.Err()
}

// loopLabels is FastSV, as in apps.ConnectedComponents.
func loopLabels(a *matrix.Matrix[bool], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	var own []int32
	for i := range n {
		own = append(own, int32(i))
	}
	vector := func() *matrix.Vector[int32] {
		v := sure.Get(matrix.VectorOf(slices.Clone(own)))
		sure.Do(v.Move(at))
		return v
	}
	parent, gp, next, least, news, low := vector(), vector(), vector(), vector(), vector(), semiring.Min[int32]()
	differ := matrix.NewVector[bool](n, matrix.On(at))
	var s ops.Steps
	for in := range s.While(news, opts...) {
		s.Do(ops.MxV(least.Accum(low), semiring.MinSecond[int32](), a.Pattern(), news, in))
		s.Do(ops.ScatterVector(parent.Accum(low), low, least, ops.ValuesOf(gp), in))
		s.Do(ops.EWiseAdd(parent, low, parent, least, in))
		s.Do(ops.EWiseAdd(parent, low, parent, gp, in))
		s.Do(ops.ExtractVector(next, parent, ops.ValuesOf(parent), in))
		s.Do(ops.EWiseMult(differ, semiring.Ne[int32](), next, gp, in))
		s.Do(ops.Swap(gp, next, in))
		s.Do(ops.Apply(news.Masked(differ.MaskView()).Replace(), semiring.Identity[int32](), gp, in))
	}
	return parent, s.Err()
}

// loopMarks counts how far vertices are, and clears the marks in every third pass.
func loopMarks(a *matrix.Matrix[bool], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	here := matrix.On(at)
	front, marks := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here)
	pass, third := matrix.ScalarOf[int32](0, here), matrix.ScalarOf(false, here)
	var s ops.Steps
	s.Do(front.Set(0, 1))
	for in := range s.While(front, append(opts, ops.Passes(10))...) {
		s.Do(ops.VxM(front, semiring.PlusFirst[int32](), front, a.Pattern(), in))
		s.Do(ops.Apply(marks.Accum(semiring.Plus[int32]()), semiring.Identity[int32](), front, in))
		s.Do(ops.ApplySecond(pass, semiring.Plus[int32](), pass, 1, in))
		s.Do(ops.ApplySecond(third, semiring.Ge[int32](), pass, 3, in))
		for in := range s.If(third, in) {
			s.Do(ops.Select(marks, semiring.ValueGT[int32](1), marks, in))
			s.Do(ops.AssignVectorScalar(pass, 0, ops.All(), in))
		}
	}
	return marks, s.Err()
}

// TestLoopLists compares the lists of loops, and the stages that they become, with golden files.
func TestLoopLists(t *testing.T) {
	d, _ := emulated(t)
	graph := star(t, 1000)
	graph.IsSymmetric()
	n, _ := graph.Dims()
	weights := matrix.New[int32](n, n)
	sure.Do(ops.Apply(weights, semiring.OneOp[bool, int32](), graph))
	sure.Do(weights.Move(d))
	onHost := star(t, 1000)
	sure.Do(graph.Move(d))
	for _, test := range []struct {
		name string
		loop func(a *matrix.Matrix[bool], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error)
	}{
		{"bfs", func(a *matrix.Matrix[bool], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error) {
			return loopBFS(a, at, 5, opts...)
		}},
		{"paths", func(_ *matrix.Matrix[bool], at matrix.Place, opts ...ops.Option) (*matrix.Vector[int32], error) {
			return loopPaths(weights, at, opts...)
		}},
		{"components", loopLabels},
		{"cores", loopCores},
		{"branch", loopMarks},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			got, err := test.loop(graph, d, ops.Explain(func(s string) { said = append(said, s) }))
			if err != nil {
				t.Fatal(err)
			}
			want, err := test.loop(onHost, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(want) {
				t.Errorf("%v, want %v", got, want)
			}
			text, file := strings.Join(said, "\n"), filepath.Join("testdata", "loops", test.name+".txt")
			if *update {
				sure.Do(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644))
			}
			if golden := string(sure.Get(os.ReadFile(file))); text != golden {
				t.Errorf("the loop says\n%s\nwant\n%s", text, golden)
			}
		})
	}
}

// blockWorld is the operands of the loops of TestLoopBlocks. The loop around takes 1 from v in each
// pass, and the loop in it takes 1 from w, which begins as v.
type blockWorld struct {
	v, w, sum *matrix.Vector[int32]
	flag      *matrix.Scalar[bool]
	s         ops.Steps
	calls     []int // of the bodies
}

func newBlockWorld(at matrix.Place) *blockWorld {
	here := matrix.On(at)
	w := &blockWorld{v: matrix.NewVector[int32](40), w: matrix.NewVector[int32](40, here), sum: matrix.NewVector[int32](40, here),
		flag: matrix.NewScalar[bool](here), calls: make([]int, 3)}
	for i := range 40 {
		sure.Do(w.v.Set(i, int32(i%7+1)))
	}
	sure.Do(w.v.Move(at))
	return w
}

// down takes 1 from the values of x, and deletes those that are not positive.
func (w *blockWorld) down(x *matrix.Vector[int32], in ops.Option) {
	w.s.Do(ops.ApplySecond(x, semiring.Minus[int32](), x, 1, in))
	w.s.Do(ops.Select(x, semiring.ValueGT[int32](0), x, in))
}

// add adds x to the sum.
func (w *blockWorld) add(x *matrix.Vector[int32], in ops.Option) {
	w.s.Do(ops.Apply(w.sum.Accum(semiring.Plus[int32]()), semiring.Identity[int32](), x, in))
}

// text prints what the loops made.
func (w *blockWorld) text() string {
	text := ""
	for _, x := range []*matrix.Vector[int32]{w.v, w.w, w.sum} {
		for i, y := range x.All() {
			text += fmt.Sprintf("%d:%d ", i, y)
		}
		text += "| "
	}
	return fmt.Sprintf("%scalls %v, error %v", text, w.calls, w.s.Err())
}

// TestLoopBlocks leaves loops in loops and branches in every way: the operations one by one give
// the same, and the bodies are called as often.
func TestLoopBlocks(t *testing.T) {
	d, _ := emulated(t)
	// nested runs a loop in a loop; inner and outer are called at the end of the bodies.
	nested := func(w *blockWorld, in []ops.Option, within []ops.Option, inner, outer func(in ops.Option) bool) {
		for in := range w.s.While(w.v, in...) {
			w.calls[0]++
			w.s.Do(ops.AssignVector(w.w, w.v, ops.All(), in))
			for in := range w.s.While(w.w, append(within, in)...) {
				w.calls[1]++
				w.add(w.w, in)
				w.down(w.w, in)
				if inner != nil && !inner(in) {
					break
				}
			}
			w.down(w.v, in)
			if outer != nil && !outer(in) {
				return
			}
		}
	}
	for _, test := range []struct {
		name string
		list bool // the loop runs by its list to the end
		run  func(w *blockWorld, explain ops.Option)
	}{
		{"a loop in a loop", true, func(w *blockWorld, e ops.Option) { nested(w, []ops.Option{e}, nil, nil, nil) }},
		{"three passes of the inner loop", true, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, []ops.Option{ops.Passes(3)}, nil, nil)
		}},
		{"no pass of the inner loop", true, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, []ops.Option{ops.Passes(0)}, nil, nil)
		}},
		{"four passes of both", true, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e, ops.Passes(4)}, []ops.Option{ops.Passes(4)}, nil, nil)
		}},
		{"passes of the inner loop that change", false, func(w *blockWorld, e ops.Option) {
			for in := range w.s.While(w.v, e) {
				w.calls[0]++
				w.s.Do(ops.AssignVector(w.w, w.v, ops.All(), in))
				for in := range w.s.While(w.w, in, ops.Passes(int64(w.calls[0]))) {
					w.calls[1]++
					w.add(w.w, in)
					w.down(w.w, in)
				}
				w.down(w.v, in)
			}
		}},
		{"progress of both", true, func(w *blockWorld, e ops.Option) {
			last := int64(0)
			nested(w, []ops.Option{e, ops.Progress(func(p int64) { w.calls[2] += int(p) })},
				[]ops.Option{ops.Progress(func(p int64) { w.calls[2] += 100 * int(p-last) })}, nil, nil)
		}},
		{"break out of the inner loop", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, func(ops.Option) bool { return w.calls[1]%5 != 0 }, nil)
		}},
		{"break out of the inner loop, late", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, func(ops.Option) bool { return w.calls[1] != 17 }, nil)
		}},
		{"return out of the loop around", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, nil, func(ops.Option) bool { return w.calls[0] != 4 })
		}},
		{"return out of both", false, func(w *blockWorld, e ops.Option) {
			for in := range w.s.While(w.v, e) {
				w.calls[0]++
				w.s.Do(ops.AssignVector(w.w, w.v, ops.All(), in))
				for in := range w.s.While(w.w, in) {
					w.calls[1]++
					w.down(w.w, in)
					if w.calls[1] == 12 {
						return
					}
				}
				w.down(w.v, in)
			}
		}},
		{"panic in the inner loop", false, func(w *blockWorld, e ops.Option) {
			defer func() { w.calls[2] = recover().(int) }()
			nested(w, []ops.Option{e}, nil, func(ops.Option) bool {
				if w.calls[1] == 15 {
					panic(15)
				}
				return true
			}, nil)
		}},
		{"a read in the inner loop", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, func(ops.Option) bool {
				return w.calls[1] != 14 || w.w.NVals() > 0
			}, nil)
		}},
		{"a write behind the inner loop", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, nil, func(ops.Option) bool {
				return w.calls[0] != 3 || w.s.Do(w.v.Set(2, 5))
			})
		}},
		{"an error of the caller in the inner loop", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, func(ops.Option) bool {
				return w.calls[1] != 16 || w.s.Do(errors.New("16"))
			}, nil)
		}},
		{"the option of the loop around in the inner loop", false, func(w *blockWorld, e ops.Option) {
			for around := range w.s.While(w.v, e) {
				w.calls[0]++
				w.s.Do(ops.AssignVector(w.w, w.v, ops.All(), around))
				for in := range w.s.While(w.w, around) {
					w.calls[1]++
					w.add(w.w, around)
					w.down(w.w, in)
				}
				w.down(w.v, around)
			}
		}},
		{"the inner loop without the option", false, func(w *blockWorld, e ops.Option) {
			for in := range w.s.While(w.v, e) {
				w.calls[0]++
				w.s.Do(ops.AssignVector(w.w, w.v, ops.All(), in))
				for in := range w.s.While(w.w) {
					w.calls[1]++
					w.add(w.w, in)
					w.down(w.w, in)
				}
				w.down(w.v, in)
			}
		}},
		{"the inner loop one by one", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, []ops.Option{ops.OneByOne()}, nil, nil)
		}},
		{"another inner loop in pass 3", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, nil, func(in ops.Option) bool {
				if w.calls[0] == 3 {
					for in := range w.s.While(w.v, in, ops.Passes(1)) {
						w.add(w.v, in)
					}
				}
				return true
			})
		}},
		{"a branch that is taken late", true, func(w *blockWorld, e ops.Option) {
			pass := matrix.ScalarOf[int32](0, matrix.On(w.v.Place()))
			nested(w, []ops.Option{e}, nil, nil, func(in ops.Option) bool {
				w.s.Do(ops.ApplySecond(pass, semiring.Plus[int32](), pass, 1, in))
				w.s.Do(ops.ApplySecond(w.flag, semiring.Ge[int32](), pass, 4, in))
				for in := range w.s.If(w.flag, in) {
					w.calls[2]++
					w.add(w.v, in)
					for in := range w.s.While(w.v, in, ops.Passes(1)) { // a block in a late block
						w.calls[2] += 10
						w.down(w.v, in)
					}
				}
				return true
			})
		}},
		{"a branch by entries", true, func(w *blockWorld, e ops.Option) {
			for in := range w.s.While(w.v, e) {
				w.calls[0]++
				w.s.Do(ops.Select(w.w, semiring.ValueGT[int32](3), w.v, in))
				for in := range w.s.If(w.w, in) {
					w.calls[1]++
					w.add(w.w, in)
				}
				w.down(w.v, in)
			}
		}},
		{"break in a branch", false, func(w *blockWorld, e ops.Option) {
			nested(w, []ops.Option{e}, nil, nil, func(in ops.Option) bool {
				for in := range w.s.If(w.v, in) {
					w.add(w.v, in)
					if w.calls[0] == 3 {
						break
					}
					w.add(w.v, in)
				}
				return true
			})
		}},
		{"a branch without a loop", false, func(w *blockWorld, e ops.Option) {
			for in := range w.s.If(w.v, e) {
				w.calls[0]++
				w.add(w.v, in)
			}
			for in := range w.s.If(w.w, e) {
				w.calls[1]++
				w.add(w.w, in)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := newBlockWorld(nil)
			test.run(want, nil)
			var said []string
			got := newBlockWorld(d)
			test.run(got, ops.Explain(func(s string) { said = append(said, s) }))
			if got.text() != want.text() {
				t.Errorf("%s\nwant\n%s\n%s", got.text(), want.text(), strings.Join(said, "\n"))
			}
			if one := slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "one by one") }); test.list && (one || len(said) == 0) {
				t.Errorf("the loop says %q, want its list", said)
			}
		})
	}
}

// An index out of range in a loop in a loop ends both, and nothing changes since the first pass; a
// context that ends does so too.
func TestLoopBlocksFail(t *testing.T) {
	d, _ := emulated(t)
	w := newBlockWorld(d)
	idx := sure.Get(matrix.VectorOf([]int32{0, 1, 2}))
	few, more := matrix.NewVector[int32](3, matrix.On(d)), matrix.NewVector[int32](3, matrix.On(d))
	sure.Do(idx.Move(d), few.Set(1, 1))
	var s ops.Steps
	for in := range s.While(w.v) {
		s.Do(ops.ApplySecond(w.v, semiring.Minus[int32](), w.v, 1, in))
		s.Do(ops.Select(w.v, semiring.ValueGT[int32](0), w.v, in))
		for in := range s.While(few, in, ops.Passes(2)) {
			s.Do(ops.ExtractVector(more, few, ops.ValuesOf(idx), in))
			s.Do(ops.Apply(few, semiring.Identity[int32](), few, in))
		}
		s.Do(ops.ApplySecond(idx, semiring.Plus[int32](), idx, 1, in))
	}
	var outside *matrix.IndexError
	if err := s.Err(); !errors.As(err, &outside) || outside.Index != 3 || !strings.Contains(err.Error(), "passblocks_test.go:") || !strings.Contains(err.Error(), "pass 2") {
		t.Errorf("the error is %v, want index 3 with line and pass", err)
	}
	if x, ok := w.v.At(6); !ok || x != 6 {
		t.Errorf("v(6) is %d, %v after the error, want 6", x, ok)
	}
	w = newBlockWorld(d)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	for in := range w.s.While(w.v, ops.WithContext(ctx)) {
		w.s.Do(ops.AssignVector(w.w, w.v, ops.All(), in))
		for in := range w.s.While(w.w, in) {
			if calls++; calls == 12 {
				cancel()
			}
			w.down(w.w, in)
		}
		w.down(w.v, in)
	}
	if !errors.Is(w.s.Err(), context.Canceled) || calls != 12 {
		t.Errorf("%v after %d calls, want a cancelled context after 12", w.s.Err(), calls)
	}
}

// The kernels of loops with loops and branches compile for GPUs, of the architectures at both ends.
func TestLoopsByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC names no compiler; scripts/nvrtc.sh fetches one")
	}
	d, r := recorded(t)
	nvrtc := sure.Get(driver.OpenCompiler())
	graph := star(t, 1000)
	sure.Do(graph.Move(d))
	if _, err := loopCores(graph, d); err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{1, 3} {
		newRandomLoop(seed, 3).run(t, seed, d)
	}
	loops := 0
	for source, name := range r.sources {
		if !strings.Contains(source, "HB_DECIDE(go)") {
			continue
		}
		loops++
		for _, arch := range []string{"sm_70", "sm_90"} {
			if _, err := nvrtc.Compile(source, name, arch); err != nil {
				t.Errorf("%s for %s: %v", name, arch, err)
			}
		}
	}
	if loops < 3 {
		t.Errorf("%d loops compiled", loops)
	}
}
