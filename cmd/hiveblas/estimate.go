package main

import (
	"math"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm/model"
)

// The bytes that a kernel moves for a product and for an entry of a result, as in scale predict.
const (
	bytesOfProduct = 24
	bytesOfEntry   = 24
)

// independent is work of products that falls into independent parts, on the graph as a whole. sum
// is the entries of eight bytes that the devices add up.
func independent(products float64, parts, sum int64) model.Work {
	return model.Work{Bytes: bytesOfProduct * products, Steps: 4, Parts: parts, Sum: 8 * float64(sum)}
}

// byRows is work in steps over the graph. Several devices divide the rows; each step gathers so
// many bytes a vertex and a few numbers of each rank, with so many launches. passes is how often
// all entries are read; rows count once, as in scale predict.
func byRows(j *job.Job, passes float64, steps, launches int, gathered float64) model.Work {
	n, _, entries := j.Graph.Size()
	return model.Work{Bytes: passes*bytesOfProduct*float64(entries) + bytesOfEntry*float64(n), Steps: steps,
		Operations: launches * steps, Gathers: 2 * steps, Gather: gathered / 2 * float64(n), Direct: true}
}

// The steps of workflows if their number depends on the graph: the steps of graphs of small
// diameter, for which more devices pay earlier than for others.
const (
	stepsOfBFS   = 12
	stepsOfPaths = 40
	stepsOfCC    = 8
)

// stepsOf returns few steps. A graph with fewer than eight entries a vertex may be a road network
// or a grid: it takes the 2√n steps of a search across a square grid.
func stepsOf(j *job.Job, few int) int {
	if n, _, entries := j.Graph.Size(); entries < 8*int64(n) {
		few = max(few, 2*int(math.Sqrt(float64(n))))
	}
	return few
}

// estimateBFS reads the entries once at most, and gathers a bit of each vertex.
func estimateBFS(j *job.Job, _ int64) model.Work {
	return byRows(j, 1, stepsOf(j, stepsOfBFS), 10, 1./8)
}

// estimatePaths relaxes an edge about twice, and gathers each vertex twice with its distance.
func estimatePaths(j *job.Job, _ int64) model.Work {
	steps := stepsOf(j, stepsOfPaths)
	return byRows(j, 2, steps, 7, 16/float64(steps))
}

// estimateCC reads a part of the entries once, and the labels of all vertices on each device, which
// exchanges them: several devices take longer than one (R-MAT 26: 22 ms on two H100s, 11 on one).
func estimateCC(j *job.Job, _ int64) model.Work {
	w := byRows(j, 1, stepsOfCC, 2, 1)
	w.Parts = 1
	return w
}

// estimateIterations reads the entries in each iteration; the change falls by factor in each, to
// tolerance.
func estimateIterations(j *job.Job, factor, tolerance float64, most int) model.Work {
	steps := 50.
	if factor > 0 && factor < 1 && tolerance > 0 && tolerance < 1 {
		steps = math.Log(tolerance) / math.Log(factor)
	}
	count := max(1, int(min(steps, float64(most))))
	return byRows(j, float64(count), count, 3, 8)
}

// estimateCommunities is the estimate for a graph with clear communities, .45 ns an entry on an
// H200 (planted, 358M entries); R-MAT graphs take five times as long, and gain more. Batches
// exchange wishes.
func estimateCommunities(j *job.Job, _ int64) model.Work {
	const passes, steps, exchanges = 80, 1000, 400
	n, _, entries := j.Graph.Size()
	return model.Work{Bytes: passes * bytesOfProduct * float64(entries), Steps: steps, Operations: steps, Gathers: exchanges,
		Gather: float64(n), Direct: true}
}

// estimateScan counts for each edge the entries of a mean row.
func estimateScan(j *job.Job, _ int64) model.Work {
	n, _, entries := j.Graph.Size()
	return independent(float64(entries)*float64(entries)/float64(max(n, 1)), int64(n), int64(n))
}
