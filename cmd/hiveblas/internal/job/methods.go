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

// methods collects the algorithm of a workflow and the methods that ran, each with the time since
// the trace before it: operations between products count as a part of the product after them.
type methods struct {
	mu        sync.Mutex
	algorithm string // by which the workflow began; others are of workflows inside it
	last      time.Time
	ran       []ranMethod
}

// ranMethod is a method of products, or a kernel of a workflow, and its time.
type ranMethod struct {
	name string
	took time.Duration
}

// start starts the clock of the first trace.
func (l *methods) start() {
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

// Begin sets the algorithm, unless the run has one. Workflows set it by their first trace.
func (l *methods) Begin(algorithm string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.algorithm = cmp.Or(l.algorithm, algorithm)
}

// Add adds a completed operation. Operations other than products and kernels of workflows have no
// method worth a mention.
func (l *methods) Add(t ops.Trace) {
	if t == (ops.Trace{Op: t.Op, Name: t.Name}) {
		l.Begin(t.Name)
		return
	}
	switch t.Op {
	case "MxM", "MxV", "VxM":
	case "GraphSearch", "LocalCluster", "Projection", "GraphSAGE", "TrainGraphSAGE":
		if t.Imbalance == 0 { // on one place
			return
		}
	case "BFS", "SSSP", "ConnectedComponents", "PageRank", "Classify", "Communities",
		"ScanStatistics", "Geolocate", "FusedLasso", "MaxFlow", "StronglyConnectedComponents", "CoreNumbers",
		"Betweenness", "Closeness", "Diameter", "LabelPropagation", "MaximalIndependentSet", "Colouring", "Similarity",
		"MinimumSpanningForest", "BipartiteMatching", "TopologicalOrder":
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
	k := slices.IndexFunc(l.ran, func(m ranMethod) bool { return m.name == name })
	if k < 0 {
		k = len(l.ran)
		l.ran = append(l.ran, ranMethod{name: name})
	}
	l.ran[k].took += took
}

// String returns the algorithm and the methods that ran, in the order of their first traces.
func (l *methods) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, len(l.ran))
	for k, m := range l.ran {
		names[k] = m.name
	}
	return l.with(strings.Join(names, "+"))
}

// with returns the algorithm, if any, before the methods.
func (l *methods) with(methods string) string {
	if l.algorithm != "" && methods != "" {
		return l.algorithm + ": " + methods
	}
	return l.algorithm + methods
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

// shares returns the algorithm and the methods that ran, with the share of each in their time if
// there are several.
func (l *methods) shares() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ran) == 1 {
		return l.with(l.ran[0].name)
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
	return l.with(strings.Join(names, ", "))
}
