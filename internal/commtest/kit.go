// Package commtest is the conformance kit of package comm: every collective, on every element type
// and operator, against oracles. All ranks of a group run it; the data of every rank follow from
// its number, so that each rank knows what it must receive.
package commtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Options changes what the kit does.
type Options struct {
	Memory comm.Folder // folds what the group lacks; nil for the host
	Place  Memory      // nil for the host
	Lacks  bool        // the group may return ErrNoOp
	Large  int         // elements of a long block; 0 for 3000
}

// kit is a rank that runs the kit.
type kit struct {
	comm.Comm
	ctx context.Context
	o   Options
	in  int64 // bytes that the ledger must have
	out int64
}

// Check runs the kit on one rank, and returns the first difference. The group is intact after
// success.
func Check(ctx context.Context, c comm.Comm, o Options) error {
	if o.Place == nil {
		o.Place = host{}
	}
	if o.Large == 0 {
		o.Large = 3000
	}
	k := &kit{Comm: c, ctx: ctx, o: o}
	if c.Rank() < 0 || c.Rank() >= c.Size() {
		return fmt.Errorf("rank %d of %d", c.Rank(), c.Size())
	}
	if err := k.all(); err != nil {
		return fmt.Errorf("rank %d of %d: %w", c.Rank(), c.Size(), err)
	}
	return nil
}

func (k *kit) all() error {
	for _, f := range []func() error{k.fences, k.gathers, k.exchanges, k.reductions, k.broadcasts, k.folds} {
		k.Ledger().Reset()
		k.in, k.out = 0, 0
		if err := f(); err != nil {
			return err
		}
		if total := k.Ledger().Total(); total.In != k.in || total.Out != k.out {
			return fmt.Errorf("the ledger has %d bytes in and %d out, want %d and %d", total.In, total.Out, k.in, k.out)
		}
	}
	return k.splits()
}

func (k *kit) fences() error {
	for range 3 {
		if err := k.Fence(k.ctx); err != nil {
			return err
		}
	}
	if n := k.Ledger().Of(comm.KindFence).Calls; n != 3 {
		return fmt.Errorf("the ledger has %d fences, want 3", n)
	}
	return nil
}

// data returns n elements of rank r. Floats have all kinds of values.
func data(t comm.DType, r, n int, seed uint64) []byte {
	out := make([]byte, 0, n*t.Size())
	for i := range n {
		x := splitmix.At(uint64(i), seed<<20+uint64(r))
		if t.Float() {
			f := float64(int64(x)>>40) / 1024
			switch x >> 8 % 16 {
			case 0:
				f = math.NaN()
			case 1:
				f = math.Inf(1)
			case 2:
				f = math.Copysign(0, -1)
			case 3:
				f = 1e30 * float64(r+1)
			}
			if t == comm.Float32 {
				v := float32(f)
				out = append(out, unsafe.Slice((*byte)(unsafe.Pointer(&v)), 4)...)
				continue
			}
			x = math.Float64bits(f)
		}
		out = append(out, unsafe.Slice((*byte)(unsafe.Pointer(&x)), 8)[:t.Size()]...)
	}
	return out
}

func (k *kit) put(b []byte, t comm.DType) (comm.Buffer, error) {
	return k.o.Place.Put(b, t, len(b)/t.Size())
}

// blank returns a destination of n elements with contents that no result has.
func (k *kit) blank(t comm.DType, n int) (comm.Buffer, error) {
	return k.o.Place.Put(bytes.Repeat([]byte{0xB7}, n*t.Size()), t, n)
}

func (k *kit) expect(what string, b comm.Buffer, want []byte) error {
	got, err := k.o.Place.Get(b)
	if err != nil {
		return err
	}
	if bytes.Equal(got, want) || b.Type().Float() && equalFloats(got, want, b.Type()) {
		return nil
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	return fmt.Errorf("%s: byte %d of %d differs: got %x, want %x", what, at, len(want), tail(got, at), tail(want, at))
}

func tail(b []byte, at int) []byte { return b[min(at, len(b)):min(at+8, len(b))] }

// equalFloats compares bits, but for NaN.
func equalFloats(a, b []byte, t comm.DType) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i += t.Size() {
		if bytes.Equal(a[i:i+t.Size()], b[i:i+t.Size()]) {
			continue
		}
		x, y := number[float64](a[i:]), number[float64](b[i:])
		if t == comm.Float32 {
			x, y = float64(number[float32](a[i:])), float64(number[float32](b[i:]))
		}
		if x == x || y == y {
			return false
		}
	}
	return true
}

func number[T any](b []byte) (x T) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x)), b)
	return x
}

// layouts returns counts of blocks by their reason.
func (k *kit) layouts() map[string][]int {
	p := k.Size()
	list := map[string][]int{
		"equal": make([]int, p), "none": make([]int, p), "fewer than ranks": make([]int, p),
		"one": make([]int, p), "uneven": make([]int, p), "long": make([]int, p),
		"most of one": make([]int, p),
	}
	for r := range p {
		list["equal"][r] = 5
		if r < p/2 {
			list["fewer than ranks"][r] = 1
		}
		list["uneven"][r] = (r*7 + 3) % 11 * (r % 3)
		list["long"][r] = k.o.Large + r
	}
	list["one"][p-1] = 17
	copy(list["most of one"], list["uneven"])
	list["most of one"][p/3] = k.o.Large + 1
	return list
}

func total(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func sorted(m map[string][]int) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (k *kit) gathers() error {
	layouts := k.layouts()
	for s, name := range sorted(layouts) {
		counts := layouts[name]
		for _, t := range comm.DTypes() {
			for _, inPlace := range []bool{false, true} {
				what := fmt.Sprintf("AllGatherV of %v, blocks %s, in place %v", t, name, inPlace)
				var want []byte
				for r, n := range counts {
					want = append(want, data(t, r, n, uint64(s))...)
				}
				dst, err := k.blank(t, total(counts))
				if err != nil {
					return err
				}
				own := data(t, k.Rank(), counts[k.Rank()], uint64(s))
				src, err := k.put(own, t)
				if err == nil && inPlace {
					at := total(counts[:k.Rank()])
					mine := make([]byte, len(want))
					copy(mine[at*t.Size():], own)
					if dst, err = k.put(mine, t); err == nil {
						src = dst.Slice(at, at+counts[k.Rank()])
					}
				}
				if err == nil {
					err = k.AllGatherV(k.ctx, dst, counts, src)
				}
				if err == nil {
					err = k.expect(what, dst, want)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", what, err)
				}
				k.in += int64(len(want) - len(own))
				k.out += int64(len(own) * (k.Size() - 1))
			}
		}
	}
	return nil
}

func (k *kit) exchanges() error {
	p, me := k.Size(), k.Rank()
	amounts := map[string]func(i, j int) int{
		"equal": func(i, j int) int { return 3 }, "none": func(i, j int) int { return 0 },
		"uneven":      func(i, j int) int { return (i*5 + j*3) % 7 },
		"to one":      func(i, j int) int { return 9 * min(1, max(0, 1-j)) },
		"shift":       func(i, j int) int { return map[bool]int{true: 40}[j == (i+1)%p] },
		"long to few": func(i, j int) int { return (i + j) % 3 * k.o.Large / 2 },
		"of one":      func(i, j int) int { return map[bool]int{true: 6}[i+j == 0] }, // others have none
	}
	for s, name := range []string{"equal", "none", "uneven", "to one", "shift", "long to few", "of one"} {
		for _, t := range comm.DTypes() {
			what := fmt.Sprintf("AllToAllV of %v, %s", t, name)
			send, recv := make([]int, p), make([]int, p)
			var out, want []byte
			for j := range p {
				send[j], recv[j] = amounts[name](me, j), amounts[name](j, me)
				out = append(out, data(t, me*p+j, send[j], uint64(s))...)
				want = append(want, data(t, j*p+me, recv[j], uint64(s))...)
			}
			src, err := k.put(out, t)
			if err != nil {
				return err
			}
			dst, err := k.blank(t, total(recv))
			if err == nil {
				err = k.AllToAllV(k.ctx, dst, recv, src, send)
			}
			if err == nil {
				err = k.expect(what, dst, want)
			}
			if err == nil {
				err = k.expect(what+", the source", src, out)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			k.in += int64(len(want) - recv[me]*t.Size())
			k.out += int64(len(out) - send[me]*t.Size())
			// A rank without items counts the collective too: the next one must find it there.
			all := make([]int64, p)
			if err := k.AllGatherV(k.ctx, comm.Host(all), slices.Repeat([]int{1}, p), comm.Host([]int64{int64(me)})); err != nil {
				return fmt.Errorf("AllGatherV after %s: %w", what, err)
			}
			for j, x := range all {
				if x != int64(j) {
					return fmt.Errorf("AllGatherV after %s: %d of rank %d", what, x, j)
				}
			}
			k.in += int64(8 * (p - 1))
			k.out += int64(8 * (p - 1))
		}
	}
	return nil
}

func (k *kit) reductions() error {
	p, me := k.Size(), k.Rank()
	for s, n := range []int{0, 1, 5, k.o.Large / 8 * 8, k.o.Large + 1} {
		for _, t := range comm.DTypes() {
			for _, op := range comm.Ops() {
				for mode := range 4 {
					scatter, inPlace := mode&1 != 0, mode&2 != 0
					if n > 100 && (inPlace || int(t)%3 != int(op)%3) {
						continue // a sample
					}
					what := fmt.Sprintf("Reduce of %d %v by %v, scatter %v, in place %v", n, t, op, scatter, inPlace)
					length := n
					if scatter {
						length = n * p
					}
					seed := uint64(s*100 + int(op))
					own := data(t, me, length, seed)
					src, err := k.put(own, t)
					if err != nil {
						return err
					}
					dst, err := k.blank(t, n)
					if inPlace && !scatter {
						dst = src
					} else if inPlace {
						dst = src.Slice(me*n, (me+1)*n)
					}
					if err != nil {
						return err
					}
					err = k.Reduce(k.ctx, dst, src, op, scatter)
					if errors.Is(err, comm.ErrNoOp) && (k.o.Lacks || !op.Has(t)) {
						continue
					}
					if err == nil && !op.Has(t) {
						err = errors.New("an operator without a meaning was accepted")
					}
					if err == nil && (op != comm.SumAnyOrder || !t.Float()) {
						from := 0
						if scatter {
							from = me * n
						}
						err = k.expect(what, dst, k.fold(t, op, length, seed, from, n))
					}
					if err != nil {
						return fmt.Errorf("%s: %w", what, err)
					}
					k.reduced(n, t, scatter)
				}
			}
		}
	}
	return nil
}

// reduced adds the volume of a reduction to what the ledger must have.
func (k *kit) reduced(n int, t comm.DType, scatter bool) {
	p, me := k.Size(), k.Rank()
	bytes := (p - 1) * n
	if !scatter {
		own := n*(me+1)/p - n*me/p
		bytes = (p-1)*own + n - own
	}
	k.in += int64(bytes * t.Size())
	k.out += int64(bytes * t.Size())
}

// fold is the oracle of reductions: element by element, in the order of ranks.
func (k *kit) fold(t comm.DType, op comm.Op, length int, seed uint64, from, n int) []byte {
	var all [][]byte
	for r := range k.Size() {
		all = append(all, data(t, r, length, seed)[from*t.Size():(from+n)*t.Size()])
	}
	switch t {
	case comm.Uint8:
		return foldInts[uint8](all, op)
	case comm.Int8:
		return foldInts[int8](all, op)
	case comm.Int16:
		return foldInts[int16](all, op)
	case comm.Uint16:
		return foldInts[uint16](all, op)
	case comm.Int32:
		return foldInts[int32](all, op)
	case comm.Uint32:
		return foldInts[uint32](all, op)
	case comm.Int64:
		return foldInts[int64](all, op)
	case comm.Uint64:
		return foldInts[uint64](all, op)
	case comm.Float32:
		return foldFloats[float32](all, op)
	}
	return foldFloats[float64](all, op)
}

func foldInts[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](all [][]byte, op comm.Op) []byte {
	return foldAll(all, func(a, b T) T {
		switch op {
		case comm.Sum, comm.SumAnyOrder:
			return a + b
		case comm.Prod:
			return a * b
		case comm.Min:
			return min(a, b)
		case comm.Max:
			return max(a, b)
		case comm.And:
			return a & b
		case comm.Or:
			return a | b
		}
		return a ^ b
	})
}

func foldFloats[T float32 | float64](all [][]byte, op comm.Op) []byte {
	return foldAll(all, func(a, b T) T {
		switch {
		case op == comm.Sum || op == comm.SumAnyOrder:
			return a + b
		case op == comm.Prod:
			return a * b
		case a != a:
			return b
		case b != b || a == b:
			return a
		case (op == comm.Min) == (a < b):
			return a
		}
		return b
	})
}

func foldAll[T any](all [][]byte, f func(a, b T) T) (out []byte) {
	size := int(unsafe.Sizeof(*new(T)))
	for i := 0; i < len(all[0]); i += size {
		acc := number[T](all[0][i:])
		for _, b := range all[1:] {
			acc = f(acc, number[T](b[i:]))
		}
		out = append(out, unsafe.Slice((*byte)(unsafe.Pointer(&acc)), size)...)
	}
	return out
}

func (k *kit) broadcasts() error {
	for root := range k.Size() {
		for s, n := range []int{0, 1, 13, k.o.Large} {
			t := comm.DType((root + n) % len(comm.DTypes()))
			what := fmt.Sprintf("Broadcast of %d %v from %d", n, t, root)
			want := data(t, root, n, uint64(s))
			buf, err := k.blank(t, n)
			if k.Rank() == root && err == nil {
				buf, err = k.put(want, t)
			}
			if err == nil {
				err = k.Broadcast(k.ctx, buf, root)
			}
			if err == nil {
				err = k.expect(what, buf, want)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if k.Rank() == root {
				k.out += int64(len(want) * (k.Size() - 1))
			} else {
				k.in += int64(len(want))
			}
		}
	}
	return nil
}

// folds compares the functions that rest on collectives.
func (k *kit) folds() error {
	for s, n := range []int{0, 1, k.Size() * 3, 101} {
		for _, t := range comm.DTypes() {
			for _, op := range comm.Ops() {
				what := fmt.Sprintf("AllReduce of %d %v by %v", n, t, op)
				src, err := k.put(data(t, k.Rank(), n, uint64(s)), t)
				if err != nil {
					return err
				}
				dst, err := k.blank(t, n)
				if err != nil {
					return err
				}
				err = comm.AllReduce(k.ctx, k.Comm, dst, src, op, k.o.Memory)
				if !op.Has(t) {
					if !errors.Is(err, comm.ErrNoOp) {
						return fmt.Errorf("%s: %v, want ErrNoOp", what, err)
					}
					continue
				}
				if err == nil && (op != comm.SumAnyOrder || !t.Float()) {
					err = k.expect(what, dst, k.fold(t, op, n, uint64(s), 0, n))
				}
				if err != nil {
					return fmt.Errorf("%s: %w", what, err)
				}
				k.reduced(n, t, false)
			}
		}
	}
	// 64 fixed blocks, dealt to the ranks: the same bits for every number of ranks.
	const blocks = 64
	counts := make([]int, k.Size())
	for b := range blocks {
		counts[b*k.Size()/blocks]++
	}
	first := total(counts[:k.Rank()])
	var own []float64
	values := make([]float64, blocks)
	want := 0.0
	for b := range blocks {
		values[b] = 1 / float64(3*b+1) * math.Pow(10, float64(b%9))
		want += values[b]
	}
	own = append(own, values[first:first+counts[k.Rank()]]...)
	got, err := comm.FoldBlocks(k.ctx, k.Comm, own, counts, 0, func(a, b float64) float64 { return a + b })
	if err == nil && math.Float64bits(got) != math.Float64bits(want) {
		err = fmt.Errorf("FoldBlocks is %v, want %v", got, want)
	}
	k.in += int64(8 * (blocks - counts[k.Rank()]))
	k.out += int64(8 * counts[k.Rank()] * (k.Size() - 1))
	return err
}

// splits makes groups and uses them.
func (k *kit) splits() error {
	p, me := k.Size(), k.Rank()
	for _, s := range []struct {
		reason     string
		color, key func(r int) int
	}{
		{"all, reversed", func(int) int { return 4 }, func(r int) int { return -r }},
		{"even and odd", func(r int) int { return r % 2 }, func(int) int { return 0 }},
		{"each alone", func(r int) int { return r }, func(int) int { return 0 }},
		{"without rank 0", func(r int) int { return min(r, 1) - 1 + min(r, 1)*2 }, func(r int) int { return r }},
	} {
		var members []int
		for r := range p {
			if s.color(r) == s.color(me) {
				members = append(members, r)
			}
		}
		slices.SortStableFunc(members, func(a, b int) int { return s.key(a) - s.key(b) })
		sub, err := k.Split(k.ctx, s.color(me), s.key(me))
		if err != nil {
			return fmt.Errorf("in Split, %s: %w", s.reason, err)
		}
		if s.color(me) < 0 {
			if sub != nil {
				return fmt.Errorf("in Split, %s: a group for a negative color", s.reason)
			}
			continue
		}
		if sub.Size() != len(members) || members[sub.Rank()] != me {
			return fmt.Errorf("in Split, %s: rank %d of %d, members %v", s.reason, sub.Rank(), sub.Size(), members)
		}
		counts := slices.Repeat([]int{1}, len(members))
		var want []byte
		for _, r := range members {
			want = append(want, data(comm.Int32, r, 1, 1)...)
		}
		src, err := k.put(data(comm.Int32, me, 1, 1), comm.Int32)
		if err != nil {
			return err
		}
		dst, err := k.blank(comm.Int32, len(members))
		if err != nil {
			return err
		}
		if err = sub.AllGatherV(k.ctx, dst, counts, src); err == nil {
			err = k.expect("Split, "+s.reason, dst, want)
		}
		if err == nil && len(members) > 1 { // a group of a group
			var last comm.Comm
			if last, err = sub.Split(k.ctx, 0, sub.Rank()); err == nil {
				err = errors.Join(last.Fence(k.ctx), last.Close())
			}
		}
		if err == nil {
			err = sub.Close()
		}
		if err != nil {
			return fmt.Errorf("in Split, %s: %w", s.reason, err)
		}
	}
	return k.Fence(k.ctx)
}
