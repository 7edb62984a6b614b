package components

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// rankForest is a forest over all vertices on one rank; the edges of the own rows join its trees.
// Each vertex is a root or the child of one after each method.
type rankForest interface {
	// sample joins trees along the first two edges of the rows.
	sample() error
	// link joins trees along all edges. If skip is set, all ranks have the same forest, and the
	// rows of vertices in a large tree are skipped: an edge that leads out of it is in another row,
	// too.
	link(skip bool) error
	// forest returns the parents of all vertices, and memory for the parents on another rank. join
	// joins each vertex with its parent on that rank.
	forest() (own, other comm.Buffer)
	join() error
	// changes returns how many roots link has made children, and lists them if they are at most so
	// many. lists returns memory for so many changes of all ranks and the own ones. joinChanges
	// joins each of these roots with its label.
	changes(most int64) (int64, error)
	lists(all, own int64) (whole, mine comm.Buffer)
	joinChanges(all int64) error
	// finish counts components and the vertices of the largest, and makes the labels of the own
	// vertices.
	finish() (count int, largest int64, labels workflow.Block, err error)
}

// A forestChange is a former root with its label, hb_cc_change in kernels/cc.cu.
type forestChange struct{ root, label int32 }

// changesOf is the part of the vertices up to which ranks send the roots that have changed, 8 bytes
// each, and not the labels of all, 4 bytes each.
const changesOf = 16

// rowsComponents is ConnectedComponents on a group by rows: each rank joins trees along the edges
// of its rows, and then with the forests of the others, which are 4 bytes a vertex. If the graph is
// known to be undirected, ranks exchange forests after a sample of the edges, then skip the rows of
// the largest component, and exchange the roots that have changed.
func rowsComponents(w *workflow.Division, a *matrix.View[bool], n int, o ComponentsOptions) (*Components, error) {
	workflow.Report(o.Run, "connected components", 0, 0)
	if a.Inside().Transposed { // directions do not matter
		a = a.T()
	}
	undirected := access.Symmetric(a)
	rows, err := w.CutRows(a.Inside())
	if err != nil {
		return nil, err
	}
	out := &Components{Label: matrix.NewVector[int32](n, matrix.On(w.Group))}
	err = w.RunRows(rows, []rep.View{out.Label.Inside()}, func(k int, c comm.Comm, s *device.Session, in []device.Operand) ([]workflow.Block, error) {
		lo, hi := w.Own(c)
		var f rankForest
		if s == nil { // the ranks agree when a run ends
			f = newHostForest(workflow.RowsOf(matrix.ViewOf[bool](rows[0][k])), n, lo, hi-lo, workflow.Run{Threads: w.Run.Threads})
		} else {
			f = &deviceForest{s: s, operand: in[0], n: n, lo: lo, own: hi - lo}
		}
		if err := joinForests(w, c, f, n, undirected); err != nil {
			return nil, err
		}
		count, largest, labels, err := f.finish()
		if k == 0 {
			out.Count, out.Largest = count, largest
		}
		return []workflow.Block{labels}, err
	})
	if err = w.Failed(err); err != nil {
		return nil, err
	}
	w.Traced(a.NVals(), int64(n), 0)
	return out, nil
}

// joinForests joins the trees of one rank along all edges of the graph.
func joinForests(w *workflow.Division, c comm.Comm, f rankForest, n int, undirected bool) error {
	if err := f.sample(); err != nil {
		return err
	}
	if !undirected {
		if err := f.link(false); err != nil {
			return err
		}
		return exchangeForest(w, c, f)
	}
	if err := exchangeForest(w, c, f); err != nil {
		return err
	}
	if err := f.link(true); err != nil {
		return err
	}
	most := int64(n / changesOf)
	own, err := f.changes(most)
	if err != nil {
		return err
	}
	all, err := spmd.Tell(w.Session, c, own)
	if err != nil {
		return err
	}
	if slices.Max(all) > most {
		return exchangeForest(w, c, f)
	}
	counts, sum := make([]int, len(all)), int64(0)
	for r, x := range all {
		counts[r] = 8 * int(x)
		sum += x
	}
	if sum == 0 {
		return nil
	}
	whole, mine := f.lists(sum, own)
	if err := c.AllGatherV(w.Wait, whole, counts, mine); err != nil {
		return err
	}
	return f.joinChanges(sum)
}

// exchangeForest joins the forests of all ranks, so that all have the same trees.
func exchangeForest(w *workflow.Division, c comm.Comm, f rankForest) error {
	for root := range c.Size() {
		own, other := f.forest()
		if root == c.Rank() {
			other = own
		}
		if err := c.Broadcast(w.Wait, other, root); err != nil {
			return err
		}
		if root != c.Rank() {
			if err := f.join(); err != nil {
				return err
			}
		}
	}
	return nil
}

// deviceForest is a forest on a device.
type deviceForest struct {
	s          *device.Session
	operand    device.Operand
	n, lo, own int

	rows                            device.View
	code                            device.Code
	grid, block                     [3]uint32
	label                           device.View
	other, size, state, mine, whole device.Buffer
}

func (f *deviceForest) launch(kernel string, args ...any) {
	f.s.Launch(f.s.Kernel(f.code, kernel), f.grid, f.block, 0, args...)
}

// compressed makes each vertex a child of its root.
func (f *deviceForest) compressed() error {
	f.launch("hb_cc_compress", int32(f.n), f.label.Val)
	f.s.Sync()
	return f.s.Err()
}

func (f *deviceForest) sample() error {
	s := f.s
	f.operand.Pattern = true
	f.rows = s.Rows(f.operand)
	f.code = s.Program("apps: cc", ccProgram)
	f.grid, f.block = workflow.ResidentGrid(s, s.Kernel(f.code, "hb_cc_link"))
	f.label, f.other = s.NewFull(1, f.n, workflow.Int32Type), s.Alloc(4*int64(f.n))
	f.size, f.state = s.Alloc(4*int64(f.n)), s.Alloc(8*workflow.GraphState)
	f.launch("hb_cc_start", int32(f.n), int32(f.lo), int32(f.own), f.rows.Ptr, f.rows.Idx, f.label.Val, f.size, f.state)
	f.launch("hb_cc_compress", int32(f.n), f.label.Val)
	f.launch("hb_cc_sample", int32(f.lo), int32(f.own), f.rows.Ptr, f.rows.Idx, f.label.Val)
	return f.compressed()
}

// guess finds the label of a large tree.
func (f *deviceForest) guess() {
	f.s.Blocks(f.s.Kernel(f.code, "hb_cc_guess"), 1, ccSample, int32(f.n), f.label.Val, f.state)
}

func (f *deviceForest) link(skip bool) error {
	seen := f.label.Val
	if skip {
		seen = f.other
		f.guess()
		f.s.Copy(f.other, f.label.Val, 4*int64(f.n))
	}
	f.launch("hb_cc_link", int32(f.lo), int32(f.own), f.rows.Ptr, f.rows.Idx, f.label.Val, seen, f.state, skip)
	return f.compressed()
}

func (f *deviceForest) forest() (own, other comm.Buffer) {
	return workflow.DeviceBytes(f.label.Val, 4*f.n), workflow.DeviceBytes(f.other, 4*f.n)
}

func (f *deviceForest) join() error {
	f.launch("hb_cc_join", int32(f.n), f.other, f.label.Val)
	return f.compressed()
}

func (f *deviceForest) changes(most int64) (int64, error) {
	result, at := f.s.Results()
	f.mine = f.s.Alloc(8 * max(most, 1))
	f.launch("hb_cc_changes", int32(f.n), f.other, f.label.Val, most, f.mine, f.s.Zeros(16), at)
	f.s.Sync()
	return result[0], f.s.Err()
}

func (f *deviceForest) lists(all, own int64) (whole, mine comm.Buffer) {
	f.whole = f.s.Alloc(8 * all)
	return workflow.DeviceBytes(f.whole, int(8*all)), workflow.DeviceBytes(f.mine, int(8*own))
}

func (f *deviceForest) joinChanges(all int64) error {
	f.launch("hb_cc_join_changes", all, f.whole, f.label.Val)
	return f.compressed()
}

func (f *deviceForest) finish() (count int, largest int64, labels workflow.Block, err error) {
	s := f.s
	result, at := s.Results()
	f.guess()
	f.launch("hb_cc_count", int32(f.n), f.label.Val, f.size, f.state, at)
	own := s.NewFull(1, f.own, workflow.Int32Type)
	s.Copy(own.Val, f.label.Val.At(4*int64(f.lo)), 4*int64(f.own))
	s.Sync()
	return int(result[0]), result[1], workflow.Block{Home: s.Result(own, int64(f.own))}, s.Err()
}
