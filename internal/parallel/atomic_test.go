package parallel

import (
	"sync/atomic"
	"testing"
)

// Lower and Raise keep the least and the most of what many goroutines give.
func TestLowerRaise(t *testing.T) {
	const n = 1 << 12
	var least atomic.Int32
	var most atomic.Int64
	least.Store(n)
	_ = Pieces(nil, 8, n, func(_, k int) {
		x := (k*2531 + 77) % n // every number below n once
		Lower(&least, int32(x)+3)
		Raise(&most, int64(x))
	})
	if least.Load() != 3 || most.Load() != n-1 {
		t.Errorf("least %d, most %d; want 3 and %d", least.Load(), most.Load(), n-1)
	}
	if Lower(&least, 4); least.Load() != 3 {
		t.Errorf("4 lowers 3 to %d", least.Load())
	}
	if Raise(&most, 1); most.Load() != n-1 {
		t.Errorf("1 raises %d to %d", n-1, most.Load())
	}
}
