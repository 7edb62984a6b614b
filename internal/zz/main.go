package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

var dev *cusparse.Device

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type clock struct {
	t    time.Time
	name []string
	ms   []float64
}

func (c *clock) lap(name string) {
	check(dev.Sync())
	now := time.Now()
	c.name, c.ms = append(c.name, name), append(c.ms, float64(now.Sub(c.t))/1e6)
	c.t = time.Now()
}

func (c *clock) print() {
	sum := 0.0
	for k, n := range c.name {
		fmt.Printf(" %s %.3f", n, c.ms[k])
		sum += c.ms[k]
	}
	fmt.Printf(" = %.3f\n", sum)
}

func full[T comparable](n int, x T) *matrix.Vector[T] {
	v := matrix.NewVector[T](n, matrix.On(dev))
	check(ops.AssignVectorScalar(v, x, ops.All()))
	return v
}

type state struct {
	n                              int
	parent, gp, next, least, news  *matrix.Vector[int32]
	differ                         *matrix.Vector[bool]
}

func start(n int) *state {
	v := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, matrix.On(dev)) }
	s := &state{n, full[int32](n, 0), v(), v(), v(), v(), full[bool](n, false)}
	check(ops.ApplyIndex(s.parent, semiring.RowIndex[int32](int32(0)), s.parent))
	for _, x := range []*matrix.Vector[int32]{s.gp, s.next, s.least, s.news} {
		check(ops.Apply(x, semiring.Identity[int32](), s.parent))
	}
	return s
}

var passes int

func (x *state) loop(a *matrix.Matrix[bool], both bool) {
	low, keep := semiring.Min[int32](), semiring.Identity[int32]()
	var s ops.Steps
	for in := range s.While(x.news) {
		s.Do(ops.MxV(x.least.Accum(low), semiring.MinSecond[int32](), a.Pattern(), x.news, in))
		if both {
			s.Do(ops.VxM(x.least.Accum(low), semiring.MinFirst[int32](), x.news, a.Pattern(), in))
		}
		s.Do(ops.ScatterVector(x.parent.Accum(low), low, x.least, ops.ValuesOf(x.parent), in))
		s.Do(ops.EWiseAdd(x.parent, low, x.parent, x.least, in))
		s.Do(ops.EWiseAdd(x.parent, low, x.parent, x.gp, in))
		s.Do(ops.ExtractVector(x.next, x.parent, ops.ValuesOf(x.parent), in))
		s.Do(ops.EWiseMult(x.differ, semiring.Ne[int32](), x.next, x.gp, in))
		s.Do(ops.Swap(x.gp, x.next, in))
		s.Do(ops.Apply(x.news.Masked(x.differ.MaskView()).Replace(), keep, x.gp, in))
	}
	check(s.Err())
}

func count(label *matrix.Vector[int32]) (int64, int64) {
	n := label.Size()
	size, one := matrix.NewVector[int64](n, matrix.On(dev)), full[int64](n, 1)
	check(ops.ScatterVector(size, semiring.Plus[int64](), one, ops.ValuesOf(label)))
	largest, err := ops.ReduceScalar(semiring.Max[int64](), size)
	check(err)
	return size.NVals(), largest
}

// first returns the first k entries of each row of g, on the device.
func first(g *gen.Graph, k int) *matrix.Matrix[bool] {
	ptr := make([]int64, g.NRows+1)
	var idx []int32
	for i := range g.NRows {
		r := g.Row(i)
		idx = append(idx, r[:min(k, len(r))]...)
		ptr[i+1] = int64(len(idx))
	}
	val := make([]bool, len(idx))
	for i := range val {
		val[i] = true
	}
	a, err := matrix.FromCSR(g.NRows, g.NCols, ptr, idx, val)
	check(err)
	check(a.Move(dev))
	return a
}

func main() {
	if len(os.Args) > 2 {
		_, with, err := emulate.Driver()
		check(err)
		dev, err = cusparse.Open(0, with...)
		check(err)
	} else {
		var err error
		dev, err = cusparse.Open(0)
		check(err)
	}
	scale, _ := strconv.Atoi(os.Args[1])
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 16, gen.RMATOptions{})))
	val := make([]bool, g.NNZ())
	for i := range val {
		val[i] = true
	}
	hub := 0
	for i := range g.NRows {
		if len(g.Row(i)) > len(g.Row(hub)) {
			hub = i
		}
	}
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	check(err)
	a.IsSymmetric()
	check(a.Move(dev))
	fmt.Println("scale", scale, "entries", g.NNZ())
	var want *matrix.Vector[int32]
	for range 4 {
		c := &clock{t: time.Now()}
		x := start(g.NRows)
		c.lap("start")
		x.loop(a, false)
		c.lap("loop")
		n, most := count(x.parent)
		c.lap("count")
		fmt.Print("FastSV ", n, most)
		c.print()
		want = x.parent
	}
	for range 3 {
		c := &clock{t: time.Now()}
		r, err := apps.ConnectedComponents(a)
		check(err)
		c.lap("fused")
		fmt.Print("fused ", r.Count)
		c.print()
	}
	for _, k := range []int{1, 2, 3} {
		s := first(g, k)
		for range 4 {
			c := &clock{t: time.Now()}
			x := start(g.NRows)
			c.lap("start")
			x.loop(s, true)
			c.lap("sampled")
			label, ok := x.parent.At(hub)
			if !ok {
				panic("hub")
			}
			rest := matrix.NewVector[int32](x.n, matrix.On(dev))
			check(ops.Select(rest, semiring.ValueNE(label), x.gp))
			c.lap("rest")
			low := semiring.Min[int32]()
			check(ops.MxV(x.least.Masked(rest.Structure()).Accum(low), semiring.MinSecond[int32](), a.Pattern(), x.gp))
			c.lap("pull")
			check(ops.Apply(x.news, semiring.Identity[int32](), rest))
			left := x.news.NVals()
			c.lap("news")
			x.loop(a, false)
			c.lap("loop")
			n, most := count(x.parent)
			c.lap("count")
			fmt.Print("sampled by ", k, " ", n, most, " left ", left, " equal ", want.Equal(x.parent))
			c.print()
		}
	}
}
