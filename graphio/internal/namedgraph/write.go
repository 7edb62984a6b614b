package namedgraph

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
	"github.com/hiveblas/hiveblas/internal/rep"
)

// WriteGraphML is graphio.WriteGraphML.
func WriteGraphML(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	g, err := textout.NewGraphOut("graphio.WriteGraphML", w, a, o)
	if err != nil {
		return err
	}
	name, err := g.Names(false)
	if err == nil {
		err = g.WantFinite()
	}
	if err != nil {
		return err
	}
	head := `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	if c := g.O.Comment; c != "" {
		head += "<!-- " + strings.ReplaceAll(textout.Entity.Replace(c), "--", "- -") + " -->\n"
	}
	head += `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n"
	if name != nil {
		head += `<key id="label" for="node" attr.name="label" attr.type="string"/>` + "\n"
	}
	if g.Weighted {
		kind := "long"
		switch {
		case g.E.IsFloat():
			kind = "double"
		case g.E.IsBool():
			kind = "int"
		}
		head += `<key id="weight" for="edge" attr.name="weight" attr.type="` + kind + `"/>` + "\n"
	}
	direction := "directed"
	if g.Undirected {
		direction = "undirected"
	}
	if err := g.Head("%s<graph edgedefault=\"%s\">\n", head, direction); err != nil {
		return err
	}
	err = g.EachVertex(func(buf []byte, v int) []byte {
		buf = strconv.AppendInt(append(buf, `<node id="`...), int64(v), 10)
		if name == nil {
			return append(buf, "\"/>\n"...)
		}
		return append(name(append(buf, `"><data key="label">`...), v), "</data></node>\n"...)
	})
	if err != nil {
		return err
	}
	text := g.Weights()
	err = g.EachEdge(func(buf []byte, i int, j int32, v uint64) []byte {
		buf = strconv.AppendInt(append(buf, `<edge source="`...), int64(i), 10)
		buf = strconv.AppendInt(append(buf, `" target="`...), int64(j), 10)
		if !g.Weighted {
			return append(buf, "\"/>\n"...)
		}
		return append(text(append(buf, `"><data key="weight">`...), v), "</data></edge>\n"...)
	})
	if err != nil {
		return err
	}
	return g.Head("</graph>\n</graphml>\n")
}

// WriteGML is graphio.WriteGML.
func WriteGML(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	g, err := textout.NewGraphOut("graphio.WriteGML", w, a, o)
	if err != nil {
		return err
	}
	name, err := g.Names(true)
	if err == nil {
		err = g.WantFinite()
	}
	if err != nil {
		return err
	}
	var head strings.Builder
	textout.WriteComment(&head, "#", g.O.Comment)
	directed := 1
	if g.Undirected {
		directed = 0
	}
	if err := g.Head("%sgraph [\n  directed %d\n", head.String(), directed); err != nil {
		return err
	}
	err = g.EachVertex(func(buf []byte, v int) []byte {
		buf = strconv.AppendInt(append(buf, "  node [ id "...), int64(v), 10)
		buf = append(buf, ` label "`...)
		if name != nil {
			buf = name(buf, v)
		} else {
			buf = strconv.AppendInt(buf, int64(v), 10)
		}
		return append(buf, "\" ]\n"...)
	})
	if err != nil {
		return err
	}
	text, real := g.Weights(), g.E.IsFloat()
	err = g.EachEdge(func(buf []byte, i int, j int32, v uint64) []byte {
		buf = strconv.AppendInt(append(buf, "  edge [ source "...), int64(i), 10)
		buf = strconv.AppendInt(append(buf, " target "...), int64(j), 10)
		if g.Weighted {
			buf = append(buf, " weight "...)
			at := len(buf)
			buf = text(buf, v)
			if e := bytes.IndexByte(buf[at:], 'e'); e >= 0 && real && bytes.IndexByte(buf[at:], '.') < 0 {
				buf = slices.Insert(buf, at+e, '.', '0') // a real number of GML has a point
			}
		}
		return append(buf, " ]\n"...)
	})
	if err != nil {
		return err
	}
	return g.Head("]\n")
}
