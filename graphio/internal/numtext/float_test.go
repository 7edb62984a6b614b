package numtext

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// TestFloatScanning compares with strconv.
func TestFloatScanning(t *testing.T) {
	wide, narrow := core.ElementOf(sparse.TypeOf[float64]()), core.ElementOf(sparse.TypeOf[float32]())
	scan64, scan32 := floatScanner(wide, &core.ReadOptions{}, false), floatScanner(narrow, &core.ReadOptions{}, false)
	check := func(text string) {
		t.Helper()
		line := []byte(text + "\n")
		want, err := strconv.ParseFloat(text, 64)
		got, end, f := scan64(line, 0)
		if (err != nil) != (f != FaultNone) || (err == nil && (end != len(text) || got != math.Float64bits(want))) {
			t.Errorf("%s: got %v (fault %d), want %v, %v", text, got, f, want, err)
		}
		want, err = strconv.ParseFloat(text, 32)
		got32, end, f := scan32(line, 0)
		if (err != nil) != (f != FaultNone) || (err == nil && (end != len(text) || uint32(got32) != math.Float32bits(float32(want)))) {
			t.Errorf("%s as float32: got %v (fault %d), want %v, %v", text, got32, f, want, err)
		}
	}
	for _, text := range []string{"0", "-0", "0.0", "0.000000000000", "0.1", "123456789012345678", "9007199254740993", "9007199254740992.5",
		"16777217", "16777216.0000000001", "1.00000017881393432617187499", "1.00000017881393432617187500", "1.5e-45", "3.4028236e38",
		"2.2250738585072014e-308", "1.7976931348623157e308", "1.8e308", "1e-999", "1e22", "1e23", "18446744073709551615",
		"18446744073709551616", "1844674407370955161.5", "0.0000000000000000001", "9999999999999999999e19", "9999999999999999999e-19",
		"00000000000000000000000000000000000012", "123456789012345678901234567890", "12345678.12345678", "1.1234567812345678123"} {
		check(text)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200_000 {
		switch rng.IntN(4) {
		case 0: // any float64
			if x := math.Float64frombits(rng.Uint64()); x-x == 0 {
				check(strconv.FormatFloat(x, 'g', -1, 64))
			}
		case 1: // as in files
			check(strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(20), 64))
		case 2: // any digits
			check(fmt.Sprintf("%de%d", rng.Uint64()>>rng.IntN(64), rng.IntN(50)-25))
		case 3: // halfway between two floats, and just beside
			x := 1 + rng.Float64()
			mid := new(big.Float).SetPrec(200).Add(big.NewFloat(x), big.NewFloat(math.Nextafter(x, 2)))
			check(mid.Quo(mid, big.NewFloat(2)).Text('f', 17+rng.IntN(40)))
			y := float64(float32(x))
			mid.Add(big.NewFloat(y), big.NewFloat(float64(math.Nextafter32(float32(y), 3))))
			check(mid.Quo(mid, big.NewFloat(2)).Text('f', 10+rng.IntN(20)))
		}
	}
}
