package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/layered"
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
	d, graph, err := workflow.DivideGraph(o.Run, app, g, 0, func(d *workflow.Division) bool {
		return workflow.Fits(d, features) && (d.Devices || o.Precision == SAGEFloat32)
	})
	if d == nil || err != nil {
		return nil, err
	}
	workflow.Report(o.Run, app, 0, int64(n))
	s := &sageDivision{Division: d, app: app, graph: graph, features: features, model: model, net: net, n: n, o: o, rows: n}
	if o.Vertices != nil {
		s.rows = len(o.Vertices)
	}
	if o.Vertices != nil || !d.Devices {
		s.list = sampled.NumbersOrAll(o.Vertices, n)
	}
	var at *sampled.Graph // of all ranks on the host
	err = d.Shared(func(all workflow.Run) (err error) {
		at, err = sampled.NewGraph(app, graph[0], all, sampled.Rule(o.Sampling), o.Replace, o.Seed, net.Aggregator)
		return err
	})
	if err != nil {
		return nil, err
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
	nets := make([]*neural.Net[float32], len(ranks))
	for k := range nets {
		var err error
		if nets[k], err = netOf(s.app, s.model, s.net.Layers[0].Input()); err != nil {
			return err
		}
	}
	t := layered.New(s.Division, at, rows, s.o.Samples, func(k int) *neural.Net[float32] { return nets[k] })
	features, err := access.Blocks(s.features, rep.Query{Group: s.Group, Context: s.Wait, Cuts: workflow.AsInts(rows)})
	if err != nil {
		return err
	}
	err = s.Apart(func(k int, _ comm.Comm, _ workflow.Run) (err error) {
		t.Members[k].X, err = sampled.FeaturesOf(features[k], len(t.Members[k].Vertices))
		return err
	})
	if err == nil {
		err = t.Forward(layered.Pass{Sampled: true, Whole: func() *neural.Block[float32] { return sampled.WholeBlock[float32](at) }})
	}
	if err != nil {
		return err
	}
	if s.o.Vertices == nil {
		s.cuts = rows
	} else {
		for k, c := range ranks {
			t.Place(c, t.Members[k], neural.Near[float32]{Panel: t.Members[k].Last()}, false)
		}
		if err := t.Gather(); err != nil {
			return err
		}
	}
	return s.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		r := t.Members[k]
		out := r.Last()
		if s.o.Vertices != nil { // rows of any rank
			part := s.list[s.cuts[c.Rank()]:s.cuts[c.Rank()+1]]
			out = neural.NewPanel[float32](len(part), out.Cols)
			for i, v := range part {
				copy(neural.Row(out, i), neural.Row(r.Near.Panel, int(v)))
			}
		}
		s.embeddings[k], s.facts[k] = neural.AsMatrix(out), []int64{int64(zeroRows(out, run.Threads)), 0}
		if s.net.Out != nil {
			s.logits[k] = neural.AsMatrix(r.Net.Classify(out, run))
		}
		return nil
	})
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
	s.Done(s.app, int64(s.n), work, res.Embeddings.NVals(), workflow.Imbalance(s.cuts))
	return res, nil
}
