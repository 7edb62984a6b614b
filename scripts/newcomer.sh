#!/bin/bash
# newcomer.sh does what a newcomer does with the README and docs/getting-started.md, in an empty folder, and
# stops at the first step that fails. It needs Go and this checkout; the module comes from here, not
# from the network. Usage: scripts/newcomer.sh [FOLDER]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
home=${1:-$(mktemp -d)}
mkdir -p "$home/bin" "$home/hello"
step() {
	echo
	echo "\$ $*"
	if ! "$@"; then
		echo "newcomer: this step failed: $*" >&2
		exit 1
	fi
}
refused() { # a step that is to end with an error that helps
	echo
	echo "\$ $*"
	if "$@" 2>&1; then
		echo "newcomer: this step should be refused: $*" >&2
		exit 1
	fi
}
export PATH="$home/bin:$PATH"

echo "# Install"
(cd "$root" && step go build -o "$home/bin/hiveblas" ./cmd/hiveblas)
step hiveblas --version
step hiveblas demo

echo; echo "# One minute on the command line"
cd "$root"
step hiveblas project testdata/chesapeake.mtx --unweighted -o "$home/shared.tsv"
step hiveblas vn testdata/karate.mtx --seeds 0,33 --top 3
step hiveblas lsap testdata/chesapeake.mtx --maximize --default 0
cd "$home"
step hiveblas help formats
step hiveblas generate planted --vertices 5000 --edges 40000 --communities 8 --undirected --simple -o town.hgb
step hiveblas info town.hgb
step hiveblas stats town.hgb
step hiveblas look town.hgb -o town.html
step hiveblas louvain town.hgb -o groups.tsv
step hiveblas pagerank town.hgb --top 3 --json
step hiveblas bfs town.hgb --source 0 -o levels.tsv
step hiveblas convert town.hgb town.graphml
step hiveblas cc town.graphml --sizes
step hiveblas extract town.graphml --ego 5 --hops 1 -o around.tsv
printf 'from,to,minutes\nAnn,Bob,3\nBob,Cid,4\nAnn,Cid,9\n' > trips.csv
refused hiveblas sssp trips.csv --ids renumber --source Ann -o - # the error names --header yes
step hiveblas sssp trips.csv --ids renumber --header yes --source Ann -o -
refused hiveblas sssp trips.csv --ids renumber --header yes --source Dan
refused hiveblas pagerang town.hgb
refused hiveblas bfs town.hgb --sorce 0
refused hiveblas convert town.hgb town.xls

echo; echo "# As a library, by docs/getting-started.md"
cd "$home/hello"
[ -f go.mod ] || step go mod init hello
step go mod edit -replace "github.com/hiveblas/hiveblas=$root" -require github.com/hiveblas/hiveblas@v0.0.0
cp "$root/go.sum" .
{
	echo 'package main'
	echo 'import ("fmt"; "os"; "github.com/hiveblas/hiveblas/apps"; "github.com/hiveblas/hiveblas/graphio"; "github.com/hiveblas/hiveblas/matrix"; "github.com/hiveblas/hiveblas/ops"; "github.com/hiveblas/hiveblas/semiring")'
	awk '/^```go/ {on = 1; next} /^```/ {on = 0} on' "$root/docs/getting-started.md"
	cat <<'GO'
func main() {
	a, err := friends()
	if err == nil {
		var two *matrix.Matrix[float64]
		if two, err = twoSteps(a); err == nil {
			fmt.Println(two)
			err = graphio.WriteFile("friends.mtx", a)
		}
	}
	if err == nil {
		var vertices []int
		var ranks []float64
		vertices, ranks, err = influence("friends.mtx")
		fmt.Println(vertices, ranks)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
GO
} > main.go
step env GOFLAGS=-mod=mod GOPROXY=off go run .
cd "$root"
for program in recommend fraud denoise gradients; do
	step go run "./examples/$program"
done
echo; echo "newcomer: every step worked"
