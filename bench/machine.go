package bench

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
)

// ReadCommTable reads the JSON that CommTable.WriteJSON wrote.
func ReadCommTable(r io.Reader) (*CommTable, error) {
	if r == nil {
		return nil, fmt.Errorf("bench: the reader is nil")
	}
	var t CommTable
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("bench: no table of hiveblas scale bench: %w", err)
	}
	for i, f := range t.Fits {
		if f.Ranks < 1 || !(f.Alpha >= 0) || !(f.N >= 0) {
			return nil, fmt.Errorf("bench: collective %d of the table, %s %s: %d ranks, α %v, N %v", i+1, f.Group, f.Kind, f.Ranks, f.Alpha, f.N)
		}
	}
	return &t, nil
}

// Model returns what the model needs of a table: the rate of regular reads of the first GPU, and
// the lines of the collectives. Of a kind that several groups have, the first in this order counts
// that was measured: groups, or peers, nccl, mpi, local if none is given.
func (t *CommTable) Model(groups ...string) model.Machine {
	t = orZero(t)
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
