package procs

import (
	"context"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
)

// controlled is a transport of processes beside which a control channel carries failures.
type controlled struct {
	comm.Transport
	control    *control
	life       *comm.Life
	name       string // the same on all members
	rank, size int
	first      bool // not of Split
}

func (p *controlled) Run(ctx context.Context, c *comm.Collective) error {
	p.control.enter(c)
	defer p.control.leave()
	if p.life.Checks() {
		if err := p.control.check(ctx, c, p.name, p.rank, p.size); err != nil {
			return err
		}
	}
	return p.Transport.Run(ctx, c)
}

func (p *controlled) Split(ctx context.Context, c *comm.Collective, members []int) (comm.Transport, error) {
	t, err := p.Transport.Split(ctx, c, members)
	if err != nil || t == nil {
		return nil, err
	}
	return &controlled{Transport: t, control: p.control, life: p.life, rank: slices.Index(members, p.rank), size: len(members),
		name: fmt.Sprintf("%s.%d,%d", p.name, c.Number, slices.Min(members))}, nil
}

func (p *controlled) Close() error {
	err := p.Transport.Close()
	if p.first {
		p.control.close()
	}
	return err
}
