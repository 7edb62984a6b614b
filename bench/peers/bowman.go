package peers

import (
	"fmt"
	"time"

	"github.com/james-bowman/sparse"
)

// bowman runs github.com/james-bowman/sparse, on one goroutine as that library does. Its rows come
// out unsorted from products and sums; they are left so, since the library itself never needs them
// sorted.
type bowman struct {
	loaded map[string]*sparse.CSR
	ones   map[string]*sparse.CSR // the same patterns with all values one
}

func newBowman() Peer {
	return &bowman{loaded: map[string]*sparse.CSR{}, ones: map[string]*sparse.CSR{}}
}

// bowmanCases hold what each case times: a function of the graph, its pattern and the second graph.
var bowmanCases = map[string]func(a, ones, b *sparse.CSR) any{
	"spgemm_ss_f64": func(a, _, _ *sparse.CSR) any {
		var c sparse.CSR
		c.Mul(a, a)
		return &c
	},
	"ata_plus_pair": func(_, ones, _ *sparse.CSR) any {
		var c sparse.CSR
		c.Mul(ones.T().(*sparse.CSC).ToCSR(), ones)
		return &c
	},
	"transpose": func(a, _, _ *sparse.CSR) any {
		return a.T().(*sparse.CSC).ToCSR()
	},
	"ewiseadd": func(a, _, b *sparse.CSR) any {
		var c sparse.CSR
		c.Add(a, b)
		return &c
	},
	"spmv_f64": nil, // needs the dense vector, see Run
}

func (p *bowman) Name() string         { return "james-bowman/sparse" }
func (p *bowman) Threads() int         { return 1 }
func (p *bowman) Close() error         { return nil }
func (p *bowman) Has(name string) bool { _, ok := bowmanCases[name]; return ok }

func (p *bowman) Load(name, path string) error {
	g, val, err := ReadGraph(path)
	if err != nil {
		return err
	}
	ptr, idx, ones := make([]int, len(g.Ptr)), make([]int, len(g.Idx)), make([]float64, len(g.Idx))
	for i, v := range g.Ptr {
		ptr[i] = int(v)
	}
	for k, j := range g.Idx {
		idx[k], ones[k] = int(j), 1
	}
	if val == nil {
		val = ones
	}
	p.loaded[name] = sparse.NewCSR(g.NRows, g.NCols, ptr, idx, val)
	p.ones[name] = sparse.NewCSR(g.NRows, g.NCols, ptr, idx, ones)
	return nil
}

func (p *bowman) Free(name string) error {
	if p.loaded[name] == nil {
		return fmt.Errorf("peers: %s: no graph is called %s", JamesBowman, name)
	}
	delete(p.loaded, name)
	delete(p.ones, name)
	return nil
}

func (p *bowman) Run(name, on string, args ...string) (result Result, err error) {
	defer func() { // the library panics on shapes that do not fit
		if r := recover(); r != nil {
			err = fmt.Errorf("peers: %s: %s on %s: %v", JamesBowman, name, on, r)
		}
	}()
	if !p.Has(name) {
		return Result{}, fmt.Errorf("peers: %s: no case is called %s", JamesBowman, name)
	}
	a, b := p.loaded[on], (*sparse.CSR)(nil)
	if len(args) > 0 {
		b = p.loaded[args[0]]
	}
	if a == nil || b == nil && name == "ewiseadd" {
		return Result{}, fmt.Errorf("peers: %s: %s on %s %v: load the graphs first", JamesBowman, name, on, args)
	}
	nrows, ncols := a.Dims()
	work := func() any { return bowmanCases[name](a, p.ones[on], b) }
	if name == "spmv_f64" {
		x := Dense(ncols)
		work = func() any {
			y := make([]float64, nrows)
			a.MulVecTo(y, false, x)
			return y
		}
	}
	start := time.Now()
	out := work()
	result.Ms = float64(time.Since(start).Nanoseconds()) / 1e6

	switch out := out.(type) {
	case []float64:
		result.Check = VectorCheck(nil, out)
		result.Extra = map[string]float64{"nvals": float64(len(out))}
	case *sparse.CSR:
		out.DoNonZero(func(i, j int, v float64) { result.Check += v * float64((1+i%7)*(1+j%5)) })
		result.Extra = map[string]float64{"nvals": float64(out.NNZ())}
	}
	return result, nil
}
