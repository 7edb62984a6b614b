package longtest

import (
	"flag"
	"strconv"
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

// The turns of the quick form have each case once; the long form has all.
func TestTakes(t *testing.T) {
	for k := range 5 {
		taken := 0
		for turn := range 3 {
			t.Setenv("HIVEBLAS_SEED", strconv.Itoa(turn))
			t.Setenv(Env, "")
			if Takes(k, 3) {
				taken++
			}
			t.Run("", func(t *testing.T) { SkipInTurns(t, k, 3); taken += 10 })
			t.Setenv(Env, "1")
			if Takes(k, 3) == testing.Short() {
				t.Errorf("case %d in the long form, -short %v", k, testing.Short())
			}
		}
		if taken != 11 {
			t.Errorf("case %d: %d of 3 turns take it, %d tests of 3 run", k, taken%10, taken/10)
		}
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
