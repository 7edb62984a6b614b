package longtest

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // registers -rapid.checks
)

func TestEnabled(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true, "yes": true} {
		t.Setenv(Env, value)
		if got := Enabled(); got != (want && !testing.Short()) {
			t.Errorf("%s=%q: %v", Env, value, got)
		}
		skipped := true
		t.Run("skipped", func(t *testing.T) {
			Skip(t, "a test of Skip")
			skipped = false
		})
		if skipped == Enabled() {
			t.Errorf("%s=%q: skipped %v", Env, value, skipped)
		}
	}
}

// TestTag reports, as skipped, the long form of binaries that lack the cases of most types.
func TestTag(t *testing.T) {
	if Enabled() && !AllTypes {
		t.Skipf("%s is set without the build tag long; run go test -tags long, or make test-all", Env)
	}
}

func TestFewerChecks(t *testing.T) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	defer func() { _ = f.Value.Set(before) }()
	for value, want := range map[string]string{"1": "77", "": quickChecks} {
		t.Setenv(Env, value)
		_ = f.Value.Set("77")
		FewerChecks()
		if got := f.Value.String(); got != want {
			t.Errorf("%s=%q: -rapid.checks is %s, want %s", Env, value, got, want)
		}
	}
}
