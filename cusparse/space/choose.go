package space

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tableText is the table of choices: a rule a line, the first that holds wins. It rests on what
// `hiveblas-bench space --products mxv,sssp,bfs` measures.
//
//go:embed table.txt
var tableText string

var table = mustTable(tableText)

// A rule is a plan and the conditions under which it is chosen.
type rule struct {
	plan       Plan
	conditions []condition
}

type condition struct {
	fact string
	less bool // the fact is to be less than the limit, else at least
	than float64
}

func mustTable(text string) []rule {
	t, err := readTable(text)
	if err != nil {
		panic("space: table.txt: " + err.Error())
	}
	return t
}

// readTable reads rules: conditions such as variation<.5, a colon, a plan.
func readTable(text string) ([]rule, error) {
	var out []rule
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		left, right, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("line %d has no colon", n+1)
		}
		plan, err := Parse(right)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		r := rule{plan: plan}
		for _, c := range strings.Fields(left) {
			at := strings.IndexAny(c, "<≥")
			if at < 0 {
				return nil, fmt.Errorf("line %d: condition %q has neither < nor ≥", n+1, c)
			}
			less := c[at] == '<'
			limit, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimPrefix(c[at:], "<"), "≥"), 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			if _, known := (Facts{}).value(c[:at]); !known {
				return nil, fmt.Errorf("line %d: no fact %q", n+1, c[:at])
			}
			r.conditions = append(r.conditions, condition{c[:at], less, limit})
		}
		out = append(out, r)
	}
	return out, nil
}

// value returns a fact by its name in the table.
func (f Facts) value(name string) (x float64, known bool) {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	switch name {
	case "rows":
		return float64(f.Rows), true
	case "entries":
		return float64(f.Entries), true
	case "columns":
		return float64(f.Cols), true
	case "mean":
		return float64(f.Entries) / float64(max(f.Rows, 1)), true
	case "largest": // row, as a share of the entries
		return float64(f.MaxDegree) / float64(max(f.Entries, 1)), true
	case "variation":
		return f.Variation, true
	case "diagonals":
		return f.OnDiagonals, true
	case "lines": // diagonals
		return float64(f.Diagonals), true
	case "frontier":
		return f.Frontier, true
	case "size": // of an element
		return float64(f.Elements), true
	case "full":
		return truth(f.FullX), true
	case "masked":
		return truth(f.Masked), true
	case "listed": // x
		return truth(f.ListedX), true
	case "vast": // x
		return truth(f.VastX), true
	case "tall":
		return truth(f.Tall), true
	case "seen":
		return truth(f.Seen), true
	case "head":
		return f.Head, true
	case "wanted":
		return f.Wanted, true
	case "exact":
		return truth(f.Exact), true
	case "any":
		return truth(f.Any), true
	case "uses":
		return f.Uses, true
	}
	return 0, false
}

// Choose returns the first plan of the table that meets its conditions and is legal and
// deterministic. pull and push are the facts for plans of a direction, nil where its rows are not
// at hand. ok is false if there is none.
func Choose(pull, push *Facts) (p Plan, ok bool) {
	for _, r := range table {
		f := pull
		if r.plan.Direction == Push {
			f = push
		}
		if f != nil && r.holds(*f) && r.plan.Legal(*f) == nil && r.plan.Deterministic(*f) {
			return r.plan, true
		}
	}
	return Plan{}, false
}

// Table returns the plans that Choose may return, each once.
func Table() []Plan {
	var out []Plan
	for _, r := range table {
		if !slices.Contains(out, r.plan) {
			out = append(out, r.plan)
		}
	}
	return out
}

func (r rule) holds(f Facts) bool {
	for _, c := range r.conditions {
		if x, _ := f.value(c.fact); x < c.than != c.less {
			return false
		}
	}
	return true
}

// Bytes is about what the form of a matrix takes that p reads besides its rows.
func (p Plan) Bytes(f Facts) int64 {
	size := int64(max(f.Elements, 1))
	switch p.Layout {
	case CSR: // columns by degree
		return 4*f.Entries + 4*int64(f.Cols)
	case COO:
		return 4 * f.Entries
	case CSR16:
		return 2 * f.Entries
	case DIA:
		return int64(f.Rows)*(int64(f.Diagonals)*size+16) + f.Entries/10*(size+4)
	}
	return f.Entries*(size+4)*5/4 + 24*int64(f.Rows)
}
