package peers

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// A flow of 5 from 2 to 3: 3 through vertex 0 (1 of them goes on through 1), and 2 through 1.
func TestFlows(t *testing.T) {
	t.Parallel()
	p, err := Start(context.Background(), Flows)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dir := t.TempDir()
	graph := filepath.Join(dir, "net")
	g := &gen.Graph{NRows: 4, NCols: 4, Ptr: []int64{0, 2, 3, 5, 5}, Idx: []int32{1, 3, 3, 0, 1}}
	sure.Do(WriteGraph(graph, g, []float64{7, 2, math.Inf(1), 3, 2}), p.Load("net", graph))
	if r, err := p.Run("maxflow", "net", "2", "3"); err != nil || r.Check != 5 {
		t.Errorf("a flow of %v, want 5 (%v)", r.Check, err)
	}
	if !p.Has("fusedlasso") {
		return // its source is not beside the checkout
	}
	// Two vertices, y = 0 and 4, λ₁ = 1: b = 1 and 3, ½ + ½ + 2.
	values, pair := filepath.Join(dir, "values"), filepath.Join(dir, "pair")
	y := binary.LittleEndian.AppendUint64(nil, math.Float64bits(0))
	y = binary.LittleEndian.AppendUint64(y, math.Float64bits(4))
	two := &gen.Graph{NRows: 2, NCols: 2, Ptr: []int64{0, 1, 1}, Idx: []int32{1}}
	sure.Do(os.WriteFile(values, y, 0o666), WriteGraph(pair, two, nil), p.Load("pair", pair))
	for _, name := range []string{"fusedlasso", "fusedlasso_split"} {
		if r, err := p.Run(name, "pair", "1", values); err != nil || math.Abs(r.Check-3) > 1e-12 || r.Extra["regions"] != 2 {
			t.Errorf("%s: objective %v of %v regions, want 3 of 2 (%v)", name, r.Check, r.Extra["regions"], err)
		}
	}
	if _, err := p.Run("maxflow", "none", "0", "1"); err == nil {
		t.Error("a graph that is not loaded is accepted")
	}
}
