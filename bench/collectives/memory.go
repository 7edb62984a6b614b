package collectives

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// chaseOps are the operations of chains of dependent accesses.
var chaseOps = []string{"read", "write", "add", "cas"}

// memory measures the rates of regular and random accesses.
func (b *commBench) memory() error {
	if len(b.gpus) == 0 {
		return errors.New("needs a GPU")
	}
	size, err := b.tables()
	if err != nil {
		return err
	}
	err = b.places(size, b.onHost, func(place string, p pieces) error {
		for _, op := range commOps {
			if err := b.row(commtable.Rate{Pattern: "regular", Op: op, Place: place}, p); err != nil {
				return err
			}
			for _, grain := range commGrains {
				switch {
				case (op == "add" || op == "min") && grain != 4, op == "cas" && grain != 8:
					continue
				case op != "read" && grain > 4 && grain != 32 && grain != 128 && op != "cas":
					continue
				}
				if err := b.row(commtable.Rate{Pattern: "random", Op: op, Place: place, Grain: int64(grain)}, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil || len(b.gpus) < 2 {
		return err
	}
	return b.atOnce(size)
}

// row measures one row on device 0.
func (b *commBench) row(row commtable.Rate, p pieces) error {
	g := b.gpus[0]
	measure, per, err := b.kernel(g, &row, p)
	if err != nil {
		return err
	}
	seconds, err := b.median(func() (float64, error) { return measure() })
	if err != nil {
		return fmt.Errorf("%s %s %s: %w", row.Pattern, row.Op, row.Place, err)
	}
	row.GBs = float64(per) * float64(row.Grain) / seconds / 1e9
	row.Gops = float64(per) / seconds / 1e9
	if row.Pattern == "regular" && row.Op == "read" && strings.HasPrefix(row.Place, "peer") {
		row.Bar = 370
	}
	b.t.Rows = append(b.t.Rows, row)
	return nil
}

// kernel prepares the measurement of a row: a function that returns the seconds of a launch, and
// the accesses of a launch. It sets the grain of regular rows.
func (b *commBench) kernel(g *commGPU, row *commtable.Rate, p pieces) (measure func() (float64, error), accesses uint64, err error) {
	grain := int(row.Grain)
	if row.Pattern == "regular" {
		grain, row.Grain = 16, 16
		if row.Op == "add" || row.Op == "min" {
			row.Grain = 4
		} else if row.Op == "cas" {
			row.Grain = 8
		}
	}
	var f driver.Function
	err = g.do(func() error {
		f, err = b.function(g, grain, "hb_"+row.Pattern+"_"+row.Op)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if row.Pattern == "regular" {
		bytes := p.size
		run := func() (float64, error) {
			return b.launch(g, f, 0, unsafe.Pointer(&p.at), unsafe.Pointer(&p.n), unsafe.Pointer(&bytes), unsafe.Pointer(&g.sink))
		}
		if row.Op == "add" || row.Op == "min" || row.Op == "cas" || row.Place == "host" {
			bytes = max(1<<16, p.size/8) // atomics are slower
		}
		return run, bytes / uint64(row.Grain), nil
	}
	log := uint32(bits.TrailingZeros64(p.size / uint64(grain)))
	turn := uint64(0)
	run := func(count uint64) (float64, error) {
		turn++
		return b.launch(g, f, 0, unsafe.Pointer(&p.at), unsafe.Pointer(&p.n), unsafe.Pointer(&log), unsafe.Pointer(&count), unsafe.Pointer(&turn), unsafe.Pointer(&g.sink))
	}
	// As many accesses as the target takes.
	count := uint64(1 << 20)
	if g.props.OneByOne {
		count = 1 << 8
	} else {
		if _, err := run(count); err != nil {
			return nil, 0, err
		}
		seconds, err := run(count)
		if err != nil {
			return nil, 0, err
		}
		count = uint64(max(1<<16, min(1<<30, float64(count)*b.o.Target.Seconds()/max(seconds, 1e-7))))
	}
	return func() (float64, error) { return run(count) }, count, nil
}

// atOnce measures all devices at once, each reading from and writing to the next.
func (b *commBench) atOnce(size uint64) error {
	for _, row := range []commtable.Rate{
		{Pattern: "regular", Op: "read"}, {Pattern: "regular", Op: "write"}, {Pattern: "random", Op: "read", Grain: 4},
		{Pattern: "random", Op: "read", Grain: 128},
	} {
		row.Place = "peers at once"
		rates := make([]float64, len(b.gpus))
		errs := make([]error, len(b.gpus))
		done := make(chan int)
		gate := make(chan struct{})
		for i, g := range b.gpus {
			go func() {
				defer func() { done <- i }()
				mine := row
				next := b.gpus[(i+1)%len(b.gpus)]
				measure, per, err := b.kernel(g, &mine, pieces{[16]uint64{uint64(next.table)}, 1, size})
				done <- i
				<-gate
				if err == nil {
					var seconds float64
					if seconds, err = b.median(measure); err == nil {
						rates[i] = float64(per) * float64(mine.Grain) / seconds / 1e9
					}
				}
				errs[i] = err
			}()
		}
		for range b.gpus {
			<-done
		}
		close(gate)
		for range b.gpus {
			<-done
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if row.Grain == 0 {
			row.Grain = 16
		}
		row.GBs = rates[0]
		for _, r := range rates {
			row.GBs = min(row.GBs, r) // the slowest device
		}
		row.Gops = row.GBs / float64(row.Grain)
		b.t.Rows = append(b.t.Rows, row)
	}
	return nil
}

// latency measures chains of dependent accesses of one thread.
func (b *commBench) latency() error {
	if len(b.gpus) == 0 {
		return errors.New("needs a GPU")
	}
	size, err := b.tables()
	if err != nil {
		return err
	}
	for _, g := range b.gpus {
		if err := g.do(func() error { return errors.Join(g.ctx.Fill(g.table, 0, size, g.stream), g.ctx.Sync(g.stream)) }); err != nil {
			return err
		}
	}
	g := b.gpus[0]
	return b.places(size, b.onHost, func(place string, p pieces) error {
		for _, op := range chaseOps {
			var f driver.Function
			err := g.do(func() (err error) { f, err = b.function(g, 8, "hb_chase"); return err })
			if err != nil {
				return err
			}
			log, steps, code := uint32(bits.TrailingZeros64(p.size/8)), uint32(10000), uint32(slices.Index(commOps, op))
			if g.props.OneByOne {
				steps = 50
			}
			turn := uint64(0)
			seconds, err := b.median(func() (float64, error) {
				turn++
				return b.launch(g, f, 1, unsafe.Pointer(&p.at), unsafe.Pointer(&p.n), unsafe.Pointer(&log), unsafe.Pointer(&steps), unsafe.Pointer(&code), unsafe.Pointer(&turn), unsafe.Pointer(&g.sink))
			})
			if err != nil {
				return err
			}
			b.t.Rows = append(b.t.Rows, commtable.Rate{Pattern: "chase", Op: op, Place: place, Grain: 8, Micros: seconds * 1e6 / float64(steps)})
		}
		return nil
	})
}

// copies measures the copy engines.
func (b *commBench) copies() error {
	if len(b.gpus) == 0 {
		return errors.New("needs a GPU")
	}
	size, err := b.tables()
	if err != nil {
		return err
	}
	g := b.gpus[0]
	list := []struct {
		place string
		src   driver.Ptr
	}{{"self", g.table + driver.Ptr(size/2)}}
	if len(b.gpus) > 1 {
		list = append(list, struct {
			place string
			src   driver.Ptr
		}{"peer 1→0", b.gpus[1].table})
	}
	for _, c := range list {
		for _, bytes := range []uint64{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30} {
			if bytes > size/2 {
				continue
			}
			calls := int(max(4, min(64, 64<<20/bytes)))
			seconds, err := b.median(func() (s float64, err error) {
				err = g.do(func() error {
					if err := g.ctx.Record(g.events[0], g.stream); err != nil {
						return err
					}
					for range calls {
						if err := g.ctx.Copy(g.table, c.src, bytes, g.stream); err != nil {
							return err
						}
					}
					if err := g.ctx.Record(g.events[1], g.stream); err != nil {
						return err
					}
					if err := g.ctx.Sync(g.stream); err != nil {
						return err
					}
					ms, err := g.ctx.Elapsed(g.events[0], g.events[1])
					s = float64(ms) / 1e3 / float64(calls)
					return err
				})
				return s, err
			})
			if err != nil {
				return err
			}
			row := commtable.Rate{Pattern: "copy", Op: "read", Place: c.place, Grain: int64(bytes), GBs: float64(bytes) / seconds / 1e9, Micros: seconds * 1e6}
			if c.place != "self" && bytes >= 256<<20 {
				row.Bar = 390
			}
			b.t.Rows = append(b.t.Rows, row)
		}
	}
	return nil
}
