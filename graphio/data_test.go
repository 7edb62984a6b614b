package graphio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// sharedData returns the directory of real graphs beside the checkout, and skips the test without
// it.
func sharedData(t *testing.T) string {
	dir := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/data does not exist beside the checkout")
	}
	return dir
}

// TestOwnData reads the files of testdata. The counts are from the papers cited in their headers.
func TestOwnData(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, m    int
		degrees map[int]int // degrees of some vertices, numbered from 1
		shared  string
	}{
		{"karate", 34, 78, map[int]int{1: 16, 34: 17, 33: 12, 12: 1}, "lagraph/karate.mtx"},
		{"chesapeake", 39, 170, map[int]int{39: 33}, "graphs/chesapeake.mtx"},
	} {
		a, err := ReadMatrixMarketFile[bool](filepath.Join("..", "testdata", c.name+".mtx"))
		if err != nil {
			t.Fatal(err)
		}
		if m, n := a.Dims(); m != c.n || n != c.n || a.NVals() != int64(2*c.m) {
			t.Errorf("%s: %v, want %d vertices and %d edges twice", c.name, a, c.n, c.m)
		}
		for v, want := range c.degrees {
			got := 0
			for range a.Row(v - 1) {
				got++
			}
			if got != want {
				t.Errorf("%s: vertex %d has degree %d, want %d", c.name, v, got, want)
			}
		}
		t.Run(c.name+" as published", func(t *testing.T) {
			b, err := ReadMatrixMarketFile[bool](filepath.Join(sharedData(t), c.shared))
			if err != nil || !a.Equal(b) {
				t.Errorf("differs from %s: %v", c.shared, err)
			}
		})
	}
}

// TestSharedData reads every Matrix Market file of the shared data and compares shapes and counts
// with its README, where m is the number of entries listed in the file.
func TestSharedData(t *testing.T) {
	dir := sharedData(t)
	type counts struct {
		rows, cols int
		listed     int64
	}
	square := func(n int, m int64) counts { return counts{n, n, m} }
	want := map[string]counts{
		"gnn/citeseer.features.mtx.gz": {3327, 3703, 105165}, "gnn/citeseer.mtx.gz": square(3327, 4676),
		"gnn/cora.cites.mtx.gz": square(2708, 5429), "gnn/cora.features.mtx.gz": {2708, 1433, 49216},
		"graphs/adjnoun.mtx.gz": square(112, 425), "graphs/ak2010.mtx.gz": square(45292, 108549),
		"graphs/as-22july06.mtx.gz": square(22963, 48436), "graphs/bips98_606.mtx.gz": square(7135, 34738),
		"graphs/ca-AstroPh.mtx.gz": square(18772, 198110), "graphs/ca-GrQc.mtx.gz": square(5242, 14496),
		"graphs/ca-HepTh.mtx.gz": square(9877, 25998), "graphs/celegansneural.mtx.gz": square(297, 2345),
		"graphs/chesapeake.mtx": square(39, 170), "graphs/cities.mtx.gz": square(1185, 131243),
		"graphs/dolphins.mtx.gz": square(62, 159), "graphs/email-Enron.mtx.gz": square(36692, 183831),
		"graphs/email-Eu-core.mtx.gz": square(1005, 25571), "graphs/facebook_combined.mtx.gz": square(4039, 88234),
		"graphs/football.mtx.gz": square(115, 613), "graphs/lesmis.mtx.gz": square(77, 254),
		"graphs/netscience.mtx.gz": square(1589, 2742), "graphs/p2p-Gnutella04.mtx.gz": square(10876, 39994),
		"graphs/p2p-Gnutella08.mtx.gz": square(6301, 20777), "graphs/p2p-Gnutella25.mtx.gz": square(22687, 54705),
		"graphs/p2p-Gnutella30.mtx.gz": square(36682, 88328), "graphs/p2p-Gnutella31.mtx.gz": square(62586, 147892),
		"graphs/polblogs.mtx.gz": square(1490, 19015), "graphs/polbooks.mtx.gz": square(105, 441),
		"graphs/soc-Slashdot0902.mtx.gz": square(82168, 948464), "graphs/us_powergrid.mtx.gz": square(4941, 6594),
		"graphs/wiki-Vote.mtx.gz": square(7115, 103689), "lagraph/A.mtx": square(7, 15), "lagraph/LFAT5.mtx": square(14, 30),
		"lagraph/bcsstk13.mtx.gz": square(2003, 42943), "lagraph/cover.mtx": square(7, 12), "lagraph/cryg2500.mtx.gz": square(2500, 12349),
		"lagraph/empty.mtx": {3, 4, 0}, "lagraph/full_symmetric.mtx": square(4, 10), "lagraph/jagmesh7.mtx": square(1138, 4294),
		"lagraph/karate.mtx": square(34, 78), "lagraph/ldbc-cdlp-directed-example.mtx": square(8, 18),
		"lagraph/ldbc-cdlp-undirected-example.mtx": square(8, 12), "lagraph/ldbc-directed-example.mtx": square(10, 17),
		"lagraph/ldbc-undirected-example.mtx": square(9, 12), "lagraph/ldbc-wcc-example.mtx": square(10, 15),
		"lagraph/lp_afiro.mtx": {27, 51, 102}, "lagraph/msf1.mtx": square(6, 8), "lagraph/msf2.mtx": square(8, 12),
		"lagraph/msf3.mtx": square(5, 7), "lagraph/olm1000.mtx.gz": square(1000, 3996), "lagraph/pushpull.mtx.gz": square(4000, 99208),
		"lagraph/sample.mtx": square(8, 12), "lagraph/skew_fp64.mtx": square(6, 10), "lagraph/structure.mtx": square(7, 12),
		"lagraph/test_BF.mtx": square(7, 12), "lagraph/test_FW_1000.mtx": square(1000, 3996), "lagraph/tree-example.mtx": square(6, 5),
		"lagraph/west0067.mtx": square(67, 294), "lagraph/zenios.mtx.gz": square(2873, 15032),
		"movielens/ml-100k.mtx.gz": {943, 1682, 100000},
		"sfl/Wei_test2.mtx":        square(17, 130), "sfl/std_added.mtx": square(237, 1284), "sfl/wei_problem_10_22.mtx": square(228, 1214),
	}
	found := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(d.Name(), ".mtx") {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		var info Info
		a, err := ReadMatrixMarketFile[float64](path, WithInfo(&info), AllowNaN()) // skew_fp64 has infinities
		if name == "lagraph/complex.mtx" {
			if !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), "complex") {
				t.Errorf("%s: got %v, want an error for complex values", name, err)
			}
			return nil
		}
		if err != nil {
			t.Error(err)
			return nil
		}
		valid(t, a)
		c, ok := want[name]
		if !ok {
			t.Logf("%s: missing in the table: %v", name, info)
			return nil
		}
		found++
		if info.Rows != c.rows || info.Cols != c.cols || info.Entries != c.listed {
			t.Errorf("%s: %v, want %+v", name, info, c)
		}
		entries := c.listed
		if info.Symmetry != "general" {
			var diagonal int64
			if dg, err := matrix.Diagonal(a, 0); err == nil {
				diagonal = dg.NVals()
			}
			entries = 2*c.listed - diagonal
			if info.Symmetry != "skew-symmetric" && !a.IsSymmetric() {
				t.Errorf("%s: not symmetric", name)
			}
		}
		if a.NVals() != entries {
			t.Errorf("%s: %d entries, want %d", name, a.NVals(), entries)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(want) {
		t.Errorf("found %d files, want %d", found, len(want))
	}
}

// TestSharedLists reads the edge list and the value list of the shared data.
func TestSharedLists(t *testing.T) {
	dir := sharedData(t)
	ratings, users, items, err := func() (*matrix.Matrix[int], *Labels, *Labels, error) {
		f, err := os.Open(filepath.Join(dir, "movielens", "u.data.gz"))
		if err != nil {
			return nil, nil, nil, err
		}
		defer f.Close()
		return ReadBipartite[int](f, WeightColumn(3), RenumberIDs())
	}()
	if err != nil || users.Len() != 943 || items.Len() != 1682 || ratings.NVals() != 100000 {
		t.Fatalf("MovieLens: %v, %v", ratings, err)
	}
	if same, err := ReadMatrixMarketFile[int](filepath.Join(dir, "movielens", "ml-100k.mtx.gz")); err != nil || !ratings.Equal(same) {
		t.Errorf("the list and the matrix of MovieLens differ: %v", err)
	}
	weights, err := func() (*matrix.Vector[float64], error) {
		f, err := os.Open(filepath.Join(dir, "sfl", "n"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return ReadVectorTSV[float64](f)
	}()
	if err != nil || weights.Size() != 100 || weights.NVals() != 100 {
		t.Errorf("vertex weights: %v, %v", weights, err)
	}
}
