package cpu

import (
	"testing"
)

// The cache of inputs keeps the first input of a row while the row loads its second.
func TestLoadKeepsLastInput(t *testing.T) {
	b := &cpuBench{Options: Options{Log: func(string) {}}, dir: t.TempDir(), inputs: map[string]*input{}}
	for _, name := range []string{"uniform4", "uniform5", "uniform6", "uniform4", "uniform7"} {
		if _, err := b.load(name); err != nil {
			t.Fatal(err)
		}
	}
	if b.inputs["uniform4"] == nil || b.inputs["uniform5"] != nil {
		t.Errorf("kept: %v", b.loaded)
	}
}
