package comm

import (
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/comm/internal/ranks"
)

// Collective is a collective of one rank with its arguments, as a [Transport] gets it.
type Collective struct {
	Kind       Kind
	Number     uint64 // in its group, from 1
	Dst, Src   Buffer // of Broadcast in Dst
	Recv, Send []int  // counts; of AllGatherV in Recv
	Op         Op     // of AllReduce and ReduceScatter
	Root       int    // of Broadcast
	Color, Key int    // of Split
}

// Invalid returns the *ArgumentError of an argument.
func (c *Collective) Invalid(arg, reason, remedy string) error {
	if c == nil {
		c = &Collective{}
	}
	return &ArgumentError{c.Kind.String(), arg, reason, remedy}
}

// check verifies the arguments of one rank.
func (c *Collective) check(rank, size int) error {
	for _, b := range []struct {
		Buffer
		name string
	}{{c.Dst, "dst"}, {c.Src, "src"}} {
		switch {
		case b.dtype >= dtypes:
			return c.Invalid(b.name, "has an unknown element type", "use one of comm.DTypes")
		case b.n < 0 || int64(b.n) > math.MaxInt64/8:
			return c.Invalid(b.name, fmt.Sprintf("has %d elements", b.n), "give 0 or more")
		case b.n > 0 && b.address() == 0:
			return c.Invalid(b.name, fmt.Sprintf("is nil, and has %d elements", b.n), "give its memory")
		}
	}
	switch c.Kind {
	case KindAllGatherV:
		if err := c.counts("counts", c.Recv, size); err != nil {
			return err
		}
		if err := c.length("dst", c.Dst, ranks.Sum(c.Recv)); err != nil {
			return err
		}
		if err := c.length("src", c.Src, int64(c.Recv[rank])); err != nil {
			return err
		}
		at := int(ranks.Sum(c.Recv[:rank]))
		return c.alias(c.Dst.Slice(at, at+c.Recv[rank]), c.Src, c.Dst)
	case KindAllToAllV:
		if err := c.counts("recv", c.Recv, size); err != nil {
			return err
		}
		if err := c.counts("send", c.Send, size); err != nil {
			return err
		}
		if err := c.length("dst", c.Dst, ranks.Sum(c.Recv)); err != nil {
			return err
		}
		if err := c.length("src", c.Src, ranks.Sum(c.Send)); err != nil {
			return err
		}
		if c.Recv[rank] != c.Send[rank] {
			return c.Invalid("recv", fmt.Sprintf("has %d elements from the rank itself, which sends %d", c.Recv[rank], c.Send[rank]), "give equal counts")
		}
		return c.alias(Buffer{}, c.Src, c.Dst)
	case KindAllReduce:
		if err := c.length("dst", c.Dst, int64(c.Src.n)); err != nil {
			return err
		}
		return c.alias(c.Dst, c.Src, c.Dst)
	case KindReduceScatter:
		if err := c.length("src", c.Src, int64(c.Dst.n)*int64(size)); err != nil {
			return err
		}
		return c.alias(c.Dst, c.Src.Slice(rank*c.Dst.n, (rank+1)*c.Dst.n), c.Src)
	case KindBroadcast:
		if c.Root < 0 || c.Root >= size {
			return c.Invalid("root", fmt.Sprintf("is %d", c.Root), fmt.Sprintf("give a rank, 0 … %d", size-1))
		}
	}
	return nil
}

func (c *Collective) counts(name string, counts []int, size int) error {
	if len(counts) != size {
		return c.Invalid(name, fmt.Sprintf("has %d counts", len(counts)), fmt.Sprintf("give one for each of the %d ranks", size))
	}
	if i := slices.IndexFunc(counts, func(n int) bool { return n < 0 }); i >= 0 {
		return c.Invalid(name, fmt.Sprintf("has %d elements of rank %d", counts[i], i), "give 0 or more")
	}
	total := int64(0)
	for _, n := range counts {
		if total += int64(n); total < 0 || total > math.MaxInt64/8 {
			return c.Invalid(name, "has a sum that overflows", "give smaller counts")
		}
	}
	return nil
}

func (c *Collective) length(name string, b Buffer, want int64) error {
	if int64(b.n) != want {
		return c.Invalid(name, fmt.Sprintf("has %d elements", b.n), fmt.Sprintf("the counts ask for %d", want))
	}
	return nil
}

// alias allows own and other to be the same memory, and nothing else of whole to overlap other.
func (c *Collective) alias(own, other, whole Buffer) error {
	if c.Dst.dtype != c.Src.dtype && c.Src.n > 0 {
		return c.Invalid("src", fmt.Sprintf("has elements of %v", c.Src.dtype), fmt.Sprintf("dst has %v", c.Dst.dtype))
	}
	if c.Dst.n > 0 && c.Src.n > 0 && c.Dst.OnHost() != c.Src.OnHost() {
		return c.Invalid("src", "and dst are not both on the host or both on a device", "copy one of them")
	}
	inner, outer := other, whole
	if c.Kind == KindReduceScatter {
		inner = c.Dst
	}
	if own.Same(other) || !inner.Overlaps(outer) {
		return nil
	}
	return c.Invalid("src", "overlaps dst", "only the rank's own block may be shared")
}

// common is what must be equal on all ranks, as text.
func (c *Collective) common() string {
	s := fmt.Sprintf("%v, collective %d", c.Kind, c.Number)
	switch c.Kind {
	case KindAllGatherV:
		s += fmt.Sprintf(", %v, counts %s", c.Dst.dtype, ranks.Short(c.Recv))
	case KindAllToAllV:
		s += fmt.Sprintf(", %v", c.Dst.dtype)
	case KindAllReduce, KindReduceScatter:
		s += fmt.Sprintf(", %v, %v, %d elements of dst", c.Op, c.Dst.dtype, c.Dst.n)
	case KindBroadcast:
		s += fmt.Sprintf(", %v, %d elements, root %d", c.Dst.dtype, c.Dst.n, c.Root)
	}
	return s
}

// Signature is what ranks tell each other to verify a collective.
type Signature struct {
	Common     string `json:"c"`
	Recv, Send []int  `json:",omitempty"` // of AllToAllV
}

// Signature returns what the ranks compare.
func (c *Collective) Signature() Signature {
	if c == nil {
		return Signature{}
	}
	s := Signature{Common: c.common()}
	if c.Kind == KindAllToAllV {
		s.Recv, s.Send = c.Recv, c.Send
	}
	return s
}

// agree reports whether the signatures of all ranks match, without making them.
func agree(calls []*Collective) bool {
	c := calls[0]
	for r, d := range calls {
		if d.Kind != c.Kind || d.Number != c.Number {
			return false
		}
		same := true
		switch c.Kind {
		case KindAllGatherV:
			same = d.Dst.dtype == c.Dst.dtype && slices.Equal(d.Recv, c.Recv)
		case KindAllToAllV:
			same = d.Dst.dtype == c.Dst.dtype
			for q, n := range d.Send {
				same = same && q < len(calls) && r < len(calls[q].Recv) && calls[q].Recv[r] == n
			}
		case KindAllReduce, KindReduceScatter:
			same = d.Op == c.Op && d.Dst.dtype == c.Dst.dtype && d.Dst.n == c.Dst.n
		case KindBroadcast:
			same = d.Dst.dtype == c.Dst.dtype && d.Dst.n == c.Dst.n && d.Root == c.Root
		}
		if !same {
			return false
		}
	}
	return true
}

// Disagree returns the rank to blame and what is wrong, or −1 if all ranks agree. The signature of
// the most ranks counts as right; of equally frequent signatures, the signature of the lowest rank.
func Disagree(all []Signature) (rank int, err error) {
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
