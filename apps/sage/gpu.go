package sage

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

func init() { device.Describe("sage", ondevice.Programs) }

// fusedSAGE is GraphSAGE on a device: layers for all vertices. host chooses neighbours where the
// kernels do not; nil else.
func fusedSAGE(at device.Runner, a rep.View, features *matrix.View[float32], net *neural.Net[float32], n int, host *sampled.Graph, o SAGEOptions) (*SAGEResult, error) {
	g, err := a.Operand(at)
	if err != nil {
		return nil, err
	}
	_, cols := features.Dims()
	entries := features.NVals()
	dense := entries*4 > int64(n)*int64(cols)
	fed, err := ondevice.Feed(at, features, net, n, dense, o.FeatureMemory, device.Precision(o.Precision), o.Threads)
	if err != nil {
		return nil, err
	}
	var x device.Operand
	if fed == nil {
		if x, err = access.Operand(features, at); err != nil {
			return nil, err
		}
	}
	width := net.Layers[len(net.Layers)-1].Width()
	rows := o.embeds(n)
	res := &SAGEResult{}
	var found, scores device.Store
	ran := device.Ran{Method: "layers"}
	if host != nil {
		ran.Method = "layers, chosen on the host"
	}
	if o.PerSource {
		ran.Method = "own trees"
		if fed != nil && !net.AtOnce(0, ondevice.ItemsOf(device.Precision(o.Precision))) {
			return nil, &workflow.ParameterError{App: "GraphSAGE", Arg: "the features with PerSource", Got: "larger than the memory for them, for layers that gather them",
				Want: "more FeatureMemory, samples without PerSource, or the pipeline"}
		}
	}
	if fed != nil {
		res.Pieces = fed.Count()
		ran.Method += fmt.Sprintf(", features from the host in %d pieces", res.Pieces)
	}
	err = at.Run(workflow.Call(o.Run, "GraphSAGE"), func(s *device.Session) {
		g.Pattern = true
		d := ondevice.NewDevice(s, device.Precision(o.Precision), g, n)
		p := ondevice.Panel{Rows: n, Cols: cols, Fed: fed}
		if fed == nil {
			p = d.Features(x, n, cols, dense)
		}
		in := sageInputs{parts: []int{cols}, d: d}
		if !dense { // products of entries have no padding
			in = sageInputs{parts: []int{cols}, d: &ondevice.Device{Per: 1}}
		}
		var out device.View
		if o.PerSource {
			out = ownTrees(d, net, p, in, o, width)
		} else {
			out = allLayers(d, net, p, in, host, o, width)
		}
		if net.Out != nil {
			classes := net.Out.Value.Cols
			y := s.NewFull(rows, classes, workflow.FloatType)
			w := d.Floats(net.Out.Value.Val)
			s.Gemm(device.Gemm{M: rows, N: classes, K: width, A: out.Val, B: w, C: y.Val, StepA: width, StepB: classes, StepC: classes})
			s.Each(d.KernelOfAnyWidth("add"), int64(rows)*int64(classes), int64(rows), int32(classes), y.Val, d.Floats(net.Bias.Value.Val))
			scores = s.Result(y, int64(rows)*int64(classes))
		}
		if n > 0 {
			res.ZeroRows = int(s.Read(d.Zeros, 0))
		}
		found = s.Result(out, int64(rows)*int64(width))
	})
	if err != nil {
		return nil, err
	}
	res.Embeddings = matrix.New[float32](rows, width, matrix.On(at.Place()))
	access.SetRemote(res.Embeddings, found)
	if net.Out != nil {
		res.Logits = matrix.New[float32](rows, net.Out.Value.Cols, matrix.On(at.Place()))
		access.SetRemote(res.Logits, scores)
	}
	workflow.TraceRan(o.Run, at, "GraphSAGE", ran, int64(rows)*int64(width))
	return res, nil
}

// listed returns the numbers of the vertices to embed.
func listed(d *ondevice.Device, o SAGEOptions, rows int) device.Buffer {
	if o.Vertices != nil {
		return d.S.Ints(workflow.Numbers(o.Vertices))
	}
	return numbers(d, o.part.from, o.part.from+rows)
}

// numbers returns from … to−1 as a list.
func numbers(d *ondevice.Device, from, to int) device.Buffer {
	list := d.S.Alloc(4 * int64(max(to-from, 1)))
	d.S.Each(d.KernelOfAnyWidth("numbers"), int64(to-from), int64(to-from), int32(from), list)
	return list
}

// inputsOf says where the columns of the output of a layer stand.
func inputsOf(d *ondevice.Device, l *neural.Layer[float32]) sageInputs {
	in := sageInputs{parts: []int{l.Self.Value.Cols}, d: d}
	if l.Neighbour != nil {
		in.parts = append(in.parts, l.Neighbour.Value.Cols)
	}
	return in
}
