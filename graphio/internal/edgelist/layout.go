package edgelist

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
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
func checkLayout(o *core.ReadOptions, op string) error {
	bad := func(option, format string, args ...any) error {
		return &core.OptionError{Op: op, Option: option, Reason: fmt.Sprintf(format, args...)}
	}
	names := []string{"SourceColumn", "TargetColumn", "WeightColumn"}
	columns := []core.Column{o.Source, o.Target, o.Weight}
	for k, c := range columns {
		least := 1
		if k == 2 {
			least = 0
		}
		switch {
		case !c.Given:
		case c.Name == "" && c.Number < least:
			return bad(names[k], "the column is %d, want %d or more, or a name", c.Number, least)
		case c.Name != "" && o.Header == core.HeaderNo:
			return bad(names[k], "a column can be named only where the list has a header")
		}
		for m, d := range columns[:k] {
			if c.Given && d.Given && c == d {
				return bad(names[k], "the column is also that of %s", names[m])
			}
		}
	}
	switch {
	case o.Header > core.HeaderNo:
		return bad("Header", "the mode is %d, want HeaderAuto, HeaderYes or HeaderNo", o.Header)
	case o.Skip < 0:
		return bad("SkipLines", "%d lines, want 0 or more", o.Skip)
	case o.Base < core.BaseAuto || o.Base > 1:
		return bad("Base", "the base is %d, want 0, 1 or BaseAuto", o.Base)
	case o.Base != 0 && o.Renumber:
		return bad("Base", "renumbered ids have no base")
	}
	if o.Delimiter != 0 {
		if msg := checkDelimiter(o.Delimiter); msg != "" {
			return bad("Delimiter", "%s", msg)
		}
	}
	if msg := checkComments(o.Comments, o.Delimiter); msg != "" {
		return bad("CommentChars", "%s", msg)
	}
	if msg := checkDecimal(o); msg != "" {
		return bad("Decimal", "%s", msg)
	}
	if !o.DimsGiven {
		return nil
	}
	if err := core.CheckDims(op, o.Rows, o.Columns); err != nil {
		return err
	}
	if o.Renumber {
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
		return &core.OptionError{Op: "graphio.CheckCommentChars", Option: "CommentChars", Reason: msg}
	}
	return nil
}

// checkDecimal reports why the sign of Decimal does not go with the other options, or "".
func checkDecimal(o *core.ReadOptions) string {
	switch {
	case o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',':
		return fmt.Sprintf("the sign is %q, want a point or a comma", o.Decimal)
	case o.Decimal == ',' && o.Delimiter == ',':
		return "a comma is also the Delimiter"
	case o.Decimal == ',' && o.Separator == ',' && o.Delimiter == 0:
		return "a comma is also the delimiter of the format csv; give a Delimiter, or the format edges"
	}
	return ""
}

// commentStarts tells the bytes that begin a comment at the start of a line.
func commentStarts(o *core.ReadOptions) *[256]bool {
	chars := "#%"
	if o.CommentsGiven {
		chars = o.Comments
	}
	var starts [256]bool
	for _, c := range []byte(chars) {
		starts[c] = true
	}
	return &starts
}

// findLayout skips the lines of SkipLines and a header, and finds the layout from
// the first lines. ok is false for a list without edges.
func findLayout(src *chunk.Source, o *core.ReadOptions) (l edgeLayout, ok bool, err error) {
	l.comments = commentStarts(o)
	for range o.Skip {
		if _, line, err := src.Line(); err == io.EOF {
			return l, false, nil
		} else if err != nil {
			return l, false, o.StreamError(line, err)
		}
	}
	line, at, err := firstEdge(src, o)
	if err != nil || line == nil {
		return l, false, err
	}
	lines := append([][]byte{line}, sample(src, line, o)...)
	l.split = newFieldSplitter(delimiterOf(o, lines))
	fields, msg := l.split.split(line)
	named := o.Source.Name != "" || o.Target.Name != "" || o.Weight.Name != ""
	var header []string
	if o.Header == core.HeaderYes || named || o.Header == core.HeaderAuto && msg == "" && l.isHeader(fields, lines[1:]) {
		if msg != "" {
			return l, false, o.FailKind(at, msg, core.RemedyQuotes)
		}
		header, l.headerLine = fields, at
		if _, _, err = src.Line(); err != nil && err != io.EOF {
			return l, false, o.StreamError(at, err)
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
		return l, false, o.FailKind(at, msg, core.RemedyQuotes)
	}
	l.first, l.columns = at, len(fields)
	if len(header) == len(fields)+1 { // the last field is empty
		l.columns = len(header)
	}
	if err := l.choose(header, fields, o); err != nil {
		return l, false, err
	}
	l.compare(lines)
	if o.PatternOnly {
		if l.namesValue && l.headerLine == 0 && o.Header == core.HeaderAuto {
			return l, false, o.FailKind(l.first, fmt.Sprintf("want a number, got %s", core.Quote(fields[l.weight-1])), core.RemedyHeader)
		}
		l.optional = l.optional || l.weight == l.columns && l.weight > 0
		l.weight, l.need = 0, max(l.src, l.dst) // values may be any text
	}
	return l, line != nil, nil
}

// firstEdge returns the next line that is neither blank nor a comment, ended by
// a newline, and leaves it in the stream; nil at the end of the stream.
func firstEdge(src *chunk.Source, o *core.ReadOptions) (text []byte, line int64, err error) {
	starts := commentStarts(o)
	for {
		if line&1023 == 1023 && o.Stopped() != nil {
			return nil, line, o.Stopped()
		}
		text, line, err = src.Line()
		if err == io.EOF {
			return nil, line, nil
		} else if err != nil {
			return nil, line, o.StreamError(line, err)
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
func sample(src *chunk.Source, first []byte, o *core.ReadOptions) (lines [][]byte) {
	starts := commentStarts(o)
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

func delimiterOf(o *core.ReadOptions, lines [][]byte) byte {
	switch {
	case o.Delimiter != 0:
		return byte(o.Delimiter)
	case o.Separator != 0:
		return o.Separator
	}
	return findDelimiter(lines, o.Header != core.HeaderNo, o.Decimal == ',')
}

// choose finds the columns, from the options, the names of a header and the
// number of fields, in this order.
func (l *edgeLayout) choose(header, fields []string, o *core.ReadOptions) error {
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
			unknown = append(unknown, core.Quote(name))
		}
	}
	byName := bySource > 0 && byTarget > 0 && !o.Source.Given && !o.Target.Given
	if byName {
		l.src, l.dst = bySource, byTarget
	}
	for _, c := range []struct {
		core.Column
		number *int
	}{{o.Source, &l.src}, {o.Target, &l.dst}, {o.Weight, &l.weight}} {
		switch {
		case c.Name != "":
			k, err := columnNamed(c.Name, header, at, o)
			if err != nil {
				return err
			}
			*c.number = k
		case c.Given:
			*c.number = c.Column.Number
		}
	}
	if !o.Source.Given && !o.Target.Given && l.columns < 2 {
		return l.fewFields(fields, o)
	}
	if !o.Weight.Given {
		rest, chosen := l.columns-2, o.Source.Given || o.Target.Given
		switch {
		case byWeight > 0 && byWeight != l.src && byWeight != l.dst:
			l.weight = byWeight
		case chosen || rest == 0 || byName && rest == others:
		case rest == 1:
			l.weight = 6 - l.src - l.dst // the one of 1, 2, 3 that is left
		case byName:
			l.unread = strings.Join(unknown, ", ")
		default:
			return o.FailKind(at, fmt.Sprintf("the line has %d fields, want “source target” or “source target value”", l.columns), wordsRemedy(header, fields))
		}
		l.exact = !chosen
		l.optional = byName && l.columns != l.src && l.columns != l.dst && l.columns != l.weight
	}
	if l.src == l.dst || l.weight == l.src || l.weight == l.dst {
		return o.FailKind(at, fmt.Sprintf("the source, the target and the value have the columns %d, %d and %d", l.src, l.dst, l.weight), core.RemedyColumns)
	}
	l.need = max(l.src, l.dst, l.weight)
	if l.columns < l.need {
		return o.FailKind(at, fmt.Sprintf("the line has %d fields, and column %d is chosen", l.columns, l.need), core.RemedyColumns)
	}
	return nil
}

// wordsRemedy is the remedy for a first line with more fields than an edge has: they may be names
// of columns.
func wordsRemedy(header, fields []string) core.RemedyKind {
	if header == nil && !slices.ContainsFunc(fields, func(f string) bool { return f != "" && !isWord(f) }) {
		return core.RemedyHeader
	}
	return core.RemedyWeightColumn
}

func (l *edgeLayout) fewFields(fields []string, o *core.ReadOptions) error {
	e := o.FailKind(l.first, "the line has one field, want “source target”", core.RemedyDelimiter)
	if len(fields) == 1 && !strings.ContainsAny(fields[0], ",;|\t ") {
		e.Kind, e.Remedy = core.RemedyText, ""
	}
	return e
}

// columnNamed returns the number of the column of that name: exactly, or else
// in any case of letters.
func columnNamed(name string, header []string, at int64, o *core.ReadOptions) (int, error) {
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
		return 0, o.FailKind(at, fmt.Sprintf("no column of the header is named %s: %s", core.Quote(name), core.Quote(strings.Join(header, ", "))), core.RemedyColumns)
	}
	return found, nil
}

// compare finds whether the first edge looks like a header: its ids are words, and the ids of the
// next line integers.
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
	_, s := core.IDOf([]byte(second[l.src-1]))
	_, t := core.IDOf([]byte(second[l.dst-1]))
	l.looksLikeHeader = s && t && words && (l.weight == 0 || isWord(first[l.weight-1]))
}

// isWord reports whether text begins with a letter.
func isWord(text string) bool {
	return text != "" && (text[0] >= 'A' && text[0] <= 'Z' || text[0] >= 'a' && text[0] <= 'z' || text[0] == '_' || text[0] >= 0x80)
}

// Describe reads the first lines of an edge list.
func Describe(i *core.FileInfo, src *chunk.Source, o *core.ReadOptions) error {
	if err := checkLayout(o, "graphio.ReadFileInfo"); err != nil {
		return err
	}
	l, ok, err := findLayout(src, o)
	i.Symmetry = "general"
	if err != nil || !ok {
		return err
	}
	i.Field = l.field(append(sample(src, nil, o), nil))
	return nil
}

// field returns the kind of the values in some lines.
func (l *edgeLayout) field(lines [][]byte) string {
	if l.weight == 0 {
		return "pattern"
	}
	for _, line := range lines {
		if len(line) == 0 {
			continue
		}
		fields, msg := l.split.split(line)
		if msg == "" && len(fields) >= l.weight && !numtext.WrittenAsInteger([]byte(fields[l.weight-1])) {
			return "real"
		}
	}
	return "integer"
}
