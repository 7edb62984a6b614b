package main

import (
	"strings"
	"testing"
)

// info tells who started the process, and what changes NCCL.
func TestCommFields(t *testing.T) {
	env := map[string]string{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}
	values := func(environ ...string) map[string]any {
		out := map[string]any{}
		for _, f := range commFields(testMachine, func(name string) string { return env[name] }, environ) {
			out[f.Key+"|"+f.Label] = f.Value
		}
		return out
	}
	got := values("NCCL_P2P_DISABLE=1", "HOME=/", "NCCL_DEBUG=INFO")
	if got["launcher|launcher"] != "rank 1 of 4 by openmpi" || got["ranks|"] != 4 {
		t.Errorf("%v", got)
	}
	if s, _ := got["|NCCL_*"].(string); !strings.HasPrefix(s, "NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1 ") {
		t.Errorf("%q", s)
	}
	for _, library := range []string{"mpi", "nccl"} {
		if (got[library+"|"] == nil) == (got[library+"_error|"+strings.ToUpper(library)] == nil) {
			t.Errorf("%s is neither there nor missing: %v", library, got)
		}
	}
	env["RANK"], env["WORLD_SIZE"] = "0", "4"
	if s, _ := values()["launch_error|launcher"].(string); !strings.Contains(s, "HIVEBLAS_LAUNCHER") {
		t.Errorf("launchers that disagree: %q", s)
	}
}
