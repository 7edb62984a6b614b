// Gpu searches a graph and ranks its vertices on a GPU, and on the host where there is none: the
// program is the same, because operations run where their matrices live.
//
//	go run ./examples/gpu
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

func main() {
	var place matrix.Place // nil is the host
	if dev, err := cusparse.Open(0); err == nil {
		defer dev.Close()
		place = dev
	} else {
		fmt.Println("no GPU:", err)
	}
	if err := run(os.Stdout, place, 16); err != nil {
		fmt.Fprintln(os.Stderr, "gpu:", err)
		os.Exit(1)
	}
}

// run draws an R-MAT graph of 2^scale vertices, moves it to a place, and works on it there.
func run(out io.Writer, place matrix.Place, scale int) error {
	edges, err := generate.RMAT(scale, 16<<scale, generate.RMATOptions{Seed: 1})
	if err != nil {
		return err
	}
	g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
	if err != nil {
		return err
	}
	err = g.Move(place)
	for _, cause := range []error{cusparse.ErrMemory, cusparse.ErrBusy, cusparse.ErrFailed} {
		if errors.Is(err, cause) { // by choice: the library never falls back by itself
			fmt.Fprintln(out, "on the host, because", err)
			place, err = nil, nil
		}
	}
	if err != nil {
		return err
	}
	where := "the host"
	if place != nil {
		where = place.String()
	}
	start := time.Now()
	search, err := apps.BFS(g, 0)
	if err != nil {
		return err
	}
	ranks, err := apps.PageRank(g)
	if err != nil {
		return err
	}
	vertices, _, err := ops.TopKVector(ranks.Rank, 3) // comes to the host
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d vertices reached, highest ranks %v\n", search.Level.NVals(), vertices)
	fmt.Fprintf(out, "%v on %s\n", time.Since(start).Round(time.Microsecond), where)
	return nil
}
