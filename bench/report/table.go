package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
)

// The columns of ours.
const (
	HostColumn   = "host"
	DeviceColumn = "device"
)

// noWorkflow is the reason for a library without such a workflow.
const noWorkflow = "has no such workflow"

// Input describes how to generate an input.
type Input struct {
	Generator, Parameters string
	Seed                  uint64
	Rows, Cols            int
	Entries               int64
}

// of returns the input with the size of a graph.
func (in Input) of(g *gen.Graph) Input {
	in.Rows, in.Cols, in.Entries = g.NRows, g.NCols, g.NNZ()
	return in
}

// Row is a workflow on one input.
type Row struct {
	Name     string
	Input    Input
	Result   string // its size, in words
	Original string // the figure of the original report
	// Times are the quartiles in milliseconds, by column: HostColumn, DeviceColumn and the columns
	// of libraries.
	Times  map[string]bench.Quartiles
	Rounds int
	// Absent holds the reason why a column has no time.
	Absent map[string]string
	// Percent is the bandwidth of the bytes that had to be moved, in hundredths of what the place
	// copies, by column.
	Percent map[string]float64
	Wrong   []string // results that differ
	Failed  string   // why nothing was measured
	Notes   []string
	Command string // measures the row again
}

func (r *Row) absent(column, why string) { r.Absent[column] = why }

// Best returns the least of our times in milliseconds, NaN if there is none.
func (r *Row) Best() float64 {
	best := math.NaN()
	if r == nil {
		return best
	}
	for _, column := range []string{HostColumn, DeviceColumn} {
		if t, ok := r.Times[column]; ok && !(t.Median >= best) {
			best = t.Median
		}
	}
	return best
}

// ChunkRow is a product block by block.
type ChunkRow struct {
	Name, What string // the product, and how it was computed
	Input      Input
	Entries    int64 // of the result
	Ms         bench.Quartiles
	// Plan to Wall are milliseconds of the last run; see chunked.Report.
	Plan, Computing, Copying, Writing, Wall, Overlap float64
	Blocks                                           int
	PeakDevice, PeakRSS                              uint64  // bytes, 0 where they were not measured
	Against                                          string  // the row that Ratio compares with
	Ratio                                            float64 // our time divided by the time of Against
	Original                                         string
	Failed                                           string
	Wrong                                            string
	Command                                          string
}

// GrowthPoint is a workflow at one size.
type GrowthPoint struct {
	Workflow string
	Scale    int
	Row
}

// PeerState is a peer library, or why it was not measured.
type PeerState struct {
	Column, Version, Missing string
}

// Report is the result of [New].
type Report struct {
	Made        time.Time
	Processor   string
	Threads     int
	Host        bool    // the host was measured
	Triad       float64 // GB/s of the host, NaN where it was not measured
	Device      string  // its name, or why there is none
	OnDevice    bool
	Copy        float64 // GB/s, read and written, of copies on the device
	Peers       []PeerState
	Shrunk      int // powers of two by which inputs are smaller than their names say
	MostScale   int
	Rows        []Row
	Chunks      []ChunkRow
	Growth      []GrowthPoint
	Interrupted bool
}

// table is the name of the table that a row belongs to.
func table(name string) string { first, _, _ := strings.Cut(name, " "); return first }

// columns lists the columns of times, ours first.
func (r *Report) columns() (list []string) {
	if r.Host {
		list = append(list, HostColumn)
	}
	if r.OnDevice {
		list = append(list, DeviceColumn)
	}
	for _, p := range r.Peers {
		list = append(list, p.Column)
	}
	return list
}

// byTable groups the rows, in the order in which tables first come.
func (r *Report) byTable() (groups [][]Row) {
	for _, row := range r.Rows {
		k := slices.IndexFunc(groups, func(g []Row) bool { return table(g[0].Name) == table(row.Name) })
		if k < 0 {
			groups, k = append(groups, nil), len(groups)
		}
		groups[k] = append(groups[k], row)
	}
	return groups
}

// curves are the points of growth by workflow and place, ascending in size.
func (r *Report) curves() map[string][]GrowthPoint {
	curves := map[string][]GrowthPoint{}
	for _, p := range r.Growth {
		for _, column := range []string{HostColumn, DeviceColumn} {
			if _, ok := p.Times[column]; ok {
				key := strings.TrimPrefix(p.Workflow, "growth ") + ", " + column
				curves[key] = append(curves[key], p)
			}
		}
	}
	for _, c := range curves {
		slices.SortFunc(c, func(x, y GrowthPoint) int { return cmp.Compare(x.Input.Entries, y.Input.Entries) })
	}
	return curves
}
