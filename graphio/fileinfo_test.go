package graphio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// The first bytes of a file tell what ReadFile reads from it, and no type of elements.
func TestReadFileInfo(t *testing.T) {
	dir := t.TempDir()
	a := mustTuples(t, 3, 3, []int{0, 1, 1, 2}, []int{1, 0, 2, 1}, []float32{1, 1, 2.5, 2.5})
	for _, c := range []struct{ name, text, want string }{
		{"a.mtx", "", "mtx 3×3 real general 4 entries listed"},
		{"a.mtx.gz", "", "mtx 3×3 real general 4 entries listed"},
		{"a.hgb", "", "hgb 3×3 real float32 general 4 entries listed"},
		{"a.hgb.gz", "", "hgb 3×3 real float32 general 4 entries listed"},
		{"a.npz", "", "npz 3×3 real float32 general 4 entries listed"},
		{"a.npy", "", "npy 3×3 real float32"},
		{"a.tsv", "", "edges real general"},
		{"a.gml", "", "gml"},
		{"a.graphml", "", "graphml"},
		{"b.csv", "a,b,3\nb,c,4\n", "csv integer general"},
		{"c.txt", "# c\n1 2\n", "edges pattern general"},
		{"d.csv", "source,target,x,weight\n1,2,3,4.5\n", "csv real general"},
		{"e.txt", "", "edges general"},
		{"f.graph", "% c\n3 2 1\n", "metis 3×3 symmetric 4 entries listed"},
		{"g.graph", "3 2\n", "metis 3×3 pattern symmetric 4 entries listed"},
		{"h.gr", "p sp 4 7\n", "dimacs 4×4 general 7 entries listed"},
		{"i.col", "p edge 4 7\n", "dimacs 4×4 symmetric 7 entries listed"},
		{"j.gexf", "<gexf/>", "gexf"},
		{"k.mtx", banner + "array integer symmetric\n3 3\n", "mtx 3×3 integer symmetric 6 entries listed"},
	} {
		path := filepath.Join(dir, c.name)
		var err error
		if c.text == "" && c.name[0] == 'a' {
			err = WriteFile(path, a)
		} else {
			err = os.WriteFile(path, []byte(c.text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := ReadFileInfo(path)
		want := c.want
		if c.name == "a.tsv" {
			want = "tsv real general"
		}
		if err != nil || info.String() != want {
			t.Errorf("%s: %s, %v; want %s", c.name, info, err, want)
		}
	}
	v, _ := matrix.VectorOf([]uint8{1, 2})
	for name, want := range map[string]string{"v.hgb": "hgb 1×2 vector integer uint8 general 2 entries listed", "v.npy": "npy 1×2 vector integer uint8"} {
		path := filepath.Join(dir, name)
		if err := WriteVectorFile(path, v); err != nil {
			t.Fatal(err)
		}
		if info, err := ReadFileInfo(path); err != nil || info.String() != want {
			t.Errorf("%s: %s, %v; want %s", name, info, err, want)
		}
	}
	for name, text := range map[string]string{"x.mtx": "%%MatrixMarket vector\n", "x.hgb": hgb.Magic + "cut", "x.npy": "\x93NUMPY", "x.npz": "PK\x03\x04", "x.graph": "", "x.unknown": "x", "x.csv": "a\n"} {
		path := filepath.Join(dir, name)
		sure.Do(os.WriteFile(path, []byte(text), 0o600))
		if info, err := ReadFileInfo(path); !errors.Is(err, ErrParse) {
			t.Errorf("%s: %s, %v", name, info, err)
		}
	}
}
