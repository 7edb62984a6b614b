package inputs

import (
	"github.com/hiveblas/hiveblas/apps"
)

// GeoCheck sums the coordinates, from the south pole and the date line.
func GeoCheck(res *apps.Geolocation) (sum float64) {
	for v, lat := range res.Latitude.All() {
		lon, _ := res.Longitude.At(v)
		sum += (lat + 90 + lon + 180) * float64(1+v%7)
	}
	return sum
}
