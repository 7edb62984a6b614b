package program

import (
	_ "embed"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
)

// This file runs programs with functions of whole lists on a device; see kernels/lists.cu.

//go:embed kernels/lists.cu
var listsText string

// listed names these supersteps in a trace, as on the host.
const listed = "lists"

// lists is the texts of a program's functions of whole lists.
type lists struct {
	edges, messages bool   // Edges and Messages are given
	each            bool   // the text of Edges is the text of one edge
	marks           bool   // the text of Edges makes edges active or not
	change          string // of each message that Edges sends; "" for none
	user            string // hb_walk and hb_list
}

// present reports whether a program has functions of whole lists.
func (l *lists) present() bool { return l.edges || l.messages }

var setActiveWord = regexp.MustCompile(`\bset_active\b`)

// compose writes the functions that kernels/lists.cu calls.
func (l *lists) compose(walk, list string) {
	const context = "hb_i32 id, hb_i32 degree, hb_i32 n, hb_i32 superstep, const double *total"
	var b strings.Builder
	walked := "hb_edges &edges"
	if l.each { // a function of its own, so that the text may return
		walked = "hb_edge_of edge"
	}
	if l.edges {
		l.marks = setActiveWord.MatchString(walk)
		fmt.Fprintf(&b, "HB_DEVICE void %s(%s, const HB_V &state, %s) { typedef HB_V V; typedef HB_E E; typedef HB_M M; %s; }\n",
			map[bool]string{false: "hb_walk", true: "hb_walk_edge"}[l.each], walked, context, walk)
		if l.each {
			fmt.Fprintf(&b, "HB_DEVICE void hb_walk(hb_edges &edges, const HB_V &state, %s) {\n"+
				"\tfor (hb_i32 k = 0; k < edges.len(); k++)\n\t\tif (edges.active(k)) hb_walk_edge({edges, state, k}, state, id, degree, n, superstep, total);\n}\n", context)
		}
	}
	if l.messages {
		fmt.Fprintf(&b, "HB_DEVICE HB_M hb_list(hb_messages &messages, const HB_V &state, %s) { typedef HB_V V; typedef HB_M M; HB_M sum = HB_M(); %s; return sum; }\n", context, list)
	}
	l.user = b.String()
}

// changes is the function that changes messages, which kernels/lists.cu calls.
func (l *lists) changes() string {
	if l.change == "" {
		return ""
	}
	return "HB_DEVICE HB_M hb_change(const HB_M &message) { typedef HB_M M; return (HB_M)(" + l.change + "); }\n"
}

// listProgram is the program of lists.cu.
func (d *deviceProgram) listProgram() device.Program {
	flag := map[bool]int{true: 1}
	p := d.program()
	p.File, p.Head, p.Parts = "program/lists", d.head, nil
	before, after, _ := strings.Cut(listsText, "\nHB_USER\n")
	p.Body = d.body + d.lists.changes() + programText + bufferText + before + "\n" + d.lists.user + after
	for name, value := range map[string]any{
		"HB_LIST_EDGES": flag[d.lists.edges], "HB_LIST_MESSAGES": flag[d.lists.messages],
		"HB_CHANGES": flag[d.lists.change != ""],
	} {
		p.Defines[name] = value
	}
	return p
}

// listKey separates the programs of lists from the programs of programKey.
type listKey struct{ programKey }

func (r *deviceRun) list(name string) device.Kernel {
	return r.Kernel(r.Program(listKey{r.p.code}, r.p.listProgram), "hb_program_"+name)
}

// byLists sums or lists the messages of a superstep, which come from Edges, or from Send or Gather
// for Messages. x are the states, or the messages of Send.
func (r *deviceRun) byLists(x device.View, superstep int32) device.View {
	d, n := r.p, int32(r.n)
	var bounds, buffer, sent device.Buffer
	var free []device.Buffer
	if d.lists.edges {
		bounds, buffer = r.walk(superstep)
		free = []device.Buffer{bounds, buffer}
	} else {
		b := r.mailbox(nil)
		if r.Err() != nil {
			return device.View{}
		}
		bounds = r.Rows(r.reverse).Ptr
		buffer, sent = r.writeMessages(b, x, r.list("post"))
		free = []device.Buffer{buffer, sent}
	}
	y := r.states(d.message)
	if d.lists.messages {
		r.Each(r.list("read_list"), int64(n), n, r.rows.Ptr, r.state.Val, r.closed.Present, bounds, buffer, sent, d.everywhere,
			superstep, r.sums, y.Val, y.Present)
	} else {
		r.warps(r.list("read_warps"), int64(n), n, bounds, buffer, sent, y.Val, y.Present)
	}
	for _, b := range free {
		if b.Addr != 0 {
			r.Free(b)
		}
	}
	return y
}

// walk runs Edges, and returns the messages in the order of their targets, those to one vertex in
// the order of their sources, and where those to each vertex begin.
func (r *deviceRun) walk(superstep int32) (bounds, buffer device.Buffer) {
	d, n, size, entries := r.p, int32(r.n), int64(r.n), r.rows.Entries
	var trial device.Buffer // the marks while messages are counted
	if d.lists.marks {
		if r.idle.Addr == 0 {
			r.idle = r.Zeros(max(entries, 1))
		}
		trial = r.Alloc(max(entries, 1))
		r.Copy(trial, r.idle, entries)
	}
	none := device.Buffer{}
	counts, lost := r.Alloc(8*size), r.Alloc(8)
	r.Fill(lost, 0xff, 8)
	walk := r.list("walk")
	run := func(idle, offsets, to, mail device.Buffer) {
		r.Each(walk, size, n, r.rows.Ptr, r.rows.Idx, r.rows.Val, r.state.Val, r.state.Present, idle, superstep, r.sums,
			counts, lost, offsets, to, mail)
	}
	run(trial, none, none, none)
	if from := r.Read(lost, 0); from >= 0 && r.Err() == nil {
		r.Fail(&MessageError{d.name, int(superstep), int32(from), r.Read(counts, from), size})
	}
	offsets := r.Scan(counts, size, 8)
	m := r.Read(offsets, size)
	if m > math.MaxUint32 {
		r.Fail(&ProgramError{d.name, "Edges", fmt.Sprintf("superstep %d sends %d messages, and a device groups less than 2³²", superstep, m),
			"send fewer, or run the program on the host"})
	}
	if r.Err() != nil {
		return none, none
	}
	mail, to := r.Alloc(max(m, 1)*int64(d.message.Size)), r.Alloc(4*max(m, 1))
	run(r.idle, offsets, to, mail)
	sorted, places := to, to
	if m > 0 {
		sorted, places = r.Sort(to, m, 4, bits.Len(uint(r.n)))
	}
	bounds, buffer = r.Alloc(8*(size+1)), r.Alloc(max(m, 1)*int64(d.message.Size))
	r.Each(r.list("bounds"), size+1, n, m, sorted, bounds)
	r.Each(r.list("group"), m, m, places, mail, buffer)
	for _, b := range []device.Buffer{counts, lost, offsets, mail, to} {
		r.Free(b)
	}
	if m > 0 {
		r.Free(sorted)
		r.Free(places)
	}
	if trial.Addr != 0 {
		r.Free(trial)
	}
	return bounds, buffer
}
