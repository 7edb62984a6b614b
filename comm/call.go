package comm

import (
	"fmt"
	"math"
	"slices"
)

// call is a collective with its arguments.
type call struct {
	kind       Kind
	number     uint64
	dst, src   Buffer
	recv, send []int // counts; of AllGatherV in recv
	op         Op
	root       int
	color, key int
	keep       [][]int32 // memory that a library uses meanwhile
}

func (c *call) invalid(arg, reason, remedy string) error {
	return &ArgumentError{c.kind.String(), arg, reason, remedy}
}

// check verifies the arguments of one rank.
func (c *call) check(rank, size int) error {
	for _, b := range []struct {
		Buffer
		name string
	}{{c.dst, "dst"}, {c.src, "src"}} {
		switch {
		case b.dtype >= dtypes:
			return c.invalid(b.name, "has an unknown element type", "use one of comm.DTypes")
		case b.n < 0 || int64(b.n) > math.MaxInt64/8:
			return c.invalid(b.name, fmt.Sprintf("has %d elements", b.n), "give 0 or more")
		case b.n > 0 && b.address() == 0:
			return c.invalid(b.name, fmt.Sprintf("is nil, and has %d elements", b.n), "give its memory")
		}
	}
	switch c.kind {
	case KindAllGatherV:
		if err := c.counts("counts", c.recv, size); err != nil {
			return err
		}
		if err := c.length("dst", c.dst, sum(c.recv)); err != nil {
			return err
		}
		if err := c.length("src", c.src, int64(c.recv[rank])); err != nil {
			return err
		}
		at := int(sum(c.recv[:rank]))
		return c.alias(c.dst.Slice(at, at+c.recv[rank]), c.src, c.dst)
	case KindAllToAllV:
		if err := c.counts("recv", c.recv, size); err != nil {
			return err
		}
		if err := c.counts("send", c.send, size); err != nil {
			return err
		}
		if err := c.length("dst", c.dst, sum(c.recv)); err != nil {
			return err
		}
		if err := c.length("src", c.src, sum(c.send)); err != nil {
			return err
		}
		if c.recv[rank] != c.send[rank] {
			return c.invalid("recv", fmt.Sprintf("has %d elements from the rank itself, which sends %d", c.recv[rank], c.send[rank]), "give equal counts")
		}
		return c.alias(Buffer{}, c.src, c.dst)
	case KindAllReduce:
		if err := c.length("dst", c.dst, int64(c.src.n)); err != nil {
			return err
		}
		return c.alias(c.dst, c.src, c.dst)
	case KindReduceScatter:
		if err := c.length("src", c.src, int64(c.dst.n)*int64(size)); err != nil {
			return err
		}
		return c.alias(c.dst, c.src.Slice(rank*c.dst.n, (rank+1)*c.dst.n), c.src)
	case KindBroadcast:
		if c.root < 0 || c.root >= size {
			return c.invalid("root", fmt.Sprintf("is %d", c.root), fmt.Sprintf("give a rank, 0 … %d", size-1))
		}
	}
	return nil
}

func (c *call) counts(name string, counts []int, size int) error {
	if len(counts) != size {
		return c.invalid(name, fmt.Sprintf("has %d counts", len(counts)), fmt.Sprintf("give one for each of the %d ranks", size))
	}
	if i := slices.IndexFunc(counts, func(n int) bool { return n < 0 }); i >= 0 {
		return c.invalid(name, fmt.Sprintf("has %d elements of rank %d", counts[i], i), "give 0 or more")
	}
	total := int64(0)
	for _, n := range counts {
		if total += int64(n); total < 0 || total > math.MaxInt64/8 {
			return c.invalid(name, "has a sum that overflows", "give smaller counts")
		}
	}
	return nil
}

func (c *call) length(name string, b Buffer, want int64) error {
	if int64(b.n) != want {
		return c.invalid(name, fmt.Sprintf("has %d elements", b.n), fmt.Sprintf("the counts ask for %d", want))
	}
	return nil
}

// alias allows own and other to be the same memory, and nothing else of whole to overlap other.
func (c *call) alias(own, other, whole Buffer) error {
	if c.dst.dtype != c.src.dtype && c.src.n > 0 {
		return c.invalid("src", fmt.Sprintf("has elements of %v", c.src.dtype), fmt.Sprintf("dst has %v", c.dst.dtype))
	}
	if c.dst.n > 0 && c.src.n > 0 && c.dst.OnHost() != c.src.OnHost() {
		return c.invalid("src", "and dst are not both on the host or both on a device", "copy one of them")
	}
	inner, outer := other, whole
	if c.kind == KindReduceScatter {
		inner = c.dst
	}
	if own.same(other) || !inner.overlaps(outer) {
		return nil
	}
	return c.invalid("src", "overlaps dst", "only the rank's own block may be shared")
}

// common is what must be equal on all ranks, as text.
func (c *call) common() string {
	s := fmt.Sprintf("%v, collective %d", c.kind, c.number)
	switch c.kind {
	case KindAllGatherV:
		s += fmt.Sprintf(", %v, counts %s", c.dst.dtype, short(c.recv))
	case KindAllToAllV:
		s += fmt.Sprintf(", %v", c.dst.dtype)
	case KindAllReduce, KindReduceScatter:
		s += fmt.Sprintf(", %v, %v, %d elements of dst", c.op, c.dst.dtype, c.dst.n)
	case KindBroadcast:
		s += fmt.Sprintf(", %v, %d elements, root %d", c.dst.dtype, c.dst.n, c.root)
	}
	return s
}

// short prints counts, of many the first and a hash.
func short(counts []int) string {
	if len(counts) <= 8 {
		return fmt.Sprint(counts)
	}
	h := uint64(14695981039346656037) // FNV-1a by words
	for _, n := range counts {
		h = (h ^ uint64(n)) * 1099511628211
	}
	return fmt.Sprintf("%v … of %d, hash %x", counts[:4], len(counts), h)
}

// signature is what ranks tell each other to verify a collective.
type signature struct {
	Common     string `json:"c"`
	Recv, Send []int  `json:",omitempty"` // of AllToAllV
}

func (c *call) signature() signature {
	s := signature{Common: c.common()}
	if c.kind == KindAllToAllV {
		s.Recv, s.Send = c.recv, c.send
	}
	return s
}

// agree reports whether the signatures of all ranks match, without making them.
func agree(calls []*call) bool {
	c := calls[0]
	for r, d := range calls {
		if d.kind != c.kind || d.number != c.number {
			return false
		}
		same := true
		switch c.kind {
		case KindAllGatherV:
			same = d.dst.dtype == c.dst.dtype && slices.Equal(d.recv, c.recv)
		case KindAllToAllV:
			same = d.dst.dtype == c.dst.dtype
			for q, n := range d.send {
				same = same && q < len(calls) && r < len(calls[q].recv) && calls[q].recv[r] == n
			}
		case KindAllReduce, KindReduceScatter:
			same = d.op == c.op && d.dst.dtype == c.dst.dtype && d.dst.n == c.dst.n
		case KindBroadcast:
			same = d.dst.dtype == c.dst.dtype && d.dst.n == c.dst.n && d.root == c.root
		}
		if !same {
			return false
		}
	}
	return true
}

// disagree returns the rank to blame and what is wrong, or −1 if all ranks agree. The signature of
// the most ranks counts as right, of equally many that of the lowest rank.
func disagree(all []signature) (rank int, err error) {
	votes := map[string]int{}
	right := ""
	for _, s := range all {
		votes[s.Common]++
	}
	for _, s := range all {
		if right == "" || votes[s.Common] > votes[right] {
			right = s.Common
		}
	}
	for r, s := range all {
		if s.Common != right {
			return r, fmt.Errorf("%w: rank %d calls %s; others call %s", ErrMismatch, r, s.Common, right)
		}
	}
	for r, s := range all {
		for j, n := range s.Send {
			if j < len(all) && r < len(all[j].Recv) && all[j].Recv[r] != n {
				return r, fmt.Errorf("%w: %s: rank %d sends %d elements to rank %d, which expects %d", ErrMismatch, right, r, n, j, all[j].Recv[r])
			}
		}
	}
	return -1, nil
}
