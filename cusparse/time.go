package cusparse

import (
	"errors"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// Time returns how long the device took for what fn queues on it, from an
// event before the first to one after the last. Where the device waits for
// the host in between, or works for other goroutines, that counts as well.
func (d *Device) Time(fn func() error) (time.Duration, error) {
	if fn == nil {
		return 0, &matrix.InvalidError{Op: "cusparse.Device.Time", Reason: "fn is nil; give a function that queues work"}
	}
	from, err := d.mark()
	if err != nil {
		return 0, err
	}
	if err := fn(); err != nil {
		return 0, errors.Join(err, d.forget(from))
	}
	to, err := d.mark()
	if err != nil {
		return 0, errors.Join(err, d.forget(from))
	}
	f := d.begin(device.Call{})
	defer f.end()
	var ms float32
	if f.err == nil {
		f.fail(d.ctx.SyncEvent(to))
	}
	if f.err == nil {
		ms, err = d.ctx.Elapsed(from, to)
		f.fail(err)
	}
	err = errors.Join(f.err, d.ctx.CloseEvent(from), d.ctx.CloseEvent(to))
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// mark records an event.
func (d *Device) mark() (driver.Event, error) {
	f := d.begin(device.Call{})
	defer f.end()
	if f.err != nil {
		return 0, f.err
	}
	e, err := d.ctx.NewEvent()
	if err != nil {
		return 0, err
	}
	if err := d.ctx.Record(e, d.stream); err != nil {
		return 0, errors.Join(err, d.ctx.CloseEvent(e))
	}
	return e, nil
}

func (d *Device) forget(e driver.Event) error {
	f := d.begin(device.Call{})
	defer f.end()
	if f.err != nil {
		return nil // a closed device has no events
	}
	return d.ctx.CloseEvent(e)
}
