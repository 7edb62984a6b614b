package program

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
)

// This file finds the programs of lists that need no list of messages: a device runs them as Send
// and Gather, without a buffer of messages.

// trueText is the condition of a message that every edge has.
const trueText = "true"

var (
	// listWord is a name that the text of a message of an edge does not have.
	listWord = regexp.MustCompile(`\b(set_active|id|degree|n|superstep|total)\b`)
	edgeWord = regexp.MustCompile(`\bedge\b`)
	// listCall is what may be called of a list in the text of a message of a vertex.
	listCall  = regexp.MustCompile(`\bedges\s*\.\s*len\s*\(\s*\)`)
	listName  = regexp.MustCompile(`\bedges\b`)
	stateWord = regexp.MustCompile(`\bstate\b`)
	sendEdge  = regexp.MustCompile(`^\s*edge\s*\.\s*send\s*\(`)
	sendAll   = regexp.MustCompile(`^\s*edges\s*\.\s*send_all\s*\(`)
)

// argument returns the argument of a text that is a single call, which call finds the start of.
func argument(text string, call *regexp.Regexp) (string, bool) {
	at := call.FindStringIndex(text)
	if at == nil || strings.ContainsAny(text, `'"`) || strings.Contains(text, "//") || strings.Contains(text, "/*") {
		return "", false
	}
	text = strings.TrimRight(text[at[1]:], "; \t\r\n")
	inner, closed := strings.CutSuffix(text, ")")
	depth := 0
	for _, c := range inner {
		switch c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		}
		if depth < 0 || depth == 0 && (c == ',' || c == ';') {
			return "", false
		}
	}
	return inner, closed && depth == 0
}

// asSend returns the text of Send that sends what a text of Edges does, if that text is a message
// to all: edges.send_all(m), where m asks the list for its length at most.
func asSend(walk, change string, message device.Type) (send string, ok bool) {
	m, ok := argument(walk, sendAll)
	if !ok || listName.MatchString(listCall.ReplaceAllString(m, "degree")) {
		return "", false
	}
	return changed(listCall.ReplaceAllString(m, "degree"), change, message), true
}

// changed is the text of a message after the change of MESSAGE.
func changed(m, change string, message device.Type) string {
	if change == "" {
		return m
	}
	return fmt.Sprintf("[&]() -> %[1]s { const %[1]s message = %[2]s; return %[3]s; }()", message.Name, m, change)
}

// Names of an edge in the text of EDGE, and what Gather calls them.
var edgeCalls = []struct {
	call *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\bedge\s*\.\s*src\s*\(\s*\)`), "src"},
	{regexp.MustCompile(`\bedge\s*\.\s*dst\s*\(\s*\)`), "dst"},
	{regexp.MustCompile(`\bedge\s*\.\s*weight\s*\(\s*\)`), "weight"},
}

// asGather returns the text of Gather, and its condition, that send what a text of EDGE does: one
// that knows no more than its edge, and makes none active. Several messages are summed.
func asGather(walk, change string, sum device.Monoid, message device.Type) (gather, condition string, ok bool) {
	if !edgeWord.MatchString(walk) || listWord.MatchString(walk) || listWord.MatchString(change) {
		return "", "", false
	}
	if m, one := argument(walk, sendEdge); one && !stateWord.MatchString(m) {
		for _, c := range edgeCalls {
			m = c.call.ReplaceAllString(m, c.name)
		}
		if !edgeWord.MatchString(m) {
			return changed(m, change, message), "", true
		}
	}
	if change == "" {
		change = "message"
	}
	add := "hb_sum"
	if !sum.Any {
		add = fmt.Sprintf("[](const M &x, const M &y) -> M { typedef M A; typedef M B; typedef M C; typedef M T; return (M)(%s); }(hb_sum, hb_sent)", sum.Text)
	}
	of := func(result, what string) string {
		return "[&]() -> " + result + ` {
	struct hb_edge_type {
		const V &hb_src, &hb_dst;
		const E hb_weight;
		M hb_sum;
		bool hb_some;
		__device__ __forceinline__ const V &src() const { return hb_src; }
		__device__ __forceinline__ const V &dst() const { return hb_dst; }
		__device__ __forceinline__ E weight() const { return hb_weight; }
		__device__ __forceinline__ void send(const M &message) {
			const M hb_sent = (M)(` + change + `);
			hb_sum = hb_some ? ` + add + ` : hb_sent;
			hb_some = true;
		}
	} edge = {src, dst, weight, M(), false};
	const V &state = src;
	[&]() -> void { ` + walk + `; }();
	return edge.` + what + `;
}()`
	}
	return of("M", "hb_sum"), of("bool", "hb_some"), true
}

// fuse gives f what Send and Gather of a device need to send what the text of Edges does, or
// returns false.
func (l *lists) fuse(f *functions, sum device.Monoid, message device.Type) (gather, condition string, ok bool) {
	if l.each {
		return asGather(f.walk, l.change, sum, message)
	}
	f.send, ok = asSend(f.walk, l.change, message)
	return "", "", ok
}

var (
	srcWord  = regexp.MustCompile(`\bsrc\b`)
	endsWord = regexp.MustCompile(`\b(dst|x|y)\b`)
)

// asProduct returns the ⊗, in x and y, of a text of Gather that does not read the state at the end
// of the edge: the kernels of products are faster.
func asProduct(gather string, mul device.Func) (device.Func, bool) {
	if endsWord.MatchString(gather) {
		return mul, false
	}
	mul.Text = fmt.Sprintf("[](const %[1]s &weight, const %[2]s &src) -> %[3]s { typedef %[1]s E; typedef %[2]s V; typedef %[3]s M; return (M)(%[4]s); }(x, y)",
		mul.X.Name, mul.Y.Name, mul.Out.Name, gather)
	mul.UsesX, mul.UsesY = weightWord.MatchString(gather), srcWord.MatchString(gather)
	return mul, true
}
