package matrix

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
)

func TestJSON(t *testing.T) {
	a, err := FromTuples(3, 4, []int{2, 0, 0}, []int{1, 3, 0}, []float64{-1.5, 2, 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"rows":3,"cols":4,"row":[0,0,2],"col":[0,3,1],"value":[4,2,-1.5]}`
	for _, f := range []Format{CSR, Hypersparse, Bitmap} {
		if err := a.SetFormat(f); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%v: %s, %v; want %s", f, got, err, want)
		}
	}
	var back Matrix[float64]
	if err := json.Unmarshal([]byte(want), &back); err != nil || !back.Equal(a) {
		t.Errorf("read back: %v, %v", back.Text(), err)
	}
	v, err := VectorFromTuples(5, []int{4, 1}, []int64{1<<62 + 1, 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil || string(text) != `{"size":5,"index":[1,4],"value":[7,4611686018427387905]}` {
		t.Errorf("vector: %s, %v", text, err)
	}
	var w Vector[int64]
	if err := json.Unmarshal(text, &w); err != nil || !w.Equal(v) {
		t.Errorf("read back: %v, %v", w.Text(), err)
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		want         error
	}{
		{"lists of different lengths", `{"rows":2,"cols":2,"row":[0],"col":[],"value":[1]}`, ErrInvalid},
		{"a row outside", `{"rows":2,"cols":2,"row":[2],"col":[0],"value":[1]}`, ErrIndex},
		{"a position twice", `{"rows":2,"cols":2,"row":[1,1],"col":[0,0],"value":[1,2]}`, ErrDuplicate},
		{"impossible dimensions", `{"rows":-2,"cols":2,"row":[],"col":[],"value":[]}`, ErrSize},
	} {
		a := New[float64](1, 1)
		if err := a.Set(0, 0, 5); err != nil {
			t.Fatal(err)
		}
		err := json.Unmarshal([]byte(c.text), a)
		if x, ok := a.At(0, 0); !errors.Is(err, c.want) || !ok || x != 5 {
			t.Errorf("%s: error %v, matrix %v", c.reason, err, a.Text())
		}
	}
	bad := New[float64](1, 1)
	if err := bad.Set(0, 0, math.NaN()); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(bad); err == nil {
		t.Errorf("NaN became %s", text)
	}
	if text, err := json.Marshal(New[float64](-1, 1)); err == nil {
		t.Errorf("an invalid matrix became %s", text)
	}
	if err := json.Unmarshal([]byte(`{"size":3,"index":[1],"value":[]}`), NewVector[int](3)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a vector's lists of different lengths: %v", err)
	}
}
