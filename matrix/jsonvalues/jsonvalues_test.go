package jsonvalues_test

import (
	"encoding/json"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	_ "github.com/hiveblas/hiveblas/matrix/jsonvalues"
)

type edge struct {
	Weight float64 `json:"w"`
	Kind   string  `json:",omitempty"`
	note   int     // not written
}

// Elements without methods of their own are written and read as encoding/json does.
func TestStructs(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []edge{{Weight: 1.5, Kind: "road", note: 3}, {}}, nil))
	const want = `{"rows":2,"cols":2,"row":[0,1],"col":[1,0],"value":[{"w":1.5,"Kind":"road"},{"w":0}]}`
	text, err := json.Marshal(a)
	if err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	var back matrix.Matrix[edge]
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if x, ok := back.At(0, 1); !ok || x != (edge{Weight: 1.5, Kind: "road"}) {
		t.Errorf("read back %+v", x)
	}
	numbers := sure.Get(matrix.VectorFromTuples(3, []int{0, 2}, []json.Number{"1", "2.50"}, nil))
	text, err = json.Marshal(numbers)
	if want := `{"size":3,"index":[0,2],"value":[1,2.50]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	any1 := sure.Get(matrix.VectorFromTuples(2, []int{0, 1}, []any{"x", nil}, nil))
	text, err = json.Marshal(any1)
	var read matrix.Vector[any]
	if want := `{"size":2,"index":[0,1],"value":["x",null]}`; err != nil || string(text) != want || json.Unmarshal(text, &read) != nil || read.NVals() != 2 {
		t.Errorf("%s, %v; want %s, and %d entries read back", text, err, want, read.NVals())
	}
}
