// Package peers runs the libraries that hiveblas is measured against, on the same inputs and under
// the same rules: SuiteSparse:GraphBLAS (a C program, one directory down) and SciPy (a Python
// program) as co-processes, and james-bowman/sparse inside this process.
//
// A [Peer] loads raw files by name and runs cases on them. One run is one timed execution into a
// fresh result, finished and sorted within the time; it returns a [Result] with a check figure that
// the caller compares with its own, so that no two contenders are ever compared on different
// answers. The rules of the check figures and the inputs that are not read from files (the dense
// vector, the frontiers, the mask, the permutation) are in shared.go.
//
//	peer, err := peers.Start(ctx, peers.SuiteSparse)
//	if errors.Is(err, peers.ErrMissing) { … } // the error's text says how to get it
//	defer peer.Close()
//	err = peer.Load("rmat", "rmat.hbcsr")
//	result, err := peer.Run("tricount", "rmat")
package peers

import (
	"context"
	"errors"
	"fmt"
)

// Result is the report of one timed run.
type Result struct {
	// Ms is the wall time of the run in milliseconds, measured by the peer itself.
	Ms float64
	// Check is the figure by which results are compared; see [MatrixCheck] and [VectorCheck].
	Check float64
	// Extra holds further figures by name: "nvals" entries of the result, "prep" milliseconds of a
	// triangle count before its product, "iterations", "components", ….
	Extra map[string]float64
}

// Peer is a library under measurement. A Peer belongs to one goroutine.
type Peer interface {
	// Name says which library and version this is.
	Name() string
	// Threads is the number of threads a run uses.
	Threads() int
	// Has says whether the peer can run a case.
	Has(name string) bool
	// Load reads a file written by [WriteGraph] or [WriteTuples] and keeps it under a name, in
	// place of an older one.
	Load(name, path string) error
	// Free frees the input of a name.
	Free(name string) error
	// Run runs a case once on the input of a name, with the case's further arguments.
	Run(name, on string, args ...string) (Result, error)
	// Close ends the peer.
	Close() error
}

// Kind selects a peer for [Start].
type Kind string

// The peers.
const (
	SuiteSparse Kind = "suitesparse"
	SciPy       Kind = "scipy"
	JamesBowman Kind = "james-bowman"
	NetworkX    Kind = "networkx"
	IGraph      Kind = "igraph" // with leidenalg where it is installed
	Flows       Kind = "flows"  // libmaxflow, and the serial fused lasso
	Torch       Kind = "torch"  // PyTorch on the host
)

// Kinds lists the peers that have operations; [NetworkX], [IGraph], [Flows] and [Torch]
// have workflows only.
var Kinds = []Kind{SuiteSparse, SciPy, JamesBowman}

// Start starts a peer. A co-process is killed when ctx ends; a nil ctx never ends. When the
// peer is not installed the
// error is a [*MissingError].
func Start(ctx context.Context, kind Kind) (Peer, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	switch kind {
	case SuiteSparse:
		return startSuiteSparse(ctx)
	case SciPy:
		return startSciPy(ctx)
	case NetworkX:
		return startNetworkX(ctx)
	case IGraph:
		return startIGraph(ctx)
	case Flows:
		return startFlows(ctx)
	case Torch:
		return startTorch(ctx)
	case JamesBowman:
		return newBowman(), nil
	}
	return nil, fmt.Errorf("peers: no peer is called %q: there are %q", kind, append(Kinds[:len(Kinds):len(Kinds)], NetworkX, IGraph, Flows, Torch))
}

// ErrDied is what a [*DiedError] is, for errors.Is.
var ErrDied = errors.New("peer died")

// DiedError says that the process of a peer ended during a command. The next command starts it
// again, with the inputs it had.
type DiedError struct {
	Kind    Kind
	Command string
	Err     error  // of the pipe to it
	Stderr  string // the end of its messages
}

func (e *DiedError) Error() string {
	return fmt.Sprintf("peers: %s died on %q: %v: %s", e.Kind, e.Command, e.Err, e.Stderr)
}

// Is makes errors.Is(err, ErrDied) true.
func (e *DiedError) Is(target error) bool { return target == ErrDied }

// Unwrap returns the error of the pipe.
func (e *DiedError) Unwrap() error { return e.Err }

// ErrMissing is what a [*MissingError] is, for errors.Is.
var ErrMissing = errors.New("peer is not installed")

// MissingError says that a peer cannot be started here, and the remedy.
type MissingError struct {
	Kind   Kind
	Reason string
	Remedy string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("peers: %s: %s: %s", e.Kind, e.Reason, e.Remedy)
}

// Is makes errors.Is(err, ErrMissing) true.
func (e *MissingError) Is(target error) bool { return target == ErrMissing }
