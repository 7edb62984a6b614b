package matrix

import "testing"

func inferS[A, B comparable](t Target[A], a Source[A], b Source[B], v VectorSource[A]) {}

func TestSmoke(t *testing.T) {
	b := NewBuilder[float64](3, 4)
	b.Add(2, 1, 5)
	b.Add(0, 3, 1)
	b.Add(2, 0, 7)
	a, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := NewVector[float64](4)
	inferS(a, a.T(), a.Pattern(), v)
	inferS(a.Masked(a.Structure().Not()).Replace(), a, a.Pattern().T(), v)
	if got := a.T().Rows().Idx; len(got) != 3 {
		t.Fatal(got)
	}
	for c, v := range a.All() {
		t.Log(c, v)
	}
	for j, v := range a.Row(2) {
		t.Log(j, v)
	}
}
