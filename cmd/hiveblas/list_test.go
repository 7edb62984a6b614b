package main

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

// Each app in the list has a command, and each command with --method a fused form; solve has
// solvers, of no workflow.
func TestListOfApps(t *testing.T) {
	root, listed := rootCommand(&job.Session{Machine: testMachine}), map[string]bool{}
	for _, a := range apps.List[float64]() {
		cmd, _, err := root.Find([]string{a.Name})
		if err != nil || cmd.Name() != a.Name {
			t.Errorf("%s has no command: %v", a.Name, err)
			continue
		}
		if f := cmd.Flags().Lookup("method"); (a.Kernels != nil) != (f != nil) && a.Name != "lgc" { // of the descent
			t.Errorf("%s has kernels of a fused form: %v, and --method: %v", a.Name, a.Kernels != nil, f != nil)
		}
		listed[a.Name] = true
	}
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("method") != nil && !listed[cmd.Name()] && cmd.Name() != "solve" {
			t.Errorf("the command %s runs a workflow that apps.List lacks", cmd.Name())
		}
	}
}
