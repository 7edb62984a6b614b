package comm

import (
	"time"

	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// An Option changes a group. nil options are ignored.
type Option func(*options)

type options struct {
	timeout time.Duration
	check   bool
	seed    uint64
	delay   time.Duration // longest; 0 for none
	keep    bool
	pieces  int64 // bytes from which a broadcast to several ranks of a process goes in pieces
}

// DefaultTimeout is the longest time of a collective unless Timeout sets another; PyTorch's default
// for NCCL.
const DefaultTimeout = 10 * time.Minute

// Timeout sets the longest time of a collective, in place of DefaultTimeout. When it passes, the
// group fails. Values of 0 or less mean DefaultTimeout.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Check compares the kind, number, types, counts and operators of every collective among the ranks
// before its data move, so that ranks that disagree get an ErrMismatch instead of a hang or wrong
// data. Groups within a process always do this. It costs a round trip to rank 0 in others.
func Check() Option { return func(o *options) { o.check = true } }

// Delays makes each rank sleep up to longest before it joins a collective and before it moves data,
// by random numbers of seed, to vary the order of events in tests. Only groups within a process
// obey it.
func Delays(seed uint64, longest time.Duration) Option {
	return func(o *options) { o.seed, o.delay = seed, longest }
}

// KeepCalls makes the ledger keep every collective, not the sums alone; see Ledger.Calls. It takes
// 32 bytes a collective.
func KeepCalls() Option { return func(o *options) { o.keep = true } }

// piecesFrom is pieces without an option of tests: broadcasts of 537 MB to four H200s bring each of
// them 221 GB/s in pieces, and 129 straight from the root.
const piecesFrom = 1 << 20

func gather(opts []Option) options {
	o := options{pieces: piecesFrom}
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	if o.timeout <= 0 {
		o.timeout = DefaultTimeout
	}
	return o
}

// pause sleeps for a time that depends on seed, rank, collective and step alone.
func (o *options) pause(rank int, number, step uint64) {
	if o.delay > 0 {
		x := splitmix.At(number<<8|step, o.seed+uint64(rank)*splitmix.Golden)
		time.Sleep(time.Duration(x % uint64(o.delay+1)))
	}
}
