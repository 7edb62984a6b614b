// Schedule adds a schedule and a layout of one's own to the kernels of a GPU: the text of
// strided.cu, in which a thread takes a row, and the text of sliced.cu, which stores groups of 32
// rows column by column. Their products equal the products by the built-in schedule vm, bit for
// bit.
//
//	go run ./examples/schedule
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

//go:embed strided.cu
var text string

//go:embed sliced.cu
var layoutText string

func main() {
	dev, err := cusparse.Open(0)
	if err != nil {
		fmt.Println("no GPU:", err)
		return
	}
	err = run(os.Stdout, dev, 18)
	if err == nil {
		err = tune(os.Stdout, dev, 18)
	}
	dev.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "schedule:", err)
		os.Exit(1)
	}
}

// graph draws an R-MAT graph of 2^scale vertices with weights.
func graph(scale int) (*matrix.Matrix[float64], error) {
	edges, err := generate.RMAT(scale, 16<<scale, generate.RMATOptions{Seed: 1})
	if err != nil {
		return nil, err
	}
	return generate.Matrix[float64](edges, generate.Undirected(), generate.Simple())
}

// registered adds the schedule and the layout, at the first call.
func registered() (schedule space.Schedule, layout space.Layout, err error) {
	own, err := space.ReadOwn(text)
	if err != nil {
		return 0, 0, err
	}
	if schedule, err = space.Register(own); err != nil {
		return 0, 0, err
	}
	rows, err := space.ReadOwnLayout(layoutText)
	if err != nil {
		return 0, 0, err
	}
	layout, err = space.RegisterLayout(rows)
	return schedule, layout, err
}

// run multiplies by the schedule and by vm in four layouts.
func run(out io.Writer, dev *cusparse.Device, scale int) error {
	if _, _, err := registered(); err != nil {
		return err
	}
	g, err := graph(scale)
	if err != nil {
		return err
	}
	n, _ := g.Dims()
	x, err := matrix.NewFullVector(n, 1.5)
	if err != nil {
		return err
	}
	if err := g.Move(dev); err != nil {
		return err
	}
	for _, layout := range []string{"csr", "ell", "sell", "sliced"} {
		var results []*matrix.Vector[float64]
		for _, schedule := range []string{"strided", "vm"} {
			w := matrix.NewVector[float64](n, matrix.On(dev))
			plan := ops.Method("pull " + layout + " " + schedule)
			if err := ops.MxV(w, semiring.PlusTimes[float64](), g, x, ops.Using(plan)); err != nil {
				return err
			}
			results = append(results, w)
		}
		fmt.Fprintf(out, "pull %s strided equals pull %s vm: %t\n", layout, layout, results[0].Equal(results[1]))
	}
	return nil
}

// tune searches the space with the schedule and the layout in it, checks their results, and prints
// the best plan of each.
func tune(out io.Writer, dev *cusparse.Device, scale int) error {
	own, layout, err := registered()
	if err != nil {
		return err
	}
	g, err := graph(scale)
	if err != nil {
		return err
	}
	found, err := cusparse.Tune(context.Background(), dev, g, cusparse.TuneOptions{Dry: true, Budget: time.Minute})
	if err != nil {
		return err
	}
	best := func(is func(p space.Plan) bool) {
		for place, t := range found.Ranking {
			if is(t.Plan) {
				fmt.Fprintf(out, "%s takes %v (%v), place %d of %d; %s takes %v\n", t.Plan, t.Time, t.Err, place+1, len(found.Ranking), found.Chosen.Plan, found.Chosen.Time)
				return
			}
		}
	}
	best(func(p space.Plan) bool { return p.Schedule == own })
	best(func(p space.Plan) bool { return p.Layout == layout })
	return nil
}
