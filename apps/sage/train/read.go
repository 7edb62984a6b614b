package train

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/delimited"
)

// ReadClasses reads classes of the n vertices of a graph as ReadScores reads scores: a class on
// each line, or lines “vertex class”; a first line of names of columns is skipped. A class is a
// word; the classes are numbered in the order of their names, which are returned, numbers by value.
// A vertex without a class has −1, and so has one with the class −1.
func ReadClasses(r io.Reader, n int, opts ...lines.ScoreFileOptions) (classes []int32, names []string, err error) {
	words, err := readWords("ReadClasses", "class", r, n, opts)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range words {
		if w != "" && w != "-1" {
			if !utf8.ValidString(w) || strings.ContainsRune(w, 0) {
				o, _ := workflow.Only("ReadClasses", opts)
				return nil, nil, &graphio.ParseError{File: o.Name, Msg: fmt.Sprintf("the class %q is no text", w), Remedy: "write the names of classes in UTF-8, without zero characters"}
			}
			names = append(names, w)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, e1 := strconv.ParseFloat(a, 64)
		y, e2 := strconv.ParseFloat(b, 64)
		if e1 == nil && e2 == nil && x != y && !math.IsNaN(x) && !math.IsNaN(y) {
			if x < y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	names = slices.Compact(names)
	number := map[string]int32{}
	for k, w := range names {
		number[w] = int32(k)
	}
	classes = make([]int32, n)
	for v, w := range words {
		classes[v] = -1
		if k, ok := number[w]; ok {
			classes[v] = k
		}
	}
	return classes, names, nil
}

// ReadSplit reads a split of the n vertices of a graph, in the same form, with the words train,
// validate and test. Other vertices are in no part.
func ReadSplit(r io.Reader, n int, opts ...lines.ScoreFileOptions) (SAGESplit, error) {
	s := SAGESplit{Train: []int{}}
	words, err := readWords("ReadSplit", "part", r, n, opts)
	for v, w := range words {
		switch w {
		case "train":
			s.Train = append(s.Train, v)
		case "validate", "validation", "val":
			s.Validate = append(s.Validate, v)
		case "test":
			s.Test = append(s.Test, v)
		case "", "none":
		default:
			o, _ := workflow.Only("ReadSplit", opts)
			return SAGESplit{}, &graphio.ParseError{File: o.Name, Msg: fmt.Sprintf("the part of vertex %d is %q", v, w), Remedy: "write train, validate, test or none"}
		}
	}
	return s, err
}

// readWords reads a word for each vertex, or for some.
func readWords(app, what string, r io.Reader, n int, opts []lines.ScoreFileOptions) ([]string, error) {
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = lines.CheckReader(app, r, n, 0, o.Base)
	}
	if err != nil {
		return nil, err
	}
	words, vertexOf := make([]string, n), lines.LocationReader{LocationOptions: lines.LocationOptions(o)}
	fields, next := 0, 0
	want := fmt.Sprintf("give a %s on each line, or lines “vertex %s”", what, what)
	first, name := true, ""
	lines, err := lines.EachLine(o.Run, r, o.TextOptions, o.Name, "read a "+what+" of each vertex", func(text []byte, line int64) (err error) {
		bad := func(remedy, format string, args ...any) error {
			return &graphio.ParseError{File: o.Name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: remedy}
		}
		f := lines.FormatOf(o.TextOptions).Fields(text)
		if fields == 0 {
			fields = min(len(f), 2)
		}
		if first {
			first = false
			if len(f) == 1 && delimited.IsName(f[0]) {
				name = f[0] // a header if there is a line too many
			} else if len(f) == 2 && delimited.IsName(f[0]) && delimited.IsWord(f[0]) && !vertexOf.Has(f[0], n) {
				return nil
			}
		}
		if len(f) != fields {
			return bad(want, "the line has %d fields, want %d", len(f), fields)
		}
		v := next
		if fields == 1 {
			if next == n && n > 0 && name != "" {
				copy(words, words[1:])
				words[n-1], name = f[0], ""
				return nil
			}
			if next++; next > n {
				return bad(want, "there are more lines than the %d vertices of the graph", n)
			}
		} else if v, err = vertexOf.Vertex(f[0], n, bad); err != nil {
			return err
		} else if words[v] != "" {
			return bad("give each vertex once", "vertex %s is given twice", f[0])
		}
		words[v] = f[len(f)-1]
		return nil
	})
	if err != nil {
		return nil, err
	}
	if fields == 1 && next < n {
		return nil, &graphio.ParseError{File: o.Name, Line: lines, Remedy: want, Msg: fmt.Sprintf("the file has %d lines, and the graph %d vertices", next, n)}
	}
	return words, nil
}
