package scan

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/geo"
	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Counters beyond a block's, and numbers that share codes: cliques of 25 above and below both
// bounds, beside triangles with owners that are searched, and a clique of 40.
func TestScanOfManyVerticesOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	const cliques, triangles = 220, 400
	n := 25*cliques + 3*triangles + 40
	b := matrix.NewBuilder[bool](n, n)
	join := func(u, v int) { b.Add(u, v, true); b.Add(v, u, true) }
	clique := func(first, size int) int {
		for u := first; u < first+size; u++ {
			for v := first; v < u; v++ {
				join(u, v)
			}
		}
		return first + size
	}
	at := 0
	for range triangles {
		at = clique(at, 3)
	}
	for c := range cliques { // v and v−450 are neighbours and share a code
		for i := range 25 {
			join(at+i, 3*triangles+(25*c+25*18+i)%(25*cliques))
		}
		at = clique(at, 25)
	}
	clique(at, 40)
	join(1, at)
	g := samples.Must[*matrix.Matrix[bool]](t)(b.Build(nil))
	want := samples.Must[*ScanResult](t)(ScanStatistics(g))
	if all := int64(triangles + cliques*25*24*23/6 + 40*39*38/6); want.Triangles != all {
		t.Fatalf("%d triangles on the host, want %d", want.Triangles, all)
	}
	sure.Do(g.Move(d.Device))
	run := workflow.Tuned(workflow.Run{Method: workflow.Fused}, scanCodes{scanCounters + 200, 90})
	for range 2 { // the second call finds the numbering
		got := samples.Must[*ScanResult](t)(ScanStatistics(g, ScanOptions{Run: run}))
		if !slices.Equal(sure.Get(got.Statistic.Dense(-1)), sure.Get(want.Statistic.Dense(-1))) || !slices.Equal(got.ArgMax, want.ArgMax) ||
			got.Max != want.Max || got.Sum != want.Sum || got.Triangles != want.Triangles || got.Edges != want.Edges {
			t.Errorf("got %d, %v, %d triangles, want %d, %v, %d", got.Max, got.ArgMax, got.Triangles, want.Max, want.ArgMax, want.Triangles)
		}
	}
}

// The parts of several devices divide the tasks among them, whatever the order in which each lists
// them: the order of a device differs from run to run.
func TestScanPartsOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	const hubs, others, parts = 10, 2500, 3 // more than scanChunk tasks for a hub
	b := matrix.NewBuilder[bool](hubs+others, hubs+others)
	for k := range others {
		for i := range 6 {
			u, v := hubs+k, (k/100+i)%hubs
			b.Add(u, v, true)
			b.Add(v, u, true)
		}
		if k > 0 {
			b.Add(hubs+k, hubs+k-1, true)
			b.Add(hubs+k-1, hubs+k, true)
		}
	}
	g := samples.Must[*matrix.Matrix[bool]](t)(b.Build(nil))
	sure.Do(g.Move(d.Device))
	n := hubs + others
	at := device.Of(d.Device)
	operand := samples.Must[device.Operand](t)(access.Operand(g.View(), at))
	operand.Pattern = true
	tasks := func(part, parts int) map[[2]uint32]int {
		found := map[[2]uint32]int{}
		err := at.Run(device.Call{Op: "test"}, func(s *device.Session) {
			r := newRankedAt(s, s.Program("apps: scan", scanProgram), s.Rows(operand), n, codesOf(n), part, parts)
			defer r.Drop()
			first := make([]int64, n+1)
			s.Download(unsafe.Pointer(&first[0]), r.first, 8*int64(n+1))
			other := make([]uint32, first[n]+1)
			s.Download(unsafe.Pointer(&other[0]), r.other, 4*first[n])
			for x := range n {
				for _, y := range other[first[x]:first[x+1]] {
					found[[2]uint32{uint32(x), y}]++
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	all, union, least := tasks(0, 1), map[[2]uint32]int{}, math.MaxInt
	for part := range parts {
		own := tasks(part, parts)
		least = min(least, len(own))
		for task, k := range own {
			union[task] += k
		}
	}
	if !maps.Equal(all, union) {
		t.Errorf("the parts have %d tasks, the whole %d, and they are not the same", len(union), len(all))
	}
	if least < len(all)/parts*3/4 {
		t.Errorf("a part has %d of %d tasks", least, len(all))
	}
}

// Hubs that own the edges to more vertices than a unit takes: a clique of 10, and 600 vertices
// beside six of them each.
func TestScanOfHubsOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	const hubs, others = 10, 600
	b := matrix.NewBuilder[bool](hubs+others, hubs+others)
	join := func(u, v int) { b.Add(u, v, true); b.Add(v, u, true) }
	for u := range hubs {
		for v := range u {
			join(u, v)
		}
	}
	for k := range others {
		for i := range 6 {
			join(hubs+k, (k/100+i)%hubs)
		}
	}
	g := samples.Must[*matrix.Matrix[bool]](t)(b.Build(nil))
	want := samples.Must[*ScanResult](t)(ScanStatistics(g))
	if triangles := int64(hubs*(hubs-1)*(hubs-2)/6 + others*15); want.Triangles != triangles {
		t.Fatalf("%d triangles on the host, want %d", want.Triangles, triangles)
	}
	sure.Do(g.Move(d.Device))
	got := samples.Must[*ScanResult](t)(ScanStatistics(g, ScanOptions{Run: workflow.Run{Method: workflow.Fused}}))
	if !slices.Equal(sure.Get(got.Statistic.Dense(-1)), sure.Get(want.Statistic.Dense(-1))) || got.Sum != want.Sum {
		t.Errorf("%d triangles, want %d", got.Triangles, want.Triangles)
	}
}

// More vertices with the maximum than the device lists.
func TestScanOfEqualVerticesOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	g := samples.Build[float64](t, samples.Blank(scanTops+7), matrix.CSR)
	sure.Do(g.Move(d.Device))
	if res := samples.Must[*ScanResult](t)(ScanStatistics(g)); len(res.ArgMax) != scanTops+7 || res.Max != 0 {
		t.Errorf("%d vertices with the maximum %d", len(res.ArgMax), res.Max)
	}
}

func TestScanMethodErrors(t *testing.T) {
	d := samples.RealOrEmulated(t)
	g := samples.Build[float64](t, samples.Path(4).Both(), matrix.CSR)
	sure.Do(g.Move(d.Device))
	var e *workflow.ParameterError
	o := ScanOptions{Run: workflow.Run{Method: workflow.Fused}, Hops: ScanTwoHops}
	if _, err := ScanStatistics(g, o); !errors.As(err, &e) || e.Arg != "the method" {
		t.Errorf("two hops: %v", err)
	}
	l := samples.Must[*lines.Locations](t)(lines.NewLocations(4, []int{0}, []float64{1}, []float64{2}))
	if _, err := geo.Geolocate(g, l, geo.GeolocateOptions{Run: workflow.Run{Method: workflow.Fused}}); !errors.As(err, &e) || e.Arg != "the method" {
		t.Errorf("the sphere: %v", err)
	}
	for _, h := range []ScanHops{ScanDegree, ScanTwoHops} { // the pipeline on the device
		want := samples.Must[*ScanResult](t)(ScanStatistics(samples.Build[float64](t, samples.Path(4).Both(), matrix.CSR), ScanOptions{Hops: h}))
		got := samples.Must[*ScanResult](t)(ScanStatistics(g, ScanOptions{Hops: h}))
		if !slices.Equal(sure.Get(got.Statistic.Dense(-1)), sure.Get(want.Statistic.Dense(-1))) || got.Statistic.Place() != matrix.Place(d.Device) {
			t.Errorf("hops %v: %v, want %v", h, sure.Get(got.Statistic.Dense(-1)), sure.Get(want.Statistic.Dense(-1)))
		}
	}
}
