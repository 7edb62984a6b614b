package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
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
	app string, g rep.View, features matrix.View[float32], model *SAGEModel, net *sageNet[float32], n int, o SAGEOptions,
) (*SAGEResult, error) {
	d, err := workflow.Divide(o.Run, app, g.Place(), 0)
	if d == nil || err != nil || !g.Gatherable(d.G) || !workflow.Fits(d, features) || !d.Devices && o.Precision != SAGEFloat32 {
		return nil, err
	}
	workflow.Report(o.Run, app, 0, int64(n))
	graph, err := g.Replicas(d.Wait, d.G)
	if err != nil {
		return nil, err
	}
	s := &sageDivision{Division: d, app: app, graph: graph, features: features, model: model, net: net, n: n, o: o, rows: n}
	if o.Vertices != nil {
		s.rows = len(o.Vertices)
	}
	if o.Vertices != nil || !d.Devices {
		s.list = numbersOrAll(o.Vertices, n)
	}
	var at *sageGraph // of all ranks on the host
	if !d.Devices {
		err := d.Alone(func() (err error) {
			all := o.Run
			all.Threads = d.Threads()
			at, err = newSageGraph(app, graph[0], all, o.Sampling, o.Replace, o.Seed, net.aggregator)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	work := int64(s.rows) * int64(s.width()+net.layers[0].input())
	// Cut by the neighbours that vertices read, trees of 25×10 of R-MAT 22 took 18.0 ms on four
	// H200s, and 14.3 by their number: a vertex without neighbours has its dense products too.
	s.cuts = workflow.CutEvenly(int64(s.rows), d.G.Size(), 1, workflow.LeastRange*int64(s.rows)/max(work, 1))
	s.embeddings, s.logits = make([]*matrix.Matrix[float32], len(graph)), make([]*matrix.Matrix[float32], len(graph))
	s.facts = make([][]int64, len(graph))
	layers := at != nil && !o.PerSource && (o.Vertices == nil || treeSize(s.rows, o.Samples, at, len(net.layers)) >= float64(n))
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
	features           matrix.View[float32]
	model              *SAGEModel
	net                *sageNet[float32]
	n                  int
	o                  SAGEOptions
	rows               int     // the vertices to embed
	list               []int32 // their numbers, nil for all on devices
	cuts               []int64 // of these
	embeddings, logits []*matrix.Matrix[float32]
	facts              [][]int64 // rows without a positive component, pieces
}

// width returns the columns of embeddings.
func (s *sageDivision) width() int { return s.net.layers[len(s.net.layers)-1].width() }

// byVertices computes the embeddings of ranges of the vertices as one place does.
func (s *sageDivision) byVertices() error {
	features, err := workflow.Replicas(s.Division, s.features)
	if err != nil {
		return err
	}
	return s.Each(func(k int, c comm.Comm, run workflow.Run) error {
		from, to := s.cuts[c.Rank()], s.cuts[c.Rank()+1]
		if from == to {
			at := matrix.On(s.PlaceOf(k))
			s.embeddings[k], s.facts[k] = matrix.New[float32](0, s.width(), at), []int64{0, 0}
			if s.net.out != nil {
				s.logits[k] = matrix.New[float32](0, s.net.out.value.Cols, at)
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
func (s *sageDivision) byLayers(at *sageGraph) error {
	rows := workflow.CutEvenly(int64(s.n), s.G.Size(), 1, 1)
	ranks := s.G.Ranks()
	nets, inputs := make([]*sageNet[float32], len(ranks)), make([]sageInput[float32], len(ranks))
	every, vertices := numbersOrAll(nil, s.n), make([][]int32, len(ranks)) // those of each rank
	for k, c := range ranks {
		var err error
		if nets[k], err = netOf(s.app, s.model, s.net.layers[0].input()); err != nil {
			return err
		}
		vertices[k] = every[rows[c.Rank()]:rows[c.Rank()+1]]
	}
	var whole *sageBlock[float32]
	features, err := access.Blocks(s.features, rep.Query{Group: s.G, Context: s.Wait, Cuts: workflow.AsInts(rows)})
	if err != nil {
		return err
	}
	err = s.Each(func(k int, _ comm.Comm, _ workflow.Run) (err error) {
		inputs[k], err = featuresOf(features[k], len(vertices[k]))
		return err
	})
	if err != nil {
		return err
	}
	tapes, xs, nears := make([]*sageTape[float32], len(ranks)), make([]panel[float32], len(ranks)), make([]sageNear[float32], len(ranks))
	for layer := range s.net.layers {
		samples := samplesOf(s.o.Samples, len(s.net.layers)-1-layer)
		all := samples < 0 && at.sampling == SampleUniform
		if all && whole == nil {
			whole = wholeBlock[float32](at)
		}
		err := s.Each(func(k int, c comm.Comm, run workflow.Run) (err error) {
			var b *sageBlock[float32]
			if all {
				lo, hi := rows[c.Rank()], rows[c.Rank()+1]
				b = &sageBlock[float32]{targets: int(hi - lo), sources: s.n, ptr: whole.ptr[lo : hi+1], idx: whole.idx, weight: whole.weight}
			} else {
				own := *at
				own.run = run
				if b, err = chosenOf[float32](&own, vertices[k], 0, layer, samples); err != nil {
					return err
				}
			}
			tapes[k] = nets[k].newTape(layer, inputs[k], b)
			xs[k], nears[k], err = nets[k].products(layer, tapes[k], run)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.gatherRows(nears, rows); err != nil {
			return err
		}
		err = s.Each(func(k int, _ comm.Comm, run workflow.Run) error {
			inputs[k] = sageInput[float32]{full: tapes[k].out}
			return nets[k].combine(layer, tapes[k], xs[k], nears[k], run)
		})
		if err != nil {
			return err
		}
	}
	out := make([]panel[float32], len(ranks))
	for k := range out {
		out[k] = inputs[k].full
	}
	if s.o.Vertices != nil { // rows of any rank, as often as they are asked for
		all := make([]sageNear[float32], len(ranks))
		for k := range all {
			all[k].panel = out[k]
		}
		if err := s.gatherRows(all, rows); err != nil {
			return err
		}
		for k, c := range ranks {
			part := s.list[s.cuts[c.Rank()]:s.cuts[c.Rank()+1]]
			out[k] = newPanel[float32](len(part), all[k].Cols)
			for i, v := range part {
				copy(row(out[k], i), row(all[k].panel, int(v)))
			}
		}
	} else {
		s.cuts = rows
	}
	return s.Each(func(k int, _ comm.Comm, run workflow.Run) error {
		s.embeddings[k], s.facts[k] = asMatrix(out[k]), []int64{int64(zeroRows(out[k], run.Threads)), 0}
		if s.net.out != nil {
			s.logits[k] = asMatrix(nets[k].classify(out[k], run))
		}
		return nil
	})
}

// gatherRows replaces the rows of each rank by those of all, and the columns by those from one on.
func (s *sageDivision) gatherRows(near []sageNear[float32], rows []int64) error {
	width := near[0].Cols - near[0].from
	own, counts := make([][]float32, len(near)), make([]int, len(rows)-1)
	for k, x := range near {
		own[k] = x.Val[:x.Rows*x.Cols]
		if x.from > 0 {
			own[k] = make([]float32, 0, x.Rows*width)
			for v := range x.Rows {
				own[k] = append(own[k], row(x.panel, v)[x.from:]...)
			}
		}
	}
	for r := range counts {
		counts[r] = int(rows[r+1]-rows[r]) * width
	}
	all, err := workflow.GatherCounted(s.Division, own, counts)
	if err != nil {
		return err
	}
	for k := range near { // ranks of one process share them
		near[k] = sageNear[float32]{panel: panel[float32]{Rows: s.n, Cols: width, Val: all}}
	}
	return nil
}

// result makes the result of the parts of the ranks.
func (s *sageDivision) result(work int64) (*SAGEResult, error) {
	all, err := workflow.GatherEqual(s.Division, s.facts)
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
	if s.net.out != nil {
		if res.Logits, err = workflow.RowsOn(s.Division, s.rows, s.net.out.value.Cols, s.cuts, s.logits); err != nil {
			return nil, err
		}
	}
	s.Traced(work, res.Embeddings.NVals(), workflow.Unevenness(s.cuts, func(lo, hi int64) int64 { return hi - lo }))
	workflow.Report(s.o.Run, s.app, int64(s.n), int64(s.n))
	return res, nil
}
