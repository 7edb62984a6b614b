package collectives

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
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
	table, err := Run(context.Background(), Options{
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
	var back commtable.Table
	if err := json.Unmarshal(object.Bytes(), &back); err != nil || len(back.Rows) != len(table.Rows) {
		t.Error(err, len(back.Rows))
	}
	p, err := Plot(table)
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

// TestCommLocal measures goroutines, without a gpu.Run.
func TestCommLocal(t *testing.T) {
	t.Parallel()
	table, err := Run(context.Background(), Options{Driver: noDevices{}, Rounds: 1, Largest: 1 << 14, Only: []string{"local", "memory", "nccl"}})
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
	c := sure.Get(driver.OpenCompiler())
	for _, grain := range commGrains {
		for _, arch := range []string{"sm_70", "sm_90"} {
			if _, err := c.Compile(commSource(grain), fmt.Sprintf("comm.cu, grain %d", grain), arch); err != nil {
				t.Error(err)
			}
		}
	}
}

// FuzzReadTable: no input panics, and what is accepted can be used.
func FuzzReadTable(f *testing.F) {
	f.Add([]byte(`{"machine":["x"],"rows":[{"pattern":"regular","operation":"read","place":"self","gb_s":1}],"collectives":[{"group":"peers","kind":"Fence","ranks":2,"alpha_us":1,"points":[{"Bytes":1,"Seconds":1}]}],"notes":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := commtable.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		table.Figures()
		if err := table.WriteText(new(bytes.Buffer)); err != nil {
			t.Error(err)
		}
		_, _ = Plot(table)
	})
}
