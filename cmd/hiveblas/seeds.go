package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/delimited"
)

// checkSeeds rejects, before the graph is read, a --seeds that is empty, or neither a
// list of numbers nor a file if vertices have numbers.
func (j *job) checkSeeds(list, graph string) error {
	if !j.cmd.Flags().Changed("seeds") {
		return cli.Usage(j.cmd.CommandPath(), "--seeds is missing")
	}
	if strings.TrimSpace(list) == "" {
		return cli.Usage(j.cmd.CommandPath(), "--seeds is empty, want at least one vertex")
	}
	names := splitNames(list)
	if !slices.ContainsFunc(names, func(name string) bool { return !isVertexNumber(name) }) || !j.unnamed(graph) {
		return nil
	}
	for _, name := range names {
		if isVertexNumber(name) {
			continue
		}
		switch _, err := os.Stat(list); {
		case err == nil:
			return nil
		case len(names) > 1 || isNumber(name):
			return cli.Usage(j.cmd.CommandPath(), fmt.Sprintf("--seeds: %q is not a vertex, want numbers separated by commas, or a file", name))
		default:
			return cli.Fail("--seeds "+list, "neither a vertex nor a file that can be read ("+reason(err)+")",
				"give numbers separated by commas, or the path of a file; --ids renumber reads vertices with names", err)

		}
	}
	return nil
}

// seeds returns the vertices of --seeds.
func (j *job) seeds(list string) ([]int, error) { return j.vertices("--seeds", list) }

// vertices returns the vertices of a flag in ascending order without repeats: those of
// the list if all of them exist, else those in the file of that name.
func (j *job) vertices(flag, list string) ([]int, error) {
	var missing error
	vs := []int{}
	names := splitNames(list)
	if v, err := j.graph.vertex(flag, strings.TrimSpace(list)); err == nil {
		vs, names = append(vs, v), nil // an id with a comma, perhaps
	}
	for _, name := range names {
		v, err := j.graph.vertex(flag, name)
		if err != nil {
			missing = err
			break
		}
		vs = append(vs, v)
	}
	if missing == nil {
		slices.Sort(vs)
		return slices.Compact(vs), nil
	}
	f, err := os.Open(list)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil && len(names) > 1:
		var e *cli.Failure
		if errors.As(missing, &e) && j.graph.cols != nil {
			e.Remedy += ", or the path of a file"
		}
		return nil, missing
	case err != nil:
		return nil, cli.Fail(flag+" "+list, "cannot be read: "+reason(err), "give vertices separated by commas, or the path of a file", err)
	}
	defer f.Close()
	return j.verticesOf(list, strings.TrimPrefix(flag, "--"), f)
}

// vertexFile returns the vertices of a file in ascending order without repeats. what names them in
// errors.
func (j *job) vertexFile(path, what string) ([]int, error) {
	in, err := j.openInput(path)
	if err != nil {
		return nil, explain(nameOf(path), err)
	}
	defer in.close()
	return j.verticesOf(nameOf(path), what, in.r)
}

func (j *job) verticesOf(path, what string, f io.Reader) ([]int, error) {
	var vs []int
	first := true
	err := eachLine(f, path, func(line string, at int) error {
		place := fmt.Sprintf("%s:%d", path, at)
		text := withoutComment(line, j.read.lines())
		for _, whole := range []string{strings.TrimSpace(line), text} { // an id may have blanks, or begin as a comment
			if v, err := j.graph.vertex(place, whole); err == nil {
				vs, first = append(vs, v), false
				return nil
			}
		}
		names := splitLine(text)
		header := first && !slices.ContainsFunc(names, func(name string) bool { return !delimited.IsName(name) })
		first = first && len(names) == 0
		for _, name := range names {
			v, err := j.graph.vertex(place, name)
			if err != nil && header {
				return nil // names of columns
			}
			if err != nil {
				return err
			}
			vs = append(vs, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(vs) == 0 {
		return nil, cli.Fail(path, "the file has no "+what, "write a vertex on each line", nil)
	}
	slices.Sort(vs)
	return slices.Compact(vs), nil
}

// withoutComment returns a line of a file of vertices without its comment, which
// begins at the start of the line or after a blank.
func withoutComment(line string, format delimited.Format) string {
	for k := range len(line) {
		if format.IsComment(line[k]) && (k == 0 || line[k-1] == ' ' || line[k-1] == '\t') {
			line = line[:k]
			break
		}
	}
	return strings.TrimSpace(line)
}

// splitNames splits a list at its commas; a name in quotation marks may hold one.
func splitNames(list string) []string { return splitAt(list, ",") }

// splitLine splits a line of a file of vertices at tabs, else at commas, else at
// blanks.
func splitLine(line string) []string {
	switch {
	case line == "":
		return nil
	case strings.Contains(line, "\t"):
		return splitAt(line, "\t")
	case strings.Contains(line, ","):
		return splitAt(line, ",")
	}
	return splitAt(line, " ")
}

// splitAt splits text at the delimiter outside quotation marks, of which two in a
// row stand for one, and trims blanks. Runs of blanks are one delimiter.
func splitAt(text, delim string) (names []string) {
	for more := true; more; {
		text = strings.TrimLeft(text, " ")
		var name strings.Builder
		if strings.HasPrefix(text, `"`) {
			rest := text[1:]
			for {
				part, after, closed := strings.Cut(rest, `"`)
				name.WriteString(part)
				if rest = after; !closed || !strings.HasPrefix(rest, `"`) {
					break
				}
				name.WriteByte('"')
				rest = rest[1:]
			}
			text = rest
		}
		part, rest, found := strings.Cut(text, delim)
		name.WriteString(strings.TrimSpace(part))
		names, text, more = append(names, name.String()), rest, found
	}
	return names
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(strings.TrimSpace(s))
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func isVertexNumber(s string) bool {
	v, err := strconv.Atoi(s)
	return err == nil && v >= 0
}

// reason is the text of an error of the system, without the path.
func reason(err error) string {
	if e := errors.Unwrap(err); e != nil {
		return e.Error()
	}
	return err.Error()
}
