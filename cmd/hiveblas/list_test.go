package main

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

// Each app in the list has a command, and each command with --method a fused form.
func TestListOfApps(t *testing.T) {
	root := rootCommand(&job.Session{})
	for _, a := range apps.List[float64]() {
		cmd, _, err := root.Find([]string{a.Name})
		if err != nil || cmd.Name() != a.Name {
			t.Errorf("%s has no command: %v", a.Name, err)
			continue
		}
		if f := cmd.Flags().Lookup("method"); a.Kernels != nil && f == nil {
			t.Errorf("%s has a fused form and no --method", a.Name)
		}
	}
}
