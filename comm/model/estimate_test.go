package model

import (
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
)

// The number of devices with the least time, by the kind and the size of the work.
func TestDevices(t *testing.T) {
	m := H200()
	for _, c := range []struct {
		reason string
		w      Work
		most   int
		start  float64
		want   int
	}{
		{"independent work of seconds", Work{Bytes: 1e13, Steps: 4}, 8, 0, 8},
		{"three parts", Work{Bytes: 1e13, Parts: 3}, 8, 0, 3},
		{"less than it takes to open a device", Work{Bytes: 1e12, Steps: 4}, 8, .3, 1},
		{"enough for some", Work{Bytes: 1e13, Steps: 4}, 8, .3, 3},
		{"results that cost more than the work", Work{Bytes: 1e8, Sum: 1e9}, 4, 0, 1},
		{"a small search by levels", Work{Bytes: 1e6, Steps: 12, Operations: 60, Gathers: 12, Gather: 1e4}, 8, 0, 1},
		{"a product in each step on a sparse graph", Work{Bytes: 24 * 67e6 * 20, Steps: 20, Operations: 120, Gathers: 20, Gather: 33e6}, 8, 0, 1},
		{"the same by kernels of its own", Work{Bytes: 24 * 67e6 * 20, Steps: 20, Operations: 60, Gathers: 40, Gather: 17e6, Direct: true}, 8, 0, 8},
		{"a dense graph by rows", Work{Bytes: 24 * 1e10 * 20, Steps: 20, Operations: 120, Gathers: 20, Gather: 8e5}, 8, 0, 8},
		{"nothing", Work{}, 8, 0, 1},
		{"one device", Work{Bytes: 1e15}, 1, 0, 1},
		{"no device", Work{Bytes: 1e15}, 0, 0, 1},
	} {
		list, best, err := m.Devices(c.w, c.most, c.start)
		if err != nil || list[best].Ranks != c.want || len(list) != max(c.most, 1) {
			t.Errorf("%s: %d of %d devices, want %d (%v)", c.reason, best+1, len(list), c.want, err)
		}
		for k, p := range list {
			if sum := p.Compute + p.Launches + p.Collective + p.Start; math.Abs(sum-p.Total) > 1e-12*p.Total || p.Ranks != k+1 {
				t.Errorf("%s: %+v does not add up", c.reason, p)
			}
		}
	}
	if p, err := m.Estimate(Work{Bytes: 4.2e12, Steps: 2}, 1); err != nil || math.Abs(p.Total-1.00001) > 1e-9 {
		t.Errorf("a second of work takes %v (%v)", p.Total, err)
	}
	for _, bad := range []Machine{{Memory: 1}, {}} {
		if _, _, err := bad.Devices(Work{Bytes: 1, Gathers: 1, Gather: 1}, 2, 0); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if _, err := m.Estimate(Work{}, 0); err == nil {
		t.Error("no devices: no error")
	}
	if _, ok := m.Line(comm.KindAllReduce, 2); !ok {
		t.Error("the published table has no sums")
	}
}
