package jsontext

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

type (
	celsius float32
	name    string
	flag    bool
	small   uint8
	shout   string // writes and reads itself as a text
	pair    struct{ a, b int }
)

func (s shout) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(s))), nil }

func (s *shout) UnmarshalText(text []byte) error {
	*s = shout(strings.ToLower(string(text)))
	return nil
}

func (p pair) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{p.a, p.b}) }

func (p *pair) UnmarshalJSON(data []byte) error {
	var list [2]int
	err := json.Unmarshal(data, &list)
	p.a, p.b = list[0], list[1]
	return err
}

// compare writes a list as json.Marshal does, and reads it back as json.Unmarshal does.
func compare[T any](t *testing.T, list ...T) {
	t.Helper()
	want, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Values(nil, list)
	if err != nil || string(got) != string(want) {
		t.Errorf("%T: %s, %v; want %s", list, got, err, want)
	}
	var back, expected []T
	if err := ReadValues(want, &back); err != nil {
		t.Errorf("%T: %v", list, err)
	}
	if err := json.Unmarshal(want, &expected); err != nil || !reflect.DeepEqual(back, expected) {
		t.Errorf("%T: read %v, want %v, %v", list, back, expected, err)
	}
}

func TestAsEncodingJSON(t *testing.T) {
	t.Parallel()
	compare(t, []int{}...)
	compare(t, 0, -1, math.MaxInt64, math.MinInt64)
	compare[int8](t, 127, -128)
	compare[uint64](t, 0, math.MaxUint64)
	compare[uintptr](t, 7)
	compare(t, true, false)
	compare[flag](t, true)
	compare(t, 0, math.Copysign(0, -1), 1.5, 1e-6, 9.99e-7, 1e-9, 1e20, 1e21, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 1./3)
	compare[float32](t, 0, 1e-6, 9.99e-7, 1e-9, 1e21, 1e20, math.MaxFloat32, 1./3)
	compare[celsius](t, -273.15)
	compare(t, "", "plain", "\"\\/\b\f\n\r\t\x00\x1f", "<a&b>", "\u2028\u2029", "ü漢😀", "bad \xff\xc3 utf-8", "\x7f", "\ufffd")
	compare[name](t, "Ada")
	compare[shout](t, "hear")
	compare(t, pair{1, -2}, pair{})
	compare(t, [2]int{1, 2}, [2]int{})
	compare(t, [3]small{1, 2, 3})
	compare(t, [1][2]string{{"a", "b"}})
	one, ada := 1, name("Ada")
	compare(t, &one, nil)
	compare(t, &ada)
	compare(t, &pair{3, 4}, nil)
	compare(t, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
	compare(t, big.NewInt(7), nil)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		if x := math.Float64frombits(random.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			compare(t, x)
		}
		if x := math.Float32frombits(random.Uint32()); x == x && !math.IsInf(float64(x), 0) {
			compare(t, x)
		}
	}
}

// What encoding/json reads in other forms is read alike, and what it refuses is an error.
func TestReadForms(t *testing.T) {
	t.Parallel()
	form := func(text string, got, want any) {
		t.Helper()
		err, wanted := ReadValues([]byte(text), got), json.Unmarshal([]byte(text), want)
		if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s as %T: %v, %v; want %v, %v", text, got, reflect.ValueOf(got).Elem(), err, reflect.ValueOf(want).Elem(), wanted)
		}
	}
	for _, text := range []string{`[1e2]`, `[1.0]`, `["1"]`, `[true]`, `[128]`, `[-129]`, `[[1]]`, `{}`, `"x"`, `[-0]`} {
		form(text, new([]int8), new([]int8))
		form(text, new([]uint16), new([]uint16))
		form(text, new([]float32), new([]float32))
		form(text, new([]bool), new([]bool))
		form(text, new([]string), new([]string))
	}
	form(`[1e39]`, new([]float32), new([]float32))
	form(`["\u0041\ud83d\ude00\ud83d\ud83dx\/"]`, new([]string), new([]string))
	form(` [ [ 1 , 2 , 3 ] , [ ] , [null,4] ] `, new([][2]int), new([][2]int))
	form(`["B/8="]`, new([]string), new([]string))
	form(`"B/8="`, new([]small), new([]small))
	form(`"B/8"`, new([]uint8), new([]uint8))
	form(`[null]`, new([]*int), new([]*int))
	form(`[3]`, new([]shout), new([]shout))
	if err := ReadValues([]byte("[1, null]"), new([]int)); err == nil || !strings.Contains(err.Error(), "item 1 of a list is null") {
		t.Error(err)
	}
}

// A type that needs encoding/json is an error that names the package to import.
func TestWithoutOther(t *testing.T) {
	t.Parallel()
	type plain struct{ A int }
	_, err := Values(nil, []plain{{1}})
	for _, err := range []error{err, ReadValues([]byte(`[{"A":1}]`), new([]plain)), ReadValues([]byte(`[1]`), new([]any)), ReadValues([]byte(`[1]`), new([]json.Number))} {
		if err == nil || !strings.Contains(err.Error(), `import _ "github.com/hiveblas/hiveblas/matrix/jsonvalues"`) {
			t.Error(err)
		}
	}
	if text, err := Values(nil, []float64{math.NaN()}); err == nil {
		t.Errorf("NaN became %s", text)
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	got, err := Object([]byte(` {"B" : [1, {"x":"}"}], "c":null,"a":1,"other":{"a":[]},"A":2 } `), "a", "b", "c", "d")
	if err != nil || string(got[0]) != "2" || string(got[1]) != `[1, {"x":"}"}]` || got[2] != nil || got[3] != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "[]", "{", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a":1}x`, `{1:2}`, `{"a":01}`, `{"a":[1,]}`, `{"a":"\x"}`, "{\"a\":\"\n\"}", `{"a":1.}`, `{"a":tru}`, `{"a":"\u12g4"}`,
		`{"a":` + strings.Repeat("[", 20000)} {
		if got, err := Object([]byte(bad), "a"); err == nil {
			t.Errorf("%.30q: %q", bad, got)
		}
	}
}

// FuzzValue: a text is one value exactly if it is valid JSON.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,"\u00e9\n",null,true,{}],"b":[]}`, `[[]`, `"\`, "1 2", "-", `{"a":1,"a"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader{data: data}
		_, err := r.value()
		if got, want := err == nil && r.end(), json.Valid(data); got != want {
			t.Errorf("%q: %v, want %v; %v", data, got, want, err)
		}
		var got, want []string
		if json.Unmarshal(data, &want) == nil && !strings.Contains(string(data), "null") {
			if err := ReadValues(data, &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %q, %v, want %q", data, got, err, want)
			}
		}
	})
}
