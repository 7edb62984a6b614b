// Package longtest decides whether tests run their long form.
//
// go test ./... runs the quick form, which keeps every kind of case and takes a sample of each.
// HIVEBLAS_LONG=1 runs all cases: make test-all sets it for all packages and CI for a part of them,
// with the build tag long, which compiles the cases of all element types. Without the tag, tests
// compile a few types of each kind, because the compiler compiles every operation once for each
// type.
// -short runs a part of the quick form; the race detector's stage of CI sets it.
package longtest

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Env is the environment variable that asks for the long form, if it is neither empty nor 0.
const Env = "HIVEBLAS_LONG"

// Turn numbers the run, for samples that take turns: HIVEBLAS_SEED, or 0. CI sets HIVEBLAS_SEED
// from the hash of the commit, so that commits take different samples and a run of one can be
// repeated.
func Turn() int {
	n, _ := strconv.ParseUint(os.Getenv("HIVEBLAS_SEED"), 10, 31)
	return int(n)
}

// Enabled reports whether tests run their long form. -short takes precedence.
func Enabled() bool { return asked() && !testing.Short() }

func asked() bool {
	v := os.Getenv(Env)
	return v != "" && v != "0"
}

// Takes reports whether case k of a list runs: every one in the long form, and one of every n in
// the quick form, another one in each turn.
func Takes(k, n int) bool { return Enabled() || (k+Turn())%n == 0 }

// SkipInTurns skips a test in the quick form but for every nth turn, the first at turn n−k.
func SkipInTurns(t testing.TB, k, n int) {
	t.Helper()
	if !Takes(k, n) {
		t.Skipf("the quick form has this test in one of %d turns; %s=1 runs it", n, Env)
	}
}

// Skip skips a test that belongs to the long form alone; reason says why.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if !Enabled() {
		t.Skipf("%s; %s=1 runs it", reason, Env)
	}
}

// quickChecks is the number of random cases of a property test in the quick form, in place of
// rapid's 100.
const quickChecks = "10"

// FewerChecks lowers the default of the flag -rapid.checks in the quick form. Call it from an init
// function of a test package that imports rapid.
func FewerChecks() {
	if !asked() && flag.Lookup("rapid.checks") != nil {
		_ = flag.Set("rapid.checks", quickChecks)
	}
}
