package paths

import (
	"fmt"
	"math"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SSSPOptions are the settings of SSSP.
type SSSPOptions[T semiring.Number] struct {
	workflow.Run
	// Delta is the width of the distance buckets; 0 picks it from the weights.
	Delta T
	// Trusted skips the check of the weights.
	Trusted bool
}

// SSSP returns the length of the shortest path from the nearest of the
// sources to every vertex; vertices that cannot be reached have no entry.
//
// A pass relaxes the edges of the pending vertices within delta of the nearest one, all together:
// delta-stepping (Meyer and Sanders, J. Algorithms 49, 2003) with a window that moves along with
// the least distance (Dong, Gu, Sun, Zhang: Efficient stepping algorithms and implementations for
// parallel shortest paths, SPAA 2021):
//
//	f = pending⟨pending ≤ min(pending) + delta⟩;   r = f min.+ A
//	r = r⟨r < dist⟩;   dist min= r;   pending = pending⟨¬f⟩ min r
//
// On the host, for weights of 32 or 64 bits, threads keep lists of the vertices of each bucket and
// relax edge by edge.
//
// Weights of zero are edges, infinite ones lead nowhere. A vertex that finite weights reach has the
// distance +Inf if its distance exceeds the largest finite float. SSSP returns a *WeightError that
// names the edge if a weight is negative or NaN, and a *ParameterError if the largest integer
// weight, times the number of vertices, does not fit T.
func SSSP[T semiring.Number](g matrix.Source[T], sources []int, opts ...SSSPOptions[T]) (*matrix.Vector[T], error) {
	o := ssspSettings{count: len(opts), of: sparse.TypeOf[T]()}
	if len(opts) > 0 {
		o.Run, o.delta, o.trusted = opts[0].Run, unsafe.Pointer(&opts[0].Delta), opts[0].Trusted
	}
	dist, err := shortestPaths(g, sources, o)
	return access.VectorAs[T](dist), err
}

// ssspSettings are the SSSPOptions of a call without their type.
type ssspSettings struct {
	workflow.Run
	count   int            // of the values of SSSPOptions; the first one is here
	of      *sparse.Type   // of the weights and of delta
	delta   unsafe.Pointer // nil for 0
	trusted bool
	limit   int64 // the largest integer distance; 0 for the largest of the type that is searched
}

// shortestPaths is SSSP of a graph with weights of any type.
func shortestPaths(g workflow.Operand, sources []int, o ssspSettings) (dist rep.View, err error) {
	if o.count > 1 {
		return dist, &workflow.ParameterError{App: "SSSP", Arg: "the settings", Got: fmt.Sprintf("%d values of apps.SSSPOptions[%v]", o.count, o.of),
			Want: "one value, or none for the defaults"}
	}
	if err := workflow.CheckThreads(o.Run, "SSSP"); err != nil {
		return dist, err
	}
	n, err := workflow.Square("SSSP", g)
	if err != nil {
		return dist, err
	}
	if len(sources) == 0 {
		return dist, &workflow.ParameterError{App: "SSSP", Arg: "the list of sources", Got: "empty", Want: "at least one vertex"}
	}
	for _, v := range sources {
		if err := workflow.Vertex("SSSP", "source", v, n); err != nil {
			return dist, err
		}
	}
	in := g.Inside()
	switch sparse.GoType(in.Type().Under()).Kind() {
	case reflect.Int8:
		return narrowDistances[int8](in, n, sources, o)
	case reflect.Int16:
		return narrowDistances[int16](in, n, sources, o)
	case reflect.Int32:
		return distances[int32](in, n, sources, o)
	case reflect.Int64:
		return distances[int64](in, n, sources, o)
	case reflect.Uint8:
		return narrowDistances[uint8](in, n, sources, o)
	case reflect.Uint16:
		return narrowDistances[uint16](in, n, sources, o)
	case reflect.Uint32:
		return distances[uint32](in, n, sources, o)
	case reflect.Float32:
		return floatDistances[float32](in, n, sources, o)
	case reflect.Float64:
		return floatDistances[float64](in, n, sources, o)
	}
	return distances[uint64](in, n, sources, o)
}

// distances is SSSP of weights of type T.
func distances[T semiring.Number](in rep.View, n int, sources []int, o ssspSettings) (rep.View, error) {
	var delta T
	if o.delta != nil {
		delta = *(*T)(o.delta)
	}
	if delta < 0 || delta != delta {
		return rep.View{}, &workflow.ParameterError{App: "SSSP", Arg: "delta", Got: workflow.Shown(o.of, delta), Want: "a positive width"}
	}
	a := matrix.ViewOf[T](in)
	of := arithmeticOf[T]()
	delta, err := bucketWidth(a, n, of, delta, o)
	if err != nil {
		return rep.View{}, err
	}
	return distancesFrom(a, n, sources, of, delta, o.Run)
}

// narrowDistances is distances of weights of 8 or 16 bits: a search of 32 bits, of a copy of the
// graph.
func narrowDistances[T semiring.Integer](in rep.View, n int, sources []int, o ssspSettings) (rep.View, error) {
	if o.Method == workflow.Fused && device.Of(in.Place()) != nil { // which takes no such elements
		if _, err := fusedSSSPAt(o.Run, in.Place(), &arithmetic{of: in.Type()}); err != nil {
			return rep.View{}, err
		}
	}
	delta := int32(0)
	if o.delta != nil {
		delta = int32(*(*T)(o.delta))
	}
	o.delta, o.limit = unsafe.Pointer(&delta), int64(semiring.MaxValue[T]())
	at, with := matrix.On(in.Place()), workflow.With(o.Run)
	wide := matrix.New[int32](n, n, at)
	if err := ops.Apply(wide, semiring.Convert[T, int32](), matrix.ViewOf[T](in), with); err != nil {
		return rep.View{}, err
	}
	found, err := distances[int32](wide.Inside(), n, sources, o)
	if err != nil {
		return rep.View{}, err
	}
	dist := matrix.NewVector[T](n, at)
	err = ops.Apply(dist, semiring.Convert[int32, T](), matrix.VectorOfInside[int32](found), with)
	return dist.Inside(), err
}

// floatDistances is distances of floats, which may overflow.
func floatDistances[T semiring.Float](in rep.View, n int, sources []int, o ssspSettings) (rep.View, error) {
	dist, err := distances[T](in, n, sources, o)
	if err != nil {
		return dist, err
	}
	all, err := withOverflows(matrix.VectorOfInside[T](dist), matrix.ViewOf[T](in), sources, o.Run)
	if err != nil {
		return rep.View{}, err
	}
	return all.Inside(), nil
}

// distancesFrom is SSSP of checked arguments. A vertex with a distance that overflows has no entry.
func distancesFrom[T semiring.Number](a *matrix.View[T], n int, sources []int, of *arithmetic, delta T, o workflow.Run) (dist rep.View, err error) {
	dist, done, err := distancesByKernels(a.Inside(), n, sources, of, numberOf(delta), o)
	if done || err != nil {
		return dist, err
	}
	search := pipelineSSSP[T]
	if onHost(a, o) {
		search = hostSSSP[T]
	}
	found, err := search(a, n, sources, delta, o)
	if err != nil {
		return dist, err
	}
	return found.Inside(), nil
}

// distancesByKernels is SSSP by rows of a group or fused on a device; done is false where the
// operations search.
func distancesByKernels(a rep.View, n int, sources []int, of *arithmetic, delta number, o workflow.Run) (dist rep.View, done bool, err error) {
	if w := workflow.GroupRows(o, "SSSP", a.Place()); w != nil && rowsFit(w, of) {
		dist, err = rowsSSSP(w, a, n, sources, of, delta, o)
		return dist, true, err
	}
	at, err := fusedSSSPAt(o, a.Place(), of)
	if at == nil || err != nil {
		return dist, false, err
	}
	dist, err = fusedSSSP(at, a, n, sources, of, delta, o)
	return dist, true, err
}

// pipelineSSSP is SSSP by operations.
func pipelineSSSP[T semiring.Number](a *matrix.View[T], n int, sources []int, delta T, o workflow.Run) (*matrix.Vector[T], error) {
	workflow.Announce(o, "SSSP", "delta-stepping")
	unreached := semiring.MaxValue[T]()
	with := workflow.With(o)
	dist, err := workflow.FullVector(a.Place(), n, unreached, with)
	if err != nil {
		return nil, err
	}
	here := matrix.On(a.Place())
	pending := matrix.NewVector[T](n, here) // reached, with edges not yet relaxed
	var s ops.Steps
	for _, v := range sources {
		s.Do(pending.Set(v, 0))
	}
	front, reach := matrix.NewVector[T](n, here), matrix.NewVector[T](n, here)
	low, better, same, closer := semiring.Min[T](), improvement[T](), semiring.Identity[T](), semiring.ValueLT(unreached)
	s.Do(ops.Apply(dist.Accum(low), same, pending, with))
	least, bound := matrix.NewScalar[T](here), matrix.NewScalar[T](here)
	end, within, beyond := bucketEnd[T](), semiring.Le[T](), semiring.Gt[T]()
	for in := range s.While(pending, with, workflow.Passing(o, "shortest paths")) {
		s.Do(ops.ReduceInto(least, low, pending, in))
		s.Do(ops.ApplySecond(bound, end, least, delta, in))
		s.Do(ops.SelectFrom(front, within, pending, bound, in))
		s.Do(ops.SelectFrom(pending, beyond, pending, bound, in))
		s.Do(ops.VxM(reach, semiring.MinPlus[T](), front, a, in))
		s.Do(ops.EWiseMult(reach, better, reach, dist, in))
		s.Do(ops.Select(reach, closer, reach, in))
		s.Do(ops.Apply(dist.Accum(low), same, reach, in))
		s.Do(ops.Apply(pending.Accum(low), same, reach, in))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	out := matrix.NewVector[T](n, here)
	if err := ops.Select(out, semiring.ValueLT(unreached), dist, with); err != nil {
		return nil, err
	}
	return out, nil
}

// withOverflows adds +Inf for the vertices that finite weights reach by sums beyond the largest
// finite float. A sum exceeds it only beyond a distance of at least half its last digit; without
// such a distance no search is needed.
func withOverflows[T semiring.Float](dist *matrix.Vector[T], a *matrix.View[T], sources []int, run workflow.Run) (*matrix.Vector[T], error) {
	with, infinite := workflow.With(run), semiring.MaxValue[T]()
	large := math.MaxFloat64 * 0x1p-55
	if unsafe.Sizeof(infinite) == 4 {
		large = math.MaxFloat32 * 0x1p-26
	}
	quiet := run
	quiet.Trace = nil // a test, not a part of the search
	farthest, err := ops.ReduceScalar(semiring.Max[T](), dist, workflow.With(quiet))
	if err != nil || float64(farthest) < large {
		return dist, err
	}
	m, n := a.Dims()
	here := matrix.On(a.Place())
	finite := matrix.New[T](m, n, here)
	if err := ops.Select(finite, semiring.ValueLT(infinite), a, with); err != nil {
		return nil, err
	}
	hops, _, err := hopsFrom(matrix.AsView[bool](finite.View().Pattern()), n, sources, run)
	if err != nil {
		return nil, err
	}
	out := matrix.NewVector[T](n, here)
	var s ops.Steps
	s.Do(ops.Apply(out, semiring.NewUnary("infinite", func(int32) T { return infinite }, largest(infinite)), hops, with))
	s.Do(ops.EWiseAdd(out, semiring.Min[T](), out, dist, with))
	return out, s.Err()
}

// rowsFit reports whether SSSP by rows takes the element type: devices lower elements of 32 or 64
// bits.
func rowsFit(w *workflow.Division, of *arithmetic) bool {
	t, err := of.onDevice()
	return !w.Devices || err == nil && ssspFits(t)
}

// fusedSSSPAt is Run.fused of SSSP; the fused form takes elements of 32 or 64 bits.
func fusedSSSPAt(run workflow.Run, at matrix.Place, of *arithmetic) (device.Runner, error) {
	runner, err := workflow.FusedOn(run, "SSSP", at)
	if runner == nil || err != nil {
		return nil, err
	}
	t, err := of.onDevice()
	if err != nil || ssspFits(t) {
		return runner, err
	}
	if run.Method == workflow.Fused {
		return nil, &workflow.ParameterError{App: "SSSP", Arg: "the method", Got: "fused for elements of type " + t.Go, Want: "auto or pipeline, or elements of 32 or 64 bits"}
	}
	return nil, nil
}

// bucketEnd returns x + y, or the largest value if that does not fit an integer type.
func bucketEnd[T semiring.Number]() semiring.BinaryOp[T, T, T] {
	most := semiring.MaxValue[T]()
	return semiring.NewBinary("bucket_end", func(x, y T) T {
		if x > most-y {
			return most
		}
		return x + y
	}, fmt.Sprintf("x > (T)%[1]s - y ? (T)%[1]s : (T)(x + y)", largest(most)))
}

// improvement returns x where it is below y, and the largest value elsewhere.
func improvement[T semiring.Number]() semiring.BinaryOp[T, T, T] {
	most := semiring.MaxValue[T]()
	return semiring.NewBinary("improvement", func(x, y T) T {
		if x < y {
			return x
		}
		return most
	}, "x < y ? x : (T)"+largest(most))
}

// largest writes the largest value of T, an infinity for floats, in CUDA C.
func largest[T semiring.Number](most T) string {
	if T(1)/2 != 0 {
		return "INFINITY"
	}
	return fmt.Sprintf("%dULL", uint64(most))
}

// bucketWidth checks the weights and chooses delta: twice the mean weight over the mean degree
// would settle one edge's reach at a time. Wider buckets have fewer rounds and relax more edges
// twice. Operations and devices, where a round costs more, have wider ones (R-MAT 22 on an H200:
// 2.8 ms with 4, 3.4 with 1.5), and the form of the host narrower ones (R-MAT 18: 91 ms with .5,
// 104 with 1, 133 with 1.5; a grid of 1024²: 115, 120, 118).
func bucketWidth[T semiring.Number](a *matrix.View[T], n int, of *arithmetic, delta T, o ssspSettings) (T, error) {
	if o.trusted && delta > 0 {
		return delta, nil
	}
	weights, read, err := weightsByKernel(a.Inside(), of, o.Run)
	if err != nil {
		return 0, err
	}
	if !o.trusted && (!read || weights.bad != 0) {
		if err := checkWeights("SSSP", a, o.of, o.Run); err != nil {
			return 0, err
		}
	}
	if a.NVals() == 0 {
		return 1, nil
	}
	integer := T(1)/2 == 0
	if delta > 0 && !integer {
		return delta, nil
	}
	longest := valueOf[T](weights.longest)
	switch {
	case read:
	case integer:
		longest, err = ops.ReduceScalar(semiring.Max[T](), a, workflow.With(o.Run))
	default:
		longest, err = typicalLongest(a, o.Run)
	}
	if err != nil {
		return 0, err
	}
	if integer {
		// A shortest path has at most n−1 edges, and one more edge is relaxed from its end.
		limit := semiring.MaxValue[T]()
		if o.limit > 0 {
			limit = T(o.limit)
		}
		if n > 1 && float64(longest)*float64(n) >= float64(limit) {
			return 0, &workflow.ParameterError{App: "SSSP", Arg: "the largest weight times the number of vertices", Got: fmt.Sprint(float64(longest) * float64(n)),
				Want: fmt.Sprintf("below %v, which a distance of type %v can hold; use a wider type", workflow.Shown(o.of, limit), o.of)}
		}
		if delta > 0 {
			return delta, nil
		}
	}
	degree := float64(a.NVals()) / float64(n)
	reach := 4.0
	if onHost(a, o.Run) {
		reach = .75
	}
	return T(reach * float64(longest) / max(4, degree)), nil
}

// weightsByKernel reads the weights by one kernel where the search runs by kernels: on a device, or
// by rows on a group. Select and Max would take 18 of 41 ms of R-MAT 26 on four H200s.
func weightsByKernel(a rep.View, of *arithmetic, run workflow.Run) (w edgeWeights, read bool, err error) {
	if rows := workflow.GroupRows(run, "SSSP", a.Place()); rows != nil && rowsFit(rows, of) {
		w, err = rowsWeights(rows, a, of)
		return w, true, err
	}
	at, err := fusedSSSPAt(run, a.Place(), of)
	if at == nil || err != nil {
		return w, false, err
	}
	w, err = weightsOn(at, a, of, run)
	return w, true, err
}

// typicalLongest returns the largest finite weight, on the host of an even sample. It chooses the
// bucket width, which affects speed only.
func typicalLongest[T semiring.Number](a *matrix.View[T], run workflow.Run) (longest T, err error) {
	infinite := semiring.MaxValue[T]()
	if a.Place() != nil {
		longest, err = ops.ReduceScalar(semiring.Max[T](), a, workflow.With(run))
		if err != nil || longest < infinite {
			return longest, err
		}
		m, n := a.Dims()
		finite := matrix.New[T](m, n, matrix.On(a.Place()))
		if err := ops.Select(finite, semiring.ValueLT(infinite), a, workflow.With(run)); err != nil {
			return 0, err
		}
		longest, err = ops.ReduceScalar(semiring.Max[T](), finite, workflow.With(run))
		return max(longest, 0), err
	}
	val := access.Stored(a).Val
	step := max(1, len(val)/4096)
	for p := 0; p < len(val); p += step {
		if val[p] > longest && val[p] < infinite {
			longest = val[p]
		}
	}
	return longest, nil
}

// checkWeights returns a *WeightError for the first weight that is negative
// or NaN, as a value of a type. The check runs where the graph lives.
func checkWeights[T semiring.Number](app string, a *matrix.View[T], of *sparse.Type, run workflow.Run) error {
	if p := a.Place(); p != nil {
		m, n := a.Dims()
		bad := matrix.New[T](m, n, matrix.On(p))
		var s ops.Steps
		s.Do(ops.Select(bad, unusable[T](), a, workflow.With(run)))
		if s.NVals(bad) == 0 {
			return s.Err()
		}
		return findWeight(app, of, bad.View())
	}
	val := access.Stored(a).Val
	var bad atomic.Bool
	err := parallel.Range(run.Context, run.Threads, len(val), 1<<15, func(_, lo, hi int) {
		for _, x := range val[lo:hi] {
			if !(x >= 0) {
				bad.Store(true)
				return
			}
		}
	})
	if err != nil || !bad.Load() {
		return err
	}
	return findWeight(app, of, a)
}

// unusable keeps the weights that are negative or NaN.
func unusable[T semiring.Number]() semiring.SelectOp[T] {
	return semiring.NewSelect("unusable", func(x T, _, _ int) bool { return !(x >= 0) }, "!(x >= 0)")
}

func findWeight[T semiring.Number](app string, t *sparse.Type, a *matrix.View[T]) error {
	st := access.Rows(a)
	for k := range st.Vecs() {
		for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
			if !(st.Val[p] >= 0) {
				return &workflow.WeightError{App: app, Row: st.RowID(k), Col: int(st.Idx[p]), Got: workflow.Shown(t, st.Val[p]), Want: "0 or more"}
			}
		}
	}
	return nil
}
