package core

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// IDOf reads an integer in its usual form.
func IDOf(text []byte) (id int64, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || (digits[0] == '0' && len(text) > 1) {
		return 0, false
	}
	var v uint64
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + uint64(c)
	}
	if len(digits) < len(text) {
		return -int64(v), v <= 1<<63
	}
	return int64(v), v < 1<<63
}

// SeveralNumbers reports whether a text has several numbers with blanks between and nothing else.
func SeveralNumbers(text string) bool {
	if text == "" || strings.IndexByte("+-.,0123456789", text[0]) < 0 || strings.IndexByte(text, ' ') < 0 {
		return false
	}
	for f := range strings.FieldsSeq(text) {
		if strings.Trim(f, "+-.,0123456789eE") != "" || f[0] == 'e' || f[0] == 'E' {
			return false
		}
	}
	return true
}

// Significant returns the next line that is not blank, comments included.
func Significant(src *chunk.Source, o *Common) (text []byte, line int64, err error) {
	for {
		if line&1023 == 1023 && o.Stopped() != nil {
			return nil, line, o.Stopped()
		}
		text, line, err = src.Line()
		if err != nil {
			return nil, line, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, line, nil
		}
	}
}

// Quote returns text in quotation marks, cut to 60 bytes for a message.
func Quote[S string | []byte](text S) string {
	s := string(text)
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return strconv.Quote(s)
}

// IsBlank reports whether c is a blank within a line.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// WithoutGz returns the path without .gz at its end.
func WithoutGz(path string) string {
	if n := len(path) - len(".gz"); n > 0 && strings.EqualFold(path[n:], ".gz") {
		return path[:n]
	}
	return path
}
