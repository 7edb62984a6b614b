package model

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/comm"
)

// Machine is what a device and its links do, as measured by hiveblas-bench comm.
type Machine struct {
	Name   string
	Memory float64 // bytes a second that a kernel streams, read and written: S
	Launch float64 // seconds of the launches and the host's work of a step: L
	// Operands is the rate at which an operation on a group of GPUs gets an operand that lies on
	// other ranks, with the work of the host for it, in bytes of the operand a second. 0 means the
	// rate of AllGatherV.
	Operands float64
	// Waits are the times of the host and of waiting on each other in workflows of a kind (see
	// Volume.Division), by the number of ranks; hiveblas scale run measures them.
	Waits map[string]map[int]Wait
	// Lines are the times of collectives by kind and number of ranks. For a number that was not
	// measured the nearest one counts, the greater of two equally near.
	Lines map[comm.Kind]map[int]Line
}

// H200 is a host of H200s with NVLink, from measurements of four (NCCL 2.28.9, copy engines, driver
// 580): 375 GB/s for peer loads, 395 for copy engines; collectives of one process by copy engines.
// Operands is from two H100s (bench/results/2026-11-25-groups-2h100.txt).
func H200() Machine {
	copies := map[int]Line{4: {Alpha: 12e-6, N: 350e9}}
	small := map[int]Line{4: {Alpha: 15e-6, N: 176e9}}
	return Machine{Name: "H200, NVLink (published figures)", Memory: 4.2e12, Launch: 5e-6, Operands: 29e9, Lines: map[comm.Kind]map[int]Line{
		comm.KindAllGatherV: copies, comm.KindAllToAllV: copies, comm.KindBroadcast: copies,
		comm.KindAllReduce: small, comm.KindReduceScatter: small, comm.KindFence: {4: {Alpha: 5e-6, N: math.Inf(1)}},
	}}
}

// Line returns the time of a collective of p ranks; ok is false if none of the kind was measured.
func (m Machine) Line(kind comm.Kind, p int) (l Line, ok bool) {
	best := 0
	for q := range m.Lines[kind] {
		near, so := abs(q-p), abs(best-p)
		if !ok || near < so || near == so && q > best {
			best, ok = q, true
		}
	}
	return m.Lines[kind][best], ok
}

func abs(x int) int { return max(x, -x) }

// Wait is what a workflow on a group takes beside the work of its kernels and the bytes that it
// moves, in seconds: Fixed once, Step for each of Volume.Steps.
type Wait struct{ Fixed, Step float64 }

// Of is the time of so many steps.
func (w Wait) Of(steps int) float64 { return w.Fixed + w.Step*float64(steps) }

// Volume is what a run does on p ranks: it depends on the partition alone, so a run with p virtual
// ranks on one device or processor gives it exactly.
type Volume struct {
	Ranks     int
	Bytes     float64     // that kernels read and write, all ranks and steps
	Imbalance float64     // bytes of the busiest rank over the mean, λ ≥ 1; 0 means 1
	Steps     int         // launches in a row, or collectives; each pays Machine.Launch, or Wait.Step
	Division  string      // how ranks divide the workflow, a key of Machine.Waits
	One       float64     // seconds that one device takes, if they were measured
	OneSteps  int         // and its steps
	Turns     float64     // seconds with ranks in turns, each part's slowest; 0 if not measured
	OnHost    bool        // the collectives move memory of the host, and Turns has their time
	Extra     float64     // bytes that each of several ranks reads and writes besides, such as those that it joins
	Calls     []comm.Call // collectives in order, of the rank that receives most in each
}

// In returns the bytes that the collectives move, by the busiest rank in each.
func (v Volume) In() (sum int64) {
	for _, c := range v.Calls {
		sum += c.In
	}
	return sum
}

// Merge returns for each collective the calls of the rank that receives most. ledgers are the calls
// of all ranks of a group without splits, in order. It is an error if the ranks differ.
func Merge(ledgers ...[]comm.Call) ([]comm.Call, error) {
	if len(ledgers) == 0 {
		return nil, nil
	}
	out := append([]comm.Call{}, ledgers[0]...)
	for r, l := range ledgers {
		if len(l) != len(out) {
			return nil, fmt.Errorf("model: rank %d made %d collectives, rank 0 made %d", r, len(l), len(out))
		}
		for i, c := range l {
			if c.Kind != out[i].Kind {
				return nil, fmt.Errorf("model: collective %d of rank %d is %v, of rank 0 %v", i+1, r, c.Kind, out[i].Kind)
			}
			out[i].In, out[i].Out = max(out[i].In, c.In), max(out[i].Out, c.Out)
		}
	}
	return out, nil
}

// Prediction is the time of a run on p ranks, in seconds.
type Prediction struct {
	Ranks      int
	Bytes      int64   // received by the busiest rank, all collectives
	Compute    float64 // λ·W/(p·S), or λ·(T₁ − wait₁)/p + E/S, or the time by turns
	Launches   float64 // steps·L, or waitₚ
	Collective float64 // Σ (α + B/N)
	Start      float64 // opening further devices, of Devices alone
	Total      float64
	// Efficiency is T₁/(p·T_p), 0 without a prediction for one rank.
	Efficiency float64
}

// Predict returns the time of a run: T = λ·W/(p·S) + steps·L + Σ (α + B/N). On one rank the
// collectives cost nothing. It is an error if a kind of collective was not measured.
//
// If the time of one device T₁ and the waits of the division on one and on p ranks were measured,
// it is T = λ·(T₁ − wait₁)/p + E/S + waitₚ + Σ B/N: the kernels take their part of what they take
// on one device, E are the extra bytes, and α is part of the waits.
//
// If the ranks of a run took turns (see comm.TakeTurns), T is the time of that run, with the
// slowest rank of each part, + Σ B/N: it has what ranks repeat, and what the host does.
func (m Machine) Predict(v Volume) (Prediction, error) {
	if v.Ranks < 1 || !(m.Memory > 0) {
		return Prediction{}, fmt.Errorf("model: %d ranks, %v bytes a second: both must be positive", v.Ranks, m.Memory)
	}
	p := Prediction{Ranks: v.Ranks, Bytes: v.In()}
	if v.Turns > 0 {
		p.Compute = v.Turns
		if !v.OnHost {
			if err := p.collectives(m, v, true); err != nil {
				return p, err
			}
		}
		p.Total = p.Compute + p.Collective
		return p, nil
	}
	waits := m.Waits[v.Division]
	one, ok := waits[1]
	wait, both := waits[v.Ranks]
	measured := ok && both && v.One > 0
	if measured {
		p.Compute = max(v.Imbalance, 1) * max(0, v.One-one.Of(v.OneSteps)) / float64(v.Ranks)
		p.Launches = wait.Of(v.Steps)
	} else {
		p.Compute = max(v.Imbalance, 1) * v.Bytes / (float64(v.Ranks) * m.Memory)
		p.Launches = float64(v.Steps) * m.Launch
	}
	if v.Ranks > 1 {
		p.Compute += v.Extra / m.Memory
	}
	if err := p.collectives(m, v, measured); err != nil {
		return p, err
	}
	p.Total = p.Compute + p.Launches + p.Collective
	return p, nil
}

// collectives adds the time of the collectives of a run on several ranks, without α if what each
// waits is measured.
func (p *Prediction) collectives(m Machine, v Volume, measured bool) error {
	if v.Ranks == 1 {
		return nil
	}
	for _, c := range v.Calls {
		l, ok := m.Line(c.Kind, v.Ranks)
		if !ok {
			return fmt.Errorf("model: no measurement of %v on %s; measure it with hiveblas-bench comm", c.Kind, m.Name)
		}
		if measured {
			l.Alpha = 0
		}
		p.Collective += l.Seconds(float64(c.In))
	}
	return nil
}

// Choose predicts every volume, sets the efficiencies against the one of a single rank, and returns
// the index of the least total, the fewer ranks of equals; −1 for none.
func (m Machine) Choose(volumes []Volume) (list []Prediction, best int, err error) {
	best = -1
	one := 0.0
	for i, v := range volumes {
		p, err := m.Predict(v)
		if err != nil {
			return nil, -1, err
		}
		list = append(list, p)
		if p.Ranks == 1 {
			one = p.Total
		}
		if best < 0 || p.Total < list[best].Total || p.Total == list[best].Total && p.Ranks < list[best].Ranks {
			best = i
		}
	}
	for i := range list {
		if one > 0 && list[i].Total > 0 {
			list[i].Efficiency = one / (float64(list[i].Ranks) * list[i].Total)
		}
	}
	return list, best, nil
}
