package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// comm measures goroutines on any machine. The model takes its file.
func TestComm(t *testing.T) {
	dir := t.TempDir()
	file, picture := filepath.Join(dir, "comm.json"), filepath.Join(dir, "comm.png")
	text := succeed(t, "comm", "--only", "local", "--largest", "16KiB", "--rounds", "1", "--quiet", "--json", file, "--plot", picture)
	for _, want := range []string{"AllGatherV", "α µs", "local"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if st, err := os.Stat(picture); err != nil || st.Size() == 0 {
		t.Error(err)
	}
	in := sure.Get(os.Open(file))
	defer in.Close()
	table, err := commtable.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := table.Figures().Line(comm.KindAllGatherV, 4); !ok || !(l.Seconds(1<<20) > 0) {
		t.Errorf("%+v, %v: no line of AllGatherV", l, ok)
	}
}
