package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// place does c[pos[p]] = v[p].
func place(c []float64, pos []int32, v []float64) {
	sparse.TypeOf[float64]().Move(sparse.ValuesOf(c), pos, sparse.ValuesOf(v), nil)
}

// mergeFloats is mergeRows for float64.
func mergeFloats(m *merger, ci, ai, bi []int32, cv, av, bv []float64) int {
	merge := valueMergeOf(sparse.TypeOf[float64]())
	return mergeRows(m, merge, ci, ai, bi, sparse.ValuesOf(cv), sparse.ValuesOf(av), sparse.ValuesOf(bv))
}

func rowOf(r *rand.Rand, n, width int) []int32 {
	m := map[int32]bool{}
	for len(m) < n {
		m[int32(r.IntN(width))] = true
	}
	var l []int32
	for j := range m {
		l = append(l, j)
	}
	slices.Sort(l)
	return l
}

// mergeUnion equals merger.union and the passes over the values, for rows of all lengths.
func TestMergeUnion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		width := 1 + r.IntN(120)
		ai, bi := rowOf(r, r.IntN(width), width), rowOf(r, r.IntN(width), width)
		av, bv := drawn(r, len(ai)), drawn(r, len(bi))
		var m, byRows merger
		ci, want := make([]int32, len(ai)+len(bi)), make([]float64, len(ai)+len(bi))
		n, matches := m.union(ci, ai, bi)
		place(want, m.posB[:len(bi)], bv)
		place(want, m.posA[:len(ai)], av)
		if got := unionLen(ai, bi); got != int64(n) {
			t.Fatalf("%v and %v: a union of %d, want %d", ai, bi, got, n)
		}
		got, cv := make([]int32, n), make([]float64, n)
		if k := mergeFloats(&byRows, got, ai, bi, cv, av, bv); k != matches {
			t.Fatalf("%v and %v: %d matches, want %d", ai, bi, k, matches)
		}
		if !slices.Equal(got, ci[:n]) || !slices.Equal(cv, want[:n]) {
			t.Fatalf("%v and %v: %v, %v, want %v, %v", ai, bi, got, cv, ci[:n], want[:n])
		}
		for name, list := range map[string][2][]int32{"a": {byRows.matchA, m.matchA}, "b": {byRows.matchB, m.matchB}, "c": {byRows.matchQ, m.matchQ}} {
			if !slices.Equal(list[0][:matches], list[1][:matches]) {
				t.Fatalf("%v and %v: matches in %s are %v, want %v", ai, bi, name, list[0][:matches], list[1][:matches])
			}
		}
	}
}

// mergeIntersection finds the common columns, for rows of all lengths, and stays within its room
// for lists that are not ascending.
func TestMergeIntersection(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		width := 1 + r.IntN(60)
		ai, bi := rowOf(r, r.IntN(width+1), width), rowOf(r, r.IntN(width+1), width)
		room := min(len(ai), len(bi)) + 1
		ma, mb := make([]int32, room+1), make([]int32, room+1)
		ma[room], mb[room] = -7, -7
		n := mergeIntersection(ai, bi, ma[:room], mb[:room])
		k := 0
		for i, x := range ai {
			j, found := slices.BinarySearch(bi, x)
			if !found {
				continue
			}
			if k >= n || int(ma[k]) != i || int(mb[k]) != j {
				t.Fatalf("%v and %v: matches %v and %v of %d, want %d and %d at %d", ai, bi, ma, mb, n, i, j, k)
			}
			k++
		}
		if k != n {
			t.Fatalf("%v and %v: %d matches, want %d", ai, bi, n, k)
		}
		r.Shuffle(len(ai), func(i, j int) { ai[i], ai[j] = ai[j], ai[i] })
		if n := mergeIntersection(ai, bi, ma[:room], mb[:room]); n >= room {
			t.Fatalf("%v and %v: %d matches", ai, bi, n)
		}
		if ma[room] != -7 || mb[room] != -7 {
			t.Fatalf("%v and %v: wrote past the room", ai, bi)
		}
	}
}

// A merge of values exists for values of 4 and 8 bytes without pointers.
func TestValueMergeOf(t *testing.T) {
	if valueMergeOf(sparse.TypeOf[float32]()) == nil || valueMergeOf(sparse.TypeOf[int64]()) == nil || valueMergeOf(sparse.TypeOf[[2]float32]()) == nil {
		t.Error("no merge of numbers")
	}
	if valueMergeOf(sparse.TypeOf[bool]()) != nil || valueMergeOf(sparse.TypeOf[*int]()) != nil || valueMergeOf(sparse.TypeOf[complex128]()) != nil {
		t.Error("a merge of values of 1 or 16 bytes or of pointers")
	}
}

func drawn(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for k := range v {
		v[k] = r.Float64()
	}
	return v
}

func BenchmarkMergeUnion(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{8, 32, 100, 1000, 10000} {
		const rows = 64
		var as, bs [rows][]int32
		var lens [rows]int64
		for k := range as {
			as[k], bs[k] = rowOf(r, n, 10*n), rowOf(r, n, 10*n)
			lens[k] = unionLen(as[k], bs[k])
		}
		av, bv := drawn(r, n), drawn(r, n)
		var m merger
		ci, cv := make([]int32, 2*n), make([]float64, 2*n)
		for _, way := range []struct {
			name string
			run  func(k int)
		}{
			{"union", func(k int) {
				m.union(ci, as[k], bs[k])
				place(cv, m.posB[:n], bv)
				place(cv, m.posA[:n], av)
			}},
			{"merge", func(k int) { mergeFloats(&m, ci[:lens[k]], as[k], bs[k], cv[:lens[k]], av, bv) }},
			{"length", func(k int) { unionLen(as[k], bs[k]) }},
		} {
			b.Run(fmt.Sprint(way.name, "/", n), func(b *testing.B) {
				for range b.N {
					for k := range as {
						way.run(k)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows*n*2), "ns/entry")
			})
		}
	}
}
