package model

import (
	"fmt"

	"github.com/hiveblas/hiveblas/comm"
)

// Work is what is known of a workflow before it runs: enough to choose a number of devices, not to
// predict a volume. The zero value of a field means none.
type Work struct {
	Bytes float64 // that kernels read and write on one device: W
	Steps int     // launches in a row on one device
	// Parts is the number of independent parts of the work. A device has whole parts. 0 is no
	// limit.
	Parts int64
	// Sum is the bytes of results that several devices add up at the end.
	Sum float64
	// Operations, Gathers and Gather describe a pipeline that divides rows, on several devices:
	// launches in a row, and how often it gives every device an operand of Gather bytes.
	Operations, Gathers int
	Gather              float64
	// Direct says that kernels of the workflow's own gather what they send, without the work of an
	// operand of operations: [Machine.Operands] does not bound it.
	Direct bool
}

// Estimate returns the time of work on p devices:
//
//	one      W/S + steps·L
//	several  λ·W/(p·S) + operations·L + gathers·max(α + B/N, G/O) + (α + Σ/N)
//
// where λ is the share of the device with most parts, G the bytes of a gathered operand, B the part
// of these bytes that a device receives, O [Machine.Operands], if the work is not Direct, and Σ the
// bytes of summed results.
func (m Machine) Estimate(w Work, p int) (Prediction, error) {
	if p < 1 || !(m.Memory > 0) {
		return Prediction{}, fmt.Errorf("model: %d devices, %v bytes a second: both must be positive", p, m.Memory)
	}
	out := Prediction{Ranks: p}
	share := 1 / float64(p)
	if w.Parts > 0 {
		share = float64((w.Parts+int64(p)-1)/int64(p)) / float64(w.Parts)
	}
	out.Compute = share * w.Bytes / m.Memory
	out.Launches = float64(max(w.Steps, 0)) * m.Launch
	if p > 1 {
		out.Launches = float64(max(w.Steps, w.Operations, 0)) * m.Launch
		others := float64(p-1) / float64(p)
		for _, c := range []struct {
			kind  comm.Kind
			times int
			bytes float64 // received
			whole float64 // of the operand
		}{{comm.KindAllGatherV, w.Gathers, w.Gather * others, w.Gather}, {comm.KindAllReduce, 1, 2 * w.Sum * others, 0}} {
			if c.times <= 0 || c.kind == comm.KindAllReduce && w.Sum <= 0 {
				continue
			}
			l, ok := m.Line(c.kind, p)
			if !ok {
				return out, fmt.Errorf("model: no measurement of %v on %s; measure it with hiveblas-bench comm", c.kind, m.Name)
			}
			one := l.Seconds(c.bytes)
			if m.Operands > 0 && !w.Direct {
				one = max(one, c.whole/m.Operands)
			}
			out.Collective += float64(c.times) * one
			out.Bytes += int64(float64(c.times) * c.bytes)
		}
	}
	out.Total = out.Compute + out.Launches + out.Collective
	return out, nil
}

// worthwhile is the part of the time of one device that several may take at most: predictions are
// seldom exact, and what the estimate leaves out takes time on several devices only.
const worthwhile = .9

// Devices estimates work on 1 … most devices; each after the first takes start seconds to open. It
// returns the index of the least total, the fewer devices of equals, and of one device unless
// several are quicker by a tenth.
func (m Machine) Devices(w Work, most int, start float64) (list []Prediction, best int, err error) {
	for p := 1; p <= max(most, 1); p++ {
		e, err := m.Estimate(w, p)
		if err != nil {
			return nil, -1, err
		}
		e.Start = float64(p-1) * max(start, 0)
		e.Total += e.Start
		e.Efficiency = 1
		if p > 1 {
			e.Efficiency = list[0].Total / (float64(p) * e.Total)
		}
		if list = append(list, e); e.Total < list[best].Total && e.Total <= worthwhile*list[0].Total {
			best = p - 1
		}
	}
	return list, best, nil
}
