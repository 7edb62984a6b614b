// Route finds the quickest route between two crossings of a road network, with the streets along
// it.
//
//	go run ./examples/route [roads.gr from to]
//
// The file is one of DIMACS, or any other that hiveblas reads; values are travel times.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

func main() {
	roads, err := made(50)
	from, to := 0, 50*50-1
	if len(os.Args) == 4 {
		roads, _, err = graphio.ReadFile[float64](os.Args[1])
		var bad [2]error
		from, bad[0] = strconv.Atoi(os.Args[2])
		to, bad[1] = strconv.Atoi(os.Args[3])
		err = errors.Join(err, bad[0], bad[1])
	}
	if err == nil {
		err = run(os.Stdout, roads, from, to)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "route:", err)
		os.Exit(1)
	}
}

// made returns a town of side×side crossings with random times in both directions.
func made(side int) (*matrix.Matrix[float64], error) {
	g, err := generate.Grid(side, side)
	if err != nil {
		return nil, err
	}
	streets, err := generate.Matrix[bool](g, generate.Undirected())
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 9))
	n, _ := streets.Dims()
	b := matrix.NewBuilder[float64](n, n)
	for at := range streets.All() {
		b.Add(at.Row, at.Col, 1+9*r.Float64())
	}
	return b.Build(nil)
}

var errNoRoute = errors.New("there is no route")

// route returns the crossings of a quickest route, and its time: by the distances from the start:
// the distance of a crossing's predecessor and the street from it add up to the crossing's
// distance.
func route(roads *matrix.Matrix[float64], from, to int) (path []int, time float64, err error) {
	n, _ := roads.Dims()
	if to < 0 || to >= n {
		return nil, 0, fmt.Errorf("crossing %d: there are %d, from 0 on", to, n)
	}
	distance, err := apps.SSSP(roads, []int{from})
	if err != nil {
		return nil, 0, err
	}
	time, ok := distance.At(to)
	if !ok {
		return nil, 0, errNoRoute
	}
	ptr, before, times, err := roads.CSC()
	if err != nil {
		return nil, 0, err
	}
	seen := map[int]bool{} // against streets of time 0
	for at := to; ; {
		path = append(path, at)
		seen[at] = true
		if at == from {
			slices.Reverse(path)
			return path, time, nil
		}
		here, _ := distance.At(at)
		next := -1
		for p := ptr[at]; p < ptr[at+1]; p++ {
			u := int(before[p])
			if d, ok := distance.At(u); ok && d+times[p] == here && !seen[u] {
				next = u
				break
			}
		}
		if next < 0 {
			return nil, 0, errNoRoute
		}
		at = next
	}
}

// run writes the route.
func run(out io.Writer, roads *matrix.Matrix[float64], from, to int) error {
	path, time, err := route(roads, from, to)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d crossings in %.1f minutes\n%v\n", len(path), time, path)
	return nil
}
