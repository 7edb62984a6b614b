#!/bin/bash
# compilecost.sh prints what the programs of internal/compilecost/testdata cost to compile, for the table of
# docs/compile.md: the functions compiled in the package itself, and the processor seconds of `go build`
# after an edit of one line (median of 3). The first build of a program, which also compiles the packages
# that it imports, is not in the table. It needs the modules of go.mod in the module cache (go mod download).
# Usage: scripts/compilecost.sh [PROGRAM...]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOFLAGS=-mod=mod GOPROXY=off GOWORK=off TIMEFORMAT='%U %S'
[ $# -gt 0 ] || set -- tuples mxm bfs sgm workflows struct supersteps apart gonum jbsparse

echo "| program | functions | processor seconds | executable, MB |"
echo "|---|--:|--:|--:|"
for program; do
	dir=$work/$program
	cp -r "$root/internal/compilecost/testdata/$program" "$dir"
	cp "$root/go.mod" "$root/go.sum" "$dir"
	cd "$dir"
	go mod edit -module "$program" -require github.com/hiveblas/hiveblas@v0.0.0 \
		-replace "github.com/hiveblas/hiveblas=$root"
	go build -o program .
	seconds=$(for _ in 1 2 3; do
		sed -i "s/^const edit = .*/const edit = $(date +%s%N)/" main.go # new to the build cache
		{ time go build -o program .; } 2>&1
	done | awk '{ printf "%.1f\n", $1 + $2 }' | sort -n | sed -n 2p)
	archive=$(go list -export -f '{{.Export}}' .)
	functions=$(go tool nm "$archive" | grep -c ' T ')
	megabytes=$(stat -c %s program | awk '{ printf "%.1f", $1 / 1e6 }')
	echo "| $program | $functions | $seconds | $megabytes |"
done
