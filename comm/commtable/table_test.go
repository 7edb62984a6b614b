package commtable_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
)

// TestTable: a table read back gives the figures of the model, by the preference of groups.
func TestTable(t *testing.T) {
	t.Parallel()
	table := commtable.Table{
		Rows: []commtable.Rate{{Pattern: "regular", Op: "read", Place: "self", GBs: 4200}, {Pattern: "regular", Op: "read", Place: "host", GBs: 50}},
		Fits: []commtable.Collective{
			{Group: "nccl", Kind: "AllGatherV", Ranks: 2, Alpha: 35, N: 268},
			{Group: "peers", Kind: "AllGatherV", Ranks: 2, Alpha: 12, N: 390},
			{Group: "nccl", Kind: "AllReduce", Ranks: 2, Alpha: 40},
		},
	}
	var text bytes.Buffer
	if err := table.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	back, err := commtable.Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	m := back.Figures()
	gather, ok := m.Line(comm.KindAllGatherV, 2)
	reduce, ok2 := m.Line(comm.KindAllReduce, 2)
	if m.Memory != 4.2e12 || !ok || gather.N != 390e9 || !ok2 || !math.IsInf(reduce.N, 1) || math.Abs(reduce.Alpha-40e-6) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if l, _ := back.Figures("nccl").Line(comm.KindAllGatherV, 2); l.N != 268e9 {
		t.Error(l)
	}
	for _, bad := range []string{"", "[]", `{"what":1}`, `{"collectives":[{"group":"nccl","kind":"Fence","ranks":0}]}`, `{"collectives":[{"ranks":1,"alpha_us":-1}]}`} {
		if _, err := commtable.Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
