package train

import (
	"github.com/hiveblas/hiveblas/apps/sage/internal/byops"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// trainPipeline is a training in operations where the graph lives: the layers, gradients and steps
// of byops. Random numbers are drawn on the host, the numbers of the other forms: the choice of
// neighbours, dropout, pairs and the order of batches. The host also compares epochs.
type trainPipeline struct {
	*byops.Net
	t        *sageTrainer
	place    matrix.Place
	features *byops.Matrix
}

// newPipeline moves the features to a place.
func newPipeline(t *sageTrainer, place matrix.Place) *trainPipeline {
	p := &trainPipeline{Net: byops.New(t.net, place, t.o.Run), t: t, place: place}
	p.features = p.Input(t.x)
	return p
}

// gradients computes the loss of targets and the gradients of the parameters.
func (p *trainPipeline) gradients(targets []int32, pairs []sagePair) (loss float64, right int, err error) {
	t, step := p.t, uint64(p.t.state.steps)
	all := t.usesAllVertices(len(targets))
	var blocks []*neural.Block[float32]
	list, h := targets, p.features
	var sources []int32 // nil for all
	if all {
		blocks = t.blocks()
	} else {
		if blocks, sources, err = sampled.TreesOf[float32](t.graph, targets, step, len(t.net.Layers), t.o.Samples); err != nil {
			return 0, 0, err
		}
		h, list = p.Rows(h, sources), nil
	}
	tapes, masks := make([]*byops.Tape, len(blocks)), make([]*byops.Matrix, len(blocks))
	for k, b := range blocks {
		if masks[k], err = p.mask(k, h, sources, step); err != nil {
			return 0, 0, err
		}
		tapes[k] = p.Layer(k, p.Drop(h, masks[k]), b)
		h = tapes[k].Out
	}
	var g *byops.Matrix
	if t.classes != nil {
		loss, right, g = p.CrossEntropy(h, list, t.classesOf(targets))
	} else {
		a, b, weight := make([]int32, len(pairs)), make([]int32, len(pairs)), make([]float32, len(pairs))
		for k, of := range pairs {
			a[k], b[k], weight[k] = of.a, of.b, float32(of.weight)
			if all {
				a[k], b[k] = targets[of.a], targets[of.b]
			}
		}
		like := t.likeness()
		loss, g = p.Alike(h, a, b, weight, alikeCount(pairs), like.scale, like.shift)
	}
	for k := len(tapes) - 1; k >= 0 && p.OK(); k-- {
		if g = p.Back(k, tapes[k], g); k > 0 {
			g = p.Drop(g, masks[k])
		}
	}
	return loss, right, p.Err()
}

// mask returns the factors of dropout of the rows h that enter layer k, nil without dropout.
func (p *trainPipeline) mask(k int, h *byops.Matrix, vertices []int32, step uint64) (*byops.Matrix, error) {
	o := p.t.o
	rows, cols := h.Dims()
	st := &sparse.Typed[float32]{Structure: sparse.Structure{NRows: rows, NCols: cols, Format: sparse.Full, NVals: int64(rows) * int64(cols)}}
	if k == 0 && p.t.x.Sparse != nil {
		x, err := p.t.x.Only(vertices)
		if err != nil {
			return nil, err
		}
		st.Structure = x.Sparse.Structure
	}
	d := neural.Dropout{Share: o.Dropout, Seed: o.Seed ^ dropoutSeed, Step: step, Layer: k}
	kept, err := neural.DropOn(d, make([]float32, st.NVals), vertices, rows, cols, st.Ptr, st.Idx, o.Run)
	if kept == nil || err != nil {
		return nil, err
	}
	st.Val = kept
	mask := access.FromStore(st)
	return mask, mask.Move(p.place)
}

// embeddings returns the embeddings of all vertices with all neighbours, by the weights of the
// host.
func (p *trainPipeline) embeddings() (z neural.Panel[float32], err error) {
	p.Load()
	h := p.features
	for k, b := range p.t.blocks() {
		h = p.Layer(k, h, b).Out
	}
	if p.Do(h.Fetch()) {
		z = neural.AsPanel(h)
	}
	return z, p.Err()
}
