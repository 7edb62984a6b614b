package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A sageTraining is what a training reports.
type sageTraining struct {
	*SAGETraining
	epochs []SAGEProgress
	method ops.Method
}

// trainOn trains on a graph and keeps what is reported.
func trainOn(g samples.GroupGraph, x *matrix.Matrix[float32], classes []int32, split SAGESplit, o SAGETrainOptions) (sageTraining, error) {
	var got sageTraining
	o.Each = func(p SAGEProgress) error { got.epochs = append(got.epochs, p); return nil }
	o.Trace = func(t ops.Trace) {
		if t.Op == "TrainGraphSAGE" {
			got.method = t.Method
		}
	}
	var err error
	got.SAGETraining, err = TrainGraphSAGE(g, x, classes, split, o)
	return got, err
}

// sameTraining compares a training with the training of one place, up to the order of sums.
// Products of GPUs round in other places if they have other shapes.
func sameTraining(t *testing.T, what string, got, want sageTraining) {
	t.Helper()
	figures, weights := 1e-5, 1e-3
	if os.Getenv("HIVEBLAS_TEST_GPU") != "" {
		figures, weights = 2e-4, 2e-3
	}
	same := func(x, y float64) bool {
		return math.Abs(x-y) <= figures*math.Abs(y) || math.IsNaN(x) && math.IsNaN(y)
	}
	if len(got.epochs) != len(want.epochs) || got.Best != want.Best {
		t.Fatalf("%s: %d epochs, best %d; want %d, best %d", what, len(got.epochs), got.Best, len(want.epochs), want.Best)
	}
	for k, p := range want.epochs {
		if q := got.epochs[k]; q.Epoch != p.Epoch || !same(q.Loss, p.Loss) || !same(q.Accuracy, p.Accuracy) || !same(q.Validate, p.Validate) {
			t.Fatalf("%s: epoch %+v, want %+v", what, q, p)
		}
	}
	if !same(got.Validate, want.Validate) || !same(got.Test, want.Test) {
		t.Errorf("%s: validation %v, test %v, want %v, %v", what, got.Validate, got.Test, want.Validate, want.Test)
	}
	for k, l := range want.Model.Layers {
		samples.SameRows(t, fmt.Sprint(what, ", weights ", k), got.Model.Layers[k].Self, samples.Rows64(l.Self), weights)
	}
}

// classesOver gives the vertices three classes, and some none.
func classesOver(n int) []int32 {
	list := make([]int32, n)
	for v := range list {
		list[v] = int32(v * 7 % 3)
	}
	list[n/2] = -1
	return list
}

// Training on a group gives the losses, accuracies and weights of one place but for rounding, for
// rows of layers and for shares of batches, with and without classes.
func TestTrainGraphSAGEByRanges(t *testing.T) {
	t.Parallel()
	const scale = 6
	one := samples.RangeGraph(t, scale, nil)
	n, _ := one.Dims()
	split := SAGESplit{Train: []int{1, 2, 2, 5, 40, 9, 13, 21, 60, 33, 63, 0}, Validate: []int{3, 4, 50, 22, 61}, Test: []int{7, 8, 41, 42}}
	some := SAGESplit{Train: []int{1, 5, 40, 9, 13, 21, 60, 63}}
	sampled := func(batch int, samples ...int) SAGETrainOptions {
		return SAGETrainOptions{Batch: batch, Samples: samples}
	}
	byWeight, walks, thin := sampled(5, 3, 4), sampled(0, 3, 3), sampled(2, 1, 2)
	byWeight.Sampling, byWeight.Replace = sage.SampleByWeight, true
	walks.Sampling = sage.SampleByWalks
	thin.Pairs, thin.Negatives = 1, 1
	for _, c := range []struct {
		reason     string
		a          sage.SAGEAggregator
		supervised bool
		share      float64 // of the features that are not 0
		o          SAGETrainOptions
		method     string
	}{
		{"all neighbours", sage.AggregateMean, true, 1, SAGETrainOptions{}, "layers"},
		{"batches, sparse features", sage.AggregateMean, true, .3, SAGETrainOptions{Batch: 5}, "layers"},
		{"pools", sage.AggregatePool, true, 1, SAGETrainOptions{}, "layers"},
		{"GCN, sparse features", sage.AggregateGCN, true, .3, SAGETrainOptions{}, "layers"},
		{"attention, samples by weight", sage.AggregateAttention, true, .3, byWeight, "layers"},
		{"attention, trees", sage.AggregateAttention, true, 1, sampled(5, 2, 2), "trees"},
		{"LSTM, sparse features", sage.AggregateLSTM, true, .3, SAGETrainOptions{}, "layers"},
		{"LSTM, trees", sage.AggregateLSTM, true, 1, sampled(5, 2, 2), "trees"},
		{"samples of large batches", sage.AggregateMean, true, 1, sampled(0, 3, 4), "layers"},
		{"samples by weight, GCN", sage.AggregateGCN, true, 1, byWeight, "layers"},
		{"walks, pools", sage.AggregatePool, true, .3, walks, "layers"},
		{"trees", sage.AggregateMean, true, 1, sampled(5, 2, 2), "trees"},
		{"trees, pools, sparse features", sage.AggregatePool, true, .3, sampled(4, 2, 2), "trees"},
		{"trees, fewer vertices than ranks", sage.AggregateGCN, true, 1, sampled(2, 2, 2), "trees"},
		{"pairs", sage.AggregateMean, false, 1, SAGETrainOptions{}, "layers"},
		{"pairs of batches, pools", sage.AggregatePool, false, .3, sampled(3, 3, 3), "layers"},
		{"pairs, trees", sage.AggregateMean, false, 1, thin, "trees"},
	} {
		x := samples.DrawFeatures(t, n, 6, c.share, map[bool]matrix.Format{true: matrix.Full, false: matrix.CSR}[c.share == 1])
		classes, parts := classesOver(n), split
		if !c.supervised {
			classes, parts = nil, some
		}
		o := c.o
		o.Aggregator, o.Hidden, o.Epochs, o.Seed, o.Dropout = c.a, []int{5, 4}, 6, 7, .3
		want, err := trainOn(one, x, classes, parts, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []int{1, 2, 3, 7} {
			at := sure.Get(comm.LocalGroup(p))
			g, own := samples.RangeGraph(t, scale, at), x
			if p == 3 { // nobody has the graph and the features
				g = samples.InBlocks(t, g, at)
				own = matrix.New[float32](n, 6)
				sure.Do(ops.Apply(own, semiring.Identity[float32](), x), own.Move(at))
			}
			what := fmt.Sprint(c.reason, ", ", p, " ranks")
			got, err := trainOn(g, own, classes, parts, o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if string(got.method) != "ranges, "+c.method {
				t.Errorf("%s: method %q, want %s", what, got.method, c.method)
			}
			sameTraining(t, what, got, want)
		}
	}
}

// modelBytes returns the file of a model.
func modelBytes(t *testing.T, m *sage.SAGEModel) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Processes have the same weights to the bit, also with fewer vertices than ranks. The process of
// rank 0 alone reads and writes the checkpoint, and all resume from it to the bit.
func TestTrainGraphSAGEByProcesses(t *testing.T) {
	t.Parallel()
	for _, scale := range []int{2, 5} {
		one := samples.RangeGraph(t, scale, nil)
		n, _ := one.Dims()
		x := samples.DrawFeatures(t, n, 4, 1, matrix.Full)
		for k, o := range []SAGETrainOptions{{}, {Batch: 2, Samples: []int{1, 2}}} {
			o.Hidden, o.Epochs, o.Seed, o.Threads = []int{3, 4}, 7, 5, 1
			classes, split := classesOver(n), SAGESplit{Train: []int{0, 1, 3}, Validate: []int{1, 3}}
			if k == 1 && scale == 5 {
				classes, split.Validate = nil, nil
			}
			want, err := trainOn(one, x, classes, split, o)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprint(n, " vertices, batch ", o.Batch)
			dir := t.TempDir()
			stop := errors.New("stop")
			list, errs := samples.Processes(t, 7, func(at *comm.Group) (any, error) {
				got, err := trainOn(samples.RangeGraph(t, scale, at), x, classes, split, o)
				return got, err
			})
			for r, got := range list {
				if errs[r] != nil {
					t.Fatalf("%s, process %d: %v", what, r, errs[r])
				}
				sameTraining(t, fmt.Sprint(what, ", process ", r), got.(sageTraining), want)
				if modelBytes(t, got.(sageTraining).Model) != modelBytes(t, list[0].(sageTraining).Model) {
					t.Errorf("%s: process %d has other weights than process 0", what, r)
				}
			}
			// Each process stops itself after a checkpoint.
			own := o
			own.Every = 2
			_, errs = samples.Processes(t, 7, func(at *comm.Group) (any, error) {
				own := own
				own.Checkpoint = filepath.Join(dir, fmt.Sprint(at.Ranks()[0].Rank(), ".npz"))
				own.Each = func(p SAGEProgress) error {
					if p.Epoch == 5 {
						return stop
					}
					return nil
				}
				return TrainGraphSAGE(samples.RangeGraph(t, scale, at), x, classes, split, own)
			})
			for r, err := range errs {
				var rank *comm.RankError
				if !errors.As(err, &rank) {
					t.Errorf("%s: process %d ends with %v", what, r, err)
				}
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "0.npz" {
				t.Fatalf("%s: checkpoints %v, want that of rank 0 (%v)", what, files, err)
			}
			again, errs := samples.Processes(t, 7, func(at *comm.Group) (any, error) {
				own := own
				own.Checkpoint = filepath.Join(dir, fmt.Sprint(at.Ranks()[0].Rank(), ".npz"))
				return trainOn(samples.RangeGraph(t, scale, at), x, classes, split, own)
			})
			for r := range again {
				if errs[r] != nil {
					t.Fatalf("%s, process %d: %v", what, r, errs[r])
				}
				got := again[r].(sageTraining)
				if got.epochs[0].Epoch != 5 || modelBytes(t, got.Model) != modelBytes(t, list[0].(sageTraining).Model) {
					t.Errorf("%s: process %d resumes at epoch %d, or has other weights", what, r, got.epochs[0].Epoch)
				}
			}
		}
	}
}

// Errors of a training on a group: of Each, of a checkpoint that cannot be written, of wrong
// arguments. A group of one process stays usable.
func TestTrainGraphSAGEByRangesFails(t *testing.T) {
	t.Parallel()
	at := sure.Get(comm.LocalGroup(3))
	g := samples.RangeGraph(t, 4, at)
	n, _ := g.Dims()
	x, classes := samples.DrawFeatures(t, n, 3, 1, matrix.Full), classesOver(n)
	split := SAGESplit{Train: []int{0, 1, 2, 3}}
	train := func(o SAGETrainOptions) error {
		o.Hidden, o.Epochs = []int{3, 3}, 3
		_, err := TrainGraphSAGE(g, x, classes, split, o)
		return err
	}
	stop := errors.New("stop")
	if err := train(SAGETrainOptions{Each: func(SAGEProgress) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("an error of Each: %v", err)
	}
	if err := train(SAGETrainOptions{Checkpoint: filepath.Join(t.TempDir(), "no", "run.npz")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
	file := filepath.Join(t.TempDir(), "run.npz")
	sure.Do(os.WriteFile(file, []byte("PK"), 0o666))
	var parse *graphio.ParseError
	if err := train(SAGETrainOptions{Checkpoint: file}); !errors.As(err, &parse) {
		t.Errorf("a cut checkpoint: %v", err)
	}
	var bad *workflow.ParameterError
	if err := train(SAGETrainOptions{Run: workflow.Run{Method: workflow.Fused}}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "fused on a group") {
		t.Errorf("fused: %v", err)
	}
	if err := train(SAGETrainOptions{}); err != nil {
		t.Errorf("after the errors: %v", err)
	}
	// The pipeline trains whole on every process.
	got, err := trainOn(g, x, classes, split, SAGETrainOptions{Run: workflow.Run{Method: workflow.Pipeline}, Hidden: []int{3, 3}, Epochs: 2})
	if err != nil || strings.HasPrefix(string(got.method), workflow.ByRanges) {
		t.Errorf("the pipeline: method %q, %v", got.method, err)
	}
}

// Ranks on devices that do not reach each other's memory train on the host, and the trace says so.
func TestTrainGraphSAGEByGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	longtest.Skip(t, "the emulator starts for a training on the host")
	group, _, real := samples.GroupOfGPUs(t)
	one := samples.RangeGraph(t, 5, nil)
	n, _ := one.Dims()
	x, split := samples.DrawFeatures(t, n, 4, 1, matrix.Full), SAGESplit{Train: []int{0, 1, 3, 20, 30}, Validate: []int{5, 6}}
	for _, o := range []SAGETrainOptions{{}, {Batch: 2, Samples: []int{1, 2}}} {
		o.Hidden, o.Epochs = []int{3, 4}, 4
		want, err := trainOn(one, x, classesOver(n), split, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := trainOn(samples.RangeGraph(t, 5, group), x, classesOver(n), split, o)
		if err != nil || strings.HasSuffix(string(got.method), ", on the host") == real {
			t.Fatalf("method %q, %v", got.method, err)
		}
		sameTraining(t, "on devices", got, want)
	}
}
