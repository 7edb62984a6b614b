package program

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
)

// This file runs supersteps by way of a message buffer; see kernels/buffer.cu.

//go:embed kernels/buffer.cu
var bufferText string

// The plans of a message buffer: its messages in rows, read by a warp or a thread a vertex, or in
// columns of 32 vertices of similar in-degree.
const (
	bufferRows    = "buffer rows"
	bufferThreads = "buffer rows vm"
	bufferColumns = "buffer columns"
)

// BufferPlans are the plans of [Options] that keep messages in a buffer. They suit a program with
// Send or Gather, and Sum, on a device. "buffer columns" may be followed by buckets=N, the buckets
// of the approximate sort by in-degree, 0 for no sort, or by sort=exact, and by group=G, the number
// of vertices whose messages are interleaved: 1, 2, 4, 8, 16 or 32.
func BufferPlans() []string { return []string{bufferRows, bufferThreads, bufferColumns} }

// columns are the parameters of "buffer columns".
type columns struct {
	buckets int // 0: the vertices are not sorted
	exact   bool
	lg      int // a group has 1<<lg vertices
}

// The parameters that a plan leaves out. Zhong et al. take 1000 buckets and groups of 32.
const (
	bufferBuckets = 1024
	bufferLog     = 5
	mostBuckets   = 1 << 20
)

// readBuffer reads a plan with a buffer. It returns what is wrong with it, or "".
func readBuffer(plan string) (c columns, reason string) {
	c = columns{buckets: bufferBuckets, lg: bufferLog}
	if plan == bufferRows || plan == bufferThreads {
		return c, ""
	}
	rest, is := strings.CutPrefix(plan+" ", bufferColumns+" ")
	if !is {
		return c, "is not a plan"
	}
	seen := map[string]bool{}
	for _, word := range strings.Fields(rest) {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		switch {
		case seen[key]:
			return c, "gives " + key + " twice"
		case key == "buckets" && err == nil && n >= 0 && n <= mostBuckets:
			c.buckets = n
		case key == "group" && err == nil && n >= 1 && n <= 32 && n&(n-1) == 0:
			c.lg = bits.Len(uint(n)) - 1
		case key == "sort" && value == "exact":
			c.exact = true
		default:
			return c, fmt.Sprintf("has %q", word)
		}
		seen[key] = true
	}
	if c.exact && seen["buckets"] {
		return c, "has buckets and sort=exact, which has none"
	}
	return c, ""
}

// bufferSlack bounds the slots of columns: so many for an edge, besides 32 for a vertex.
const bufferSlack = 4

// mailbox is where messages of a matrix are written and read, kept with the matrix.
type mailbox struct {
	from, place device.Buffer // of an edge by source
	order, base device.Buffer // of columns
	slots       int64
}

// Drop frees the buffers.
func (b *mailbox) Drop() {
	for _, m := range []*device.Buffer{&b.from, &b.place, &b.order, &b.base} {
		m.Release()
		*m = device.Buffer{}
	}
}

// buffered is the program of buffer.cu.
func (d *deviceProgram) buffered() device.Program {
	p := d.program()
	p.File, p.Head, p.Parts, p.Body = "program/buffer", d.head, nil, d.body+bufferText
	return p
}

// bufferKey separates the programs of buffers from the programs of programKey.
type bufferKey struct{ programKey }

func (r *deviceRun) buffer(name string) device.Kernel {
	if r.p.lists.present() {
		return r.list(name)
	}
	return r.Kernel(r.Program(bufferKey{r.p.code}, r.p.buffered), "hb_program_"+name)
}

// warps launches a kernel of a warp an item.
func (r *deviceRun) warps(k device.Kernel, items int64, args ...any) {
	const each = device.Threads / 32
	r.Blocks(k, min((items+each-1)/each, int64(r.Multiprocessors())*64), device.Threads, args...)
}

// mailbox returns the places of messages, and makes them once a matrix: rows, or columns.
func (r *deviceRun) mailbox(c *columns) *mailbox {
	key := "program: rows of messages"
	if c != nil {
		key = fmt.Sprintf("program: columns of messages, %+v", *c)
	}
	if r.graph.Transposed {
		key += ", reversed"
	}
	b, _ := r.Kept(r.graph, key, func() device.Dropper { return r.newMailbox(c) }).(*mailbox)
	return b
}

func (r *deviceRun) newMailbox(c *columns) *mailbox {
	m, n := r.rows.Entries, int32(r.n)
	plan := bufferRows
	if c != nil {
		plan = bufferColumns
	}
	fits := func(slots int64) {
		if slots >= 1<<32 || slots > bufferSlack*m+32*int64(n) {
			r.Fail(&PlanError{r.p.name, plan, fmt.Sprintf("the buffer would have %d places for %d messages", slots, m),
				"use a plan without a buffer"})
		}
	}
	fits(m)
	in := r.Rows(r.reverse)
	b := &mailbox{slots: m, from: r.Alloc(4 * max(m, 1)), place: r.Alloc(4 * max(m, 1))}
	r.warps(r.buffer("sources"), int64(n), n, r.rows.Ptr, b.from)
	keys := r.Alloc(4 * max(m, 1))
	r.Copy(keys, r.rows.Idx, 4*m)
	sorted, places := keys, keys
	if m > 0 {
		sorted, places = r.Sort(keys, m, 4, bits.Len(uint(r.n)))
	}
	if c != nil {
		r.columns(b, *c, in, sorted, places)
	} else {
		r.Each(r.buffer("rows"), m, m, places, b.place)
	}
	fits(b.slots)
	if r.Err() != nil {
		return &mailbox{}
	}
	kept := &mailbox{r.Retain(b.from), r.Retain(b.place), device.Buffer{}, device.Buffer{}, b.slots}
	if c != nil {
		kept.order, kept.base = r.Retain(b.order), r.Retain(b.base)
	}
	return kept
}

// columns interleaves the messages of groups of vertices.
func (r *deviceRun) columns(b *mailbox, c columns, in device.View, sorted, places device.Buffer) {
	m, n, size, lg := r.rows.Entries, int32(r.n), int64(r.n), int32(c.lg)
	r.order(b, c, in)
	rank, groups := r.Alloc(4*size), (size+1<<c.lg-1)>>c.lg
	slots := r.Alloc(8 * groups)
	r.warps(r.buffer("widths"), (size+31)/32, n, in.Ptr, b.order, lg, rank, slots)
	b.base = r.Scan(slots, groups, 8)
	b.slots = r.Read(b.base, groups)
	r.Each(r.buffer("columns"), m, m, sorted, places, in.Ptr, rank, b.base, lg, b.place)
	r.Free(rank)
	r.Free(slots)
}

// order sorts the vertices by in-degree: approximately, in one pass over them (Zhong et al.,
// section 4.1), exactly, or not.
func (r *deviceRun) order(b *mailbox, c columns, in device.View) {
	n, size := int32(r.n), int64(r.n)
	if !c.exact && c.buckets == 0 {
		b.order = r.Alloc(4 * size)
		r.Each(r.buffer("number"), size, n, b.order)
		return
	}
	most := r.Zeros(8)
	r.Each(r.buffer("most"), size, n, in.Ptr, most)
	greatest, keys := r.Read(most, 0), r.Alloc(4*size)
	if c.exact {
		r.Each(r.buffer("degrees"), size, n, in.Ptr, greatest, keys)
		_, b.order = r.Sort(keys, size, 4, max(1, bits.Len(uint(greatest))))
	} else {
		at, counts := r.Alloc(4*size), r.Zeros(8*int64(c.buckets))
		r.Each(r.buffer("assign"), size, n, in.Ptr, greatest, uint32(c.buckets), keys, at, counts)
		first := r.Scan(counts, int64(c.buckets), 8)
		b.order = r.Alloc(4 * size)
		r.Each(r.buffer("scatter"), size, n, keys, at, first, b.order)
		for _, x := range []device.Buffer{at, counts, first} {
			r.Free(x)
		}
	}
	r.Free(most)
	r.Free(keys)
}

// byBuffer sums the messages of the active vertices by way of a buffer.
func (r *deviceRun) byBuffer(method string, x device.View) device.View {
	d, n := r.p, int32(r.n)
	c, _ := readBuffer(method)
	var box *columns
	if method != bufferRows && method != bufferThreads {
		box = &c
	}
	b := r.mailbox(box)
	if r.Err() != nil {
		return device.View{}
	}
	in := r.Rows(r.reverse)
	buffer, sent := r.writeMessages(b, x, r.buffer("post"))
	y := r.states(d.message)
	switch method {
	case bufferRows:
		r.warps(r.buffer("read_warps"), int64(n), n, in.Ptr, buffer, sent, y.Val, y.Present)
	case bufferThreads:
		r.Each(r.buffer("read_threads"), int64(n), n, in.Ptr, buffer, sent, y.Val, y.Present)
	default:
		r.Each(r.buffer("read_columns"), int64(n), n, in.Ptr, b.order, b.base, int32(c.lg), buffer, sent, y.Val, y.Present)
	}
	r.Free(buffer)
	if sent.Addr != 0 {
		r.Free(sent)
	}
	return y
}

// writeMessages writes the messages of the active vertices to their places in a new buffer. sent
// says which places have one; zero: all.
func (r *deviceRun) writeMessages(b *mailbox, x device.View, kernel device.Kernel) (buffer, sent device.Buffer) {
	d, m := r.p, r.rows.Entries
	buffer = r.Alloc(int64(d.message.Size) * max(b.slots, 1))
	present := r.state.Present
	if present.Addr != 0 || !d.sends && d.gather.If != "" {
		sent = r.Alloc(max(b.slots, 1))
	}
	mail := device.Buffer{}
	if d.sends {
		mail = x.Val
	}
	r.Each(kernel, m, int32(r.n), m, r.rows.Ptr, b.from, r.rows.Idx, r.rows.Val, r.state.Val, present, mail, b.place,
		buffer, sent)
	return buffer, sent
}

// isBuffer reports whether a plan keeps messages in a buffer.
func isBuffer(plan string) bool { return strings.HasPrefix(plan, "buffer") }
