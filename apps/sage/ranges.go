package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// sageByRanges divides the vertices of GraphSAGE among the ranks of a group. Where all layers are
// computed for all vertices on the host, each rank has a range of the rows, and gives the others
// the products that their neighbours read; features are read by their own rank alone. Else each
// rank computes the embeddings of a range of the vertices asked for. Embeddings stay on their rank.
// The result is nil if the vertices are not divided.
func sageByRanges(
	app string, g rep.View, features *matrix.View[float32], model *SAGEModel, net *neural.Net[float32], n int, o SAGEOptions,
) (*SAGEResult, error) {
	d, err := workflow.Divide(o.Run, app, g.Place(), 0)
	if d == nil || err != nil || !g.Gatherable(d.Group) || !workflow.Fits(d, features) || !d.Devices && o.Precision != SAGEFloat32 {
		return nil, err
	}
	workflow.Report(o.Run, app, 0, int64(n))
	graph, err := g.Replicas(d.Wait, d.Group)
	if err != nil {
		return nil, err
	}
	s := &sageDivision{Division: d, app: app, graph: graph, features: features, model: model, net: net, n: n, o: o, rows: n}
	if o.Vertices != nil {
		s.rows = len(o.Vertices)
	}
	if o.Vertices != nil || !d.Devices {
		s.list = sampled.NumbersOrAll(o.Vertices, n)
	}
	var at *sampled.Graph // of all ranks on the host
	if !d.Devices {
		err := d.Once(func() (err error) {
			all := o.Run
			all.Threads = d.Threads()
			at, err = sampled.NewGraph(app, graph[0], all, sampled.Rule(o.Sampling), o.Replace, o.Seed, net.GCN())
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	work := int64(s.rows) * int64(s.width()+net.Layers[0].Input())
	// Trees are cut by their number, not by the neighbours that vertices read: a vertex without
	// neighbours has its dense products too.
	s.cuts = spmd.CutEvenly(int64(s.rows), d.Group.Size(), 1, d.LeastRange()*int64(s.rows)/max(work, 1))
	s.embeddings, s.logits = make([]*matrix.Matrix[float32], len(graph)), make([]*matrix.Matrix[float32], len(graph))
	s.facts = make([][]int64, len(graph))
	layers := at != nil && !o.PerSource && (o.Vertices == nil || sampled.TreeSize(s.rows, o.Samples, at, len(net.Layers)) >= float64(n))
	if layers {
		err = s.byLayers(at)
	} else {
		err = s.byVertices()
	}
	if err != nil {
		return nil, err
	}
	return s.result(work)
}

// A sageDivision is a run of GraphSAGE by ranges.
type sageDivision struct {
	*workflow.Division
	app                string
	graph              []rep.View
	features           *matrix.View[float32]
	model              *SAGEModel
	net                *neural.Net[float32]
	n                  int
	o                  SAGEOptions
	rows               int     // the vertices to embed
	list               []int32 // their numbers, nil for all on devices
	cuts               []int64 // of these
	embeddings, logits []*matrix.Matrix[float32]
	facts              [][]int64 // rows without a positive component, pieces
}

// width returns the columns of embeddings.
func (s *sageDivision) width() int { return s.net.Layers[len(s.net.Layers)-1].Width() }

// byVertices computes the embeddings of ranges of the vertices as one place does.
func (s *sageDivision) byVertices() error {
	features, err := workflow.Replicas(s.Division, s.features)
	if err != nil {
		return err
	}
	return s.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		from, to := s.cuts[c.Rank()], s.cuts[c.Rank()+1]
		if from == to {
			at := matrix.On(s.PlaceOf(k))
			s.embeddings[k], s.facts[k] = matrix.New[float32](0, s.width(), at), []int64{0, 0}
			if s.net.Out != nil {
				s.logits[k] = matrix.New[float32](0, s.net.Out.Value.Cols, at)
			}
			return nil
		}
		own := s.o
		own.Run = run
		if s.list == nil {
			own.part.from, own.part.to = int(from), int(to)
		} else {
			own.Vertices = make([]int, 0, to-from)
			for _, v := range s.list[from:to] {
				own.Vertices = append(own.Vertices, int(v))
			}
		}
		res, err := graphSAGE(s.graph[k], features[k], s.model, []SAGEOptions{own})
		if err != nil {
			return err
		}
		s.embeddings[k], s.logits[k], s.facts[k] = res.Embeddings, res.Logits, []int64{int64(res.ZeroRows), int64(res.Pieces)}
		return nil
	})
}

// byLayers computes all layers for ranges of the rows, on the host.
func (s *sageDivision) byLayers(at *sampled.Graph) error {
	rows := spmd.CutEvenly(int64(s.n), s.Group.Size(), 1, 1)
	ranks := s.Group.Ranks()
	nets, inputs := make([]*neural.Net[float32], len(ranks)), make([]neural.Input[float32], len(ranks))
	every, vertices := sampled.NumbersOrAll(nil, s.n), make([][]int32, len(ranks)) // of each rank
	for k, c := range ranks {
		var err error
		if nets[k], err = netOf(s.app, s.model, s.net.Layers[0].Input()); err != nil {
			return err
		}
		vertices[k] = every[rows[c.Rank()]:rows[c.Rank()+1]]
	}
	var whole *neural.Block[float32]
	features, err := access.Blocks(s.features, rep.Query{Group: s.Group, Context: s.Wait, Cuts: workflow.AsInts(rows)})
	if err != nil {
		return err
	}
	err = s.Apart(func(k int, _ comm.Comm, _ workflow.Run) (err error) {
		inputs[k], err = sampled.FeaturesOf(features[k], len(vertices[k]))
		return err
	})
	if err != nil {
		return err
	}
	tapes, xs, nears := make([]*neural.Tape[float32], len(ranks)), make([]neural.Panel[float32], len(ranks)), make([]neural.Near[float32], len(ranks))
	for layer := range s.net.Layers {
		samples := sampled.SamplesOf(s.o.Samples, len(s.net.Layers)-1-layer)
		all := samples < 0 && at.Sampling == sampled.Uniform
		if all && whole == nil {
			whole = sampled.WholeBlock[float32](at)
		}
		err := s.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
			var b *neural.Block[float32]
			if all {
				lo, hi := rows[c.Rank()], rows[c.Rank()+1]
				b = &neural.Block[float32]{Targets: int(hi - lo), Sources: s.n, Ptr: whole.Ptr[lo : hi+1], Idx: whole.Idx, Weight: whole.Weight}
			} else {
				own := *at
				own.Run = run
				if b, err = sampled.ChosenOf[float32](&own, vertices[k], 0, layer, samples); err != nil {
					return err
				}
			}
			tapes[k] = nets[k].NewTape(layer, inputs[k], b)
			xs[k], nears[k], err = nets[k].Products(layer, tapes[k], run)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.gatherRows(nears, rows); err != nil {
			return err
		}
		err = s.Apart(func(k int, _ comm.Comm, run workflow.Run) error {
			inputs[k] = neural.Input[float32]{Full: tapes[k].Out}
			return nets[k].Combine(layer, tapes[k], xs[k], nears[k], run)
		})
		if err != nil {
			return err
		}
	}
	out := make([]neural.Panel[float32], len(ranks))
	for k := range out {
		out[k] = inputs[k].Full
	}
	if s.o.Vertices == nil {
		s.cuts = rows
	} else if err := s.chosenRows(out, rows); err != nil {
		return err
	}
	return s.Apart(func(k int, _ comm.Comm, run workflow.Run) error {
		s.embeddings[k], s.facts[k] = neural.AsMatrix(out[k]), []int64{int64(zeroRows(out[k], run.Threads)), 0}
		if s.net.Out != nil {
			s.logits[k] = neural.AsMatrix(nets[k].Classify(out[k], run))
		}
		return nil
	})
}

// chosenRows replaces the rows of each rank by the rows of the vertices that it is asked for, in
// their order, which may be rows of any rank.
func (s *sageDivision) chosenRows(out []neural.Panel[float32], rows []int64) error {
	all := make([]neural.Near[float32], len(out))
	for k := range all {
		all[k].Panel = out[k]
	}
	if err := s.gatherRows(all, rows); err != nil {
		return err
	}
	for k, c := range s.Group.Ranks() {
		part := s.list[s.cuts[c.Rank()]:s.cuts[c.Rank()+1]]
		out[k] = neural.NewPanel[float32](len(part), all[k].Cols)
		for i, v := range part {
			copy(neural.Row(out[k], i), neural.Row(all[k].Panel, int(v)))
		}
	}
	return nil
}

// gatherRows replaces the rows of each rank by the rows of all ranks, from column From on.
func (s *sageDivision) gatherRows(near []neural.Near[float32], rows []int64) error {
	width := near[0].Cols - near[0].From
	own, counts := make([][]float32, len(near)), make([]int, len(rows)-1)
	for k, x := range near {
		own[k] = x.Val[:x.Rows*x.Cols]
		if x.From > 0 {
			own[k] = make([]float32, 0, x.Rows*width)
			for v := range x.Rows {
				own[k] = append(own[k], neural.Row(x.Panel, v)[x.From:]...)
			}
		}
	}
	for r := range counts {
		counts[r] = int(rows[r+1]-rows[r]) * width
	}
	all, err := spmd.GatherAllV(s.Division.Session, own, counts)
	if err != nil {
		return err
	}
	for k := range near { // ranks of one process share them
		near[k] = neural.Near[float32]{Panel: neural.Panel[float32]{Rows: s.n, Cols: width, Val: all}}
	}
	return nil
}

// result makes the result of the parts of the ranks.
func (s *sageDivision) result(work int64) (*SAGEResult, error) {
	all, err := spmd.GatherAll(s.Division.Session, s.facts)
	if err != nil {
		return nil, err
	}
	res := &SAGEResult{}
	for r := 0; r < len(all); r += 2 {
		res.ZeroRows, res.Pieces = res.ZeroRows+int(all[r]), max(res.Pieces, int(all[r+1]))
	}
	if res.Embeddings, err = workflow.RowsOn(s.Division, s.rows, s.width(), s.cuts, s.embeddings); err != nil {
		return nil, err
	}
	if s.net.Out != nil {
		if res.Logits, err = workflow.RowsOn(s.Division, s.rows, s.net.Out.Value.Cols, s.cuts, s.logits); err != nil {
			return nil, err
		}
	}
	s.Traced(work, res.Embeddings.NVals(), spmd.Unevenness(s.cuts, func(lo, hi int64) int64 { return hi - lo }))
	workflow.Report(s.o.Run, s.app, int64(s.n), int64(s.n))
	return res, nil
}
