package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// field is a figure of the report, with its key in JSON and its label in the summary.
// An empty key or label omits it there.
type field struct {
	key, label string
	value      any
}

// object is a JSON object with its fields in order.
type object []field

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range o {
		if f.key == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(jsonValue(f.value))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", f.key, v)
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

// ranking is a list of vertices and values in a report.
type ranking struct {
	key, title, unit string
	rows             []ranked
}

type ranked struct {
	vertex string
	value  float64
}

// report prints the summary: the figures and, if any, the ranking.
func (j *job) report(method string, figures []field, list *ranking) error {
	m, n, entries := j.graph.size()
	total := time.Since(j.began).Seconds()
	o := object{
		{"command", "", j.cmd.Name()},
		{"input", "", object{{"rows", "", m}, {"cols", "", n}, {"nnz", "", entries}}},
		{"method", "", method},
		{"device", "", j.where()},
		{"device_reason", "", j.why},
		{"threads", "", j.run.count()},
		{"seconds", "", object{{"read", "", j.took("read")}, {"copy", "", j.took("copy")}, {"compute", "", j.took("compute")}, {"write", "", j.took("write")}, {"total", "", total}}},
	}
	if took := j.traces.seconds(); took != nil {
		o = append(o, field{"method_seconds", "", took})
	}
	o = append(o, figures...)
	if j.out.path != "" {
		o = append(o, field{"output", "", j.out.path})
	}
	if j.run.json {
		if list != nil {
			o = append(o, field{list.key, "", list.objects()})
		}
		return j.printJSON(o)
	}
	if j.out.stdout || j.run.quiet && j.out.path != "" {
		return nil
	}
	out := bufio.NewWriter(j.Stdout)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	empty := ""
	if m == 0 && n == 0 && j.graph.info.Layout == "edges" {
		empty = ": the file has no edges"
	}
	fmt.Fprintf(w, "%s\t%s, %d×%d, %d entries%s\n", j.cmd.Name(), j.graph.file, m, n, entries, empty)
	for _, f := range figures {
		if f.label != "" {
			fmt.Fprintf(w, "  %s\t%s\n", f.label, text(f.value))
		}
	}
	if method != "" {
		on := fmt.Sprintf("cpu, %d threads", j.run.count())
		if j.device != nil || j.group != nil {
			on = j.where()
		}
		if ran := j.traces.names(); strings.HasSuffix(method, ran) {
			method = strings.TrimSuffix(method, ran) + j.traces.shares()
		}
		fmt.Fprintf(w, "  method\t%s (%s)\n", method, on)
	}
	if j.choice != "" {
		fmt.Fprintf(w, "  device\t%s\n", j.choice)
	}
	fmt.Fprintf(w, "  seconds\t")
	for _, s := range j.stages {
		fmt.Fprintf(w, "%s %.3f, ", s.name, s.took.Seconds())
	}
	fmt.Fprintf(w, "total %.3f\n", total)
	if j.out.path != "" {
		fmt.Fprintf(w, "  written\t%s\n", j.out.path)
	}
	if list != nil && len(list.rows) > 0 {
		fmt.Fprintf(w, "\n  %s\t%s\n", list.title, list.unit)
		for _, r := range list.rows {
			fmt.Fprintf(w, "  %s\t%s\n", r.vertex, text(r.value))
		}
	}
	w.Flush()
	return j.printed(out.Flush())
}

func (l *ranking) objects() []object {
	rows := make([]object, len(l.rows))
	for k, r := range l.rows {
		rows[k] = object{{"vertex", "", json.RawMessage(vertexJSON(r.vertex))}, {"value", "", r.value}}
	}
	return rows
}

// vertexJSON returns an id as a JSON number if it is an integer, else as a string.
func vertexJSON(name string) string {
	if _, err := strconv.ParseInt(name, 10, 64); err == nil {
		return name
	}
	q, _ := json.Marshal(name)
	return string(q)
}

func (j *job) printJSON(o object) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = j.Stdout.Write(append(b, '\n'))
	return j.printed(err)
}

// printed returns the error of a failure to print.
func (j *job) printed(err error) error {
	if err != nil {
		return cli.Fail("standard output", err.Error(), "", err)
	}
	return nil
}

// text formats a figure for the summary: integers without exponent, floats in the
// shortest form.
func text(v any) string {
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
