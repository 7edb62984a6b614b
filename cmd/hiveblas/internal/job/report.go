package job

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// Field is a figure of the report, with its key in JSON and its label in the summary.
// An empty key or label omits it there.
type Field struct {
	Key, Label string
	Value      any
}

// Object is a JSON object with its fields in order.
type Object []Field

func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range o {
		if f.Key == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(jsonValue(f.Value))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", f.Key, v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// jsonValue replaces NaN and infinities, which JSON lacks, by null.
func jsonValue(v any) any {
	if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return nil
	}
	return v
}

// Ranking is a list of vertices and values in a report.
type Ranking struct {
	Key, Title, Unit string
	Rows             []Ranked
}

type Ranked struct {
	Vertex string
	Value  float64
}

// Report prints the summary: what ran, the figures and, if any, the ranking.
func (j *Job) Report(figures []Field, list *Ranking) error {
	m, n, entries := j.Graph.Size()
	total := time.Since(j.Began).Seconds()
	o := Object{
		{"command", "", j.Cmd.Name()},
		{"input", "", Object{{"rows", "", m}, {"cols", "", n}, {"nnz", "", entries}}},
		{"method", "", j.Traces.String()},
		{"device", "", j.placeName()},
		{"device_reason", "", j.Why},
		{"threads", "", j.Run.Count()},
		{"seconds", "", Object{{"read", "", j.Took("read")}, {"copy", "", j.Took("copy")}, {"compute", "", j.Took("compute")}, {"write", "", j.Took("write")}, {"total", "", total}}},
	}
	if took := j.Traces.seconds(); took != nil {
		o = append(o, Field{"method_seconds", "", took})
	}
	o = append(o, figures...)
	if j.Out.Path != "" {
		o = append(o, Field{"output", "", j.Out.Path})
	}
	if j.Run.Json {
		if list != nil {
			o = append(o, Field{list.Key, "", list.objects()})
		}
		return j.PrintJSON(o)
	}
	if j.Out.Stdout || j.Run.Quiet && j.Out.Path != "" {
		return nil
	}
	out := bufio.NewWriter(j.Stdout)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	empty := ""
	if m == 0 && n == 0 && j.Graph.Info.Layout == "edges" {
		empty = ": the file has no edges"
	}
	fmt.Fprintf(w, "%s\t%s, %d×%d, %d entries%s\n", j.Cmd.Name(), j.Graph.File, m, n, entries, empty)
	for _, f := range figures {
		if f.Label != "" {
			fmt.Fprintf(w, "  %s\t%s\n", f.Label, Text(f.Value))
		}
	}
	if method := j.Traces.shares(); method != "" {
		on := fmt.Sprintf("cpu, %d threads", j.Run.Count())
		if j.Device != nil || j.Group != nil {
			on = j.placeName()
		}
		fmt.Fprintf(w, "  method\t%s (%s)\n", method, on)
	}
	if j.Choice != "" {
		fmt.Fprintf(w, "  device\t%s\n", j.Choice)
	}
	fmt.Fprintf(w, "  seconds\t")
	for _, s := range j.stages {
		fmt.Fprintf(w, "%s %.3f, ", s.name, s.took.Seconds())
	}
	fmt.Fprintf(w, "total %.3f\n", total)
	if j.Out.Path != "" {
		fmt.Fprintf(w, "  written\t%s\n", j.Out.Path)
	}
	if list != nil && len(list.Rows) > 0 {
		fmt.Fprintf(w, "\n  %s\t%s\n", list.Title, list.Unit)
		for _, r := range list.Rows {
			fmt.Fprintf(w, "  %s\t%s\n", r.Vertex, Text(r.Value))
		}
	}
	w.Flush()
	return j.Printed(out.Flush())
}

func (l *Ranking) objects() []Object {
	rows := make([]Object, len(l.Rows))
	for k, r := range l.Rows {
		rows[k] = Object{{"vertex", "", json.RawMessage(VertexJSON(r.Vertex))}, {"value", "", r.Value}}
	}
	return rows
}

// VertexJSON returns an id as a JSON number if it is an integer, else as a string.
func VertexJSON(name string) string {
	if _, err := strconv.ParseInt(name, 10, 64); err == nil {
		return name
	}
	q, _ := json.Marshal(name)
	return string(q)
}

func (j *Job) PrintJSON(o Object) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = j.Stdout.Write(append(b, '\n'))
	return j.Printed(err)
}

// Printed returns the error of a failure to print.
func (j *Job) Printed(err error) error {
	if err != nil {
		return cli.Fail("standard output", err.Error(), "", err)
	}
	return nil
}

// Text formats a figure for the summary: integers without exponent, floats in the
// shortest form.
func Text(v any) string {
	x, ok := v.(float64)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case math.IsInf(x, 1): // as files have it
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case isInteger(x):
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
