package graphio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// rmatText returns a Matrix Market file of an R-MAT graph of 2^scale vertices
// and 16·2^scale edges, in no order and with duplicates, of the given field.
func rmatText(scale int, field string) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(scale)))
	n, m := 1<<scale, 16<<scale
	out := make([]byte, 0, m*40)
	out = fmt.Appendf(out, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", field, n, n, m)
	for range m {
		i, j := 0, 0
		for range scale {
			r := rng.Uint32N(100) // 0.57 0.19 0.19 0.05
			i, j = 2*i, 2*j
			switch {
			case r < 57:
			case r < 76:
				j++
			case r < 95:
				i++
			default:
				i, j = i+1, j+1
			}
		}
		out = strconv.AppendInt(out, int64(i+1), 10)
		out = append(out, ' ')
		out = strconv.AppendInt(out, int64(j+1), 10)
		switch field {
		case "real":
			out = strconv.AppendFloat(append(out, ' '), rng.Float64(), 'g', -1, 64)
		case "integer":
			out = strconv.AppendInt(append(out, ' '), int64(rng.IntN(256)), 10)
		}
		out = append(out, '\n')
	}
	return out
}

var benchTexts = map[string][]byte{}

func benchScale() int {
	if s, err := strconv.Atoi(os.Getenv("HIVEBLAS_BENCH_SCALE")); err == nil {
		return s
	}
	return 16
}

func benchmarkRead[T matrix.Element](b *testing.B, field string, opts ...ReadOption) {
	text, ok := benchTexts[field]
	if !ok {
		text = rmatText(benchScale(), field)
		benchTexts[field] = text
	}
	b.SetBytes(int64(len(text)))
	entries := 16 << benchScale()
	keep := matrix.CombineFunc[T](func(x, _ T) T { return x })
	opts = append(opts, Duplicates(keep))
	for b.Loop() {
		if _, err := ReadMatrixMarket[T](bytes.NewReader(text), opts...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries), "ns/entry")
}

// BenchmarkReadMatrixMarket reads R-MAT files from memory; set
// HIVEBLAS_BENCH_SCALE to 20 for 16M entries.
func BenchmarkReadMatrixMarket(b *testing.B) {
	b.Run("pattern/bool", func(b *testing.B) { benchmarkRead[bool](b, "pattern") })
	b.Run("integer/int32", func(b *testing.B) { benchmarkRead[int32](b, "integer") })
	b.Run("real/float64", func(b *testing.B) { benchmarkRead[float64](b, "real") })
	b.Run("real/float32", func(b *testing.B) { benchmarkRead[float32](b, "real") })
	b.Run("real/float64/symmetrise", func(b *testing.B) { benchmarkRead[float64](b, "real", Symmetrise()) })
}
