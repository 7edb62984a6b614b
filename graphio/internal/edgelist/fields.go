package edgelist

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
)

// blanks is the delimiter of fields that runs of blanks and tabs separate.
const blanks = ' '

// Classes of bytes in a line. Those from classDelim on end an unquoted field.
const (
	classText = iota
	classBlank
	classDelim
	classEnd
)

// fieldSplitter splits lines into fields by the rules of encoding/csv. A field that
// begins with a quotation mark ends at the next single mark; two marks in a row
// stand for one; a mark anywhere else is an error. Blanks around a field are no part
// of it. A field does not contain a line break.
type fieldSplitter struct {
	delim byte // or blanks
	class [256]uint8
}

func newFieldSplitter(delim byte) *fieldSplitter {
	s := &fieldSplitter{delim: delim}
	s.class[' '], s.class['\t'], s.class['\r'] = classBlank, classBlank, classBlank
	if delim != blanks {
		s.class[delim] = classDelim
	}
	s.class['\n'] = classEnd
	return s
}

// next returns the bounds of the unquoted field at or after d[p:] and the position
// of the next field. last reports that the field ends its line; next is then the
// start of the next line.
func (s *fieldSplitter) next(d []byte, p int) (at, end, next int, last bool) {
	for s.class[d[p]] == classBlank {
		p++
	}
	at = p
	if s.delim == blanks {
		for s.class[d[p]] == classText {
			p++
		}
		end = p
		for s.class[d[p]] == classBlank {
			p++
		}
		if d[p] == '\n' {
			return at, end, p + 1, true
		}
		return at, end, p, false
	}
	for s.class[d[p]] < classDelim {
		p++
	}
	end = p
	for end > at && s.class[d[end-1]] == classBlank {
		end--
	}
	return at, end, p + 1, d[p] == '\n'
}

// quoted is next for a field that may have quotation marks. It returns the text
// of the field, and a message where it breaks the rules.
func (s *fieldSplitter) quoted(d []byte, p int) (text []byte, inQuotes bool, next int, last bool, msg string) {
	q := p
	for s.class[d[q]] == classBlank {
		q++
	}
	if d[q] != '"' {
		at, end, next, last := s.next(d, p)
		if bytes.IndexByte(d[at:end], '"') >= 0 {
			return nil, false, next, last, fmt.Sprintf("a quotation mark inside the unquoted field %s", core.Quote(d[at:end]))
		}
		return d[at:end], false, next, last, ""
	}
	q++
	start := q
	for {
		n := bytes.IndexAny(d[q:], "\"\n")
		if d[q+n] == '\n' {
			return nil, true, q + n + 1, true, "a quoted field is not closed on its line; fields with line breaks are not supported"
		}
		q += n
		if d[q+1] != '"' {
			break
		}
		if text == nil {
			text = make([]byte, 0, q+1-start)
		}
		text = append(text, d[start:q+1]...)
		q += 2
		start = q
	}
	if text == nil {
		text = d[start:q]
	} else {
		text = append(text, d[start:q]...)
	}
	q++
	separated := false
	for s.class[d[q]] == classBlank {
		q++
		separated = true
	}
	switch {
	case d[q] == '\n':
		return text, true, q + 1, true, ""
	case s.delim != blanks && d[q] == s.delim:
		return text, true, q + 1, false, ""
	case s.delim == blanks && separated:
		return text, true, q, false, ""
	}
	return nil, true, q, false, fmt.Sprintf("text follows the quoted field %s", core.Quote(text))
}

// split returns the fields of a line, which ends in a newline, without an empty
// field after the last delimiter. msg describes a misplaced quotation mark.
func (s *fieldSplitter) split(line []byte) (fields []string, msg string) {
	for p, last := 0, false; !last; {
		var text []byte
		var inQuotes bool
		if text, inQuotes, p, last, msg = s.quoted(line, p); msg != "" {
			return fields, msg
		}
		if last && len(text) == 0 && !inQuotes {
			break
		}
		fields = append(fields, string(text))
	}
	return fields, ""
}

// checkDelimiter reports why d cannot separate fields, or "".
func checkDelimiter(d rune) string {
	switch {
	case d == '\t' || d == blanks:
		return ""
	case d < '!' || d > '~':
		return fmt.Sprintf("%q is not a printable ASCII character, a tab or a blank", d)
	case d >= '0' && d <= '9', d >= 'a' && d <= 'z', d >= 'A' && d <= 'Z', strings.ContainsRune(`"#%+-._`, d):
		return fmt.Sprintf("%q can be part of an id or a number, or marks comments or quotes", d)
	}
	return ""
}

// CheckDelimiter returns an error for a character that [Delimiter] refuses: one
// that can be part of an id or a number, or that marks comments or quotes.
func CheckDelimiter(d rune) error {
	if msg := checkDelimiter(d); msg != "" {
		return &core.OptionError{Op: "graphio.CheckDelimiter", Option: "Delimiter", Reason: msg}
	}
	return nil
}

// candidates are the delimiters of findDelimiter, in order of preference.
var candidates = []byte{'\t', ',', ';', '|'}

// findDelimiter returns the delimiter of the first lines of a list: a candidate
// under which the first line is a header, else the candidate that splits the most
// lines. Of several, the tab wins, then the one with the most fields in the first
// line, then the first of comma, semicolon and bar. The reader reports lines
// without the delimiter. If no candidate splits a line, blanks separate fields.
func findDelimiter(lines [][]byte, header, decimalComma bool) byte {
	candidates := candidates
	if decimalComma {
		candidates = []byte{'\t', ';', '|'}
	}
	best, bestScore, bestFields := byte(blanks), 0, 0
	if splitsAll(lines, blanks) && !slices.ContainsFunc(candidates, func(c byte) bool { return splitsAny(lines, c) }) {
		return blanks // the others occur in quoted fields alone
	}
	for _, c := range candidates {
		s := newFieldSplitter(c)
		score, first := 0, 0
		for k, line := range lines {
			fields, msg := s.split(line)
			switch {
			case msg == "" && len(fields) > 1:
				score += 2
			case msg != "" && bytes.IndexByte(line, c) >= 0: // the reader will report the quotes
				score++
			}
			if k == 0 && msg == "" {
				if ok, all, _ := namesColumns(fields); header && ok && all {
					return c
				}
				first = len(fields)
			}
		}
		if score > bestScore || score == bestScore && best != blanks && best != '\t' && first > bestFields {
			best, bestScore, bestFields = c, score, first
		}
	}
	return best
}

// splitsAny reports whether c splits one of the lines.
func splitsAny(lines [][]byte, c byte) bool {
	s := newFieldSplitter(c)
	return slices.ContainsFunc(lines, func(line []byte) bool {
		fields, msg := s.split(line)
		return msg == "" && len(fields) > 1
	})
}

// splitsAll reports whether c splits all of the lines.
func splitsAll(lines [][]byte, c byte) bool {
	s := newFieldSplitter(c)
	return !slices.ContainsFunc(lines, func(line []byte) bool {
		fields, msg := s.split(line)
		return msg != "" || len(fields) < 2
	})
}

// headerNames maps the known column names, in lower case, to the role of the
// column.
var headerNames = map[string]columnRole{}

type columnRole uint8

const (
	roleOther columnRole = iota
	roleSource
	roleTarget
	roleWeight
)

func init() {
	for role, names := range map[columnRole]string{
		roleSource: "source src from source_id sourceid src_id srcid from_id fromid from_node fromnode from_node_id fromnodeid node1 node_1 vertex1 follower row person user user_id userid",
		roleTarget: "target dst dest destination to target_id targetid dst_id dstid to_id toid to_node tonode to_node_id tonodeid node2 node_2 vertex2 followed followee col column friend item item_id itemid movie movie_id movieid",
		roleWeight: "weight weights wt value val count amount rating score distance cost capacity length",
		roleOther:  "id label type name time timestamp date edge_id edgeid kind relation timeset interval index",
	} {
		for name := range strings.FieldsSeq(names) {
			headerNames[name] = role
		}
	}
}

// headerRole returns the role of a column by its name. A column without a name, and one that pandas
// names so, is an index.
func headerRole(name string) (role columnRole, known bool) {
	lower := strings.ToLower(name)
	if lower == "" || strings.HasPrefix(lower, "unnamed: ") {
		return roleOther, true
	}
	role, known = headerNames[lower]
	return role, known
}

// plainNames are names of sources and targets that are hardly the names of vertices.
var plainNames = []string{"source", "src", "from", "target", "dst", "to"}

// namesColumns reports whether fields have one name of a source and one of a target. all: every
// field is a name that is known; plain: both are plainNames, also with id or node after them.
func namesColumns(fields []string) (ok, all, plain bool) {
	var count [4]int
	all, plain = true, true
	for _, f := range fields {
		role, known := headerRole(f)
		all = all && known
		if !known {
			continue
		}
		if count[role]++; role == roleSource || role == roleTarget {
			lower := strings.ToLower(f)
			plain = plain && slices.ContainsFunc(plainNames, func(name string) bool {
				rest, ok := strings.CutPrefix(lower, name)
				return ok && strings.Trim(rest, "_inode") == "" // _id, node, _node_id
			})
		}
	}
	return count[roleSource] == 1 && count[roleTarget] == 1, all, plain
}

// isHeader reports whether the fields of the first line are names of columns: one of a source and
// one of a target, and all others known too; or some others that are words, if source and target
// have plain names or a later line has a number below such a word.
func (l *edgeLayout) isHeader(fields []string, rest [][]byte) bool {
	ok, all, plain := namesColumns(fields)
	switch {
	case !ok || all:
		return ok
	case slices.ContainsFunc(fields, func(f string) bool { return f != "" && !isWord(f) }):
		return false
	case plain:
		return true
	}
	for _, line := range rest {
		below, msg := l.split.split(line)
		for k := range min(len(below), len(fields)) {
			if c := below[k]; msg == "" && c != "" && strings.Trim(c, "+-.,0123456789eE") == "" && !isWord(c) {
				return true
			}
		}
	}
	return false
}
