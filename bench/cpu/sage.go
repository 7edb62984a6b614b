package cpu

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

// The size of Cora: features, the share of them that is not 0, columns of layers, classes.
const (
	sageCoraShare   = .0127
	sageCoraClasses = 7
)

var sageCora = workload.Network{Features: 1433, Hidden: 64, Out: 64}

// sageArgs are the arguments of the peer.
func sageArgs(last int) []string {
	return []string{fmt.Sprint(sageCora.Features), fmt.Sprint(sageCora.Hidden), fmt.Sprint(last), fmt.Sprint(sageCoraShare)}
}

// sageWords are the features of an input.
func sageWords(in *input) (*matrix.Matrix[float32], error) {
	type made struct {
		x   *matrix.Matrix[float32]
		err error
	}
	m := memo(in, "features", func() made {
		x, err := inputs.SageFeatures(in.graph.NRows, sageCora.Features, sageCoraShare)
		return made{x, err}
	})
	return m.x, m.err
}

// sageBy computes embeddings of all vertices, with all neighbours, by a method.
func sageBy(method apps.Method) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		x, err := sageWords(in)
		if err != nil {
			return 0, 0, err
		}
		m, err := sageCora.Model()
		if err != nil {
			return 0, 0, err
		}
		var res *apps.SAGEResult
		d, err := timed(func() (err error) {
			res, err = apps.GraphSAGE(in.f64, x, m, apps.SAGEOptions{Run: apps.Run{Threads: b.Threads, Method: method}})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, inputs.CheckMatrix(res.Embeddings), nil
	}
}

// sageEpochBy is an epoch of training by a method, without dropout and validation, all vertices in
// a step: the difference between runs of many and of few epochs. The check is the number of
// vertices.
func sageEpochBy(method apps.Method, aggregator apps.SAGEAggregator) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		x, err := sageWords(in)
		if err != nil {
			return 0, 0, err
		}
		classes := make([]int32, in.graph.NRows)
		for v := range classes {
			classes[v] = int32(gen.Hash(uint64(v), 37) % sageCoraClasses)
		}
		const few, many = 2, 12
		var times [2]time.Duration
		for k, epochs := range []int{few, many} {
			if times[k], err = timed(func() error {
				_, err := apps.TrainGraphSAGE(in.f64, x, classes, apps.SAGESplit{}, apps.SAGETrainOptions{Run: apps.Run{Threads: b.Threads, Method: method},
					Aggregator: aggregator, Hidden: []int{sageCora.Hidden, sageCora.Hidden}, Epochs: epochs, Dropout: -1, Seed: 4})
				return err
			}); err != nil {
				return 0, 0, err
			}
		}
		return (times[1] - times[0]) / (many - few), float64(in.graph.NRows), nil
	}
}
