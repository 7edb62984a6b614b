package geo

import (
	_ "embed"
	"fmt"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/chord"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

//go:embed kernels/geo.cu
var geoText string

// Constants of kernels/geo.cu.
const (
	geoLarge = 4096
	geoSmall = 128
	geoLanes = 8
	geoFew   = 12
)

// The numbers of kernels/geo.cu's state.
const (
	geoKnown = iota
	geoBad
	geoLocated
	geoUnfinished
	geoLists
	geoPoints = geoLists + 4
	geoOpen   = geoPoints + 1
	geoStates = geoOpen + 6
)

func geoProgram(single bool) device.Program {
	t, list, width := workflow.DoubleType, chord.Coefficients[:], int64(8)
	if single {
		t, list, width = workflow.FloatType, nil, 4
		for _, c := range inverseAngle32 {
			list = append(list, float64(c))
		}
	}
	var coefficients []string
	for _, c := range list {
		coefficients = append(coefficients, fmt.Sprintf("(HB_F)%.17g", c))
	}
	p := workflow.GraphProgram("geo", "geolocation", geoText, map[string]any{
		"HB_GEO_COEFFICIENTS": strings.Join(coefficients, ", "), "HB_GEO_EARTH": fmt.Sprintf("%.1f", earthKm),
		"HB_GEO_LARGE": geoLarge, "HB_GEO_SMALL": geoSmall, "HB_GEO_LANES": geoLanes, "HB_GEO_FEW": geoFew,
		"HB_GEO_SINGLE": 8/width - 1,
	})
	p.Types = []device.Typedef{{Name: "HB_F", Type: t}}
	return p
}

func init() { device.Describe("geo", geoPrograms) }

// geoPrograms are the programs of Geolocate.
func geoPrograms(device.Type) []device.Program {
	return []device.Program{geoProgram(false), geoProgram(true)}
}

// fusedGeolocate is Geolocate with MedianDegrees on a device. Options are complete. It returns nil
// without an error if a location cannot be used.
func fusedGeolocate(at device.Runner, a *matrix.View[bool], known *lines.Locations, n int, o GeolocateOptions) (*Geolocation, error) {
	var steps ops.Steps
	g, err := access.Operand(a, at)
	steps.Do(err)
	latitudes, err := access.Operand(matrix.AsView(known.Latitude), at)
	steps.Do(err)
	longitudes, err := access.Operand(matrix.AsView(known.Longitude), at)
	steps.Do(err)
	if !steps.OK() {
		return nil, steps.Err()
	}
	workflow.Report(o.Run, "geolocation, pass 1", 0, int64(n))
	width := int64(40)
	if o.Single {
		width = 20
	}
	res := &Geolocation{}
	state := make([]int64, geoStates)
	var found [4]device.Store
	ran := device.Ran{Method: "medians"}
	err = at.Run(workflow.Call(o.Run, "Geolocate"), func(s *device.Session) {
		g.Pattern = true
		rows := s.Rows(g)
		var key any = "apps: geolocation"
		if o.Single {
			key = "apps: geolocation in float32"
		}
		code := s.Program(key, func() device.Program { return geoProgram(o.Single) })
		kernel := func(name string) device.Kernel { return s.Kernel(code, "hb_geo_"+name) }
		size := int64(max(n, 1))
		located, numbers := s.Alloc(size), s.Zeros(8*geoStates)
		var tried device.Buffer
		if o.MaxDispersion > 0 || o.MaxDistance > 0 {
			tried = s.Alloc(4 * size)
		}
		present := func() device.Buffer { return s.Alloc(size) }
		lat, lon := s.NewBitmap(n, workflow.DoubleType, present()), s.NewBitmap(n, workflow.DoubleType, present())
		pass, spread := s.NewBitmap(n, workflow.Int32Type, present()), s.NewBitmap(n, workflow.DoubleType, present())
		x, y := s.Dense(latitudes), s.Dense(longitudes)
		s.Each(kernel("start"), int64(n), int32(n), x.Present, x.Val, y.Present, y.Val, located,
			lat.Val, lon.Val, spread.Val, pass.Val, tried, numbers)
		look := func() {
			s.Download(unsafe.Pointer(&state[0]), numbers, 8*geoStates)
		}
		launch := func(name string, args ...any) {
			k := kernel(name)
			grid, block := workflow.ResidentGrid(s, k)
			s.Launch(k, grid, block, 0, args...)
		}
		look()
		if s.Err() != nil || state[geoBad] > 0 {
			return
		}
		room := int32(max(int64(n)-state[geoKnown], 1)) // places of a list
		counts, lists, open := s.Zeros(4*size), s.Alloc(4*4*int64(room)), s.Alloc(2*3*4*int64(room))
		launch("open", int32(n), room, rows.Ptr, located, open, numbers)
		var point device.Buffer
		half, fresh := int32(0), false // fresh: state is what the device has
		for s.Err() == nil && state[geoBad] == 0 && n > 0 && (o.Passes == 0 || res.Passes < o.Passes) {
			now := int32(res.Passes + 1)
			launch("count", room, rows.Ptr, rows.Idx, located, open, half, int32(o.MinNeighbours),
				tried, counts, numbers)
			look()
			points := state[geoPoints]
			if fresh = points == 0; fresh || s.Err() != nil {
				break
			}
			places := s.Scan(counts, int64(n), 4)
			ran.Work += points
			if point.Addr == 0 {
				point = s.Alloc(width * size)
				s.Each(kernel("points"), int64(n), int32(n), located, lat.Val, lon.Val, point)
			}
			near := s.Alloc(width * points)
			s.Fill(numbers.At(8*geoLists), 0, 8*(geoOpen-geoLists))
			s.Fill(numbers.At(8*(geoOpen+3*int64(1-half))), 0, 8*3)
			launch("gather", room, rows.Ptr, rows.Idx, located, open, half, counts, places, now,
				point, lat.Val, lon.Val, spread.Val, pass.Val, near, numbers)
			launch("lists", room, open, half, counts, lists, numbers)
			for _, name := range []string{"hubs", "medians_warp", "medians_small", "medians_few"} {
				launch(name, room, counts, places, near, lists, o.Tolerance, int32(o.MaxIterations),
					o.MaxDispersion, o.MaxDistance, now, point, lat.Val, lon.Val, spread.Val, pass.Val,
					tried, numbers)
			}
			launch("commit", room, now, pass.Val, located, open, half, counts, numbers)
			half = 1 - half
			s.Free(near)
			s.Free(places)
			if tried.Addr != 0 { // else all of them are located
				before := state[geoLocated]
				if state[geoLocated] = s.Read(numbers, geoLocated); state[geoLocated] == before {
					break
				}
			}
			s.Check()
			res.Passes++
			workflow.Report(o.Run, fmt.Sprintf("geolocation, pass %d", res.Passes+1), state[geoKnown]+state[geoLocated], int64(n))
		}
		if !fresh {
			look()
		}
		if s.Err() != nil || state[geoBad] > 0 {
			return
		}
		total := state[geoKnown] + state[geoLocated]
		s.Each(kernel("present"), (int64(n)+15)/16, int64(n), located, lat.Present, lon.Present, pass.Present, spread.Present)
		for k, v := range []device.View{lat, lon, pass, spread} {
			if total == int64(n) {
				v = s.AllPresent(v)
			}
			found[k] = s.Result(v, total)
		}
	})
	if err != nil || state[geoBad] > 0 {
		return nil, err
	}
	res.Latitude, res.Longitude = workflow.Placed[float64](at, n, found[0]), workflow.Placed[float64](at, n, found[1])
	res.Pass, res.Dispersion = workflow.Placed[int32](at, n, found[2]), workflow.Placed[float64](at, n, found[3])
	res.Known, res.Located = state[geoKnown], state[geoKnown]+state[geoLocated]
	res.Unlocated, res.Unfinished = int64(n)-res.Located, state[geoUnfinished]
	workflow.Report(o.Run, "geolocation", res.Located, int64(n))
	workflow.TraceRan(o.Run, at, "Geolocate", ran, res.Located)
	return res, nil
}
