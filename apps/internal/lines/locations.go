package lines

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/matrix"
)

// Locations are places on the earth of some vertices of a graph, in degrees. Both vectors have an
// entry for each vertex with a known place, and no others.
type Locations struct {
	Latitude  *matrix.Vector[float64] // −90 to 90, north is positive
	Longitude *matrix.Vector[float64] // −180 to 180, east is positive
}

// A LocationError names a vertex with an unusable location.
type LocationError struct {
	App    string
	Vertex int
	Got    string
	Want   string
}

func (e *LocationError) Error() string {
	return fmt.Sprintf("%s: the location of vertex %d is %s, want %s", e.App, e.Vertex, e.Got, e.Want)
}

// coordinates describes a latitude and a longitude that are outside their ranges.
func coordinates(latitude, longitude float64) (got, want string, ok bool) {
	switch {
	case !(math.Abs(latitude) <= 90):
		return fmt.Sprintf("latitude %v", latitude), "degrees from −90 to 90", false
	case !(math.Abs(longitude) <= 180):
		return fmt.Sprintf("longitude %v", longitude), "degrees from −180 to 180", false
	}
	return "", "", true
}

// NewLocations returns the locations of the listed vertices of a graph of n vertices. NewLocations
// returns a *LocationError if a coordinate is outside its range or a vertex is listed twice.
func NewLocations(n int, vertices []int, latitude, longitude []float64) (*Locations, error) {
	const app = "NewLocations"
	if n < 0 || n > matrix.MaxDim {
		return nil, &matrix.SizeError{Op: app, Arg: "the number of vertices", Got: int64(n),
			Limit: matrix.MaxDim}
	}
	if len(vertices) != len(latitude) || len(vertices) != len(longitude) {
		return nil, &workflow.ParameterError{App: app, Arg: "the locations", Got: fmt.Sprintf("%d vertices, %d latitudes and %d longitudes",
			len(vertices), len(latitude), len(longitude)), Want: "the same number of each"}
	}
	p := newPlaces(n)
	for k, v := range vertices {
		if err := workflow.Vertex(app, "a vertex", v, n); err != nil {
			return nil, err
		}
		if got, want, ok := coordinates(latitude[k], longitude[k]); !ok {
			return nil, &LocationError{app, v, got, want}
		}
		if p.Located[v] != 0 {
			return nil, &LocationError{app, v, "given twice", "one location"}
		}
		p.set(v, latitude[k], longitude[k])
	}
	return p.Locations(), nil
}

// Places are the locations of vertices as arrays.
type Places struct {
	Located  []uint8 // 1 for vertices with a location
	Count    int64
	Lat, Lon []float64
}

func newPlaces(n int) *Places {
	return &Places{Located: make([]uint8, n), Lat: make([]float64, n), Lon: make([]float64, n)}
}

func (p *Places) set(v int, lat, lon float64) {
	p.Located[v], p.Lat[v], p.Lon[v] = 1, lat, lon
	p.Count++
}

// Locations returns the places as vectors, which own the coordinates.
func (p *Places) Locations() *Locations {
	return &Locations{workflow.PresentVector(p.Located, p.Count, p.Lat), workflow.PresentVector(p.Located, p.Count, p.Lon)}
}

// CheckLocations checks that locations are there, and of n vertices.
func CheckLocations(l *Locations, app string, n int) error {
	if l == nil || l.Latitude == nil || l.Longitude == nil {
		return &workflow.ParameterError{App: app, Arg: "the locations", Got: "nil", Want: "latitudes and longitudes; see NewLocations and ReadLocations"}
	}
	for k, c := range []*matrix.Vector[float64]{l.Latitude, l.Longitude} {
		if err := c.Err(); err != nil {
			return err
		}
		if c.Size() != n {
			return &matrix.DimensionError{Op: app, Arg: []string{"the latitudes", "the longitudes"}[k],
				Got: fmt.Sprintf("of %d vertices", c.Size()), Want: fmt.Sprintf("of %d vertices, as the graph", n),
				Remedy: "make them for the vertices of the graph"}
		}
	}
	return nil
}

// PlacesOf checks locations for a graph of n vertices and returns them as arrays of their own.
func PlacesOf(l *Locations, app string, n int) (*Places, error) {
	if err := CheckLocations(l, app, n); err != nil {
		return nil, err
	}
	p := newPlaces(n)
	for k, c := range []*matrix.Vector[float64]{l.Latitude, l.Longitude} {
		entries, err := c.AllChecked()
		if err != nil {
			return nil, err
		}
		for v, x := range entries {
			if k == 0 {
				p.set(v, x, 0)
			} else if p.Located[v] != 0 {
				p.Lon[v] = x
			}
		}
		if c.NVals() != p.Count {
			return nil, &workflow.ParameterError{App: app, Arg: "the locations", Got: fmt.Sprintf("%d latitudes and %d longitudes", p.Count, c.NVals()), Want: "both for the same vertices"}
		}
	}
	for v := range n {
		if p.Located[v] == 0 {
			continue
		}
		if _, both := l.Longitude.At(v); !both {
			return nil, &LocationError{app, v, "a latitude alone", "a longitude too"}
		}
		if got, want, ok := coordinates(p.Lat[v], p.Lon[v]); !ok {
			return nil, &LocationError{app, v, got, want}
		}
	}
	return p, nil
}

// LocationOptions are the settings of ReadLocations.
type LocationOptions struct {
	workflow.Run // Context and Progress, which counts bytes, are used
	TextOptions
	Name string // of the file, for errors
	Base int    // the first vertex: 0 or 1
	// Index returns the vertex of an id. It takes the place of Base if vertices have names. May be
	// nil.
	Index func(id string) (vertex int, ok bool)
}

// ReadLocations reads locations of vertices of a graph of n vertices: a line "vertex latitude
// longitude" for each, in degrees, in any order, gzip-compressed or not. Tabs, else commas, else
// blanks separate the fields. Lines that begin with % or # (see TextOptions), and blank lines, are
// skipped. A line without coordinates, or with nan for both, means that the place of the vertex is
// unknown. The first line is a header if it is "n 2 2" with the number of vertices, or has words in
// place of the coordinates.
//
// ReadLocations returns a *graphio.ParseError with the line if the graph lacks a vertex, if a
// vertex is repeated, or if a coordinate is missing, no number or outside its range.
func ReadLocations(r io.Reader, n int, opts ...LocationOptions) (*Locations, error) {
	const app = "ReadLocations"
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = CheckReader(app, r, n, 0, o.Base)
	}
	if err == nil {
		err = CheckText(o.TextOptions, app)
	}
	if err != nil {
		return nil, err
	}
	in := LocationReader{LocationOptions: o, p: newPlaces(n), first: true, at: make([]int64, n)}
	if _, err := EachLine(o.Run, r, o.TextOptions, o.Name, "read locations", in.line); err != nil {
		return nil, err
	}
	return in.p.Locations(), nil
}

// ReadLocationsFile reads the file at path as ReadLocations does. Name is ignored.
func ReadLocationsFile(path string, n int, opts ...LocationOptions) (*Locations, error) {
	o, err := workflow.Only("ReadLocationsFile", opts)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o.Name = path
	return ReadLocations(f, n, o)
}

// LocationReader is the state of ReadLocations.
type LocationReader struct {
	LocationOptions
	p     *Places
	first bool    // no line yet but comments
	at    []int64 // the line of each vertex
}

// line reads a line. Its errors are a *graphio.ParseError.
func (in *LocationReader) line(text []byte, line int64) error {
	bad := func(remedy, format string, args ...any) error {
		return &graphio.ParseError{File: in.Name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	f := FormatOf(in.LocationOptions.TextOptions).Fields(text)
	n := len(in.p.Located)
	first := in.first
	in.first = false
	if first && len(f) > 1 && isHeader(f, func(id string) bool { return in.Has(id, n) }) {
		return nil
	}
	head := first && len(f) == 3 && f[1] == "2" && f[2] == "2"
	if head && f[0] == strconv.Itoa(n) {
		return nil
	}
	v, err := in.Vertex(f[0], n, bad)
	if count, e := strconv.Atoi(f[0]); err != nil && head && e == nil && count > n {
		return bad(fmt.Sprintf("give the locations of this graph; its header is “%d 2 2”, and may be absent", n),
			"“%s” is the header of %d vertices, and the graph has %d", strings.Join(f, " "), count, n)
	}
	if err != nil {
		return err
	}
	if before := in.at[v]; before > 0 {
		return bad("give each vertex once", "vertex %s is given twice, first in line %d", f[0], before)
	}
	in.at[v] = line
	const want = "give a line “vertex latitude longitude”, or the vertex alone if its place is unknown"
	for len(f) > 1 && f[len(f)-1] == "" {
		f = f[:len(f)-1] // an empty coordinate
	}
	switch len(f) {
	case 1:
		return nil
	case 2:
		return bad(want, "there is one coordinate, want a latitude and a longitude")
	case 3:
	default:
		return bad(want, "%d fields, want a vertex, a latitude and a longitude", len(f))
	}
	var c [2]float64
	for k := range c {
		if delimited.IsNaN(f[1+k]) {
			c[k] = math.NaN()
		} else if c[k], err = in.number([]string{"the latitude ", "the longitude "}[k], f[1+k], in.Name, line, want); err != nil {
			return err
		}
	}
	if math.IsNaN(c[0]) && math.IsNaN(c[1]) {
		return nil
	}
	if got, want, ok := coordinates(c[0], c[1]); !ok {
		return bad("the order of the fields is vertex, latitude, longitude", "the location of vertex %s is %s, want %s", f[0], got, want)
	}
	in.p.set(v, c[0], c[1])
	return nil
}

func (in *LocationReader) Vertex(id string, n int, bad func(remedy, format string, args ...any) error) (int, error) {
	if in.Index != nil {
		v, ok := in.Index(id)
		if !ok {
			v, ok = in.Index(unquoted(id))
		}
		if !ok || v < 0 || v >= n {
			return 0, bad("give ids that occur in the graph", "the graph has no vertex %q", id)
		}
		return v, nil
	}
	v, err := strconv.Atoi(id)
	if err != nil {
		return 0, bad(fmt.Sprintf("number vertices from %d", in.Base), "%q is no vertex", id)
	}
	if v -= in.Base; v < 0 || v >= n {
		err := bad(fmt.Sprintf("the vertices of the file count from %d; the option Base is %d if they count from %d", in.Base, 1-in.Base, 1-in.Base),
			"vertex %s is not in the graph, which has %d vertices", id, n)
		var e *graphio.ParseError
		if errors.As(err, &e) {
			e.Kind = []graphio.RemedyKind{graphio.RemedyBase, graphio.RemedyBaseZero}[in.Base]
		}
		return 0, err
	}
	return v, nil
}

// isHeader reports whether the fields of a first line are names of columns: a usual name that
// stands alone, or words, no numbers, after a field that is no vertex.
func isHeader(f []string, isVertex func(id string) bool) bool {
	if len(f) == 1 {
		return delimited.IsName(f[0]) && delimited.IsWord(f[0])
	}
	return len(f) > 1 && !slices.ContainsFunc(f[1:], func(s string) bool { return !delimited.IsWord(s) }) && !isVertex(f[0])
}

// Has reports whether the graph of n vertices has a vertex.
func (in *LocationReader) Has(id string, n int) bool {
	_, err := in.Vertex(id, n, func(string, string, ...any) error { return errNoVertex })
	return err == nil
}

var errNoVertex = errors.New("the graph has no such vertex")

// unquoted returns the content of a field in quotation marks, which are doubled inside it.
func unquoted(field string) string {
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return field
	}
	return strings.ReplaceAll(field[1:len(field)-1], `""`, `"`)
}

// IsNil reports whether a reader or writer is nil or a nil pointer.
func IsNil(r any) bool {
	v := reflect.ValueOf(r)
	return r == nil || v.Kind() == reflect.Pointer && v.IsNil()
}
