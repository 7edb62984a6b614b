package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// peerGroups are groups of 1, 2 and 3 devices; of 1 and 2 with HIVEBLAS_TEST_GPU.
func peerGroups(t *testing.T) []*comm.Group {
	t.Helper()
	list := []*comm.Group{samples.PeersOf(t, 1), samples.PeersOf(t, 2)}
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		list = append(list, samples.PeersOf(t, 3))
	}
	return list
}

// onGroup returns a copy of a matrix on a group.
func onGroup[T matrix.Number](t *testing.T, a *matrix.Matrix[T], at *comm.Group) *matrix.Matrix[T] {
	t.Helper()
	b := a.Clone()
	sure.Do(b.Move(at))
	return b
}

// Devices of a group train as one device does, but for the order of sums: ranges of the rows of
// layers, or shares of batches.
func TestTrainGraphSAGEByPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	groups := peerGroups(t)
	one := groups[0].PlaceOf(0).(matrix.Place)
	const n = 200 // a hub has more neighbours than a piece of a row
	directed, even := samples.Hubbed(n), samples.Hubbed(n).Both()
	full, thin := samples.DrawFeatures(t, n, 8, 1, matrix.Full), samples.DrawFeatures(t, n, 30, .1, matrix.CSR)
	odd := samples.DrawFeatures(t, n, 7, 1, matrix.Full)
	split := SAGESplit{Train: []int{0, 3, 3, 7, 150, 199, 12, 13, 14, 15}, Validate: []int{1, 2, 60, 70, 198}, Test: []int{80, 81, 82, 183, 84}}
	unsupervised := SAGESplit{Train: []int{0, 3, 5, 7, 150, 199, 12, 13}}
	few := SAGESplit{Train: []int{5}, Validate: []int{1, 2, 60}}
	with := trainingBy
	again := map[string]bool{}
	for k, c := range []trainingCase{
		{"directed", directed, full, sage.AggregateMean, []int{5, 8}, -1, split, SAGETrainOptions{}, "layers"},
		{"symmetric, dropout", even, odd, sage.AggregateMean, []int{8, 6}, .4, split, SAGETrainOptions{}, "layers"},
		{"sparse features", directed, thin, sage.AggregateMean, []int{6, 4}, .5, split, SAGETrainOptions{}, "layers"},
		{"GCN", even, odd, sage.AggregateGCN, []int{7, 4}, .3, split, SAGETrainOptions{}, "layers"},
		{"three layers, batches", directed, thin, sage.AggregateGCN, []int{4, 5, 6}, .3, split, with(4, false), "layers"},
		{"samples of all", even, odd, sage.AggregateMean, []int{8, 6}, .4, split, with(0, false, 3, 9), "layers of samples"},
		{"samples with replacement of batches", directed, thin, sage.AggregateMean, []int{8, 6}, .4, split, with(3, true, 3, 9), "layers of samples"},
		{"one training vertex", directed, full, sage.AggregateMean, []int{5, 8}, .2, few, SAGETrainOptions{}, "layers"},
		{"trees", directed, odd, sage.AggregateMean, []int{5, 8}, .3, split, with(4, false, 4, 3), "trees"},
		{"trees, GCN, a batch of all", even, full, sage.AggregateGCN, []int{6, 4}, .4, split, with(0, true, 3, 2), "trees"},
		{"three layers of trees", even, full, sage.AggregateMean, []int{4, 5, 6}, .2, split, with(3, false, 2, 3, 1), "trees"},
		{"trees of one vertex", directed, full, sage.AggregateMean, []int{4, 4}, .2, few, with(0, false, 2, 3), "trees"},
		{"pairs", directed, full, sage.AggregateMean, []int{5, 8}, .3, unsupervised, with(0, false), "layers, pairs drawn on the host"},
		{"pairs of batches, samples", even, thin, sage.AggregateGCN, []int{6, 8}, -1, unsupervised, with(3, false, 3, 2), "layers of samples, pairs drawn on the host"},
		{"pairs by trees", directed, odd, sage.AggregateMean, []int{6, 8}, .3, unsupervised, with(2, false, 2, 3), "trees, pairs drawn on the host"},
	} {
		host := samples.Build[float32](t, c.s, matrix.CSR)
		if c.reason != "directed" {
			host.IsSymmetric()
		}
		o := c.o
		o.Aggregator, o.Hidden, o.Epochs, o.Dropout, o.Decay, o.Seed = c.a, c.hidden, 6, c.dropout, 1e-3, 77
		classes := classesOver(n)
		if strings.Contains(c.method, "pairs") {
			classes = nil
		}
		there := host.Clone()
		sure.Do(there.Move(one))
		want, err := trainOn(there, c.x, classes, c.split, o)
		if err != nil {
			t.Fatal(err)
		}
		for p, at := range groups {
			if !longtest.Enabled() && p != (k+1)%3 && p != 1 { // two devices, and one or three
				continue
			}
			var g samples.GroupGraph = onGroup(t, host, at)
			x := c.x
			if p == 1 { // no rank has the whole graph, or all features
				g, x = samples.InBlocks(t, g, at), matrix.New[float32](c.x.Dims())
				sure.Do(ops.Apply(x, semiring.Identity[float32](), c.x), x.Move(at))
			}
			what := fmt.Sprint(c.reason, ", ", at.Size(), " devices")
			if p == 2 {
				o.Method = workflow.Fused
			}
			got, err := trainOn(g, x, classes, c.split, o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if string(got.method) != "ranges, "+c.method {
				t.Errorf("%s: method %q, want %s", what, got.method, c.method)
			}
			sameTraining(t, what, got, want)
			if again[c.method] || p != 1 {
				continue
			}
			again[c.method] = true
			resumes(t, what, g, x, classes, c.split, o, got)
		}
	}
}

// resumes stops a training after a checkpoint, and compares its resumption with a whole one.
func resumes(t *testing.T, what string, g samples.GroupGraph, x *matrix.Matrix[float32], classes []int32, split SAGESplit, o SAGETrainOptions, want sageTraining) {
	t.Helper()
	o.Checkpoint, o.Every = filepath.Join(t.TempDir(), "run.npz"), 2
	stop := errors.New("stop")
	o.Each = func(p SAGEProgress) error {
		if p.Epoch == 5 {
			return stop
		}
		return nil
	}
	if _, err := TrainGraphSAGE(g, x, classes, split, o); !errors.Is(err, stop) {
		t.Fatalf("%s: an error of Each: %v", what, err)
	}
	got, err := trainOn(g, x, classes, split, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got.epochs[0].Epoch != 5 || modelBytes(t, got.Model) != modelBytes(t, want.Model) || got.Loss != want.Loss {
		t.Errorf("%s: resumes at epoch %d with loss %v, want 5 and %v, or has other weights", what, got.epochs[0].Epoch, got.Loss, want.Loss)
	}
}

// Devices have no rows, one training vertex, or a graph without edges.
func TestTrainGraphSAGEByPeersSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	for _, at := range peerGroups(t) {
		for _, s := range []samples.Sample{{M: 2, N: 2, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1}}}, {M: 2, N: 2}, {M: 5, N: 5, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1}, {From: 0, To: 2, Weight: 1}, {From: 0, To: 3, Weight: 1}, {From: 4, To: 0, Weight: 1}}}} {
			host := samples.Build[float32](t, s, matrix.CSR)
			for _, share := range []float64{1, .5} {
				x := samples.DrawFeatures(t, s.N, 3, share, map[bool]matrix.Format{true: matrix.Full, false: matrix.CSR}[share == 1])
				for _, supervised := range []bool{true, false} {
					classes, split := []int32{0, 1, 0, 1, 0}[:s.N], SAGESplit{Train: []int{1}, Validate: []int{0}, Test: []int{0, 1}}
					if !supervised {
						classes, split = nil, SAGESplit{}
					}
					o := SAGETrainOptions{Hidden: []int{3, 3}, Epochs: 3, Seed: 4}
					want, err := trainOn(host, x, classes, split, o)
					if err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%d vertices, %d edges, features %v, %d devices, classes %v", s.N, len(s.Edges), share, at.Size(), supervised)
					got, err := trainOn(onGroup(t, host, at), x, classes, split, o)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if string(got.method[:len(workflow.ByRanges)]) != workflow.ByRanges || strings.Contains(string(got.method), "host") && supervised {
						t.Errorf("%s: method %q", what, got.method)
					}
					sameTraining(t, what, got, want)
				}
			}
		}
	}
}

// Patience ends the training of all devices in the same epoch.
func TestTrainGraphSAGEByPeersPatience(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	at := samples.PeersOf(t, 2)
	host := samples.Build[float32](t, samples.Hubbed(60), matrix.CSR)
	x, split := samples.DrawFeatures(t, 60, 4, 1, matrix.Full), SAGESplit{Train: []int{1, 2, 5, 40, 9}, Validate: []int{3, 4, 50}}
	for _, o := range []SAGETrainOptions{{}, {Batch: 2, Samples: []int{2, 2}}} {
		o.Hidden, o.Epochs, o.Patience, o.Rate, o.Seed = []int{4, 4}, 60, 3, .1, 2
		want, err := trainOn(host, x, classesOver(60), split, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := trainOn(onGroup(t, host, at), x, classesOver(60), split, o)
		if err != nil {
			t.Fatal(err)
		}
		if want.Epochs == o.Epochs {
			t.Errorf("batch %d: patience does not end the training", o.Batch)
		}
		if got.Epochs != want.Epochs || got.Best != want.Best {
			t.Errorf("batch %d: ends after %d epochs, best %d; want %d, %d", o.Batch, got.Epochs, got.Best, want.Epochs, want.Best)
		}
	}
}

// Errors of Each and of checkpoints, settings that no kernel has. The group stays usable. Faults
// are in the table of package apps.
func TestTrainGraphSAGEByPeersFails(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	at := samples.PeersOf(t, 2)
	host := samples.Build[float32](t, samples.Hubbed(40), matrix.CSR)
	var g samples.GroupGraph = onGroup(t, host, at)
	x, split := samples.DrawFeatures(t, 40, 4, 1, matrix.Full), SAGESplit{Train: []int{0, 1, 2, 3, 30}}
	train := func(o SAGETrainOptions) (string, error) {
		o.Hidden, o.Epochs = []int{3, 3}, 3
		got, err := trainOn(g, x, classesOver(40), split, o)
		return string(got.method), err
	}
	usable := func(after string) {
		t.Helper()
		if method, err := train(SAGETrainOptions{}); err != nil || method != "ranges, layers" {
			t.Fatalf("after %s: method %q, %v", after, method, err)
		}
	}
	usable("nothing")
	stop := errors.New("stop")
	o := SAGETrainOptions{Hidden: []int{3, 3}, Epochs: 3}
	o.Each = func(p SAGEProgress) error { return stop }
	if _, err := TrainGraphSAGE(g, x, classesOver(40), split, o); !errors.Is(err, stop) {
		t.Errorf("an error of Each: %v", err)
	}
	usable("an error of Each")
	if _, err := train(SAGETrainOptions{Checkpoint: filepath.Join(t.TempDir(), "no", "run.npz")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
	usable("a checkpoint that cannot be written")
	file := filepath.Join(t.TempDir(), "run.npz")
	sure.Do(os.WriteFile(file, []byte("PK"), 0o666))
	var parse *graphio.ParseError
	if _, err := train(SAGETrainOptions{Checkpoint: file}); !errors.As(err, &parse) {
		t.Errorf("a cut checkpoint: %v", err)
	}
	// What the kernels lack is an error, or runs on the host.
	for _, o := range []SAGETrainOptions{{Aggregator: sage.AggregatePool}, {Samples: []int{2, 2}, Sampling: sage.SampleByDegree}} {
		if method, err := train(o); err != nil || !strings.HasSuffix(method, ", on the host") {
			t.Errorf("%v, %v: method %q, %v", o.Aggregator, o.Sampling, method, err)
		}
		o.Method = workflow.Fused
		var bad *workflow.ParameterError
		if _, err := train(o); !errors.As(err, &bad) {
			t.Errorf("%v, %v, fused: %v", o.Aggregator, o.Sampling, err)
		}
	}
	usable("the host")
	// A graph beyond the gather limit trains whole on the host.
	var places []comm.Place
	for k := range at.Ranks() {
		places = append(places, at.PlaceOf(k))
	}
	limited := sure.Get(comm.NewGroup(at.Ranks(), comm.At(places...), comm.GatherLimit(8)))
	g = samples.InBlocks(t, onGroup(t, host, limited), limited)
	var bad *workflow.ParameterError
	if _, err := train(SAGETrainOptions{Run: workflow.Run{Method: workflow.Fused}}); !errors.As(err, &bad) {
		t.Errorf("beyond the gather limit, fused: %v", err)
	}
	if method, err := train(SAGETrainOptions{}); err != nil || strings.HasPrefix(method, workflow.ByRanges) {
		t.Errorf("beyond the gather limit: method %q, %v", method, err)
	}
}

// Processes with a device each have the same weights to the bit, resume from the checkpoint of the
// first, and return one error when a device of one of them fails.
func TestTrainGraphSAGEByPeersOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	const n = 50
	host := samples.Build[float32](t, samples.Hubbed(n), matrix.CSR)
	x, split := samples.DrawFeatures(t, n, 4, 1, matrix.Full), SAGESplit{Train: []int{0, 1, 2, 3, 30}, Validate: []int{4, 45, 48}, Test: []int{7, 8}}
	// on runs f in the processes; each process has one device of a group.
	on := func(p int, f func(at *comm.Group) (sageTraining, error)) ([]sageTraining, []error) {
		all := samples.PeersOf(t, p)
		results, errs := make([]sageTraining, p), make([]error, p)
		var wait sync.WaitGroup
		for k, c := range all.Ranks() {
			at := sure.Get(comm.NewGroup([]comm.Comm{c}, comm.At(all.PlaceOf(k))))
			wait.Go(func() { results[k], errs[k] = f(at) })
		}
		wait.Wait()
		return results, errs
	}
	for _, o := range []SAGETrainOptions{{}, {Batch: 2, Samples: []int{1, 2}}, {Batch: 2, Samples: []int{1, 2}, Pairs: 1, Negatives: 1}} {
		classes, split := classesOver(n), split
		if o.Pairs > 0 {
			classes, split.Validate, split.Test = nil, nil, nil
		}
		o.Hidden, o.Epochs, o.Seed, o.Threads = []int{3, 4}, 7, 5, 1
		want, err := trainOn(host, x, classes, split, o)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprint("batch ", o.Batch)
		train := func(at *comm.Group, o SAGETrainOptions) (sageTraining, error) {
			return trainOn(onGroup(t, host, at), x, classes, split, o)
		}
		straight, errs := on(2, func(at *comm.Group) (sageTraining, error) { return train(at, o) })
		for r, got := range straight {
			if errs[r] != nil {
				t.Fatalf("%s, process %d: %v", what, r, errs[r])
			}
			sameTraining(t, fmt.Sprint(what, ", process ", r), got, want)
			if modelBytes(t, got.Model) != modelBytes(t, straight[0].Model) {
				t.Errorf("%s: process %d has other weights than process 0", what, r)
			}
		}
		o.Checkpoint, o.Every = filepath.Join(t.TempDir(), "run.npz"), 2
		_, errs = on(2, func(at *comm.Group) (sageTraining, error) {
			own := o
			own.Each = func(p SAGEProgress) error {
				if p.Epoch == 5 && !at.First() { // one process alone
					return errors.New("stop")
				}
				return nil
			}
			_, err := TrainGraphSAGE(onGroup(t, host, at), x, classes, split, own)
			return sageTraining{}, err
		})
		for r, err := range errs {
			var rank *comm.RankError
			if !errors.As(err, &rank) || rank.Rank != 1 {
				t.Errorf("%s: process %d ends with %v", what, r, err)
			}
		}
		again, errs := on(2, func(at *comm.Group) (sageTraining, error) {
			own := o
			if !at.First() {
				own.Checkpoint += ".none"
			}
			return train(at, own)
		})
		for r, got := range again {
			if errs[r] != nil {
				t.Fatalf("%s, process %d: %v", what, r, errs[r])
			}
			if got.epochs[0].Epoch != 5 || modelBytes(t, got.Model) != modelBytes(t, straight[0].Model) {
				t.Errorf("%s: process %d resumes at epoch %d, or has other weights", what, r, got.epochs[0].Epoch)
			}
		}
	}
}

// BenchmarkTrainGraphSAGEByPeers prints the time of an epoch on one GPU and on two, interleaved.
func BenchmarkTrainGraphSAGEByPeers(b *testing.B) {
	group, one, real := samples.GroupOfGPUs(b)
	if !real {
		b.Skip("two GPUs are needed")
	}
	const epochs = 20
	for _, scale := range []int{16, 18, 20, 21} {
		edges := sure.Get(generate.RMAT(scale, 16<<scale, generate.RMATOptions{Seed: 1}))
		n := 1 << scale
		val, classes := make([]float32, 128*n), make([]int32, n)
		for i := range val {
			val[i] = float32(i*2654435761%1000) / 1000
		}
		for v := range classes {
			classes[v] = int32(v % 16)
		}
		host := sure.Get(matrix.FromDense(n, 128, val))
		var split SAGESplit
		for v := range n {
			if v%10 == 0 {
				split.Validate = append(split.Validate, v)
			} else {
				split.Train = append(split.Train, v)
			}
		}
		var graphs [2]samples.GroupGraph
		var features [2]*matrix.Matrix[float32]
		for k, at := range []matrix.Place{one, group} {
			g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
			if err == nil {
				err = g.Move(at)
			}
			if features[k] = host.Clone(); err == nil {
				err = features[k].Move(at)
			}
			if err != nil {
				b.Fatal(err)
			}
			graphs[k] = g
		}
		few := split
		few.Train = split.Train[:min(len(split.Train), 1<<15)]
		for _, c := range []struct {
			name  string
			split SAGESplit
			o     SAGETrainOptions
		}{
			{"layers", split, SAGETrainOptions{}},
			{"layers of samples 25x10", split, SAGETrainOptions{Samples: []int{25, 10}}},
			{"trees 25x10, batches of 1024", few, SAGETrainOptions{Samples: []int{25, 10}, Batch: 1024}},
			{"trees 25x10, batches of 4096", few, SAGETrainOptions{Samples: []int{25, 10}, Batch: 4096}},
		} {
			var best [2]time.Duration
			var loss [2]float64
			var method [2]ops.Method
			for range 3 {
				for k, g := range graphs {
					var took []time.Duration // at the end of each epoch
					began := time.Now()
					o := c.o
					o.Hidden, o.Epochs = []int{64, 64}, epochs
					o.Each = func(SAGEProgress) error { took = append(took, time.Since(began)); return nil }
					o.Trace = func(x ops.Trace) {
						if x.Op == "TrainGraphSAGE" {
							method[k] = x.Method
						}
					}
					res, err := TrainGraphSAGE(g, features[k], classes, c.split, o)
					if err != nil {
						b.Fatalf("%s: %v", c.name, err)
					}
					loss[k] = res.Loss
					if each := (took[epochs-1] - took[1]) / (epochs - 2); best[k] == 0 || each < best[k] {
						best[k] = each
					}
				}
			}
			b.Logf("R-MAT %d, %s: an epoch on one GPU %v (%s), on two %v (%s), loss %.6f and %.6f", scale, c.name, best[0], method[0],
				best[1], method[1], loss[0], loss[1])
		}
	}
}
