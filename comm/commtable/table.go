// Package commtable has the communication table of a machine, which hiveblas-bench comm measures
// and writes, and the figures that package comm/model takes of it.
package commtable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
)

// KeptFile is the file in the cache of kernels that hiveblas-bench comm keeps the table of this
// machine in.
const KeptFile = "machine.json"

// errNoWriter is the error of writers without an io.Writer.
var errNoWriter = errors.New("commtable: w is nil; give an io.Writer")

// Rate is a rate: accesses of a kernel of one device to a memory, or a copy.
type Rate struct {
	Pattern string  `json:"pattern"`         // regular, random, chase or copy
	Op      string  `json:"operation"`       // read, write, update, add, min, cas
	Place   string  `json:"place"`           // self, peer 0→1, peers at once, host, all
	Grain   int64   `json:"grain"`           // bytes of an access, or of a copy
	GBs     float64 `json:"gb_s,omitempty"`  // 10⁹ bytes of payload a second; of update those read
	Gops    float64 `json:"gops,omitempty"`  // 10⁹ accesses a second
	Micros  float64 `json:"us,omitempty"`    // of a dependent access, or of a copy
	Bar     float64 `json:"bar,omitempty"`   // the target in GB/s
	Error   string  `json:"error,omitempty"` // why there is no figure
}

// Collective is a collective of a group: the measured times and the line through them.
type Collective struct {
	Group  string        `json:"group"` // local, mpi, peers, nccl
	Kind   string        `json:"kind"`  // such as AllGatherV
	Ranks  int           `json:"ranks"`
	Alpha  float64       `json:"alpha_us"`
	N      float64       `json:"n_gb_s,omitempty"` // 0 if the time does not grow
	Points []model.Point `json:"points"`
}

// Line returns the fitted line.
func (f Collective) Line() model.Line {
	n := f.N * 1e9
	if n == 0 {
		n = math.Inf(1)
	}
	return model.Line{Alpha: f.Alpha * 1e-6, N: n}
}

// Table is the communication table of a machine, which hiveblas-bench comm measures.
type Table struct {
	Machine []string     `json:"machine"` // what was measured, a fact a line
	Rows    []Rate       `json:"rows"`
	Fits    []Collective `json:"collectives"`
	Notes   []string     `json:"notes"`
}

// Read reads the JSON that Table.WriteJSON wrote.
func Read(r io.Reader) (*Table, error) {
	if r == nil {
		return nil, errors.New("commtable: the reader is nil; give an io.Reader")
	}
	var t Table
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("commtable: no table of hiveblas-bench comm: %w", err)
	}
	for i, f := range t.Fits {
		if f.Ranks < 1 || !(f.Alpha >= 0) || !(f.N >= 0) {
			return nil, fmt.Errorf("commtable: collective %d of the table, %s %s: %d ranks, α %v, N %v", i+1, f.Group, f.Kind, f.Ranks, f.Alpha, f.N)
		}
	}
	return &t, nil
}

// Figures returns what the model needs of a table: the rate of regular reads of the first GPU, and
// the lines of the collectives. Of a kind that several groups have, the first in this order counts
// that was measured: groups, or peers, nccl, mpi, local if none is given.
func (t *Table) Figures(groups ...string) model.Machine {
	t = t.orZero()
	if len(groups) == 0 {
		groups = []string{"peers", "nccl", "mpi", "local"}
	}
	m := model.Machine{Name: "the measured machine", Launch: 5e-6, Lines: map[comm.Kind]map[int]model.Line{}}
	for _, r := range t.Rows {
		if r.Pattern == "regular" && r.Op == "read" && r.Place == "self" {
			m.Memory = r.GBs * 1e9
		}
	}
	for _, kind := range comm.Kinds() {
		for _, group := range groups {
			lines := map[int]model.Line{}
			for _, f := range t.Fits {
				if f.Group == group && f.Kind == kind.String() {
					lines[f.Ranks] = f.Line()
				}
			}
			if len(lines) > 0 {
				m.Lines[kind] = lines
				break
			}
		}
	}
	return m
}

// orZero returns t, or an empty table for nil.
func (t *Table) orZero() *Table {
	if t == nil {
		return &Table{}
	}
	return t
}

// WriteJSON writes the table.
func (t *Table) WriteJSON(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(t.orZero())
}

// WriteText writes the table: a line for each kind of access with a column for each memory, the
// latencies, the copies, the collectives.
func (t *Table) WriteText(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	t = t.orZero()
	var b strings.Builder
	for _, fact := range t.Machine {
		fmt.Fprintln(&b, fact)
	}
	t.block(&b, "\nGB/s of payload", func(r Rate) bool { return r.Pattern == "regular" || r.Pattern == "random" }, func(r Rate) string {
		return fmt.Sprintf("%.4g", r.GBs) + barText(r)
	})
	t.block(&b, "\n10⁹ random accesses a second", func(r Rate) bool { return r.Pattern == "random" && r.Op != "write" && r.Grain <= 32 }, func(r Rate) string {
		return fmt.Sprintf("%.3g", r.Gops)
	})
	t.block(&b, "\nµs of a dependent access", func(r Rate) bool { return r.Pattern == "chase" }, func(r Rate) string {
		return fmt.Sprintf("%.3f", r.Micros)
	})
	t.block(&b, "\nCopies by engines: GB/s, µs", func(r Rate) bool { return r.Pattern == "copy" }, func(r Rate) string {
		return fmt.Sprintf("%.4g, %.3g", r.GBs, r.Micros) + barText(r)
	})
	if len(t.Fits) > 0 {
		fmt.Fprintln(&b, "\nCollectives: T = α + B/N, B bytes that a rank receives")
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "group\tranks\tcollective\tα µs\tN GB/s\tsmallest\tlargest")
		for _, f := range t.Fits {
			n := "–"
			if f.N > 0 {
				n = fmt.Sprintf("%.4g", f.N)
			}
			if len(f.Points) == 0 {
				continue
			}
			first, last := f.Points[0], f.Points[len(f.Points)-1]
			fmt.Fprintf(tw, "%s\t%d\t%s\t%.3g\t%s\t%.0f B %.3g µs\t%.4g MB %.4g µs, %.4g GB/s\n", f.Group, f.Ranks, f.Kind, f.Alpha, n,
				first.Bytes, first.Seconds*1e6, last.Bytes/1e6, last.Seconds*1e6, last.Bytes/last.Seconds/1e9)
		}
		tw.Flush()
	}
	if len(t.Rows) > 0 {
		fmt.Fprintln(&b)
		for _, note := range t.Notes {
			fmt.Fprintln(&b, note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func barText(r Rate) string {
	switch {
	case r.Bar == 0:
		return ""
	case r.GBs >= r.Bar:
		return fmt.Sprintf(" ≥ %.0f", r.Bar)
	}
	return fmt.Sprintf(" BELOW %.0f", r.Bar)
}

// block writes the rows that pass, with a column for each place.
func (t *Table) block(b *strings.Builder, title string, pass func(Rate) bool, cell func(Rate) string) {
	var places, lines []string
	cells := map[[2]string]string{}
	for _, r := range t.Rows {
		if !pass(r) {
			continue
		}
		line := fmt.Sprintf("%s %s\t%d B", r.Pattern, r.Op, r.Grain)
		if !slices.Contains(places, r.Place) {
			places = append(places, r.Place)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		cells[[2]string{line, r.Place}] = cell(r)
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "access\tgrain\t"+strings.Join(places, "\t"))
	for _, line := range lines {
		fmt.Fprint(tw, line)
		for _, place := range places {
			fmt.Fprint(tw, "\t", cells[[2]string{line, place}])
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}
