// Package layered computes the layers of GraphSAGE for all vertices on the host, divided among the
// ranks of a group: each rank has a range of the rows of every layer, and gives the others the
// products that their vertices read.
package layered

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/comm"
)

// A Team is the ranks of a group.
type Team struct {
	*workflow.Division
	Rows    []int64        // cuts of the vertices
	Graph   *sampled.Graph // of all ranks of this process
	Samples []int
	Members []*Member
}

// A Member is a rank of this process.
type Member struct {
	Net      *neural.Net[float32]
	Vertices []int32               // its rows
	X        neural.Input[float32] // features of its rows
	Tapes    []*neural.Tape[float32]
	Self     neural.Panel[float32] // products of the rows themselves, or their gradients
	Near     neural.Near[float32]  // products of all vertices that neighbours read

	whole *neural.Block[float32] // of its rows, with all neighbours; nil until it is needed
	room  []float32              // of Near, if it is not kept
}

// New returns a team with the rows of all vertices by these cuts. net returns the net of a member.
func New(d *workflow.Division, g *sampled.Graph, rows []int64, samples []int, net func(k int) *neural.Net[float32]) *Team {
	t := &Team{Division: d, Rows: rows, Graph: g, Samples: samples}
	every := sampled.NumbersOrAll(nil, g.N)
	for k, c := range d.Group.Ranks() {
		t.Members = append(t.Members, &Member{Net: net(k), Vertices: every[rows[c.Rank()]:rows[c.Rank()+1]]})
	}
	return t
}

// A Pass computes the rows of all layers.
type Pass struct {
	Step    uint64
	Sampled bool // by samples, else with all neighbours
	Keep    bool // a backward pass follows

	// Whole makes the block of all vertices with all neighbours.
	Whole func() *neural.Block[float32]
	// Enter changes the input of a layer; nil for none.
	Enter func(k, layer int, x *neural.Input[float32], run workflow.Run) error
}

// Forward makes a pass.
func (t *Team) Forward(p Pass) error {
	layers := len(t.Members[0].Net.Layers)
	for _, r := range t.Members {
		r.Net.Kept.Reset()
		r.Tapes = make([]*neural.Tape[float32], layers)
	}
	for layer := range layers {
		samples := sampled.SamplesOf(t.Samples, layers-1-layer)
		whole := !p.Sampled || samples < 0 && t.Graph.Sampling == sampled.Uniform
		if whole {
			t.blocks(p.Whole)
		}
		err := t.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
			r := t.Members[k]
			x, b := r.X, r.whole
			if layer > 0 {
				x = neural.Input[float32]{Full: r.Tapes[layer-1].Out}
			}
			if p.Enter != nil {
				if err := p.Enter(k, layer, &x, run); err != nil {
					return err
				}
			}
			if !whole {
				own := *t.Graph
				own.Run = run
				if b, err = sampled.ChosenOf[float32](&own, r.Vertices, p.Step, layer, samples); err != nil {
					return err
				}
			}
			r.Tapes[layer] = r.Net.NewTape(layer, x, b)
			own, near, err := r.Net.Products(layer, r.Tapes[layer], run)
			if err != nil {
				return err
			}
			r.Self = own
			t.Place(c, r, near, p.Keep)
			return nil
		})
		if err == nil {
			err = t.Gather()
		}
		if err == nil {
			err = t.Apart(func(k int, _ comm.Comm, run workflow.Run) error {
				r := t.Members[k]
				return r.Net.Combine(layer, r.Tapes[layer], r.Self, r.Near, run)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blocks makes the blocks of the ranks with all neighbours.
func (t *Team) blocks(whole func() *neural.Block[float32]) {
	if t.Members[0].whole != nil {
		return
	}
	b := whole()
	for k, c := range t.Group.Ranks() {
		lo, hi := int(t.Rows[c.Rank()]), int(t.Rows[c.Rank()+1])
		ptr, from, to := neural.PartOf(b.Ptr, lo, hi)
		own := &neural.Block[float32]{Targets: hi - lo, Sources: b.Sources, Ptr: ptr, Idx: b.Idx[from:to]}
		if b.Weight != nil {
			own.Weight = b.Weight[from:to]
		}
		t.Members[k].whole = own
	}
}

// Last returns the rows of the last layer.
func (r *Member) Last() neural.Panel[float32] { return r.Tapes[len(r.Tapes)-1].Out }

// Place puts the rows of a rank into the panel of all rows, which Gather completes. A panel that is
// not kept is overwritten by the next one.
func (t *Team) Place(c comm.Comm, r *Member, own neural.Near[float32], keep bool) {
	if cols := own.Cols - own.From; keep {
		r.Near = neural.Near[float32]{Panel: r.Net.Kept.Panel(t.Graph.N, cols)}
	} else {
		r.Near = neural.Near[float32]{Panel: neural.Grown(&r.room, t.Graph.N, cols)}
	}
	lo := int(t.Rows[c.Rank()])
	for v := range r.Vertices {
		copy(neural.Row(r.Near.Panel, lo+v), neural.Row(own.Panel, v)[own.From:])
	}
}

// Cells returns the numbers of each rank in a panel of the rows of all vertices.
func (t *Team) Cells(cols int) []int {
	counts := make([]int, t.Group.Size())
	for r := range counts {
		counts[r] = int(t.Rows[r+1]-t.Rows[r]) * cols
	}
	return counts
}

// Gather gives all ranks the rows of Near of each.
func (t *Team) Gather() error {
	cols := t.Members[0].Near.Cols
	if cols == 0 {
		return nil
	}
	return t.Each(func(k int, c comm.Comm) error {
		to := t.Members[k].Near.Val
		lo, hi := t.Rows[c.Rank()]*int64(cols), t.Rows[c.Rank()+1]*int64(cols)
		return c.AllGatherV(t.Wait, comm.Host(to), t.Cells(cols), comm.Host(to[lo:hi]))
	})
}
