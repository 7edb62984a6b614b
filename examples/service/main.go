// Service answers questions about a graph over HTTP, each within a deadline: a request stops
// computing if it takes longer or its client leaves.
//
//	go run ./examples/service [graph.mtx] &
//	curl 'localhost:8080/near?from=5&timeout=100ms'
//	curl 'localhost:8080/important?top=3'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

func main() {
	g, err := made(1 << 16)
	if len(os.Args) > 1 {
		g, _, err = graphio.ReadFile[float64](os.Args[1])
	}
	var listener net.Listener
	if err == nil {
		listener, err = net.Listen("tcp", "localhost:8080")
	}
	if err == nil {
		err = run(os.Stdout, listener, g)
	}
	fmt.Fprintln(os.Stderr, "service:", err)
	os.Exit(1)
}

func made(n int) (*matrix.Matrix[float64], error) {
	g, err := generate.WattsStrogatz(n, 4, 0.1, 1)
	if err != nil {
		return nil, err
	}
	return generate.Matrix[float64](g, generate.Undirected(), generate.Simple())
}

// run serves until the listener is closed.
func run(out io.Writer, listener net.Listener, g *matrix.Matrix[float64]) error {
	fmt.Fprintf(out, "serving on http://%s\n", listener.Addr())
	server := &http.Server{Handler: handler(g), ReadHeaderTimeout: 5 * time.Second}
	return server.Serve(listener)
}

// slowest is the deadline of a request that names none.
const slowest = 2 * time.Second

// handler answers /near and /important. Any number of requests read the graph at once.
func handler(g *matrix.Matrix[float64]) http.Handler {
	mux := http.NewServeMux()
	answer := func(f func(ctx context.Context, number func(name string, otherwise int) (int, error)) (any, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			limit := slowest
			var err error
			if text := r.FormValue("timeout"); text != "" {
				limit, err = time.ParseDuration(text)
			}
			ctx, cancel := context.WithTimeout(r.Context(), limit)
			defer cancel()
			var result any
			if err == nil {
				result, err = f(ctx, func(name string, otherwise int) (int, error) {
					if r.FormValue(name) == "" {
						return otherwise, nil
					}
					return strconv.Atoi(r.FormValue(name))
				})
			}
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				http.Error(w, "the deadline passed; give a longer timeout", http.StatusGatewayTimeout)
			case err != nil:
				http.Error(w, err.Error(), http.StatusBadRequest)
			default:
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(result)
			}
		}
	}
	mux.HandleFunc("/near", answer(func(ctx context.Context, number func(string, int) (int, error)) (any, error) {
		from, err := number("from", 0)
		if err != nil {
			return nil, err
		}
		res, err := apps.BFS(g, from, apps.BFSOptions{Run: apps.Run{Context: ctx}})
		if err != nil {
			return nil, err
		}
		count := map[int32]int{} // vertices at each distance
		for _, d := range res.Level.All() {
			count[d]++
		}
		return count, nil
	}))
	mux.HandleFunc("/important", answer(func(ctx context.Context, number func(string, int) (int, error)) (any, error) {
		top, err := number("top", 10)
		if err != nil {
			return nil, err
		}
		res, err := apps.PageRank(g, apps.PageRankOptions{Run: apps.Run{Context: ctx}})
		if err != nil {
			return nil, err
		}
		vertices, ranks, err := ops.TopKVector(res.Rank, top)
		return map[string]any{"vertices": vertices, "ranks": ranks}, err
	}))
	return mux
}
