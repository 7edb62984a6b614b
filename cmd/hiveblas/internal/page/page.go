// Package page writes the page of the command look, in HTML.
package page

import (
	_ "embed"
	"io"
	"strings"
)

//go:embed look.css
var lookStyle string

// LookPage is the page of look. A template would make the linker keep all exported methods of the
// program, which a template might call by name: they are a fifth of it.
type LookPage struct {
	File, Command, Version string
	Warnings               []string
	Sections               []LookSection
}

// LookFigure is a figure of the page.
type LookFigure struct {
	ID, Label string
	Value     string
}

// LookSection is a part of the page: figures, a picture, and the command that gives them.
type LookSection struct {
	Title, Note, Command string
	Figures              []LookFigure
	Picture              string       // SVG, of numbers and constants
	Rows                 []LookFigure // a table
}

// escapes writes text in HTML, between elements or in quotation marks.
var escapes = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// Write writes the page as HTML that is XML too.
func (p *LookPage) Write(w io.Writer) error {
	var b strings.Builder
	put := func(parts ...string) { // every second part is escaped
		for k, s := range parts {
			if k%2 == 1 {
				s = escapes.Replace(s)
			}
			b.WriteString(s)
		}
	}
	put(`<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>`, p.File, "</title>\n<style>\n"+lookStyle+"</style>\n</head>\n<body>\n<h1>", p.File, "</h1>")
	if len(p.Warnings) > 0 {
		put("\n<ul class=\"warnings\">")
		for _, text := range p.Warnings {
			put("\n<li>", text, "</li>")
		}
		put("\n</ul>")
	}
	put("\n<main>")
	for _, s := range p.Sections {
		put("\n<section>\n<h2>", s.Title, "</h2>")
		if len(s.Figures) > 0 {
			put("\n<dl>")
			for _, f := range s.Figures {
				put("\n<dt>", f.Label, `</dt><dd id="`, f.ID, `">`, f.Value, "</dd>")
			}
			put("\n</dl>")
		}
		if len(s.Rows) > 0 {
			put("\n<table>\n<thead><tr><th>Vertex</th><th>PageRank</th></tr></thead>\n<tbody>")
			for _, r := range s.Rows {
				put("\n<tr id=\"", r.ID, `"><td>`, r.Label, "</td><td>", r.Value, "</td></tr>")
			}
			put("\n</tbody>\n</table>")
		}
		put("\n"+s.Picture+"\n<p class=\"note\">", s.Note, "</p>\n<code>", s.Command, "</code>\n</section>")
	}
	put("\n</main>\n<footer>Made by <code>", p.Command, "</code> of hiveblas ", p.Version, ".</footer>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
