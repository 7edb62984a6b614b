package job

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

// CheckSeeds rejects, before the graph is read, a --seeds that is empty, or neither a
// list of numbers nor a file if vertices have numbers.
func (j *Job) CheckSeeds(list, graph string) error {
	if !j.Cmd.Flags().Changed("seeds") {
		return cli.Usage(j.Cmd.CommandPath(), "--seeds is missing")
	}
	if strings.TrimSpace(list) == "" {
		return cli.Usage(j.Cmd.CommandPath(), "--seeds is empty, want at least one vertex")
	}
	names := SplitNames(list)
	if !slices.ContainsFunc(names, func(name string) bool { return !IsVertexNumber(name) }) || !j.Unnamed(graph) {
		return nil
	}
	for _, name := range names {
		if IsVertexNumber(name) {
			continue
		}
		switch _, err := os.Stat(list); {
		case err == nil:
			return nil
		case len(names) > 1 || IsNumber(name):
			return cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf("--seeds: %q is not a vertex, want numbers separated by commas, or a file", name))
		default:
			return cli.Fail("--seeds "+list, "neither a vertex nor a file that can be read ("+Reason(err)+")",
				"give numbers separated by commas, or the path of a file; --ids renumber reads vertices with names", err)

		}
	}
	return nil
}

// Seeds returns the vertices of --seeds.
func (j *Job) Seeds(list string) ([]int, error) { return j.Vertices("--seeds", list) }

// Vertices returns the vertices of a flag in ascending order without repeats: the vertices of the
// list if all of them exist, else the vertices in the file of that name.
func (j *Job) Vertices(flag, list string) ([]int, error) {
	var missing error
	vs := []int{}
	names := SplitNames(list)
	if v, err := j.Graph.Vertex(flag, strings.TrimSpace(list)); err == nil {
		vs, names = append(vs, v), nil // an id with a comma, perhaps
	}
	for _, name := range names {
		v, err := j.Graph.Vertex(flag, name)
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
		if errors.As(missing, &e) && j.Graph.Cols != nil {
			e.Remedy += ", or the path of a file"
		}
		return nil, missing
	case err != nil:
		return nil, cli.Fail(flag+" "+list, "cannot be read: "+Reason(err), "give vertices separated by commas, or the path of a file", err)
	}
	defer f.Close()
	return j.verticesOf(list, strings.TrimPrefix(flag, "--"), f)
}

// VertexFile returns the vertices of a file in ascending order without repeats. what names them in
// errors.
func (j *Job) VertexFile(path, what string) ([]int, error) {
	in, err := j.OpenInput(path)
	if err != nil {
		return nil, Explain(NameOf(path), err)
	}
	defer in.Close()
	return j.verticesOf(NameOf(path), what, in.R)
}

func (j *Job) verticesOf(path, what string, f io.Reader) ([]int, error) {
	var vs []int
	first := true
	err := EachLine(f, path, func(line string, at int) error {
		place := fmt.Sprintf("%s:%d", path, at)
		text := WithoutComment(line, j.Read.Lines())
		for _, whole := range []string{strings.TrimSpace(line), text} { // an id may have blanks, or begin as a comment
			if v, err := j.Graph.Vertex(place, whole); err == nil {
				vs, first = append(vs, v), false
				return nil
			}
		}
		names := SplitLine(text)
		header := first && !slices.ContainsFunc(names, func(name string) bool { return !delimited.IsName(name) })
		first = first && len(names) == 0
		for _, name := range names {
			v, err := j.Graph.Vertex(place, name)
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

// WithoutComment returns a line of a file of vertices without its comment, which
// begins at the start of the line or after a blank.
func WithoutComment(line string, format delimited.Format) string {
	for k := range len(line) {
		if format.IsComment(line[k]) && (k == 0 || line[k-1] == ' ' || line[k-1] == '\t') {
			line = line[:k]
			break
		}
	}
	return strings.TrimSpace(line)
}

// SplitNames splits a list at its commas; a name in quotation marks may hold one.
func SplitNames(list string) []string { return splitAt(list, ",") }

// SplitLine splits a line of a file of vertices at tabs, else at commas, else at
// blanks.
func SplitLine(line string) []string {
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

// splitAt splits text at the delimiter outside quotation marks and trims blanks. Two quotation
// marks in a row stand for one. Runs of blanks are one delimiter.
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

func IsNumber(s string) bool {
	_, err := strconv.Atoi(strings.TrimSpace(s))
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func IsVertexNumber(s string) bool {
	v, err := strconv.Atoi(s)
	return err == nil && v >= 0
}

// Reason is the text of an error of the system, without the path.
func Reason(err error) string {
	if e := errors.Unwrap(err); e != nil {
		return e.Error()
	}
	return err.Error()
}
