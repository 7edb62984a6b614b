// Package geo infers the places of vertices from the places of their neighbours: by the geometric
// median on the sphere, or by the median of degrees as plane coordinates.
package geo

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// GeoMedian is the spatial median of Geolocate for three neighbours or more.
type GeoMedian int

const (
	// MedianSphere is the geometric median on the sphere: the place with the least sum of
	// distances.
	MedianSphere GeoMedian = iota
	// MedianDegrees is the median of the HIVE report, which takes degrees for plane coordinates.
	MedianDegrees
)

// String returns the name of the median on the command line.
func (m GeoMedian) String() string {
	switch m {
	case MedianSphere:
		return "sphere"
	case MedianDegrees:
		return "degrees"
	}
	return fmt.Sprintf("GeoMedian(%d)", int(m))
}

// GeolocateOptions are the settings of Geolocate.
type GeolocateOptions struct {
	workflow.Run
	Median GeoMedian
	// Passes is the most passes to run; 0 means until no vertex can be located.
	Passes int
	// Tolerance ends a median with a step below it: metres for MedianSphere, where 0 means 1, and
	// degrees for MedianDegrees, where 0 means 1e-3.
	Tolerance float64
	// MaxIterations ends a median; 0 means 1000. The last iterate is the result.
	MaxIterations int
	// MinNeighbours is the number of located neighbours that a vertex needs; 0 means 1.
	MinNeighbours int
	// MaxDispersion leaves a vertex unlocated if the mean distance of its located neighbours from
	// their median is larger, in kilometres; 0 means no limit. A later pass tries again if more
	// neighbours are located.
	MaxDispersion float64
	// MaxDistance is such a limit for the farthest of the located neighbours.
	MaxDistance float64
	// Single computes medians in float32: metres are lost, and a GPU is several times faster.
	Single bool
}

// Geolocation is the result of Geolocate. The vectors live where the graph does and have an entry
// for each located vertex.
type Geolocation struct {
	lines.Locations
	Pass       *matrix.Vector[int32]   // in which a vertex was located; 0 for known locations
	Dispersion *matrix.Vector[float64] // mean km from the located neighbours; 0 for known locations
	Known      int64                   // vertices with a location at the beginning
	Located    int64                   // with one at the end
	Unlocated  int64                   // without
	Passes     int                     // that located a vertex
	Unfinished int64                   // medians that MaxIterations ended
}

// Geolocate infers the places of the vertices of g without a known one from their neighbours
// (Compton, Jurgens, Allen: Geotagging one hundred million Twitter accounts with total variation
// minimization, IEEE Big Data 2014; chapter 3 of Gunrock's HIVE report, 2018). The neighbours of a
// vertex are the columns of its row. In each pass the vertices without a location that have located
// neighbours,
//
//	count⟨¬located⟩ = A +.pair located
//
// take the spatial median of the neighbours' places: the place of one, the midpoint of the great
// circle of two, and Median of more. A pass reads only what the passes before it found, and moves
// no located vertex, so the result does not depend on the order of vertices or on threads. Values
// and self-loops are ignored. Edges of one direction count for their source: read a graph as
// undirected if they should count for both.
//
// On a device, MedianDegrees has a fused form. Its places agree with the places of the host to
// rounding; a median may be a step apart if its last step equals the tolerance but for rounding.
// MedianSphere there, and both on a group, count where the graph lives and compute medians on the
// host. Method Pipeline runs all medians of a pass as one iteration of operations where the graph
// lives, in float64; on the sphere by steps of Weiszfeld alone, which need many iterations near a
// vertex and end at the local median next to the mean.
//
// O(edges) a pass, and for each median O(neighbours × iterations). The order of the sums of a
// median is fixed on a machine; machines with and without AVX2 agree to rounding. Geolocate returns
// a *LocationError if a coordinate is outside its range.
func Geolocate[T comparable](g matrix.Source[T], locations *lines.Locations, opts ...GeolocateOptions) (*Geolocation, error) {
	return geolocation(workflow.Pattern(g), locations, opts)
}

func geolocation(a *matrix.View[bool], locations *lines.Locations, opts []GeolocateOptions) (*Geolocation, error) {
	o, err := workflow.Only("Geolocate", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("Geolocate", a)
	if err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := lines.CheckLocations(locations, "Geolocate", n); err != nil {
		return nil, err
	}
	at, err := workflow.FusedOn(o.Run, "Geolocate", a.Place())
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, "Geolocate", "median: "+o.Median.String())
	if at != nil && o.Median == MedianDegrees {
		if res, err := fusedGeolocate(at, a, locations, n, o); res != nil || err != nil {
			return res, err
		} // else a location cannot be used, and the error follows
	}
	if at != nil && o.Method == workflow.Fused && o.Median != MedianDegrees {
		return nil, &workflow.ParameterError{App: "Geolocate", Arg: "the method", Got: "fused with the median on the sphere", Want: "auto or pipeline, or MedianDegrees"}
	}
	p, err := lines.PlacesOf(locations, "Geolocate", n)
	if err != nil {
		return nil, err
	}
	if o.Method == workflow.Pipeline {
		return geolocateByOperations(a, p, o)
	}
	if o.Single {
		return geolocate[float32](a, p, o)
	}
	return geolocate[float64](a, p, o)
}

// complete sets the defaults and checks the settings.
func (o *GeolocateOptions) complete() error {
	bad := func(arg string, got any, want string) error {
		return &workflow.ParameterError{App: "Geolocate", Arg: arg, Got: fmt.Sprint(got), Want: want}
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1
		if o.Median == MedianDegrees {
			o.Tolerance = 1e-3
		}
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 1000
	}
	if o.MinNeighbours == 0 {
		o.MinNeighbours = 1
	}
	switch {
	case o.Median != MedianSphere && o.Median != MedianDegrees:
		return bad("the median", o.Median, "MedianSphere or MedianDegrees")
	case o.Passes < 0:
		return bad("the number of passes", o.Passes, "1 or more, or 0 for as many as locate vertices")
	case !(o.Tolerance > 0):
		return bad("the tolerance", o.Tolerance, "a positive number")
	case o.MaxIterations < 0:
		return bad("the number of iterations", o.MaxIterations, "1 or more, or 0 for 1000")
	case o.MinNeighbours < 0:
		return bad("the number of neighbours", o.MinNeighbours, "1 or more")
	case !(o.MaxDispersion >= 0):
		return bad("the largest dispersion", o.MaxDispersion, "kilometres, or 0 for no limit")
	case !(o.MaxDistance >= 0):
		return bad("the largest distance", o.MaxDistance, "kilometres, or 0 for no limit")
	}
	return nil
}

// within reports whether distances are within the limits.
func (o *GeolocateOptions) within(mean, farthest float64) bool {
	return (o.MaxDispersion == 0 || mean <= o.MaxDispersion) && (o.MaxDistance == 0 || farthest <= o.MaxDistance)
}

// geolocator is the state of Geolocate between passes.
type geolocator[F workflow.Real] struct {
	o          GeolocateOptions
	a          *matrix.View[bool]
	rows       *sparse.Structure
	p          *lines.Places
	points     []geoPoint[F] // of located vertices
	pass       []int32
	dispersion []float64
	tried      []int32 // located neighbours of a vertex when it was beyond the limits; nil without limits
	unfinished atomic.Int64
}

// placement is a vertex that a pass located.
type placement[F workflow.Real] struct {
	vertex           int32
	at               geoPoint[F]
	lat, lon, spread float64
}

func geolocate[F workflow.Real](a *matrix.View[bool], p *lines.Places, o GeolocateOptions) (*Geolocation, error) {
	n := len(p.Located)
	l := &geolocator[F]{o: o, a: a, p: p, points: make([]geoPoint[F], n), pass: make([]int32, n), dispersion: make([]float64, n)}
	if o.MaxDispersion > 0 || o.MaxDistance > 0 {
		l.tried = make([]int32, n)
	}
	err := parallel.Range(o.Context, o.Threads, n, 1<<12, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			if p.Located[v] != 0 {
				l.points[v] = geoPointOf[F](p.Lat[v], p.Lon[v])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	res := &Geolocation{Known: p.Count}
	for o.Passes == 0 || res.Passes < o.Passes {
		workflow.Report(o.Run, fmt.Sprintf("geolocation, pass %d", res.Passes+1), p.Count, int64(n))
		found, err := l.next(int32(res.Passes + 1))
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		res.Passes++
	}
	workflow.Report(o.Run, "geolocation", p.Count, int64(n))
	res.Located, res.Unlocated, res.Unfinished = p.Count, int64(n)-p.Count, l.unfinished.Load()
	res.Locations = *p.Locations()
	res.Pass, res.Dispersion = workflow.PresentVector(p.Located, p.Count, l.pass), workflow.PresentVector(p.Located, p.Count, l.dispersion)
	return res, res.move(a.Place())
}

// move moves the vectors of a result.
func (r *Geolocation) move(to matrix.Place) error {
	var s ops.Steps
	s.Do(r.Latitude.Move(to))
	s.Do(r.Longitude.Move(to))
	s.Do(r.Pass.Move(to))
	s.Do(r.Dispersion.Move(to))
	return s.Err()
}

// next runs a pass and reports whether it located a vertex.
func (l *geolocator[F]) next(pass int32) (bool, error) {
	if l.rows == nil {
		l.rows = &access.Rows(l.a).Structure
	}
	vertices, err := l.candidates()
	if err != nil || len(vertices) == 0 {
		return false, err
	}
	threads := parallel.Threads(l.o.Threads)
	type worker struct {
		near []geoPoint[F]
		ids  []int32
		done []placement[F]
		_    [64]byte // neighbours in workers do not share cache lines
	}
	workers := make([]worker, threads+1)
	err = parallel.Range(l.o.Context, threads, len(vertices), 64, func(id, lo, hi int) {
		w := &workers[id]
		for k := lo; k < hi; k++ {
			v := vertices[k]
			w.near, w.ids = l.neighbours(v, w.near[:0], w.ids[:0])
			count := int32(len(w.near))
			if int(count) < l.o.MinNeighbours || l.tried != nil && l.tried[v] >= count {
				continue
			}
			if at, ok := l.locate(v, w.near, w.ids); ok {
				w.done = append(w.done, at)
			} else {
				l.tried[v] = count
			}
		}
	})
	if err != nil {
		return false, err
	}
	located := int64(0)
	for _, w := range workers {
		located += int64(len(w.done))
	}
	_ = parallel.Pieces(nil, parallel.Share(threads, located, 1<<10), len(workers), func(_, k int) {
		for _, x := range workers[k].done {
			l.p.Located[x.vertex], l.p.Lat[x.vertex], l.p.Lon[x.vertex] = 1, x.lat, x.lon
			l.points[x.vertex], l.pass[x.vertex], l.dispersion[x.vertex] = x.at, pass, x.spread
		}
	})
	l.p.Count += located
	return located > 0, nil
}

// candidates returns the vertices that a pass looks at. On the host these are the vertices without
// a location that have edges: the pass then looks for located neighbours itself. Elsewhere vertices
// with located neighbours are found where the graph lives.
func (l *geolocator[F]) candidates() (vertices []int32, err error) {
	if l.a.Place() == nil {
		if l.o.Trace != nil {
			l.o.Trace(ops.Trace{Op: "Geolocate", Method: "gather", NVals: l.p.Count, Work: int64(len(l.rows.Idx))})
		}
		vertices = parallel.Gather(l.o.Threads, l.rows.Vecs(), workflow.RowGrain, func(lo, hi int, found []int32) []int32 {
			for k := lo; k < hi; k++ {
				if v := l.rows.RowID(k); l.p.Located[v] == 0 && l.rows.Ptr[k] < l.rows.Ptr[k+1] {
					found = append(found, int32(v))
				}
			}
			return found
		})
		return vertices, nil
	}
	n := len(l.p.Located)
	located := workflow.PresentVector(l.p.Located, l.p.Count, slices.Repeat([]bool{true}, n))
	count := matrix.NewVector[int32](n, matrix.On(l.a.Place()))
	err = ops.MxV(count.Masked(located.Structure().Not()).Replace(), semiring.PlusPair[int32](), l.a,
		located.Pattern(), workflow.With(l.o.Run))
	if err != nil {
		return nil, err
	}
	entries, err := count.AllChecked()
	if err != nil {
		return nil, err
	}
	for v := range entries {
		vertices = append(vertices, int32(v))
	}
	return vertices, nil
}

// neighbours appends the located neighbours of a vertex.
func (l *geolocator[F]) neighbours(v int32, near []geoPoint[F], ids []int32) ([]geoPoint[F], []int32) {
	lo, hi := l.rows.Span(int(v))
	for _, u := range l.rows.Idx[lo:hi] {
		if l.p.Located[u] != 0 {
			near, ids = append(near, l.points[u]), append(ids, u)
		}
	}
	return near, ids
}

// locate returns the place of a vertex with the given located neighbours; ok is false beyond the
// limits.
func (l *geolocator[F]) locate(v int32, near []geoPoint[F], ids []int32) (x placement[F], ok bool) {
	x.vertex = v
	if len(near) == 1 { // exactly, also in float32
		x.at, x.lat, x.lon = near[0], l.p.Lat[ids[0]], l.p.Lon[ids[0]]
		return x, true
	}
	var converged bool
	x.at, x.lat, x.lon, converged = centre(near, geoSettings{l.o.Median, l.o.Tolerance, l.o.MaxIterations})
	farthest := 0.0
	for k := range near {
		d := kilometres(&x.at, &near[k])
		x.spread += d
		farthest = max(farthest, d)
	}
	x.spread /= float64(len(near))
	if !l.o.within(x.spread, farthest) {
		return x, false
	}
	if !converged {
		l.unfinished.Add(1)
	}
	if math.Abs(x.lat) > 90 { // by rounding in float32
		x.lat = math.Copysign(90, x.lat)
	}
	return x, true
}
