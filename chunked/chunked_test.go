package chunked

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

var background = context.Background()

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scattered returns a matrix with most of the entries in its first rows.
func scattered(m, n, entries int, seed uint64) *matrix.Matrix[int64] {
	r := rand.New(rand.NewPCG(seed, 1))
	b := matrix.NewBuilder[int64](m, n)
	for range entries {
		i := int(float64(m) * r.Float64() * r.Float64() * r.Float64())
		b.Add(i, r.IntN(n), int64(1+r.IntN(9)))
	}
	a, err := b.Build(semiring.Plus[int64]())
	if err != nil {
		panic(err)
	}
	return a
}

// places calls f with the host, an emulated device and a group of three of these.
func places(t *testing.T, f func(t *testing.T, place matrix.Place)) {
	t.Run("host", func(t *testing.T) { f(t, nil) })
	t.Run("device", func(t *testing.T) { f(t, emulated(t)) })
	t.Run("devices", func(t *testing.T) { f(t, emulate.Group(emulatedDevices(t, 3)...)) })
}

func emulated(t testing.TB) *cusparse.Device { return emulatedDevices(t, 1)[0] }

func emulatedDevices(t testing.TB, n int) []*cusparse.Device {
	list, _ := emulate.Devices(t, n)
	return list
}

func product(t testing.TB, x, y matrix.Source[int64]) *matrix.Matrix[int64] {
	m, _ := matrix.AsView[int64](x).Dims()
	_, n := matrix.AsView[int64](y).Dims()
	c := matrix.New[int64](m, n)
	check(t, ops.MxM(c, semiring.PlusTimes[int64](), x, y))
	return c
}

var plusTimes = semiring.PlusTimes[int64]()

// TestMxM compares products in all numbers of blocks, and of views, with ops.MxM.
func TestMxM(t *testing.T) {
	places(t, func(t *testing.T, place matrix.Place) {
		a := scattered(90, 70, 900, 1)
		for name, f := range map[string]struct{ x, y matrix.Source[int64] }{
			"AᵀA": {a.T(), a}, "AAᵀ": {a, a.T()}, "no entries": {matrix.New[int64](4, 90), a}, "no rows": {matrix.New[int64](0, 90), a},
		} {
			for _, chunks := range []int{0, 1, 7, 1000} {
				want := product(t, f.x, f.y)
				m, n := want.Dims()
				got := matrix.New[int64](m, n)
				rep, err := MxM(background, Into(got), plusTimes, f.x, f.y, On(place), Chunks(chunks))
				if err != nil {
					t.Fatalf("%s in %d: %v", name, chunks, err)
				}
				if !got.Equal(want) {
					t.Errorf("%s in %d: the product differs", name, chunks)
				}
				if chunks == 7 && m > 7 && rep.Blocks < 7 && want.NVals() > 0 {
					t.Errorf("%s: %d blocks, want 7", name, rep.Blocks)
				}
				if rep.Entries != want.NVals() || rep.Rows != m || rep.Blocks != rep.AllBlocks {
					t.Errorf("%s: report %+v of %d entries", name, rep, want.NVals())
				}
			}
		}
	})
}

// TestMasks checks masks, complements and the diagonal.
func TestMasks(t *testing.T) {
	places(t, func(t *testing.T, place matrix.Place) {
		a := scattered(60, 50, 500, 2)
		mask, err := matrix.FromTuples(50, 50, []int{0, 0, 3, 17, 49}, []int{0, 9, 8, 17, 2}, []bool{true, false, true, true, true}, nil)
		check(t, err)
		all := product(t, a.T(), a)
		for _, c := range []struct {
			name string
			opts []Option
			dst  func(c *matrix.Matrix[int64]) *matrix.Dest[int64]
			off  bool
		}{
			{"mask", []Option{Masked(mask, false)}, func(c *matrix.Matrix[int64]) *matrix.Dest[int64] { return c.Masked(mask.Structure()) }, false},
			{"complement", []Option{Masked(mask, true)}, func(c *matrix.Matrix[int64]) *matrix.Dest[int64] { return c.Masked(mask.Structure().Not()) }, false},
			{"off the diagonal", []Option{OffDiagonal()}, func(c *matrix.Matrix[int64]) *matrix.Dest[int64] { return c.Replace() }, true},
			{"mask off the diagonal", []Option{OffDiagonal(), Masked(mask, false)}, func(c *matrix.Matrix[int64]) *matrix.Dest[int64] { return c.Masked(mask.Structure()) }, true},
		} {
			want, got := matrix.New[int64](50, 50), matrix.New[int64](50, 50)
			check(t, ops.Apply(c.dst(want), semiring.Identity[int64](), all))
			if c.off {
				check(t, ops.Select(want, semiring.Offdiag[int64](0), want))
			}
			_, err := MxM(background, Into(got), plusTimes, a.T(), a, append(c.opts, On(place), Chunks(6))...)
			check(t, err)
			if !got.Equal(want) {
				t.Errorf("%s: %v, want %v", c.name, got, want)
			}
		}
	})
}

// TestSinks checks that every kind of sink receives the same product.
func TestSinks(t *testing.T) {
	places(t, func(t *testing.T, place matrix.Place) {
		a := scattered(80, 40, 600, 3)
		want := product(t, a, a.T())
		dir := t.TempDir()
		run := func(s Sink[int64]) {
			t.Helper()
			_, err := MxM(background, s, plusTimes, a, a.T(), On(place), Chunks(9))
			check(t, err)
		}
		read := func(path string, opts ...graphio.ReadOption) {
			t.Helper()
			got, _, err := graphio.ReadFile[int64](path, opts...)
			check(t, err)
			if !got.Equal(want) {
				t.Errorf("%s differs", path)
			}
		}
		for _, name := range []string{"c.mtx", "c.mtx.gz"} {
			path := filepath.Join(dir, name)
			run(MatrixMarket[int64](background, path))
			read(path)
		}
		path := filepath.Join(dir, "c.hgb")
		run(File[int64](path))
		read(path)
		path = filepath.Join(dir, "c.tsv")
		run(EdgeList[int64](background, path))
		read(path, graphio.Dims(80, 80))
		var n, sum int64
		run(Count[int64](&n))
		run(Sum(semiring.Plus[int64](), &sum))
		total, err := ops.ReduceScalar(semiring.Plus[int64](), want)
		check(t, err)
		if n != want.NVals() || sum != total {
			t.Errorf("%d entries that sum to %d, want %d and %d", n, sum, want.NVals(), total)
		}
		d := make([]int64, 80)
		run(Degrees[int64](d))
		for i, row := range want.Rows() {
			if d[i] != int64(row.Len()) {
				t.Errorf("row %d has %d entries, want %d", i, d[i], row.Len())
			}
		}
		best := make([]int64, 80)
		run(Each(func(b *Block[int64]) error {
			for k := range b.Hi - b.Lo {
				for _, v := range b.Val[b.Ptr[k]:b.Ptr[k+1]] {
					best[b.Lo+k] = max(best[b.Lo+k], v)
				}
			}
			return nil
		}))
		for i, row := range want.Rows() {
			most := int64(0)
			for _, v := range row.All() {
				most = max(most, v)
			}
			if best[i] != most {
				t.Errorf("the largest of row %d is %d, want %d", i, best[i], most)
			}
		}
	})
}

// TestSmallDevice checks budgets too small for the product, the second factor, or both.
func TestSmallDevice(t *testing.T) {
	d := emulated(t)
	a := scattered(400, 300, 6000, 4)
	want := product(t, a.T(), a)
	budgets := []uint64{4 << 20, 650 << 10, 400 << 10} // one block, some, many
	if longtest.Enabled() {
		budgets = append(budgets, 1<<20, 800<<10, 500<<10)
	}
	for _, bytes := range budgets {
		got := matrix.New[int64](300, 300)
		rep, err := MxM(background, Into(got), plusTimes, a.T(), a, On(d), DeviceMemory(bytes))
		if err != nil {
			t.Fatalf("within %d bytes: %v", bytes, err)
		}
		if !got.Equal(want) {
			t.Errorf("within %d bytes: the product differs", bytes)
		}
		teed, each := matrix.New[int64](300, 300), matrix.NewBuilder[int64](300, 300)
		list := func(b *Block[int64]) error {
			for k := range b.Hi - b.Lo {
				for p := b.Ptr[k]; p < b.Ptr[k+1]; p++ {
					each.Add(b.Lo+k, int(b.Idx[p]), b.Val[p])
				}
			}
			return nil
		}
		_, err = MxM(background, Tee(Into(teed), list), plusTimes, a.T(), a, On(d), DeviceMemory(bytes))
		check(t, err)
		listed, err := each.Build(nil)
		check(t, err)
		if !teed.Equal(want) || !listed.Equal(want) {
			t.Errorf("within %d bytes: the product of a tee or a function differs", bytes)
		}
		each = matrix.NewBuilder[int64](300, 300)
		_, err = MxM(background, Tee(Each(func(*Block[int64]) error { return nil }), list), plusTimes, a.T(), a, On(d), DeviceMemory(bytes))
		check(t, err)
		if listed, err = each.Build(nil); err != nil || !listed.Equal(want) {
			t.Errorf("within %d bytes: the product of a function differs (%v)", bytes, err)
		}
		t.Logf("within %d bytes: %d blocks, %d splits", bytes, rep.Blocks, rep.Splits)
		if rep.PeakDevice > bytes {
			t.Errorf("%d bytes in use, the budget was %d", rep.PeakDevice, bytes)
		}
		if bytes < 1<<20 && rep.Blocks+rep.Splits < 2 {
			t.Errorf("within %d bytes in one block: %+v", bytes, rep)
		}
	}
	var e *Error
	_, err := MxM(background, Into(matrix.New[int64](300, 300)), plusTimes, a.T(), a, On(d), DeviceMemory(1<<10))
	if !errors.As(err, &e) || !errors.Is(err, cusparse.ErrMemory) {
		t.Errorf("within a kilobyte: %v, want out of memory", err)
	}
	if free, _, err := d.Free(); err != nil || free < 1<<20 {
		t.Errorf("the limit outlived the product: %d bytes free, %v", free, err)
	}
}

// failing is a sink that fails at a block.
type failing struct {
	at      int
	aborted bool
}

func (*failing) Begin(Plan) (int, error) { return 0, nil }
func (s *failing) Block(b *Block[int64]) error {
	if b.Index == s.at {
		return os.ErrPermission
	}
	return nil
}
func (*failing) End() error { return nil }
func (s *failing) Abort()   { s.aborted = true }

func TestErrors(t *testing.T) {
	places(t, func(t *testing.T, place matrix.Place) {
		a := scattered(60, 50, 500, 5)
		var e *Error
		s := &failing{at: 3}
		rep, err := MxM(background, s, plusTimes, a, a.T(), On(place), Chunks(8))
		if !errors.As(err, &e) || !errors.Is(err, os.ErrPermission) || e.Done.Blocks != 3 || rep.Blocks != 3 || !s.aborted {
			t.Errorf("a sink that fails: %v, %+v", err, e)
		}
		ctx, cancel := context.WithCancel(background)
		path := filepath.Join(t.TempDir(), "c.mtx")
		_, err = MxM(ctx, MatrixMarket[int64](ctx, path), plusTimes, a, a.T(), On(place), Chunks(8),
			WithProgress(func(p Progress) {
				if p.Blocks == 2 {
					cancel()
				}
			}))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled product: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 0 {
			t.Errorf("a cancelled product left %v", left)
		}
		_, err = MxM(background, Into(matrix.New[int64](3, 3)), plusTimes, a, a.T(), On(place))
		if !errors.Is(err, matrix.ErrDimension) {
			t.Errorf("a destination of another shape: %v", err)
		}
		_, err = MxM(background, Into(matrix.New[int64](60, 50)), plusTimes, a, a, On(place))
		if !errors.Is(err, matrix.ErrDimension) {
			t.Errorf("factors that do not fit: %v", err)
		}
	})
}

// TestResume stops a product after every block, resumes it, and compares the file with the file of
// an uninterrupted run.
func TestResume(t *testing.T) {
	a := scattered(120, 70, 1500, 6)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.hgb")
	_, err := MxM(background, File[int64](whole), plusTimes, a, a.T(), Chunks(12))
	check(t, err)
	want, err := os.ReadFile(whole)
	check(t, err)
	for at := 1; at < 10; at++ {
		path := filepath.Join(dir, fmt.Sprint(at, ".hgb"))
		ctx, cancel := context.WithCancel(background)
		_, err := MxM(ctx, File[int64](path), plusTimes, a, a.T(), Chunks(12), WithProgress(func(p Progress) {
			if p.Blocks == at {
				cancel()
			}
		}))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled after %d blocks: %v", at, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("a product that was stopped has its final name: %v", err)
		}
		// A partial block, as a kill leaves it.
		part, err := os.OpenFile(path+".part", os.O_APPEND|os.O_WRONLY, 0)
		check(t, err)
		_, err = part.Write(bytes.Repeat([]byte{1}, 37*at))
		check(t, err)
		check(t, part.Close())
		// The number of blocks of the first run holds.
		rep, err := MxM(background, File[int64](path), plusTimes, a, a.T(), Chunks(3))
		check(t, err)
		if rep.Resumed < at {
			t.Errorf("%d blocks were kept of %d", rep.Resumed, at)
		}
		got, err := os.ReadFile(path)
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("stopped after %d blocks, the file differs", at)
		}
	}
	// Another product starts over.
	path := filepath.Join(dir, "other.hgb")
	f, err := graphio.CreateBlocks[int64](path, 120, 120, []int{0, 120}, []byte("something else"))
	check(t, err)
	check(t, f.Close())
	rep, err := MxM(background, File[int64](path), plusTimes, a, a.T(), Chunks(12))
	check(t, err)
	if got, err := os.ReadFile(path); err != nil || rep.Resumed != 0 || !bytes.Equal(got, want) {
		t.Errorf("a file of another product: %+v, %v", rep, err)
	}
}
