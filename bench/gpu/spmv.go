package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

type real interface{ float32 | float64 }

// layout is the form of the matrix of an SpMV.
type layout int

const (
	plainCSR  layout = iota // labels as drawn, the matrix as it is
	chosen                  // likewise, by the plan that is chosen
	byColumns               // columns relabelled inside the matrix
	byBoth                  // rows and columns relabelled beforehand
)

// plainTiles is the plan that reads the matrix as it is.
const plainTiles ops.Method = "pull csr tiles"

// tolerance of sums in the two widths, relative: thousands of terms of one
// sign.
func tolerance[T comparable]() float64 {
	if _, single := any(*new(T)).(float32); single {
		return 1e-4
	}
	return 1e-10
}

// close reports whether two values can be the same sum in different orders.
func closeTo[T comparable](x, y T) bool {
	a, isNumber := asFloat(x)
	b, _ := asFloat(y)
	return x == y || isNumber && math.Abs(a-b) <= tolerance[T]()*max(math.Abs(a), math.Abs(b))
}

func asFloat(x any) (float64, bool) {
	switch x := x.(type) {
	case float32:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// product is an SpMV on the device.
type product[A, B, C comparable] struct {
	s semiring.Semiring[A, B, C]
	a matrix.Source[A]
	x *matrix.Vector[B]
	w *matrix.Vector[C]
}

func (p *product[A, B, C]) contender(b *gpuBench, name string, m ops.Method) gpuside.Contender {
	var t ops.Trace
	with := ops.WithTrace(&t) // the first time
	return gpuside.Contender{Name: name, Clock: b.dev.Time, Method: func() string { return string(t.Method) }, Do: func() error {
		err := ops.MxV(p.w, p.s, p.a, p.x, ops.Using(m), with)
		with = ops.WithOptions()
		return err
	}}
}

// check compares with the same product on the host.
func (p *product[A, B, C]) check() (string, error) {
	want := matrix.NewVector[C](p.w.Size())
	if err := ops.MxV(want, p.s, p.a, p.x); err != nil {
		return "", err
	}
	return differs(p.w, want, closeTo[C]), nil
}

// differs names the first position at which two vectors differ, "" if there is none.
func differs[T comparable](got, want *matrix.Vector[T], same func(x, y T) bool) string {
	if got.EqualFunc(want, same) {
		return ""
	}
	if g, w := got.NVals(), want.NVals(); g != w {
		return fmt.Sprintf("%d entries, want %d", g, w)
	}
	for i, x := range want.All() {
		if y, ok := got.At(i); !ok || !same(x, y) {
			return fmt.Sprintf("entry %d is %v, want %v", i, y, x)
		}
	}
	return "it differs"
}

// permuted is the graph with rows and columns by degree.
func permuted(in *inputs.GPU) (*gen.Graph, error) {
	return inputs.Kept(in, "permuted", func() (*gen.Graph, error) {
		return gen.CSR(inputs.TuplesOf(in.Graph, inputs.ByDegree(in.Graph), false)), nil
	})
}

// spmvInput is a matrix and a full vector on the device, and on the host.
type spmvInput[A, B comparable] struct {
	graph *gen.Graph
	val   []A
	xval  []B
	a     *matrix.Matrix[A]
	x     *matrix.Vector[B]
}

func spmvOn[A, B comparable](b *gpuBench, in *inputs.GPU, l layout, entry func(uint64) A, of func(uint64) B) (*spmvInput[A, B], error) {
	key := fmt.Sprintf("spmv %d %T %T", l, *new(A), *new(B))
	return inputs.Kept(in, key, func() (s *spmvInput[A, B], err error) {
		s = &spmvInput[A, B]{graph: in.Graph}
		if l == byBoth {
			if s.graph, err = permuted(in); err != nil {
				return nil, err
			}
		}
		s.val, s.xval = inputs.Values(s.graph, entry), make([]B, s.graph.NCols)
		for j := range s.xval {
			s.xval[j] = of(gen.Hash(uint64(j), 5))
		}
		if s.a, err = onDevice(b, s.graph, s.val); err != nil {
			return nil, err
		}
		s.x, err = vectorOn(b, s.xval)
		return s, err
	})
}

// spmvBytesOf is what y = A·x must move: entries of the given widths.
func spmvBytesOf(g *gen.Graph, a, x, y float64) func() float64 {
	return func() float64 {
		return float64(g.NNZ())*(4+a) + float64(g.NRows)*(8+y) + float64(g.NCols)*x
	}
}

// floatSpMV is plus_times in T beside cuSPARSE on the plain matrix.
func floatSpMV[T real](l layout) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		plain, err := spmvOn(b, in, plainCSR, inputs.Unit[T], inputs.Unit[T])
		if err != nil {
			return nil, err
		}
		use := plain
		if l == byBoth {
			if use, err = spmvOn(b, in, l, inputs.Unit[T], inputs.Unit[T]); err != nil {
				return nil, err
			}
		}
		p := &product[T, T, T]{s: semiring.PlusTimes[T](), a: use.a, x: use.x, w: matrix.NewVector[T](use.graph.NRows, matrix.On(b.dev))}
		w := float64(inputs.WidthOf[T]())
		plan := &gpuPlan{check: p.check, bytes: spmvBytesOf(use.graph, w, w, w)}
		plan.ours = p.ways(b, l)
		if l == byColumns {
			plan.notes = p.relabelling(b, use)
		}
		return plan, addSpMVPeers(b, in, plan, plain)
	}
}

// ways returns the contenders of a layout.
func (p *product[A, B, C]) ways(b *gpuBench, l layout) []gpuside.Contender {
	switch l {
	case chosen:
		return []gpuside.Contender{p.contender(b, "hiveblas", ops.Auto)}
	case byColumns:
		return []gpuside.Contender{p.contender(b, "hiveblas", ops.Relabelled)}
	case byBoth:
		return []gpuside.Contender{p.contender(b, "hiveblas", ops.Pull), p.contender(b, "hiveblas", ops.Relabelled)}
	}
	return []gpuside.Contender{p.contender(b, "hiveblas", plainTiles)}
}

// relabelling measures the time in which the columns of a new matrix are numbered by degree, with
// kernels already compiled and the degrees of its rows known.
func (p *product[A, B, C]) relabelling(b *gpuBench, in *spmvInput[A, B]) func() []string {
	return func() []string {
		a, err := onDevice(b, in.graph, in.val)
		if err != nil {
			return []string{"relabelling was not measured: " + err.Error()}
		}
		var took time.Duration
		if err = ops.MxV(p.w, p.s, matrix.Source[A](a), p.x, ops.Using(plainTiles)); err == nil {
			took, err = b.dev.Time(func() error {
				return cusparse.Prepare(context.Background(), b.dev, matrix.Source[A](a), "pull csr tiles relabelled", 0)
			})
		}
		if err != nil {
			return []string{"relabelling was not measured: " + err.Error()}
		}
		return []string{fmt.Sprintf("relabelling took %s ms, once", tables.Figure(took.Seconds()*1e3))}
	}
}

// addSpMVPeers adds cuSPARSE, which is set up once for an input and type.
func addSpMVPeers[T real](b *gpuBench, in *inputs.GPU, plan *gpuPlan, plain *spmvInput[T, T]) error {
	if b.side.Lib == nil {
		return nil
	}
	peers, err := inputs.Kept(in, fmt.Sprintf("cusparse %T", *new(T)), func() ([]gpuside.Contender, error) {
		list, close, err := gpuside.SpmvPeers(b.side, plain.graph, plain.val, plain.xval)
		if close != nil {
			in.Closers = append(in.Closers, close)
		}
		return list, err
	})
	if err != nil {
		plan.notes = also(plan.notes, "cuSPARSE is left out: "+err.Error())
		return nil
	}
	plan.others = append(plan.others, peers...)
	return nil
}

// also adds a note to others.
func also(notes func() []string, s string) func() []string {
	return func() []string {
		var out []string
		if notes != nil {
			out = notes()
		}
		return append(out, s)
	}
}

// patternSpMV is plus_second on the pattern, which reads no values, beside
// cuSPARSE in fp32.
func patternSpMV(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	plain, err := spmvOn(b, in, plainCSR, inputs.Unit[float32], inputs.Unit[float32])
	if err != nil {
		return nil, err
	}
	use, err := spmvOn(b, in, byBoth, inputs.Unit[float32], inputs.Unit[float32])
	if err != nil {
		return nil, err
	}
	p := &product[bool, float32, float32]{s: semiring.PlusSecond[float32](), a: use.a.Pattern(), x: use.x,
		w: matrix.NewVector[float32](use.graph.NRows, matrix.On(b.dev))}
	plan := &gpuPlan{ours: p.ways(b, byBoth), check: p.check, bytes: spmvBytesOf(use.graph, 0, 4, 4)}
	return plan, addSpMVPeers(b, in, plan, plain)
}

// semiringSpMV is a semiring beside our plus_times of the same width.
func semiringSpMV[T comparable, P semiring.Number](s semiring.Semiring[T, T, T], entry, of func(uint64) T, one func(uint64) P) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		use, err := spmvOn(b, in, plainCSR, entry, of)
		if err != nil {
			return nil, err
		}
		other, err := spmvOn(b, in, plainCSR, one, one)
		if err != nil {
			return nil, err
		}
		p := &product[T, T, T]{s: s, a: use.a, x: use.x, w: matrix.NewVector[T](use.graph.NRows, matrix.On(b.dev))}
		q := &product[P, P, P]{s: semiring.PlusTimes[P](), a: other.a, x: other.x, w: matrix.NewVector[P](use.graph.NRows, matrix.On(b.dev))}
		w := float64(inputs.WidthOf[T]())
		return &gpuPlan{ours: p.ways(b, plainCSR), others: []gpuside.Contender{q.contender(b, fmt.Sprintf("our plus_times %T", *new(P)), plainTiles)},
			check: p.check, bytes: spmvBytesOf(use.graph, w, w, w)}, nil
	}
}

// writingSpMV is plus_times into the rows of a mask, about half of them, or added to the
// destination, beside our plain plus_times: its time is the time of the bytes that the product must
// move.
func writingSpMV(masked bool) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		use, err := spmvOn(b, in, plainCSR, inputs.Unit[float32], inputs.Unit[float32])
		if err != nil {
			return nil, err
		}
		rows := use.graph.NRows
		mask := matrix.NewVectorBuilder[bool](rows)
		bytes, plain := float64(use.graph.NCols)*4, spmvBytesOf(use.graph, 4, 4, 4)()
		for i := range rows {
			switch {
			case !masked: // reads the destination too
				bytes += 8 + 8 + 8*float64(use.graph.Ptr[i+1]-use.graph.Ptr[i])
			case odd(splitmix.At(uint64(i), 31)):
				mask.Add(i, true)
				bytes += 1 + 8 + 4 + 8*float64(use.graph.Ptr[i+1]-use.graph.Ptr[i])
			default:
				bytes++
			}
		}
		m, err := mask.Build(nil)
		if err != nil {
			return nil, err
		}
		if err := m.SetFormat(matrix.Bitmap); err != nil {
			return nil, err
		}
		run := func(w *matrix.Vector[float32], a matrix.Source[float32], x *matrix.Vector[float32], m *matrix.Vector[bool], opts ...ops.Option) error {
			to := matrix.VectorTarget[float32](w.Accum(semiring.Plus[float32]()))
			if masked {
				to = w.Masked(m.Structure()).Replace()
			}
			return ops.MxV(to, semiring.PlusTimes[float32](), a, x, opts...)
		}
		full := func() (*matrix.Vector[float32], error) { return matrix.VectorOf(make([]float32, rows)) }
		w, err := full()
		if err == nil {
			err = w.Move(b.dev)
		}
		host := m.Clone()
		if err == nil {
			err = m.Move(b.dev)
		}
		if err != nil {
			return nil, err
		}
		q := &product[float32, float32, float32]{s: semiring.PlusTimes[float32](), a: use.a, x: use.x, w: matrix.NewVector[float32](rows, matrix.On(b.dev))}
		other := q.contender(b, "our plus_times, a byte", plainTiles)
		other.Clock = func(do func() error) (time.Duration, error) {
			took, err := b.dev.Time(do)
			return time.Duration(float64(took) * bytes / plain), err
		}
		var t ops.Trace
		with := ops.WithTrace(&t) // the first time: a trace counts the entries of the result
		return &gpuPlan{
			ours: []gpuside.Contender{{Name: "hiveblas", Clock: b.dev.Time, Method: func() string { return string(t.Method) },
				Do: func() error {
					err := run(w, use.a, use.x, m, with)
					with = ops.WithOptions()
					return err
				}}},
			others: []gpuside.Contender{other}, bytes: func() float64 { return bytes },
			check: func() (string, error) {
				got, err := full()
				if err == nil {
					err = got.Move(b.dev)
				}
				want, bad := full()
				if err = errors.Join(err, bad); err != nil {
					return "", err
				}
				if err := errors.Join(run(got, use.a, use.x, m), run(want, use.a, use.x, host)); err != nil {
					return "", err
				}
				return differs(got, want, closeTo[float32]), nil
			}}, nil
	}
}

// ratioSemiring is an example of a user-defined semiring: the sum of x/(x+y).
func ratioSemiring() semiring.Semiring[float32, float32, float32] {
	return semiring.New(semiring.Plus[float32](), semiring.NewBinary("part", func(x, y float32) float32 { return x / (x + y) }, "x / (x + y)"))
}

func odd(hash uint64) bool { return hash&1 == 1 }

func anyEntry(uint64) bool { return true }

func oneByte(uint64) uint8 { return 1 }
