package report

import (
	"context"
	"errors"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// ProjectOptions are the options of Project.
type ProjectOptions struct {
	In, Out    string // files in the binary form
	Threads    int    // 0: one per core
	HostMemory uint64 // block by block within so many bytes; 0: in memory, then to the file
}

// Projected is what Project measures, in milliseconds.
type Projected struct {
	Entries   int64   `json:"entries"`
	Blocks    int     `json:"blocks"`
	Total     float64 `json:"total_ms"` // from the graph in memory to the file
	Plan      float64 `json:"plan_ms"`
	Computing float64 `json:"computing_ms"`
	Copying   float64 `json:"copying_ms"`
	Writing   float64 `json:"writing_ms"`
	Wall      float64 `json:"wall_ms"`
	Overlap   float64 `json:"overlap"`
	PeakRSS   uint64  `json:"peak_rss_bytes"` // of the process
}

// Project counts the shared neighbours of the columns of a graph, from file to file on the host. It
// runs in a process of its own, and reports the memory of the process.
func Project(ctx context.Context, o ProjectOptions) (*Projected, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if o.In == "" || o.Out == "" {
		return nil, errors.New("bench: In or Out is empty; give the names of two files")
	}
	a, _, err := graphio.ReadFile[float64](o.In)
	if err != nil {
		return nil, err
	}
	var p Projected
	with := apps.ProjectionOptions{Run: apps.Run{Context: ctx, Threads: o.Threads}, Weighting: apps.WeightCount}
	began := time.Now()
	if o.HostMemory > 0 {
		with.Blocks = []chunked.Option{chunked.HostMemory(o.HostMemory)}
		rep, err := apps.ProjectionTo(chunked.File[float64](o.Out), a, with)
		if err != nil {
			return nil, err
		}
		p.Entries, p.Blocks, p.Overlap = rep.Entries, rep.Blocks, rep.Overlap()
		p.Plan, p.Computing, p.Copying, p.Writing, p.Wall = tables.Ms(rep.Plan), tables.Ms(rep.Computing), tables.Ms(rep.Copying), tables.Ms(rep.Writing), tables.Ms(rep.Wall)
	} else {
		product, err := apps.Projection(a, with)
		if err != nil {
			return nil, err
		}
		p.Computing = tables.Ms(time.Since(began))
		if err := graphio.WriteFile(o.Out, product); err != nil {
			return nil, err
		}
		p.Entries, p.Wall = product.NVals(), tables.Ms(time.Since(began))
		p.Writing = p.Wall - p.Computing
	}
	p.Total, p.PeakRSS = tables.Ms(time.Since(began)), uint64(hostmem.PeakResident())
	return &p, nil
}
