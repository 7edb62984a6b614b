package hiveblas_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/gonumgraph"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/solve"
)

// The functions below are the source of the samples of the guides in docs: see TestSamples.

func squareAnywhere(dev *cusparse.Device, a *matrix.Matrix[float64]) (*matrix.Matrix[float64], error) {
	n, _ := a.Dims()
	c := matrix.New[float64](n, n, matrix.On(dev))
	err := ops.MxM(c, semiring.PlusTimes[float64](), a, a)
	for _, full := range []error{cusparse.ErrMemory, cusparse.ErrBusy, cusparse.ErrFailed} {
		if errors.Is(err, full) { // c is unchanged: compute on the host
			c = matrix.New[float64](n, n)
			return c, ops.MxM(c, semiring.PlusTimes[float64](), a, a)
		}
	}
	return c, err
}

// TestFallback: on a device that is full, busy or fails, the sample computes on the host.
func TestFallback(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{2, 3, 5}, nil))
	want := matrix.New[float64](3, 3)
	if err := ops.MxM(want, semiring.PlusTimes[float64](), a, a); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		code   int
		is     error
	}{
		{"full", 2, cusparse.ErrMemory}, {"busy", 46, cusparse.ErrBusy}, {"a kernel failed", 719, cusparse.ErrFailed},
		{"uncorrectable memory", 214, cusparse.ErrFailed}, {"an invalid argument is a bug", 1, nil},
	} {
		devices, e := emulate.Devices(t, 1)
		dev := devices[0]
		fails := func() *emu.Fault {
			return e.FailAfter("AllocAsync", 1, driver.Error{Call: "cuMemAllocAsync", Code: c.code, Name: c.reason})
		}
		faults := []*emu.Fault{fails(), fails(), fails()} // memory is asked for again once it is freed
		d := matrix.New[float64](3, 3, matrix.On(dev))
		if err := ops.MxM(d, semiring.PlusTimes[float64](), a, a); c.is != nil && !errors.Is(err, c.is) || c.is == nil && err == nil {
			t.Errorf("%s: error %v, want %v", c.reason, err, c.is)
		}
		faults = append(faults, fails(), fails(), fails())
		got, err := squareAnywhere(dev, a)
		if c.is == nil {
			if err == nil {
				t.Errorf("%s: no error", c.reason)
			}
		} else if err != nil || got.Place() != nil || !got.Equal(want) {
			t.Errorf("%s: %v at %v (%v), want the result on the host", c.reason, got, got.Place(), err)
		}
		for _, f := range faults {
			f.Cancel()
		}
	}
}

// The samples of docs/getting-started.md.

func friends() (*matrix.Matrix[float64], error) {
	b := matrix.NewBuilder[float64](4, 4)
	b.Add(0, 1, 1) // Ann knows Bob
	b.Add(1, 2, 2)
	b.Add(2, 0, 1)
	b.Add(2, 3, 5)
	return b.Build(nil) // an error names an entry outside the matrix, or one that is given twice
}

func twoSteps(a *matrix.Matrix[float64]) (*matrix.Matrix[float64], error) {
	n, _ := a.Dims()
	c := matrix.New[float64](n, n)
	err := ops.MxM(c, semiring.PlusTimes[float64](), a, a)
	return c, err
}

func levelsFrom(a *matrix.Matrix[float64], source int) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	here := matrix.On(a.Place())
	level, depth := matrix.NewVector[int32](n, here), matrix.ScalarOf[int32](0, here)
	frontier := matrix.NewVector[bool](n, here)
	var s ops.Steps
	s.Do(frontier.Set(source, true))
	for in := range s.While(frontier) { // while it has entries
		s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
		s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern(), in))
		s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
	}
	return level, s.Err()
}

func coresOf(a *matrix.Matrix[bool], degree *matrix.Vector[int32]) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	here := matrix.On(a.Place())
	core, low, lost := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here)
	k, least, none := matrix.ScalarOf[int32](0, here), matrix.NewScalar[int32](here), matrix.NewScalar[int32](here)
	var s ops.Steps
	for in := range s.While(degree) {
		s.Do(ops.ReduceInto(least, semiring.Min[int32](), degree, in))
		s.Do(ops.EWiseAdd(k, semiring.Max[int32](), k, least, in))
		s.Do(ops.SelectFrom(low, semiring.Le[int32](), degree, k, in))
		for in := range s.While(low, in) { // the vertices of degree k or less leave
			s.Do(ops.AssignVectorFrom(core.Masked(low.Structure()), k, ops.All(), in))
			s.Do(ops.AssignVectorFrom(degree.Masked(low.Structure()), none, ops.All(), in))
			s.Do(ops.VxM(lost.Masked(core.Structure().Not()).Replace(), semiring.PlusPair[int32](), low.Pattern(), a.Pattern(), in))
			s.Do(ops.EWiseMult(lost, semiring.Minus[int32](), degree, lost, in))
			s.Do(ops.AssignVector(degree.Masked(lost.Structure()), lost, ops.All(), in))
			s.Do(ops.SelectFrom(low, semiring.Le[int32](), lost, k, in))
		}
	}
	return core, s.Err()
}

func influence(path string) (vertices []int, ranks []float64, err error) {
	g, _, err := graphio.ReadFile[float64](path)
	if err != nil {
		return nil, nil, err
	}
	res, err := apps.PageRank(g)
	if err != nil {
		return nil, nil, err
	}
	return ops.TopKVector(res.Rank, 3) // the three highest
}

// The samples of docs/from-python-graphblas.md.

// C(~visited.S, replace) << q.vxm(A, any_pair)
func step(q *matrix.Vector[bool], visited *matrix.Vector[int32], a *matrix.Matrix[float64]) error {
	return ops.VxM(q.Masked(visited.Structure().Not()).Replace(), semiring.AnyPair[bool](), q, a.Pattern())
}

// The samples of docs/from-scipy.md.

// y = A @ x, and the largest entry of each row of A
func scipyLike(a *matrix.Matrix[float64], x *matrix.Vector[float64]) (y, largest *matrix.Vector[float64], err error) {
	m, _ := a.Dims()
	y, largest = matrix.NewVector[float64](m), matrix.NewVector[float64](m)
	var s ops.Steps
	s.Do(ops.MxV(y, semiring.PlusTimes[float64](), a, x))
	s.Do(ops.Reduce(largest, semiring.Max[float64](), a))
	return y, largest, s.Err()
}

// The samples of docs/from-gonum.md.

func withGonum(g graph.Graph) (parts int, cycles [][]graph.Node, err error) {
	a, _, err := gonumgraph.From(g) // vertex v is the node ids[v], the second result
	if err != nil {
		return 0, nil, err
	}
	components, err := apps.ConnectedComponents(a) // hiveblas on the graph of gonum
	if err != nil {
		return 0, nil, err
	}
	view, err := gonumgraph.AsDirected(a)
	if err != nil {
		return 0, nil, err
	}
	return components.Count, topo.DirectedCyclesIn(view), nil // gonum on the matrix
}

// The samples of docs/formats.md.

func pinned(a *matrix.Matrix[float64]) error {
	if err := a.SetFormat(matrix.Bitmap); err != nil { // stays, whatever its density
		return err
	}
	if err := a.Set(0, 1, 7); err != nil { // in constant time now
		return err
	}
	return a.SetFormat(matrix.Automatic)
}

// The samples of docs/operators.md.

type route struct {
	Time  float32
	Tolls int32
}

// cheapest prefers quick routes, and of these those with fewer tolls; then joins two.
func cheapest() semiring.Semiring[route, route, route] {
	better := semiring.NewBinary("better", func(x, y route) route {
		if y.Time < x.Time || y.Time == x.Time && y.Tolls < x.Tolls {
			return y
		}
		return x
	}, "y.Time < x.Time || y.Time == x.Time && y.Tolls < x.Tolls ? y : x")
	then := semiring.NewBinary("then", func(x, y route) route {
		return route{x.Time + y.Time, x.Tolls + y.Tolls}
	}, "C{x.Time + y.Time, x.Tolls + y.Tolls}")
	none := route{float32(math.Inf(1)), math.MaxInt32}
	return semiring.New(semiring.NewMonoid(better, none), then)
}

func checkCheapest() error {
	routes := []route{{0, 0}, {1, 2}, {1, 0}, {2.5, 7}}
	return semiring.Check(cheapest(), semiring.CheckOptions[route, route, route]{A: routes, B: routes, C: routes})
}

// The samples of docs/workflows.md.

// Closer returns which vertices are strictly nearer to s than to t. Vertices that neither reaches
// have no entry. O(edges) for each of two searches.
func closer(g *matrix.Matrix[float64], s, t int, opts ...ops.Option) (*matrix.Vector[bool], error) {
	n, _ := g.Dims()
	fromS, err := apps.SSSP(g, []int{s})
	if err != nil {
		return nil, err
	}
	fromT, err := apps.SSSP(g, []int{t})
	if err != nil {
		return nil, err
	}
	nearer, far := matrix.NewVector[bool](n), math.Inf(1)
	return nearer, ops.EWiseUnion(nearer, semiring.Lt[float64](), fromS, far, fromT, far, opts...)
}

func heat(a *matrix.Matrix[float64], b *matrix.Vector[float64]) (x *matrix.Vector[float64], slowest float64, err error) {
	factors, err := solve.IncompleteCholesky(a)
	if err != nil {
		return nil, 0, err
	}
	res, err := solve.CG(a, b, solve.Options[float64]{Tolerance: 1e-10, Preconditioner: factors})
	if err != nil {
		return nil, 0, err // a *solve.NotConvergedError beside the best x, or another typed error
	}
	pairs, err := solve.Eigen(a, 1, solve.EigenOptions[float64]{Which: solve.Smallest})
	if err != nil {
		return nil, 0, err
	}
	return res.X, pairs.Values[0], nil
}

func columns(l *matrix.Matrix[float64], b *matrix.Matrix[float64]) (x *matrix.Matrix[float64], err error) {
	forward, err := solve.NewTriangle(l)
	if err != nil {
		return nil, err // a *solve.TriangularError or *solve.PivotError names the entry or row
	}
	backward, err := solve.NewTriangle(l.T(), solve.TriangleOptions{Upper: true})
	if err != nil {
		return nil, err
	}
	if x, err = forward.ApplyMatrix(b); err != nil {
		return nil, err
	}
	return backward.ApplyMatrix(x) // L·Lᵀ·x = b
}

// TestColumns: L·Lᵀ is 4, 2 above 2, 2.
func TestColumns(t *testing.T) {
	t.Parallel()
	l := sure.Get(matrix.FromTuples(2, 2, []int{0, 1, 1}, []int{0, 0, 1}, []float64{2, 1, 1}, nil))
	x, err := columns(l, sure.Get(matrix.FromDense(2, 2, []float64{4, 2, 2, 2})))
	if err != nil || !x.Equal(sure.Get(matrix.FromDense(2, 2, []float64{1, 0, 0, 1}))) {
		t.Errorf("%v, %v", x, err)
	}
}

// TestHeat: a rod of 9 points, heated alike, is cold at its ends.
func TestHeat(t *testing.T) {
	t.Parallel()
	b := matrix.NewBuilder[float64](9, 9)
	for i := range 9 {
		b.Add(i, i, 2)
		if i > 0 {
			b.Add(i, i-1, -1)
			b.Add(i-1, i, -1)
		}
	}
	x, slowest, err := heat(sure.Get(b.Build(nil)), sure.Get(matrix.NewFullVector(9, 1.0)))
	if err != nil {
		t.Fatal(err)
	}
	if middle, _ := x.At(4); math.Abs(middle-12.5) > 1e-8 || math.Abs(slowest-(2-2*math.Cos(math.Pi/10))) > 1e-9 {
		t.Errorf("the middle is %v, the slowest rate %v", middle, slowest)
	}
}

func TestGettingStarted(t *testing.T) {
	chain := sure.Get(matrix.FromTuples(4, 4, []int{0, 1, 1}, []int{1, 2, 0}, []float64{1, 1, 1}, nil))
	level, err := levelsFrom(chain, 0)
	if x, ok := level.At(2); err != nil || !ok || x != 2 || level.NVals() != 3 {
		t.Errorf("levels: %v, %v", level, err)
	}
	triangle := sure.Get(matrix.FromTuples(4, 4, []int{0, 1, 0, 2, 1, 2, 2, 3}, []int{1, 0, 2, 0, 2, 1, 3, 2}, make([]bool, 8), nil))
	core, err := coresOf(triangle, sure.Get(matrix.VectorOf([]int32{2, 2, 3, 1})))
	if err != nil || !core.Equal(sure.Get(matrix.VectorOf([]int32{2, 2, 2, 1}))) {
		t.Errorf("core numbers: %v, %v", core, err)
	}
	t.Parallel()
	a, err := friends()
	if err != nil {
		t.Fatal(err)
	}
	two, err := twoSteps(a)
	if x, ok := two.At(1, 3); err != nil || x != 10 || !ok || two.NVals() != 4 {
		t.Errorf("%v (%v)", two, err)
	}
	path := filepath.Join(t.TempDir(), "friends.mtx")
	sure.Do(graphio.WriteFile(path, a))
	vertices, ranks, err := influence(path)
	if err != nil || len(ranks) != 3 || vertices[0] != 2 {
		t.Errorf("vertices %v of ranks %v (%v)", vertices, ranks, err)
	}
}

func TestComingFrom(t *testing.T) {
	t.Parallel()
	a, err := friends()
	if err != nil {
		t.Fatal(err)
	}
	q, visited := matrix.NewVector[bool](4), matrix.NewVector[int32](4)
	sure.Do(q.Set(2, true), visited.Set(0, 0), visited.Set(2, 1), step(q, visited, a))
	if _, ok := q.At(3); q.NVals() != 1 || !ok {
		t.Errorf("the frontier is %v, want vertex 3", q)
	}
	x := sure.Get(matrix.VectorOf([]float64{1, 10, 100, 1000}))
	y, largest, err := scipyLike(a, x)
	if err != nil || !slices.Equal(sure.Get(y.Dense(0)), []float64{10, 200, 5001, 0}) || !slices.Equal(sure.Get(largest.Dense(0)), []float64{1, 2, 5, 0}) {
		t.Errorf("%v, %v (%v)", y, largest, err)
	}
	g := simple.NewDirectedGraph()
	for _, e := range [][2]int64{{1, 2}, {2, 3}, {3, 1}, {8, 9}} {
		g.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	parts, cycles, err := withGonum(g)
	if err != nil || parts != 2 || len(cycles) != 1 || len(cycles[0]) != 4 {
		t.Errorf("%d parts, cycles %v (%v)", parts, cycles, err)
	}
}

func TestFormatsOperatorsWorkflows(t *testing.T) {
	t.Parallel()
	a, err := friends()
	if err != nil {
		t.Fatal(err)
	}
	near, err := closer(a, 0, 3)
	if err != nil || !slices.Equal(sure.Get(near.Dense(false)), []bool{true, true, true, false}) || near.NVals() != 4 {
		t.Errorf("nearer to 0 than to 3: %v (%v)", near, err)
	}
	before := a.Format()
	if err := pinned(a); err != nil {
		t.Fatal(err)
	}
	if x, _ := a.At(0, 1); x != 7 || before != matrix.CSR {
		t.Errorf("At(0, 1) is %v, of format %v before", x, before)
	}
	if err := checkCheapest(); err != nil {
		t.Error(err)
	}
	roads := sure.Get(matrix.FromTuples(4, 4, []int{0, 0, 1, 2}, []int{1, 2, 3, 3}, []route{{1, 5}, {2, 0}, {2, 0}, {1, 1}}, nil))
	two := matrix.New[route](4, 4)
	if err := ops.MxM(two, cheapest(), roads, roads); err != nil {
		t.Fatal(err)
	}
	if r, ok := two.At(0, 3); !ok || r != (route{3, 1}) {
		t.Errorf("the cheapest of two routes is %v", r)
	}
}
