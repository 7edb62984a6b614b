package namedgraph

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// The names of IANA and common aliases give the encodings of package charmap.
func TestXMLEncoding(t *testing.T) {
	for name, want := range map[string]encoding.Encoding{
		"ISO-8859-1": charmap.ISO8859_1, "iso_8859-15": charmap.ISO8859_15, "latin1": charmap.ISO8859_1,
		"windows-1252": charmap.Windows1252, "Cp1251": charmap.Windows1251, "KOI8-R": charmap.KOI8R,
		"koi8-u": charmap.KOI8U, "IBM437": charmap.CodePage437, "cp866": charmap.CodePage866,
		"IBM00858": charmap.CodePage858, "latin10": nil, "macintosh": charmap.Macintosh, "x-mac-cyrillic": charmap.MacintoshCyrillic,
	} {
		code, unknown := xmlEncoding([]byte(`<?xml version="1.0" encoding="` + name + `"?>`))
		if code != want || (unknown == name) != (want == nil) {
			t.Errorf("%s: %v, unknown %q, want %v", name, code, unknown, want)
		}
	}
	for _, name := range []string{"UTF-8", "utf8", "UTF-16LE", "us-ascii"} {
		if code, unknown := xmlEncoding([]byte(`<?xml version="1.0" encoding='` + name + `'?>`)); code != nil || unknown != "" {
			t.Errorf("%s: %v, unknown %q, want none", name, code, unknown)
		}
	}
}
