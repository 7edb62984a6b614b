package job

import "math/bits"

// Degrees is the distribution of the degrees of rows or columns.
type Degrees struct {
	Least, Most int64
	Mean        float64
	Bins        []int64 // bin 0: degree 0; bin b: degrees 2^(b−1) … 2^b−1
}

// DegreesOf returns the distribution for row offsets of the listed rows, of n rows.
func DegreesOf(ptr []int64, n, listed int) Degrees {
	var d Degrees
	if n == 0 {
		return d
	}
	d.Bins = make([]int64, 1, 32)
	d.Bins[0] = int64(n - listed)
	if listed == n {
		d.Least = ptr[1] - ptr[0]
	}
	for k := range listed {
		degree := ptr[k+1] - ptr[k]
		d.Least, d.Most = min(d.Least, degree), max(d.Most, degree)
		b := bits.Len64(uint64(degree))
		for b >= len(d.Bins) {
			d.Bins = append(d.Bins, 0)
		}
		d.Bins[b]++
	}
	d.Mean = float64(ptr[listed]-ptr[0]) / float64(n)
	return d
}

// Span returns the range of degrees of bin b.
func Span(b int) (lo, hi int64) {
	if b == 0 {
		return 0, 0
	}
	return 1 << (b - 1), 1<<b - 1
}

func (d Degrees) Object() Object {
	histogram := []Object{}
	for b, count := range d.Bins {
		lo, hi := Span(b)
		histogram = append(histogram, Object{{"from", "", lo}, {"to", "", hi}, {"count", "", count}})
	}
	return Object{{"min", "", d.Least}, {"mean", "", d.Mean}, {"max", "", d.Most}, {"histogram", "", histogram}}
}
