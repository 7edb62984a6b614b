package matrix_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

func TestJSON(t *testing.T) {
	a := sure.Get(matrix.FromTuples(3, 4, []int{2, 0, 0}, []int{1, 3, 0}, []float64{-1.5, 2, 4}, nil))
	const want = `{"rows":3,"cols":4,"row":[0,0,2],"col":[0,3,1],"value":[4,2,-1.5]}`
	for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap} {
		sure.Do(a.SetFormat(f))
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%v: %s, %v; want %s", f, got, err, want)
		}
	}
	var back matrix.Matrix[float64]
	if err := json.Unmarshal([]byte(want), &back); err != nil || !back.Equal(a) {
		t.Errorf("read back: %v, %v", back.Text(), err)
	}
	v, err := matrix.VectorFromTuples(5, []int{4, 1}, []int64{1<<62 + 1, 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil || string(text) != `{"size":5,"index":[1,4],"value":[7,4611686018427387905]}` {
		t.Errorf("vector: %s, %v", text, err)
	}
	var w matrix.Vector[int64]
	if err := json.Unmarshal(text, &w); err != nil || !w.Equal(v) {
		t.Errorf("read back: %v, %v", w.Text(), err)
	}
}

// byteKind is a named type of bytes, byteText one that writes itself as text.
type (
	byteKind uint8
	byteText uint8
)

func (b byteText) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "b%d", b), nil }

func TestJSONBytes(t *testing.T) {
	jsonOfBytes[uint8](t, "[7,255]")
	jsonOfBytes[byteKind](t, "[7,255]")
	jsonOfBytes[byteText](t, `["b7","b255"]`)
	var a matrix.Matrix[uint8]
	if err := json.Unmarshal([]byte(`{"rows":2,"cols":2,"row":[0,1],"col":[1,0],"value":"B/8="}`), &a); err != nil {
		t.Errorf("base64 of earlier versions: %v", err)
	} else if x, _ := a.At(1, 0); x != 255 {
		t.Errorf("base64 of earlier versions: %v", a.Text())
	}
}

func jsonOfBytes[T ~uint8](t *testing.T, list string) {
	t.Helper()
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []T{7, 255}, nil))
	v, err := matrix.VectorFromTuples(3, []int{0, 2}, []T{7, 255}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ofMatrix, err := json.Marshal(a)
	if want := `{"rows":2,"cols":2,"row":[0,1],"col":[1,0],"value":` + list + "}"; err != nil || string(ofMatrix) != want {
		t.Errorf("%T: %s, %v; want %s", a, ofMatrix, err, want)
	}
	ofVector, err := json.Marshal(v)
	if want := `{"size":3,"index":[0,2],"value":` + list + "}"; err != nil || string(ofVector) != want {
		t.Errorf("%T: %s, %v; want %s", v, ofVector, err, want)
	}
	if list[1] == '"' {
		return // byteText does not read
	}
	var b matrix.Matrix[T]
	if err := json.Unmarshal(ofMatrix, &b); err != nil || !b.Equal(a) {
		t.Errorf("read back: %v, %v", b.Text(), err)
	}
	var w matrix.Vector[T]
	if err := json.Unmarshal(ofVector, &w); err != nil || !w.Equal(v) {
		t.Errorf("read back: %v, %v", w.Text(), err)
	}
}

// null stands for a value of a type that reads it, and of no other.
type nullable struct{ missing bool }

func (n *nullable) UnmarshalJSON(data []byte) error {
	n.missing = string(data) == "null"
	return nil
}

func TestJSONNull(t *testing.T) {
	a, v := matrix.New[float64](1, 1), matrix.NewVector[float64](1)
	for _, c := range []struct {
		into any
		text string
		want string
	}{
		{a, `{"rows":2,"cols":2,"row":[0],"col":[null],"value":[1]}`, "item 0 of a list is null"},
		{a, `{"rows":2,"cols":2,"row":[0, null],"col":[0,0],"value":[1,2]}`, "item 1 of a list is null"},
		{a, `{"rows":2,"cols":2,"row":[0,1],"col":[0,0],"value":[1 , null]}`, "item 1 of a list is null"},
		{v, `{"size":2,"index":[null],"value":[1]}`, "item 0 of a list is null"},
		{v, `{"size":2,"index":[0],"value":[null]}`, "item 0 of a list is null"},
		{matrix.New[[2]int](1, 1), `{"rows":2,"cols":2,"row":[0],"col":[0],"value":[[1,2]]}`, ""},
		{matrix.New[string](1, 1), `{"rows":2,"cols":2,"row":[0,1],"col":[0,0],"value":["null, \" n","]null["]}`, ""},
		{matrix.New[string](1, 1), `{"rows":2,"cols":2,"row":[0,1],"col":[0,0],"value":["\\",null]}`, "item 1 of a list is null"},
		{matrix.New[*int](1, 1), `{"rows":2,"cols":2,"row":[0],"col":[0],"value":[null]}`, ""},
		{matrix.New[nullable](1, 1), `{"rows":2,"cols":2,"row":[0],"col":[0],"value":[null]}`, ""},
	} {
		err := json.Unmarshal([]byte(c.text), c.into)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestJSONMissingKeys(t *testing.T) {
	a, v := matrix.New[float64](1, 1), matrix.NewVector[float64](1)
	sure.Do(a.Set(0, 0, 5), v.Set(0, 5))
	for _, c := range []struct {
		into any
		text string
		want []string // nil: no error
	}{
		{a, `{}`, []string{"Matrix.UnmarshalJSON", `"rows"`, `"cols"`, `"row"`, `"col"`, `"value"`}},
		{a, `{"rows":1}`, []string{`"cols"`, `"row"`, `"col"`, `"value"`}},
		{a, `{"rows":1,"cols":1,"row":[],"col":[]}`, []string{`lacks "value";`}},
		{a, `{"rows":1,"cols":1,"row":[],"col":[],"value":null}`, []string{`lacks "value";`}},
		{a, `{"size":1,"index":[],"value":[]}`, []string{`"rows"`, `"cols"`}},
		{a, `null`, nil},
		{v, `{}`, []string{"Vector.UnmarshalJSON", `"size"`, `"index"`, `"value"`}},
		{v, `{"size":1,"value":[]}`, []string{`lacks "index";`}},
		{v, `null`, nil},
	} {
		err := json.Unmarshal([]byte(c.text), c.into)
		if c.want == nil && err != nil || c.want != nil && !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%T of %s: %v", c.into, c.text, err)
		}
		for _, part := range c.want {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%T of %s: %v; want %s in it", c.into, c.text, err, part)
			}
		}
		x, _ := a.At(0, 0)
		if y, _ := v.At(0); x != 5 || y != 5 {
			t.Fatalf("%T of %s: changed to %v and %v", c.into, c.text, x, y)
		}
	}
	empty := matrix.New[float64](1, 1)
	if err := empty.UnmarshalJSON([]byte("null")); err != nil {
		t.Error(err)
	} else if m, n := empty.Dims(); m != 1 || n != 1 {
		t.Errorf("null made a %d×%d matrix", m, n)
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		want         error
	}{
		{"lists of different lengths", `{"rows":2,"cols":2,"row":[0],"col":[],"value":[1]}`, matrix.ErrInvalid},
		{"a row outside", `{"rows":2,"cols":2,"row":[2],"col":[0],"value":[1]}`, matrix.ErrIndex},
		{"a position twice", `{"rows":2,"cols":2,"row":[1,1],"col":[0,0],"value":[1,2]}`, matrix.ErrDuplicate},
		{"impossible dimensions", `{"rows":-2,"cols":2,"row":[],"col":[],"value":[]}`, matrix.ErrSize},
	} {
		a := matrix.New[float64](1, 1)
		sure.Do(a.Set(0, 0, 5))
		err := json.Unmarshal([]byte(c.text), a)
		if x, ok := a.At(0, 0); !errors.Is(err, c.want) || !ok || x != 5 {
			t.Errorf("%s: error %v, matrix %v", c.reason, err, a.Text())
		}
	}
	bad := matrix.New[float64](1, 1)
	sure.Do(bad.Set(0, 0, math.NaN()))
	if text, err := json.Marshal(bad); err == nil {
		t.Errorf("NaN became %s", text)
	}
	var typed *matrix.JSONError
	if _, err := bad.MarshalJSON(); !errors.As(err, &typed) || !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("NaN: %v, want a *JSONError", err)
	}
	type plain struct{ A int }
	structs := sure.Get(matrix.FromTuples(1, 1, []int{0}, []int{0}, []plain{{1}}, nil))
	if _, err := structs.MarshalJSON(); !errors.As(err, &typed) || !strings.Contains(err.Error(), "matrix/jsonvalues") {
		t.Errorf("structs without encoding/json: %v", err)
	}
	if text, err := json.Marshal(matrix.New[float64](-1, 1)); err == nil {
		t.Errorf("an invalid matrix became %s", text)
	}
	if err := json.Unmarshal([]byte(`{"size":3,"index":[1],"value":[]}`), matrix.NewVector[int](3)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a vector's lists of different lengths: %v", err)
	}
}
