package sampled

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
)

// NumbersOrAll returns a list of vertices, all n for nil.
func NumbersOrAll(vertices []int, n int) []int32 {
	if vertices != nil {
		return workflow.Numbers(vertices)
	}
	list := make([]int32, n)
	for v := range list {
		list[v] = int32(v)
	}
	return list
}

// CheckSamples checks the numbers of samples.
func CheckSamples(app string, samples []int, sampling Rule, layers int) error {
	switch {
	case sampling < Uniform || sampling > sampleByWalks:
		return &workflow.ParameterError{App: app, Arg: "the sampling", Got: sampling.String(), Want: "SampleUniform, SampleByWeight, SampleByDegree or SampleByWalks"}
	case samples == nil && sampling == sampleByWalks:
		return &workflow.ParameterError{App: app, Arg: "the samples", Got: "all neighbours, by walks", Want: "numbers of samples for SampleByWalks"}
	case samples != nil && len(samples) != layers:
		return &workflow.ParameterError{App: app, Arg: "the samples", Got: fmt.Sprintf("%d numbers", len(samples)), Want: fmt.Sprintf("%d, one for each layer", layers)}
	}
	for _, s := range samples {
		if s < 1 {
			return &workflow.ParameterError{App: app, Arg: "the samples", Got: fmt.Sprint(s), Want: "1 or more for each layer, or none for all neighbours"}
		}
	}
	return nil
}

// NewGraph returns what chooses neighbours in a graph for an aggregator. It checks the values of
// edges if they count.
func NewGraph(app string, g workflow.Operand, run workflow.Run, sampling Rule, replace bool, seed uint64, a neural.Aggregator) (*Graph, error) {
	v := workflow.Inside(g)
	if err := workflow.Fetch(v); err != nil {
		return nil, err
	}
	rows := v.Rows()
	if err := workflow.Usable(app, "the graph", workflow.Pattern(g)); err != nil {
		return nil, err
	}
	s := &Graph{Run: run, N: rows.NRows, Ptr: workflow.RowOffsets(&rows.Structure), Idx: rows.Idx, Sampling: sampling,
		replace: replace, seed: seed, gcn: a == neural.AggregateGCN, ordered: a == neural.AggregateLSTM}
	if sampling != sampleByWeight {
		return s, nil
	}
	s.values = workflow.NumbersIn(rows.Type, rows.Val)
	var buffer []float64
	for r := range s.N {
		lo, hi := s.Ptr[r], s.Ptr[r+1]
		buffer = s.values(buffer, lo, hi)
		for k, w := range buffer[:hi-lo] {
			if !(w > 0 && w <= math.MaxFloat64) {
				return nil, &workflow.WeightError{App: app, Row: r, Col: int(s.Idx[lo+int64(k)]), Got: fmt.Sprint(w), Want: "a positive number"}
			}
		}
	}
	return s, nil
}
