package apps

import (
	"github.com/hiveblas/hiveblas/apps/geo"
	"github.com/hiveblas/hiveblas/matrix"
)

// GeoMedian is the spatial median of Geolocate for three neighbours or more. See [geo.GeoMedian].
type GeoMedian = geo.GeoMedian

// MedianSphere is the geometric median on the sphere: the place with the least sum of distances.
const MedianSphere = geo.MedianSphere

// MedianDegrees is the median of the HIVE report, which takes degrees for plane coordinates.
const MedianDegrees = geo.MedianDegrees

// GeolocateOptions are the settings of Geolocate. See [geo.GeolocateOptions].
type GeolocateOptions = geo.GeolocateOptions

// Geolocation is the result of Geolocate. See [geo.Geolocation].
type Geolocation = geo.Geolocation

// Geolocate infers the places of the vertices of g without a known one from their neighbours
// (Compton, Jurgens, Allen: Geotagging one hundred million Twitter accounts with total variation
// minimization, IEEE Big Data 2014; chapter 3 of Gunrock's HIVE report, 2018). See [geo.Geolocate].
func Geolocate[T comparable](g matrix.Source[T], locations *Locations, opts ...GeolocateOptions) (*Geolocation, error) {
	return geo.Geolocate(g, locations, opts...)
}
