package graphio

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// sampleBytes and sampleLines bound the first lines from which the layout of an
// edge list is found.
const (
	sampleBytes = 32 << 10
	sampleLines = 100
)

// edgeLayout describes the columns of an edge list.
type edgeLayout struct {
	split            *fieldSplitter
	src, dst, weight int      // numbers of the columns, from 1; weight 0: none
	columns          int      // fields of the first edge
	need             int      // fields that every line must have
	exact            bool     // whether every line must have as many fields as the first
	optional         bool     // the last field is a value that is not read: lines may lack it
	first            int64    // number of the line of the first edge
	firstIDs         []string // source and target of the first edge, if all its fields are words
	looksLikeHeader  bool     // the first edge has words where the next has numbers
	namesValue       bool     // the first edge has three words, and the next a number as value
	headerLine       int64    // number of the header, 0 without one
	unread           string   // columns of a header that are neither read nor known
	comments         *[256]bool
}

// checkLayout verifies the options of edge lists.
func (o *readOptions) checkLayout(op string) error {
	bad := func(option, format string, args ...any) error {
		return &OptionError{Op: op, Option: option, Reason: fmt.Sprintf(format, args...)}
	}
	names := []string{"SourceColumn", "TargetColumn", "WeightColumn"}
	columns := []column{o.source, o.target, o.weight}
	for k, c := range columns {
		least := 1
		if k == 2 {
			least = 0
		}
		switch {
		case !c.given:
		case c.name == "" && c.number < least:
			return bad(names[k], "the column is %d, want %d or more, or a name", c.number, least)
		case c.name != "" && o.header == HeaderNo:
			return bad(names[k], "a column can be named only where the list has a header")
		}
		for m, d := range columns[:k] {
			if c.given && d.given && c == d {
				return bad(names[k], "the column is also that of %s", names[m])
			}
		}
	}
	switch {
	case o.header > HeaderNo:
		return bad("Header", "the mode is %d, want HeaderAuto, HeaderYes or HeaderNo", o.header)
	case o.skip < 0:
		return bad("SkipLines", "%d lines, want 0 or more", o.skip)
	case o.base < BaseAuto || o.base > 1:
		return bad("Base", "the base is %d, want 0, 1 or BaseAuto", o.base)
	case o.base != 0 && o.renumber:
		return bad("Base", "renumbered ids have no base")
	}
	if o.delimiter != 0 {
		if msg := checkDelimiter(o.delimiter); msg != "" {
			return bad("Delimiter", "%s", msg)
		}
	}
	if msg := checkComments(o.comments, o.delimiter); msg != "" {
		return bad("CommentChars", "%s", msg)
	}
	if msg := o.checkDecimal(); msg != "" {
		return bad("Decimal", "%s", msg)
	}
	if !o.dimsGiven {
		return nil
	}
	if err := checkDims(op, o.rows, o.columns); err != nil {
		return err
	}
	if o.renumber {
		return bad("Dims", "the number of ids that occur gives the dimensions of a list with renumbered ids")
	}
	return nil
}

// checkComments reports why chars cannot begin comments, or "".
func checkComments(chars string, delimiter rune) string {
	for _, c := range chars {
		switch {
		case c <= ' ' || c > '~' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune(`"+-._`, c):
			return fmt.Sprintf("%q can be part of an id or a number, want punctuation", c)
		case c == delimiter:
			return fmt.Sprintf("%q is also the delimiter", c)
		}
	}
	return ""
}

// CheckCommentChars returns an error for characters that [CommentChars] refuses.
func CheckCommentChars(chars string) error {
	if msg := checkComments(chars, 0); msg != "" {
		return &OptionError{Op: "graphio.CheckCommentChars", Option: "CommentChars", Reason: msg}
	}
	return nil
}

// checkDecimal reports why the sign of Decimal does not go with the other options, or "".
func (o *readOptions) checkDecimal() string {
	switch {
	case o.decimal != 0 && o.decimal != '.' && o.decimal != ',':
		return fmt.Sprintf("the sign is %q, want a point or a comma", o.decimal)
	case o.decimal == ',' && o.delimiter == ',':
		return "a comma is also the Delimiter"
	case o.decimal == ',' && o.format == FormatCSV && o.delimiter == 0:
		return "a comma is also the delimiter of the format csv; give a Delimiter, or the format edges"
	}
	return ""
}

// commentStarts tells the bytes that begin a comment at the start of a line.
func (o *readOptions) commentStarts() *[256]bool {
	chars := "#%"
	if o.commentsGiven {
		chars = o.comments
	}
	var starts [256]bool
	for _, c := range []byte(chars) {
		starts[c] = true
	}
	return &starts
}

// findLayout skips the lines of SkipLines and a header, and finds the layout from
// the first lines. ok is false for a list without edges.
func findLayout(src *chunk.Source, o *readOptions) (l edgeLayout, ok bool, err error) {
	l.comments = o.commentStarts()
	for range o.skip {
		if _, line, err := src.Line(); err == io.EOF {
			return l, false, nil
		} else if err != nil {
			return l, false, o.streamError(line, err)
		}
	}
	line, at, err := firstEdge(src, o)
	if err != nil || line == nil {
		return l, false, err
	}
	lines := append([][]byte{line}, sample(src, line, o)...)
	l.split = newFieldSplitter(delimiterOf(o, lines))
	fields, msg := l.split.split(line)
	named := o.source.name != "" || o.target.name != "" || o.weight.name != ""
	var header []string
	if o.header == HeaderYes || named || o.header == HeaderAuto && msg == "" && l.isHeader(fields, lines[1:]) {
		if msg != "" {
			return l, false, o.failKind(at, msg, RemedyQuotes)
		}
		header, l.headerLine = fields, at
		if _, _, err = src.Line(); err != nil && err != io.EOF {
			return l, false, o.streamError(at, err)
		}
		lines = lines[1:]
		if line, at, err = firstEdge(src, o); err != nil {
			return l, false, err
		}
		if line != nil {
			fields, msg = l.split.split(line)
		} else {
			fields = header
		}
	}
	if msg != "" {
		return l, false, o.failKind(at, msg, RemedyQuotes)
	}
	l.first, l.columns = at, len(fields)
	if len(header) == len(fields)+1 { // the last field is empty
		l.columns = len(header)
	}
	if err := l.choose(header, fields, o); err != nil {
		return l, false, err
	}
	l.compare(lines)
	if o.patternOnly {
		if l.namesValue && l.headerLine == 0 && o.header == HeaderAuto {
			return l, false, o.failKind(l.first, fmt.Sprintf("want a number, got %s", quote(fields[l.weight-1])), RemedyHeader)
		}
		l.optional = l.optional || l.weight == l.columns && l.weight > 0
		l.weight, l.need = 0, max(l.src, l.dst) // values may be any text
	}
	return l, line != nil, nil
}

// firstEdge returns the next line that is neither blank nor a comment, ended by
// a newline, and leaves it in the stream; nil at the end of the stream.
func firstEdge(src *chunk.Source, o *readOptions) (text []byte, line int64, err error) {
	starts := o.commentStarts()
	for {
		if line&1023 == 1023 && o.stopped() != nil {
			return nil, line, o.stopped()
		}
		text, line, err = src.Line()
		if err == io.EOF {
			return nil, line, nil
		} else if err != nil {
			return nil, line, o.streamError(line, err)
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if t := bytes.TrimSpace(text); len(t) > 0 && !starts[t[0]] {
			break
		}
	}
	text = append(bytes.Clone(text), '\n')
	src.Unread(text[:len(text)-1])
	return text, line, nil
}

// sample returns the edges that follow the first within sampleBytes, at most
// sampleLines.
func sample(src *chunk.Source, first []byte, o *readOptions) (lines [][]byte) {
	starts := o.commentStarts()
	text := bytes.Clone(src.Peek(sampleBytes))
	for line := range bytes.Lines(text[min(len(first), len(text)):]) {
		t := bytes.TrimSpace(line)
		if len(t) == 0 || starts[t[0]] {
			continue
		}
		if lines = append(lines, line); len(lines) == sampleLines {
			break
		}
	}
	return lines
}

func delimiterOf(o *readOptions, lines [][]byte) byte {
	switch {
	case o.delimiter != 0:
		return byte(o.delimiter)
	case o.format == FormatCSV:
		return ','
	case o.format == FormatTSV:
		return '\t'
	}
	return findDelimiter(lines, o.header != HeaderNo, o.decimal == ',')
}

// choose finds the columns, from the options, the names of a header and the
// number of fields, in this order.
func (l *edgeLayout) choose(header, fields []string, o *readOptions) error {
	at := l.first
	if header != nil {
		at = l.headerLine
	}
	l.src, l.dst = 1, 2
	bySource, byTarget, byWeight, others := 0, 0, 0, 0
	var unknown []string
	for k, name := range header {
		switch role, known := headerRole(name); {
		case role == roleSource && bySource == 0:
			bySource = k + 1
		case role == roleTarget && byTarget == 0:
			byTarget = k + 1
		case role == roleWeight && byWeight == 0:
			byWeight = k + 1
		case known:
			others++
		default:
			unknown = append(unknown, quote(name))
		}
	}
	byName := bySource > 0 && byTarget > 0 && !o.source.given && !o.target.given
	if byName {
		l.src, l.dst = bySource, byTarget
	}
	for _, c := range []struct {
		column
		number *int
	}{{o.source, &l.src}, {o.target, &l.dst}, {o.weight, &l.weight}} {
		switch {
		case c.name != "":
			k, err := columnNamed(c.name, header, at, o)
			if err != nil {
				return err
			}
			*c.number = k
		case c.given:
			*c.number = c.column.number
		}
	}
	if !o.source.given && !o.target.given && l.columns < 2 {
		return l.fewFields(fields, o)
	}
	if !o.weight.given {
		rest, chosen := l.columns-2, o.source.given || o.target.given
		switch {
		case byWeight > 0 && byWeight != l.src && byWeight != l.dst:
			l.weight = byWeight
		case chosen || rest == 0 || byName && rest == others:
		case rest == 1:
			l.weight = 6 - l.src - l.dst // the one of 1, 2, 3 that is left
		case byName:
			l.unread = strings.Join(unknown, ", ")
		default:
			return o.failKind(at, fmt.Sprintf("the line has %d fields, want “source target” or “source target value”", l.columns), wordsRemedy(header, fields))
		}
		l.exact = !chosen
		l.optional = byName && l.columns != l.src && l.columns != l.dst && l.columns != l.weight
	}
	if l.src == l.dst || l.weight == l.src || l.weight == l.dst {
		return o.failKind(at, fmt.Sprintf("the source, the target and the value have the columns %d, %d and %d", l.src, l.dst, l.weight), RemedyColumns)
	}
	l.need = max(l.src, l.dst, l.weight)
	if l.columns < l.need {
		return o.failKind(at, fmt.Sprintf("the line has %d fields, and column %d is chosen", l.columns, l.need), RemedyColumns)
	}
	return nil
}

// wordsRemedy is the remedy for a first line with more fields than an edge has: they may be names
// of columns.
func wordsRemedy(header, fields []string) RemedyKind {
	if header == nil && !slices.ContainsFunc(fields, func(f string) bool { return f != "" && !isWord(f) }) {
		return RemedyHeader
	}
	return RemedyWeightColumn
}

func (l *edgeLayout) fewFields(fields []string, o *readOptions) error {
	e := o.failKind(l.first, "the line has one field, want “source target”", RemedyDelimiter)
	if len(fields) == 1 && !strings.ContainsAny(fields[0], ",;|\t ") {
		e.Kind, e.Remedy = RemedyText, ""
	}
	return e
}

// columnNamed returns the number of the column of that name: exactly, or else
// in any case of letters.
func columnNamed(name string, header []string, at int64, o *readOptions) (int, error) {
	found := 0
	for k, h := range header {
		if h == name {
			return k + 1, nil
		}
		if found == 0 && strings.EqualFold(h, name) {
			found = k + 1
		}
	}
	if found == 0 {
		return 0, o.failKind(at, fmt.Sprintf("no column of the header is named %s: %s", quote(name), quote(strings.Join(header, ", "))), RemedyColumns)
	}
	return found, nil
}

// compare finds whether the first edge looks like a header: its ids are words,
// and those of the next line integers.
func (l *edgeLayout) compare(lines [][]byte) {
	if len(lines) < 2 {
		return
	}
	first, msg := l.split.split(lines[0])
	second, msg2 := l.split.split(lines[1])
	if msg != "" || msg2 != "" || len(first) < l.need || len(second) < l.need {
		return
	}
	words := isWord(first[l.src-1]) && isWord(first[l.dst-1])
	if !slices.ContainsFunc(first, func(field string) bool { return !isWord(field) }) {
		l.firstIDs = []string{first[l.src-1], first[l.dst-1]}
	}
	if l.weight > 0 {
		number := second[l.weight-1]
		l.namesValue = words && isWord(first[l.weight-1]) && number != "" && strings.Trim(number, "+-.0123456789eE") == "" && !isWord(number)
	}
	_, s := idOf([]byte(second[l.src-1]))
	_, t := idOf([]byte(second[l.dst-1]))
	l.looksLikeHeader = s && t && words && (l.weight == 0 || isWord(first[l.weight-1]))
}

// isWord reports whether text begins with a letter.
func isWord(text string) bool {
	return text != "" && (text[0] >= 'A' && text[0] <= 'Z' || text[0] >= 'a' && text[0] <= 'z' || text[0] == '_' || text[0] >= 0x80)
}
