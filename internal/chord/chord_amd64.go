package chord

import "golang.org/x/sys/cpu"

var wide = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// table has each coefficient four times.
var table = func() (t [len(Coefficients)][4]float64) {
	for k, c := range Coefficients {
		t[k] = [4]float64{c, c, c, c}
	}
	return t
}()

// sums4 adds up the first n points, a multiple of 4 above 0: out has the sums of the lanes of w,
// w·A, w·B and of the points without weight.
//
//go:noescape
func sums4(n int, a, b, x, y, z *float64, at *[3]float64, table *[len(Coefficients)][4]float64, out *[4][4]float64)

func sumsWide(p *Points, n int, x, y, z float64) (sum, a, b float64, zeros int) {
	_, _, _, _ = p.Y[n-1], p.Z[n-1], p.A[n-1], p.B[n-1] // the lists are long enough
	at, out := [3]float64{x, y, z}, [4][4]float64{}
	sums4(n, &p.A[0], &p.B[0], &p.X[0], &p.Y[0], &p.Z[0], &at, &table, &out)
	add := func(l [4]float64) float64 { return (l[0] + l[1]) + (l[2] + l[3]) }
	return add(out[0]), add(out[1]), add(out[2]), int(add(out[3]))
}
