package train

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// citations returns a citation graph of ../shared/data/gnn, undirected, with the features of each
// paper divided by their number, and classes.
func citations(t testing.TB, name string) (*matrix.Matrix[float64], *matrix.Matrix[float32], []int32) {
	t.Helper()
	file := map[string]string{"cora": "gnn/cora.cites.mtx.gz", "citeseer": "gnn/citeseer.mtx.gz"}[name]
	cites, words := samples.Shared(t, file), samples.Shared(t, "gnn/"+name+".features.mtx.gz")
	n, d := words.Dims()
	g := matrix.New[float64](n, n)
	if err := ops.EWiseAdd(g, semiring.Max[float64](), cites, cites.T()); err != nil {
		t.Fatal(err)
	}
	b := matrix.NewBuilder[float32](n, d)
	for i, r := range words.Rows() {
		for _, j := range r.Cols {
			b.Add(i, int(j), 1/float32(len(r.Cols)))
		}
	}
	x := sure.Get(b.Build(nil))
	text := sure.Get(os.ReadFile(filepath.Join(samples.Folder(), "gnn", name+".labels.tsv")))
	classes, names := slices.Repeat([]int32{-1}, n), map[string]int32{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0][0] == '#' || f[len(f)-1] == "-1" {
			continue
		}
		var v int
		fmt.Sscan(f[0], &v)
		class := f[len(f)-1]
		if _, ok := names[class]; !ok {
			names[class] = int32(len(names))
		}
		classes[v-1] = names[class]
	}
	return g, x, classes
}

// citationSplit draws 20 vertices of each class, 500 for validation and 1000 for the test.
func citationSplit(classes []int32, seed uint64) (s SAGESplit) {
	count := map[int32]int{}
	for _, v := range rand.New(rand.NewPCG(seed, 17)).Perm(len(classes)) {
		switch c := classes[v]; {
		case c < 0:
		case count[c] < 20:
			count[c]++
			s.Train = append(s.Train, v)
		case len(s.Validate) < 500:
			s.Validate = append(s.Validate, v)
		case len(s.Test) < 1000:
			s.Test = append(s.Test, v)
		}
	}
	return s
}

// citationOptions are the settings of the accuracies in docs/sage.md. TestSAGEGrid found them for
// Citeseer by the validation accuracy, the mean of ten seeds: 0.718 against 0.708 for 32 columns, a
// rate of 0.01 and a decay of 0.005. Test vertices played no part.
func citationOptions(seed uint64) SAGETrainOptions {
	return SAGETrainOptions{Hidden: []int{64, 64}, Seed: seed, Rate: .03, Dropout: .8, Decay: .01, Epochs: 500}
}

// A search of settings, with HIVEBLAS_SAGE_GRID=cora,citeseer: it prints the
// validation accuracy, the mean of ten seeds, of widths, rates, dropouts and decays. Test vertices
// play no part.
func TestSAGEGrid(t *testing.T) {
	if os.Getenv("HIVEBLAS_SAGE_GRID") == "" {
		t.Skip("a search takes minutes; HIVEBLAS_SAGE_GRID=cora,citeseer runs it")
	}
	for name := range strings.SplitSeq(os.Getenv("HIVEBLAS_SAGE_GRID"), ",") {
		g, x, classes := citations(t, name)
		if os.Getenv("HIVEBLAS_TEST_GPU") != "" {
			g.IsSymmetric()
			sure.Do(g.Move(samples.RealOrEmulated(t).Device))
		}
		for k := range 2 * 2 * 2 * 3 {
			o := SAGETrainOptions{Epochs: 500, Patience: 100}
			width := []int{32, 64}[k%2]
			o.Hidden = []int{width, width}
			o.Rate, o.Dropout, o.Decay = []float64{.01, .03}[k/2%2], []float64{.7, .8}[k/4%2], []float64{5e-3, 1e-3, 1e-2}[k/8]
			sum := 0.0
			for seed := range uint64(10) {
				split := citationSplit(classes, seed)
				split.Test = nil
				o.Seed = seed
				res, err := TrainGraphSAGE(g, x, classes, split, o)
				if err != nil {
					t.Fatal(err)
				}
				sum += res.Validate / 10
			}
			if !(sum > .5) {
				t.Errorf("%s: a validation accuracy of %v", name, sum)
			}
			fmt.Printf("%s %d rate %v dropout %v decay %v: %.4f\n", name, width, o.Rate, o.Dropout, o.Decay, sum)
		}
	}
}

// The accuracy on citation graphs; ten seeds with HIVEBLAS_SAGE_SEEDS=10.
func TestTrainGraphSAGECitations(t *testing.T) {
	longtest.Skip(t, "training takes seconds")
	samples.Big(t)
	seeds := 1
	fmt.Sscan(os.Getenv("HIVEBLAS_SAGE_SEEDS"), &seeds)
	for name, bar := range map[string]float64{"cora": .79, "citeseer": .67} {
		g, x, classes := citations(t, name)
		var list []float64
		sum := 0.0
		for seed := range uint64(seeds) {
			res, err := TrainGraphSAGE(g, x, classes, citationSplit(classes, seed), citationOptions(seed))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, seed %d: epoch %d of %d, loss %.3f, validation %.4f, test %.4f", name, seed, res.Best, res.Epochs, res.Loss, res.Validate, res.Test)
			list, sum = append(list, res.Test), sum+res.Test
		}
		if seeds < 10 { // one seed is up to .04 below the mean of ten
			bar -= .04
		}
		if mean := sum / float64(seeds); mean < bar {
			t.Errorf("%s: accuracy %.4f, want %v; seeds %v", name, mean, bar, list)
		}
	}
}
