package matrix

import (
	"context"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
)

// onDevices reports whether the blocks are on devices whose memory the group moves.
func (s *spread) onDevices() bool {
	if !s.g.MovesDeviceMemory() {
		return false
	}
	for k := range s.part {
		if _, ok := s.g.PlaceOf(k).(device.Runner); !ok {
			return false
		}
	}
	return true
}

// gatherFull gathers a full vector from and to the memory of devices. It moves the bytes that a
// gather by host memory moves.
func (s *spread) gatherFull(ctx context.Context) ([]contents, error) {
	t, err := device.TypeFor(s.kind.elem())
	if err != nil {
		return nil, err
	}
	size := int64(t.Size)
	counts := make([]int, s.g.Size())
	for r := range counts {
		counts[r] = (s.cuts[r+1] - s.cuts[r]) * t.Size
	}
	out := make([]contents, len(s.part))
	err = s.g.Each(func(k int, c comm.Comm) error {
		b := s.g.PlaceOf(k).(device.Runner)
		own, err := s.part[k].RemoteOn(b)
		if err != nil {
			return err
		}
		call := device.Call{Context: ctx, Op: "gather"}
		var from device.View
		var whole device.Buffer
		err = b.Run(call, func(d *device.Session) {
			from = d.RetainView(d.Dense(device.Operand{Store: own, Vector: true}))
			whole = d.Retain(d.Alloc(size * int64(s.cols)))
			d.Sync()
		})
		defer func() {
			from.Release()
			whole.Release()
		}()
		if err != nil {
			return err
		}
		src := comm.OnDevice(from.Val.Addr, comm.Uint8, counts[c.Rank()])
		if err := c.AllGatherV(ctx, comm.OnDevice(whole.Addr, comm.Uint8, int(size)*s.cols), counts, src); err != nil {
			return err
		}
		var st device.Store
		err = b.Run(call, func(d *device.Session) {
			full := d.NewFull(1, s.cols, t)
			d.Copy(full.Val, whole, size*int64(s.cols))
			st = d.Result(full, int64(s.cols))
			d.Sync()
		})
		if err != nil {
			return err
		}
		out[k] = s.kind.at(s.g.PlaceOf(k), st)
		return nil
	})
	return out, err
}
