// Package delimited reads the lines of delimited text with few columns: values, scores and places
// of vertices. It splits lines, reads finite numbers and recognises headers.
package delimited

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Format says how lines are taken. The zero Format has # and % for comments and a decimal point.
type Format struct {
	Comments string // characters that begin a comment; "": # and %; None: none
	Comma    bool   // numbers have a decimal comma
}

// None stands for no characters.
const None = "none"

// IsComment reports whether a line that begins with c is a comment.
func (f Format) IsComment(c byte) bool {
	switch f.Comments {
	case "":
		return c == '#' || c == '%'
	case None:
		return false
	}
	return strings.IndexByte(f.Comments, c) >= 0
}

// Fields splits a line at tabs, else at commas, else at blanks, and trims the fields. Semicolons
// take the place of commas where numbers have decimal commas.
func (f Format) Fields(line []byte) (fields []string) {
	delims := "\t,"
	if f.Comma || bytes.IndexByte(line, ';') >= 0 && decimalComma(line) {
		delims = "\t;"
	}
	for _, delim := range []byte(delims) {
		if bytes.IndexByte(line, delim) >= 0 {
			for _, field := range bytes.Split(line, []byte{delim}) {
				fields = append(fields, string(bytes.TrimSpace(field)))
			}
			return fields
		}
	}
	for _, field := range bytes.Fields(line) {
		fields = append(fields, string(field))
	}
	return fields
}

// decimalComma reports whether a line has a comma between two digits.
func decimalComma(line []byte) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	for k := 1; k+1 < len(line); k++ {
		if line[k] == ',' && digit(line[k-1]) && digit(line[k+1]) {
			return true
		}
	}
	return false
}

// Number returns the finite number of a text. Otherwise fault says what is wrong with the text, and
// decimal whether it is a number with a decimal comma.
func (f Format) Number(text string) (x float64, fault string, decimal bool) {
	plain := text
	if f.Comma && !strings.Contains(text, ".") {
		plain = strings.Replace(text, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(plain, 64)
	wrong := err != nil || f.Comma && strings.Contains(text, ".")
	if !wrong && Finite(x) {
		return x, "", false
	}
	if what, decimal := Comma(text, f.Comma); wrong && what != "" {
		return 0, fmt.Sprintf("%.40q has %s", text, what), decimal
	}
	return 0, fmt.Sprintf("%.40q is not a finite number", text), false
}

// Finite reports whether x is neither NaN nor infinite.
func Finite[E float32 | float64](x E) bool { return x-x == 0 }

// NotFinite returns the index of the first number that is NaN or infinite, −1 if none is. Every
// reader of numbers about vertices, edges and features tests them by it or by [Format.Number].
func NotFinite[E float32 | float64](list []E) int {
	return slices.IndexFunc(list, func(x E) bool { return !Finite(x) })
}

// Numbers with commas. Texts are compared with them for errors alone, so they are compiled there:
// programs that read no such file do not link package regexp.
const (
	thousands = `^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$`
	european  = `^[+-]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]*)?$`
	withComma = `^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$`
)

// Comma says what kind of comma, or with a decimal comma of point, a text that is no number has,
// "" if none. decimal reports that the text is a number with a decimal comma, which is not read as
// one.
func Comma(text string, comma bool) (what string, decimal bool) {
	is := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	switch {
	case comma && is(european):
		return "points between thousands; write it without them", false
	case comma && strings.Contains(text, ".") && isNumber(text):
		return "a decimal point, and decimal commas are announced", false
	case comma:
		return "", false
	case strings.Count(text, ",") == 1 && is(thousands) && !strings.Contains(text, "."):
		return "a comma, either before decimals or between thousands; write it without commas between thousands", true
	case is(thousands):
		return "commas between thousands; write it without them", false
	case is(european):
		return "points between thousands and a decimal comma; write it without the points", true
	case is(withComma):
		return "a decimal comma", true
	}
	return "", false
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// names are the usual names of columns of vertices and of what is known about them.
var names = strings.Fields(`vertex vertices node nodes id ids name names index key label labels seed seeds
	class classes part parts split community group value values score scores weight weights
	source target from to latitude longitude lat lon lng long place`)

// IsName reports whether a field is a usual name of a column.
func IsName(field string) bool {
	return field == "" || slices.Contains(names, strings.ToLower(strings.Trim(field, `"`)))
}

// IsWord reports whether a field begins with a letter and is no number, such as nan.
func IsWord(field string) bool {
	field = strings.Trim(field, `"`)
	if field == "" || isNumber(field) {
		return false
	}
	c := field[0] | 0x20
	return c >= 'a' && c <= 'z' || field[0] == '_' || field[0] >= 0x80
}

// IsNaN reports whether a field is nan.
func IsNaN(field string) bool {
	x, err := strconv.ParseFloat(field, 64)
	return err == nil && math.IsNaN(x)
}
