package comm

import (
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/comm/internal/ranks"
)

// Entry is a part of a ledger: collectives, and bytes that a rank received from others and sent to
// others.
type Entry struct {
	Calls, In, Out int64
}

// A Call is one collective of one rank.
type Call struct {
	Kind    Kind
	Ranks   int32 // of its group
	In, Out int64 // bytes
}

// Ledger counts the collectives of a rank and their bytes. The bytes count the arguments, not the
// messages of a library: they depend only on the partition, so p ranks of any kind, even goroutines
// on one processor, give the volumes of p devices exactly. With s bytes an element:
//
//	AllGatherV     in s·(Σ counts − own)   out s·own·(p−1)
//	AllToAllV      in s·(Σ recv − own)     out s·(Σ send − own)
//	AllReduce      in s·((p−1)·b + n − b)  out the same; b = ⌊n(r+1)/p⌋ − ⌊nr/p⌋, the elements of n
//	               that rank r folds: 2·n·(p−1)/p where p divides n
//	ReduceScatter  in s·(p−1)·n            out the same; n elements of dst
//	Broadcast      in s·n but on root      out s·n·(p−1) on root
//	Fence, Split   0
//
// Collectives that fail are not counted. A Ledger is safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	kinds [kinds]Entry
	keep  bool
	calls []Call
}

// Of returns the entry of a kind.
func (l *Ledger) Of(k Kind) Entry {
	if l == nil || k >= kinds {
		return Entry{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kinds[k]
}

// Total returns the sum over all kinds.
func (l *Ledger) Total() (sum Entry) {
	for _, k := range Kinds() {
		e := l.Of(k)
		sum.Calls, sum.In, sum.Out = sum.Calls+e.Calls, sum.In+e.In, sum.Out+e.Out
	}
	return sum
}

// Calls returns the collectives in order, if the group was made with KeepCalls.
func (l *Ledger) Calls() []Call {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// Reset sets all entries to 0 and forgets the calls.
func (l *Ledger) Reset() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds, l.calls = [kinds]Entry{}, nil
}

func (l *Ledger) add(c *Collective, rank, size int) {
	in, out := c.volume(rank, size)
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.kinds[c.Kind]
	e.Calls++
	e.In += in
	e.Out += out
	if l.keep {
		l.calls = append(l.calls, Call{c.Kind, int32(size), in, out})
	}
}

// piece returns the elements of n that rank r of p folds in a reduction.
func piece(n, r, p int) (from, to int) {
	return int(int64(n) * int64(r) / int64(p)), int(int64(n) * int64(r+1) / int64(p))
}

// volume returns the bytes that a call moves to and from others.
func (c *Collective) volume(rank, size int) (in, out int64) {
	s, p := int64(c.Dst.dtype.Size()), int64(size)
	switch c.Kind {
	case KindAllGatherV:
		own := int64(c.Recv[rank])
		return s * (ranks.Sum(c.Recv) - own), s * own * (p - 1)
	case KindAllToAllV:
		return s * (ranks.Sum(c.Recv) - int64(c.Recv[rank])), s * (ranks.Sum(c.Send) - int64(c.Send[rank]))
	case KindAllReduce:
		from, to := piece(c.Src.n, rank, size)
		own := int64(to - from)
		in = s * ((p-1)*own + int64(c.Src.n) - own)
		return in, in
	case KindReduceScatter:
		in = s * (p - 1) * int64(c.Dst.n)
		return in, in
	case KindBroadcast:
		if rank == c.Root {
			return 0, s * int64(c.Dst.n) * (p - 1)
		}
		return s * int64(c.Dst.n), 0
	}
	return 0, 0
}
