package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// A trainingCase is a training; its forms on devices are compared. method is the method that runs.
type trainingCase struct {
	reason  string
	s       samples.Sample
	x       *matrix.Matrix[float32]
	a       sage.SAGEAggregator
	hidden  []int
	dropout float64
	split   SAGESplit
	o       SAGETrainOptions
	method  string
}

// trainingBy returns settings of batches and samples.
func trainingBy(batch int, replace bool, samples ...int) SAGETrainOptions {
	return SAGETrainOptions{Batch: batch, Samples: samples, Replace: replace, Pairs: 2, Negatives: 2}
}

// Kernels train as the host does: the same losses and weights, to rounding.
func TestTrainGraphSAGEOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	directed, even := samples.Hubbed(200), samples.Hubbed(200).Both()
	classes := make([]int32, 200)
	for v := range classes {
		classes[v] = int32(v * 7 % 3)
	}
	classes[50] = -1
	split := SAGESplit{Train: []int{0, 3, 3, 7, 150, 199, 12, 13, 14, 15}, Validate: []int{1, 2, 60, 70}, Test: []int{80, 81, 82, 83, 84}}
	full, thin := samples.DrawFeatures(t, 200, 8, 1, matrix.Full), samples.DrawFeatures(t, 200, 30, .1, matrix.CSR)
	odd := samples.DrawFeatures(t, 200, 7, 1, matrix.Full)
	unsupervised := SAGESplit{Train: []int{0, 3, 5, 7, 150, 199, 12, 13}}
	with := trainingBy
	again := map[string]bool{}
	for k, c := range []trainingCase{
		{"directed", directed, full, sage.AggregateMean, []int{5, 8}, -1, split, SAGETrainOptions{}, "layers"},
		{"symmetric, dropout", even, odd, sage.AggregateMean, []int{8, 6}, .4, split, SAGETrainOptions{}, "layers"},
		{"sparse features", directed, thin, sage.AggregateMean, []int{6, 4}, .5, split, SAGETrainOptions{}, "layers"},
		{"GCN", directed, samples.DrawFeatures(t, 200, 9, 1, matrix.Full), sage.AggregateGCN, []int{7, 4}, .3, SAGESplit{Train: split.Train}, SAGETrainOptions{}, "layers"},
		{"three layers", even, samples.DrawFeatures(t, 200, 12, .1, matrix.CSR), sage.AggregateGCN, []int{4, 5, 6}, -1, split, SAGETrainOptions{}, "layers"},
		{"batches", directed, full, sage.AggregateMean, []int{5, 8}, .3, split, with(4, false), "layers"},
		{"samples of all", even, odd, sage.AggregateMean, []int{8, 6}, .4, split, with(0, false, 3, 9), "layers of samples"},
		{"samples of all, directed GCN", directed, thin, sage.AggregateGCN, []int{6, 7}, .4, split, with(0, false, 3, 9), "layers of samples"},
		{"samples with replacement of batches", directed, thin, sage.AggregateMean, []int{8, 6}, .4, split, with(3, true, 3, 9), "layers of samples"},
		{"trees", directed, odd, sage.AggregateMean, []int{5, 8}, .3, split, with(4, false, 4, 3), "trees"},
		{"trees with replacement", even, full, sage.AggregateMean, []int{6, 4}, .4, split, with(4, true, 3, 4), "trees"},
		{"trees, GCN, a batch of all", directed, odd, sage.AggregateGCN, []int{6, 4}, .4, split, with(0, false, 3, 2), "trees"},
		{"three layers of trees", even, full, sage.AggregateMean, []int{4, 5, 6}, .2, split, with(3, false, 2, 3, 1), "trees"},
		{"pairs", directed, full, sage.AggregateMean, []int{5, 8}, .3, unsupervised, with(0, false), "layers, pairs drawn on the host"},
		{"pairs of batches, samples", even, thin, sage.AggregateGCN, []int{6, 8}, -1, unsupervised, with(3, false, 3, 2), "layers of samples, pairs drawn on the host"},
		{"pairs by trees", directed, odd, sage.AggregateMean, []int{6, 8}, .3, unsupervised, with(2, false, 2, 3), "trees, pairs drawn on the host"},
	} {
		if !longtest.Takes(k, 3) {
			continue
		}
		host := samples.Build[float64](t, c.s, matrix.CSR)
		there := samples.Build[float64](t, c.s, matrix.CSR)
		if c.reason != "directed" {
			there.IsSymmetric()
		}
		sure.Do(there.Move(d.Device))
		var want, got []SAGEProgress
		o, classes := c.o, classes
		o.Aggregator, o.Hidden, o.Epochs, o.Dropout, o.Decay, o.Seed = c.a, c.hidden, 9, c.dropout, 1e-3, 77
		if strings.Contains(c.method, "pairs") {
			classes = nil
		}
		o.Each = func(p SAGEProgress) error { want = append(want, p); return nil }
		one := samples.Must[*SAGETraining](t)(TrainGraphSAGE(host, c.x, classes, c.split, o))
		o.Method = workflow.Fused
		var ran ops.Trace
		o.Trace = func(x ops.Trace) { ran = x }
		o.Each = func(p SAGEProgress) error { got = append(got, p); return nil }
		two := samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, c.x, classes, c.split, o))
		if len(got) != len(want) || one.Epochs != two.Epochs || one.Best != two.Best {
			t.Fatalf("%s: %d epochs, best %d; want %d, best %d", c.reason, two.Epochs, two.Best, one.Epochs, one.Best)
		}
		if string(ran.Method) != c.method || ran.Place != d.Device.String() {
			t.Errorf("%s: ran %q at %q, want %q", c.reason, ran.Method, ran.Place, c.method)
		}
		same := func(x, y float64) bool { return math.Abs(x-y) <= 2e-4 || math.IsNaN(x) && math.IsNaN(y) }
		for k, p := range want {
			q := got[k]
			if q.Epoch != p.Epoch || !same(q.Loss, p.Loss) || !same(q.Accuracy, p.Accuracy) || !same(q.Validate, p.Validate) {
				t.Errorf("%s: epoch %+v, want %+v", c.reason, q, p)
			}
		}
		if !same(one.Test, two.Test) || !same(one.Validate, two.Validate) {
			t.Errorf("%s: test %v, validation %v, want %v, %v", c.reason, two.Test, two.Validate, one.Test, one.Validate)
		}
		for k, l := range one.Model.Layers {
			samples.SameRows(t, fmt.Sprint(c.reason, ", weights ", k), two.Model.Layers[k].Self, samples.Rows64(l.Self), 2e-3)
		}
		if classes != nil {
			samples.SameRows(t, c.reason+", classifier", two.Model.Classifier, samples.Rows64(one.Model.Classifier), 2e-3)
		}
		// Without looks at each epoch, and with a checkpoint in between, the weights are the same
		// bits. The quick form tests this once for each method.
		if again[c.method] && !longtest.Enabled() {
			continue
		}
		again[c.method] = true
		o.Each = nil
		straight := samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, c.x, classes, c.split, o))
		o.Checkpoint, o.Every = filepath.Join(t.TempDir(), "run.npz"), 4
		stop := errors.New("stop")
		o.Each = func(p SAGEProgress) error {
			if p.Epoch == 6 {
				return stop
			}
			return nil
		}
		if _, err := TrainGraphSAGE(there, c.x, classes, c.split, o); !errors.Is(err, stop) {
			t.Fatalf("%s: %v", c.reason, err)
		}
		o.Each = nil
		resumed := samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, c.x, classes, c.split, o))
		for _, again := range []*SAGETraining{straight, resumed} {
			var a, b bytes.Buffer
			if err := errors.Join(two.Model.Write(&a), again.Model.Write(&b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) || again.Loss != two.Loss || again.Best != two.Best {
				t.Errorf("%s: another run gives loss %v, best %d, want %v, %d (%v)", c.reason, again.Loss, again.Best, two.Loss, two.Best, err)
			}
		}
	}
	// What the kernels lack is an error, or runs on the host.
	there := samples.Build[float64](t, directed, matrix.CSR)
	sure.Do(there.Move(d.Device))
	x := samples.DrawFeatures(t, 200, 8, 1, matrix.Full)
	o := SAGETrainOptions{Hidden: []int{4, 4}, Epochs: 2, Samples: []int{2, 2}, Sampling: sage.SampleByDegree}
	samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, x, classes, split, o))
	o.Method = workflow.Fused
	var e *workflow.ParameterError
	if _, err := TrainGraphSAGE(there, x, classes, split, o); !errors.As(err, &e) {
		t.Errorf("fused training with samples by degree: %v", err)
	}
}
