package edgelist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A dictionary numbers names by their first appearance, also where hashes meet and after it has
// grown, and sorts them as strings are sorted.
func TestDictionary(t *testing.T) {
	d, index, names := newDictionary(), map[string]int64{}, []string{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 30000 {
		var s string
		switch i % 4 {
		case 0:
			s = fmt.Sprintf("a common beginning %d", rng.IntN(8000))
		case 1:
			s = fmt.Sprint(rng.IntN(5000))
		case 2:
			s = string(make([]byte, rng.IntN(12))) + "x"[:rng.IntN(2)]
		default:
			b := make([]byte, 1+rng.IntN(3))
			for k := range b {
				b[k] = byte(rng.IntN(256))
			}
			s = string(b)
		}
		k, ok := index[s]
		if !ok {
			k = int64(len(names))
			index[s], names = k, append(names, s)
		}
		if got := d.add([]byte(s)); got != k {
			t.Fatalf("name %q has number %d, want %d", s, got, k)
		}
	}
	sorted, ranks := d.sorted(2)
	want := slices.Sorted(slices.Values(names))
	if !slices.Equal(sorted, want) {
		t.Error("the names are in another order than strings")
	}
	for k, s := range names {
		if string(d.name(int64(k))) != s || sorted[ranks[k]] != s {
			t.Fatalf("name %d is %q at rank %d, want %q", k, d.name(int64(k)), ranks[k], s)
		}
	}
	few := newDictionary() // all names have one of two hashes
	for k, s := range names[:300] {
		if got := few.addHashed(uint64(k%2)<<32, []byte(s)); got != int64(k) {
			t.Fatalf("name %d of equal hashes has number %d", k, got)
		}
	}
	for k, s := range names[:300] {
		if got := few.addHashed(uint64(k%2)<<32, []byte(s)); got != int64(k) {
			t.Fatalf("name %d of equal hashes has number %d the second time", k, got)
		}
	}
}
