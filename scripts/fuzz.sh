#!/usr/bin/env bash
# Runs every fuzz target for a given time (default 10s). FUZZ_ONLY, a regular expression of "package
# target", selects some. The fuzzer sometimes ends with "context deadline exceeded" and no failing
# input when the time is over (golang/go#75804). Such a run is repeated at most twice.
set -euo pipefail
export GOGC=400 # compiling the instrumented packages is most of the time
time=${1:-10s}
go=${GO:-go}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

fuzz() { # package target
	for _ in 1 2 3; do
		if $go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1" 2>&1 | tee "$out"; then
			return 0
		fi
		if ! grep -q 'context deadline exceeded' "$out" || grep -q 'Failing input written' "$out"; then
			return 1
		fi
	done
	return 1
}

$go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r pkg dir; do
	for target in $(cat "$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do
		[[ "$pkg $target" =~ ${FUZZ_ONLY:-} ]] || continue
		echo "$pkg $target"
		fuzz "$pkg" "$target" </dev/null
	done
done
