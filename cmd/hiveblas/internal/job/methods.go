package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/ops"
)

// methods collects the methods that ran, and the time of each: that from the trace before it to its
// own, so that operations between products count as a part of the product after them.
type methods struct {
	mu   sync.Mutex
	last time.Time
	ran  []ranMethod
}

// ranMethod is a method of products, or a kernel of a workflow, and its time.
type ranMethod struct {
	name   string
	kernel bool
	took   time.Duration
}

// begin starts the clock of the first trace.
func (l *methods) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
}

// clear forgets the methods of a run that is repeated elsewhere.
func (l *methods) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran = nil
}

// Add adds a completed operation. Operations other than products and kernels of workflows have no
// method worth a mention.
func (l *methods) Add(t ops.Trace) {
	kernel := false
	switch t.Op {
	case "MxM", "MxV", "VxM":
	case "GraphSearch", "LocalCluster", "Projection", "GraphSAGE", "TrainGraphSAGE":
		if t.Imbalance == 0 { // on one place
			return
		}
		kernel = true
	case "BFS", "SSSP", "ConnectedComponents", "PageRank", "Classify", "Communities",
		"ScanStatistics", "Geolocate", "FusedLasso", "MaxFlow", "StronglyConnectedComponents", "CoreNumbers",
		"Betweenness", "Closeness", "Diameter", "LabelPropagation", "MaximalIndependentSet", "Colouring", "Similarity",
		"MinimumSpanningForest", "BipartiteMatching", "TopologicalOrder":
		kernel = true
	default:
		return
	}
	name := string(t.Method)
	if name == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	took := now.Sub(l.last)
	l.last = now
	k := slices.IndexFunc(l.ran, func(m ranMethod) bool { return m.name == name && m.kernel == kernel })
	if k < 0 {
		k = len(l.ran)
		l.ran = append(l.ran, ranMethod{name: name, kernel: kernel})
	}
	l.ran[k].took += took
}

// names returns the methods that ran, in the order of their first traces.
func (l *methods) names() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, len(l.ran))
	for k, m := range l.ran {
		names[k] = m.name
	}
	return strings.Join(names, "+")
}

// seconds returns the time of each method, nil unless there are several.
func (l *methods) seconds() Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ran) < 2 {
		return nil
	}
	var o Object
	for _, m := range l.ran {
		o = append(o, Field{m.name, "", m.took.Seconds()})
	}
	return o
}

// shares returns the methods that ran, with the share of each in their time if there are several.
func (l *methods) shares() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ran) == 1 {
		return l.ran[0].name
	}
	list, total := slices.Clone(l.ran), time.Duration(0)
	for _, m := range list {
		total += m.took
	}
	slices.SortStableFunc(list, func(x, y ranMethod) int { return cmp.Compare(y.took, x.took) })
	names := make([]string, len(list))
	for k, m := range list {
		names[k] = fmt.Sprintf("%s %.0f %%", m.name, 100*float64(m.took)/float64(max(total, 1)))
	}
	return strings.Join(names, ", ")
}

// products reports whether the pipeline of a workflow ran: products of matrices and no kernel.
func (l *methods) products() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(l.ran, func(m ranMethod) bool { return m.kernel })
}
