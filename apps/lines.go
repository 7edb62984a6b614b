package apps

import (
	"io"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/matrix"
)

// Locations are places on the earth of some vertices of a graph, in degrees. See [lines.Locations].
type Locations = lines.Locations

// A LocationError names a vertex with an unusable location. See [lines.LocationError].
type LocationError = lines.LocationError

// NewLocations returns the locations of the listed vertices of a graph of n vertices. See
// [lines.NewLocations].
func NewLocations(n int, vertices []int, latitude []float64, longitude []float64) (*Locations, error) {
	return lines.NewLocations(n, vertices, latitude, longitude)
}

// LocationOptions are the settings of ReadLocations. See [lines.LocationOptions].
type LocationOptions = lines.LocationOptions

// ReadLocations reads locations of vertices of a graph of n vertices: a line "vertex latitude
// longitude" for each, in degrees, in any order, gzip-compressed or not. See [lines.ReadLocations].
func ReadLocations(r io.Reader, n int, opts ...LocationOptions) (*Locations, error) {
	return lines.ReadLocations(r, n, opts...)
}

// ReadLocationsFile reads the file at path as ReadLocations does. See [lines.ReadLocationsFile].
func ReadLocationsFile(path string, n int, opts ...LocationOptions) (*Locations, error) {
	return lines.ReadLocationsFile(path, n, opts...)
}

// TextOptions say how the lines of a text are taken. See [lines.TextOptions].
type TextOptions = lines.TextOptions

// ScoreFileOptions are the settings of ReadScores. See [lines.ScoreFileOptions].
type ScoreFileOptions = lines.ScoreFileOptions

// ReadScores reads scores of the n vertices of a graph, gzip-compressed or not: a number a line for
// all vertices in order, or pairs “vertex score”, separated by tabs, commas or blanks, in any
// order and for some of them. See [lines.ReadScores].
func ReadScores(r io.Reader, n int, opts ...ScoreFileOptions) (*matrix.Vector[float64], error) {
	return lines.ReadScores(r, n, opts...)
}

// ReadScoresFile reads the file at path as ReadScores does. See [lines.ReadScoresFile].
func ReadScoresFile(path string, n int, opts ...ScoreFileOptions) (*matrix.Vector[float64], error) {
	return lines.ReadScoresFile(path, n, opts...)
}

// ValueOptions are the settings of ReadValues. See [lines.ValueOptions].
type ValueOptions = lines.ValueOptions

// ReadValues reads a value for each of n vertices, of any number of vertices if n is −1: a number a
// line from vertex 0 on, or lines “vertex value” in any order, separated by tabs, commas or blanks;
// gzip-compressed or not. See [lines.ReadValues].
func ReadValues(r io.Reader, n int, opts ...ValueOptions) (*matrix.Vector[float64], error) {
	return lines.ReadValues(r, n, opts...)
}
