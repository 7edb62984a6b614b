package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
)

// TestCommEmulated runs every row on two emulated devices.
func TestCommEmulated(t *testing.T) {
	t.Parallel()
	d, err := emu.New(emu.Devices(2))
	if err != nil {
		t.Skip(err)
	}
	compiler, err := emu.NewCompiler()
	if err != nil {
		t.Skip(err)
	}
	table, err := Comm(context.Background(), CommOptions{
		Driver: d, Compiler: compiler, Table: 1 << 17, Host: 1 << 16, Rounds: 1, Largest: 4096,
		Only: []string{"memory", "latency", "copies", "peers"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var text, object, picture bytes.Buffer
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	places := map[string]int{}
	for _, r := range table.Rows {
		places[r.Place]++
		if !(r.GBs > 0) && !(r.Micros > 0) {
			t.Errorf("%+v has no figure", r)
		}
	}
	for _, place := range []string{"self", "peer 0→1", "peers at once", "host", "all", "peer 1→0"} {
		if places[place] == 0 {
			t.Errorf("no rows of %s: %v\n%s", place, places, text.String())
		}
	}
	if len(table.Fits) != 4 { // Reduce needs a kernel
		t.Errorf("%d collectives, want 4\n%s", len(table.Fits), text.String())
	}
	if err := table.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	var back CommTable
	if err := json.Unmarshal(object.Bytes(), &back); err != nil || len(back.Rows) != len(table.Rows) {
		t.Error(err, len(back.Rows))
	}
	p, err := table.Plot()
	if err == nil {
		err = p.WritePNG(&picture)
	}
	if err == nil {
		_, err = png.Decode(&picture)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestCommLocal measures goroutines, without a GPU.
func TestCommLocal(t *testing.T) {
	t.Parallel()
	table, err := Comm(context.Background(), CommOptions{Driver: noDevices{}, Rounds: 1, Largest: 1 << 14, Only: []string{"local", "memory", "nccl"}})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := table.WriteText(&text); err != nil || len(table.Fits) != 12 || !strings.Contains(text.String(), "no GPU") {
		t.Errorf("%v, %d fits\n%s", err, len(table.Fits), text.String())
	}
	for _, f := range table.Fits {
		if f.Alpha < 0 || f.N < 0 || f.Kind != "Fence" && f.Points[0].Bytes <= 0 {
			t.Errorf("%+v", f)
		}
	}
}

type noDevices struct{ driver.Driver }

func (noDevices) Devices() (int, error) { return 0, nil }

// TestCommByNVRTC compiles the kernels of every grain.
func TestCommByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC is not set")
	}
	c, err := driver.OpenCompiler()
	if err != nil {
		t.Fatal(err)
	}
	for _, grain := range commGrains {
		for _, arch := range []string{"sm_70", "sm_90"} {
			if _, err := c.Compile(commSource(grain), fmt.Sprintf("comm.cu, grain %d", grain), arch); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestMachine: a table read back gives the figures of the model, by the preference of groups.
func TestMachine(t *testing.T) {
	t.Parallel()
	table := CommTable{
		Rows: []CommRow{{Pattern: "regular", Op: "read", Place: "self", GBs: 4200}, {Pattern: "regular", Op: "read", Place: "host", GBs: 50}},
		Fits: []CommFit{
			{Group: "nccl", Kind: "AllGatherV", Ranks: 2, Alpha: 35, N: 268},
			{Group: "peers", Kind: "AllGatherV", Ranks: 2, Alpha: 12, N: 390},
			{Group: "nccl", Kind: "AllReduce", Ranks: 2, Alpha: 40},
		},
	}
	var text bytes.Buffer
	if err := table.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	back, err := ReadCommTable(&text)
	if err != nil {
		t.Fatal(err)
	}
	m := back.Model()
	gather, ok := m.Line(comm.KindAllGatherV, 2)
	reduce, ok2 := m.Line(comm.KindAllReduce, 2)
	if m.Memory != 4.2e12 || !ok || gather.N != 390e9 || !ok2 || !math.IsInf(reduce.N, 1) || math.Abs(reduce.Alpha-40e-6) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if l, _ := back.Model("nccl").Line(comm.KindAllGatherV, 2); l.N != 268e9 {
		t.Error(l)
	}
	for _, bad := range []string{"", "[]", `{"what":1}`, `{"collectives":[{"group":"nccl","kind":"Fence","ranks":0}]}`, `{"collectives":[{"ranks":1,"alpha_us":-1}]}`} {
		if _, err := ReadCommTable(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// FuzzReadCommTable: no input panics, and what is accepted can be used.
func FuzzReadCommTable(f *testing.F) {
	f.Add([]byte(`{"machine":["x"],"rows":[{"pattern":"regular","operation":"read","place":"self","gb_s":1}],"collectives":[{"group":"peers","kind":"Fence","ranks":2,"alpha_us":1,"points":[{"Bytes":1,"Seconds":1}]}],"notes":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadCommTable(bytes.NewReader(data))
		if err != nil {
			return
		}
		table.Model()
		if err := table.WriteText(new(bytes.Buffer)); err != nil {
			t.Error(err)
		}
		_, _ = table.Plot()
	})
}
