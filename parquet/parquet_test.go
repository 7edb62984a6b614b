package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	pq "github.com/parquet-go/parquet-go"
)

type trip struct {
	From    string  `parquet:"from"`
	To      string  `parquet:"to,dict"`
	Minutes float64 `parquet:"minutes"`
	Note    string  `parquet:"note,optional"`
}

type pair struct {
	A int64  `parquet:"a"`
	B int32  `parquet:"b"`
	W *int64 `parquet:"weight,optional"`
}

// file returns a Parquet file with row groups of the given size.
func file[R any](t testing.TB, group int64, rows []R) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[R](&b, pq.MaxRowsPerRowGroup(group), pq.Compression(&pq.Zstd))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

func TestReadNames(t *testing.T) {
	t.Parallel()
	r := file(t, 2, []trip{{"ann", "bob \"x\"", 2, ""}, {"bob \"x\"", "c\td", .5, "n"}, {"c\td", "ann", 1e300, ""}})
	for _, threads := range []int{0, 1, 5} {
		g, err := Read[float64](r, r.Size(), Options{Weight: "minutes", Threads: threads}, graphio.RenumberIDs())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for c, x := range g.Matrix.All() {
			got = append(got, fmt.Sprint(g.Rows.Name(c.Row), "|", g.Cols.Name(c.Col), "|", x))
		}
		if want := `ann|bob "x"|2, bob "x"|c` + "\t" + `d|0.5, c` + "\t" + `d|ann|1e+300`; strings.Join(got, ", ") != want {
			t.Errorf("threads %d: got %q, want %q", threads, got, want)
		}
	}
}

// TestReadManyGroups compares with the rows, which are in memory.
func TestReadManyGroups(t *testing.T) {
	t.Parallel()
	var rows []pair
	b := matrix.NewBuilder[int64](1000, 1000)
	for k := range 5000 {
		w := int64(k * k)
		p := pair{int64(k % 1000), int32(k * 7 / 5 % 1000), &w}
		rows = append(rows, p)
		b.Add(int(p.A), int(p.B), w)
	}
	last := matrix.CombineFunc[int64](func(_, y int64) int64 { return y })
	want, err := b.Build(last)
	if err != nil {
		t.Fatal(err)
	}
	r := file(t, 333, rows)
	g, err := Read[int64](r, r.Size(), Options{}, graphio.Duplicates(last), graphio.Dims(1000, 1000))
	if err != nil || !g.Matrix.Equal(want) {
		t.Fatalf("got %v, %v", g, err)
	}
	structure, err := Read[bool](r, r.Size(), Options{NoWeight: true}, graphio.Duplicates(matrix.CombineFunc[bool](func(x, _ bool) bool { return x })), graphio.Dims(1000, 1000))
	if err != nil || structure.Matrix.NVals() != want.NVals() {
		t.Errorf("structure: %v, %v", structure, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	one := int64(1)
	null := file(t, 1, []pair{{0, 1, &one}, {1, 2, nil}})
	if _, err := Read[int64](null, null.Size(), Options{}); err == nil || !strings.Contains(err.Error(), "row 2, column weight: the value is null") {
		t.Errorf("a null: %v", err)
	}
	trips := file(t, 9, []trip{{"ann", "bob", 2, ""}, {"ann", "bob", 3, ""}})
	for reason, o := range map[string]Options{"an unknown name": {Source: "nobody"}, "two roles": {Source: "to"}} {
		if _, err := Read[float64](trips, trips.Size(), o); !errors.Is(err, ErrColumn) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	var parse *graphio.ParseError
	if _, err := Read[float64](trips, trips.Size(), Options{}); !errors.As(err, &parse) || parse.Line != 1 {
		t.Errorf("names without RenumberIDs: %v", err)
	}
	if _, err := Read[float64](trips, trips.Size(), Options{}, graphio.RenumberIDs()); !errors.As(err, &parse) || parse.Kind != graphio.RemedyDuplicates {
		t.Errorf("a repeated edge: %v", err)
	}
	if _, err := Read[float64](trips, trips.Size(), Options{Source: "minutes", Target: "to"}); err == nil || !strings.Contains(err.Error(), "row 1, column minutes") {
		t.Errorf("a vertex that is no integer: %v", err)
	}
	text := bytes.NewReader([]byte("PAR1 and no more"))
	if _, err := Read[int8](text, text.Size(), Options{}); err == nil {
		t.Error("no Parquet file is read")
	}
	if _, err := Read[int8](nil, 0, Options{}); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	one := int64(1)
	r := file(f, 1, []pair{{0, 1, &one}, {1, 2, &one}})
	data := make([]byte, r.Size())
	if _, err := r.ReadAt(data, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Open(bytes.NewReader(data), int64(len(data))); err != nil || p.NumRows() > 1<<12 {
			return // a few bytes can stand for very many rows
		}
		g, err := Read[int64](bytes.NewReader(data), int64(len(data)), Options{Threads: 1}, graphio.RenumberIDs())
		if err == nil && g.Matrix.Err() != nil {
			t.Fatal(g.Matrix.Err())
		}
	})
}
