package gpu

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// A gpuLouvain finds the communities of a graph on the device. The check compares the modularity
// with the result of apps.Modularity on the host and, in a bench of full size, with the least one.
// With compared it compares the communities with the communities of the host.
type gpuLouvain struct {
	o        apps.CommunitiesOptions
	least    float64
	compared bool
}

func (c gpuLouvain) plan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	var r ran
	var found *apps.CommunitiesResult
	search := func(run apps.Run) (err error) {
		o := c.o
		o.Run = run
		found, err = apps.Communities(a.View().Pattern(), o)
		return err
	}
	plan := &gpuPlan{}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method,
		Do: func() error { return search(apps.Run{}) }}}
	plan.check = func() (string, error) {
		if err := search(r.run()); err != nil {
			return "", err
		}
		plan.notes = func() []string {
			return []string{fmt.Sprintf("modularity %.5f, %d communities, %d levels", found.Modularity, found.Count, len(found.Levels))}
		}
		g := in.Graph
		here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, anyEntry))
		if err != nil {
			return "", err
		}
		member, err := matrix.VectorOf(sure.Get(found.Membership.Dense(-1)))
		if err != nil {
			return "", err
		}
		q, err := apps.Modularity(here.View().Pattern(), member)
		if err != nil {
			return "", err
		}
		switch {
		case math.Abs(q-found.Modularity) > 1e-12:
			return fmt.Sprintf("modularity %v, reported %v", q, found.Modularity), nil
		case b.shrink == 0 && q < c.least:
			return fmt.Sprintf("modularity %.5f, want %v", q, c.least), nil
		case !c.compared:
			return "", nil
		}
		want, err := apps.Communities(here.View().Pattern(), c.o)
		if err != nil {
			return "", err
		}
		if !want.Membership.Equal(member) {
			return fmt.Sprintf("modularity %v, on the host %v", q, want.Modularity), nil
		}
		return "", nil
	}
	return plan, nil
}
