package chunked

import (
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// realDevice returns the first GPU, or skips with the reason there is none.
func realDevice(t testing.TB) *cusparse.Device {
	d, err := cusparse.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

// TestMxMOnGPU compares blocks of a product on a GPU, within several budgets,
// with the product on the host.
func TestMxMOnGPU(t *testing.T) {
	d := realDevice(t)
	a := scattered(20000, 5000, 200000, 8)
	want := product(t, a.T(), a)
	for _, bytes := range []uint64{0, 256 << 20, 64 << 20} {
		var opts []Option
		if bytes > 0 {
			opts = append(opts, DeviceMemory(bytes))
		}
		got := matrix.New[int64](5000, 5000)
		rep, err := MxM(background, Into(got), plusTimes, a.T(), a, append(opts, On(d), Chunks(5))...)
		check(t, err)
		if !got.Equal(want) {
			t.Errorf("within %d bytes: the product differs", bytes)
		}
		if bytes > 0 && rep.PeakDevice > bytes {
			t.Errorf("%d bytes in use, the budget was %d", rep.PeakDevice, bytes)
		}
	}
}

// BenchmarkIntoOnGPU brings a large product into host memory.
func BenchmarkIntoOnGPU(b *testing.B) {
	d := realDevice(b)
	for name, f := range map[string]func() *gen.Graph{
		"rmat18":       func() *gen.Graph { return gen.CSR(gen.RMAT(18, 32, gen.RMATOptions{Seed: 1})) },
		"movielens20m": func() *gen.Graph { return gen.CSR(gen.Bipartite(138493, 26744, 20000000, 1)) },
	} {
		g := f()
		val := make([]float32, g.NNZ())
		for p := range val {
			val[p] = 1
		}
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
		check(b, err)
		check(b, a.Move(d))
		b.Run(name, func(b *testing.B) {
			for range b.N {
				c := matrix.New[float32](g.NCols, g.NCols)
				start := time.Now()
				rep, err := MxM(background, Into(c), semiring.PlusTimes[float32](), a.T(), a, On(d))
				check(b, err)
				b.Logf("%v: %d entries, %d blocks, plan %v computing %v copying %v writing %v wall %v overlap %.2f peak %d MB", time.Since(start), rep.Entries, rep.Blocks, rep.Plan, rep.Computing, rep.Copying, rep.Writing, rep.Wall, rep.Overlap(), rep.PeakDevice>>20)
			}
		})
	}
}
