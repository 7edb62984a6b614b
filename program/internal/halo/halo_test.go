package halo

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// ring returns the rows of vertices from … to−1 of a directed ring of n vertices, by target or by
// source. The edge to v has the value v.
func ring(n, from, to int, byTarget bool) *sparse.Store {
	st := sparse.Structure{Format: sparse.CSR, NRows: to - from, NCols: n, NVals: int64(to - from), Ptr: []int64{0}}
	var val []int32
	for v := from; v < to; v++ {
		u := (v + n - 1) % n
		if !byTarget {
			u = (v + 1) % n
		}
		st.Idx, st.Ptr, val = append(st.Idx, int32(u)), append(st.Ptr, int64(v-from+1)), append(val, int32(v))
	}
	return &sparse.Store{Structure: st, Type: sparse.TypeOf[int32](), Val: sparse.ValuesOf(val)}
}

// lame is Host with a method that fails.
type lame struct {
	*Host
	method string
}

var errLame = errors.New("no memory")

func (l lame) fails(method string) error {
	if method == l.method {
		return errLame
	}
	return nil
}

func (l lame) Outside(from, to int) ([]int32, error) {
	list, _ := l.Host.Outside(from, to)
	return list, l.fails("Outside")
}

func (l lame) Rows(list []int32) (Rows, error) {
	if err := l.fails("Rows"); err != nil {
		return Rows{}, err
	}
	return l.Host.Rows(list)
}

func (l lame) Degrees(list []int32) ([]int32, error) {
	if err := l.fails("Degrees"); err != nil {
		return nil, err
	}
	return l.Host.Degrees(list)
}

func (l lame) Join(p *Part, before, after Rows, degrees []int32) error {
	if err := l.fails("Join"); err != nil {
		return err
	}
	return l.Host.Join(p, before, after, degrees)
}

func (l lame) Buffers(bytes int) (in, out comm.Buffer, err error) {
	if err := l.fails("Buffers"); err != nil {
		return in, out, err
	}
	return l.Host.Buffers(bytes)
}

// TestMakeFails: after a failure of a rank, all ranks get the same error and can make their parts
// on the same group, whether they share a process or not.
func TestMakeFails(t *testing.T) {
	t.Parallel()
	const n, ranks, bad = 12, 3, 1
	cuts := []int{0, 5, 5, 12} // rank 1 has no vertices
	make1 := func(g *comm.Group, o Options, method string) ([]*Host, error) {
		s, hosts := spmd.Begin(nil, g, "make"), make([]*Host, len(g.Ranks()))
		return hosts, s.Each(func(k int, c comm.Comm) error {
			from, to := cuts[c.Rank()], cuts[c.Rank()+1]
			hosts[k] = OnHost(from, ring(n, from, to, true), ring(n, from, to, false))
			var edges Edges = hosts[k]
			if c.Rank() == bad {
				edges = lame{hosts[k], method}
			}
			p, err := Make(s, c, cuts, edges, o)
			if err == nil && len(p.Ids) != len(hosts[k].Deg) {
				err = fmt.Errorf("%d vertices, and %d degrees", len(p.Ids), len(hosts[k].Deg))
			}
			return err
		})
	}
	measured := Options{Hops: Choose, Edge: 4, State: 4, Memory: HostMemory, Launch: HostLaunch}
	wrong := measured
	wrong.Machine = &model.Machine{Memory: -1}
	for _, c := range []struct {
		method string
		o      Options
		shared bool // every rank finds the error
	}{
		{"Outside", Options{Hops: 1}, false}, {"Outside", Options{Hops: 3}, false}, {"Rows", Options{Hops: 3}, false},
		{"Degrees", Options{Hops: 2}, false}, {"Join", Options{Hops: 1}, false}, {"Buffers", measured, false}, {"", wrong, true},
	} {
		for _, together := range []bool{true, false} {
			list := sure.Get(comm.Local(ranks, comm.Timeout(20*time.Second)))
			var groups []*comm.Group // of a process each
			if together {
				groups = append(groups, sure.Get(comm.NewGroup(list)))
			} else {
				for r := range list {
					groups = append(groups, sure.Get(comm.NewGroup(list[r:r+1])))
				}
			}
			var wait sync.WaitGroup
			for at, g := range groups {
				wait.Go(func() {
					name := fmt.Sprintf("%s, %d hops, process %d of %d", c.method, c.o.Hops, at, len(groups))
					_, err := make1(g, c.o, c.method)
					var e *comm.RankError
					if !errors.As(err, &e) || !c.shared && e.Rank != bad {
						t.Errorf("%s: %v, want an error of rank %d", name, err, bad)
					}
					if !c.shared && (together || at == bad) && !errors.Is(err, errLame) {
						t.Errorf("%s: %v does not wrap its cause", name, err)
					}
					hosts, err := make1(g, Options{Hops: 2}, "")
					if err != nil {
						t.Errorf("%s: afterwards: %v", name, err)
						return
					}
					for k, r := range g.Ranks() { // the edges to 11 and 0, or to 4 and 5: copies and the first own vertex
						want := map[int][]int32{0: {0, 1, 2, 3, 4, 11}, 2: {4, 5, 6, 7, 8, 9, 10, 11}}[r.Rank()]
						if got := sparse.SliceOf[int32](hosts[k].Joined.Val); !slices.Equal(got, want) {
							t.Errorf("%s: values of the edges of rank %d: %v, want %v", name, r.Rank(), got, want)
						}
					}
				})
			}
			wait.Wait()
		}
	}
}
