package hostmem

import (
	"math"
	"testing"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		n, size, bytes int64
		ok             bool
		reason         string
	}{
		{0, 8, 0, true, "nothing"},
		{1 << 20, 8, 1 << 23, true, "small"},
		{1 << 40, 1 << 10, 1 << 50, false, "more than a process can address"},
		{math.MaxInt32, math.MaxInt32, math.MaxInt32 * math.MaxInt32, false, "the largest matrix"},
		{1 << 62, 8, math.MaxInt64, false, "the product overflows"},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, false, "the product overflows by far"},
	} {
		bytes, have, ok := Fits(c.n, c.size)
		if bytes != c.bytes || ok != c.ok || have <= 0 || have > 1<<48 {
			t.Errorf("%s: Fits(%d, %d) = %d, %d, %v, want %d, …, %v", c.reason, c.n, c.size, bytes, have, ok, c.bytes, c.ok)
		}
	}
}
