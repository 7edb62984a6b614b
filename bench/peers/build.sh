#!/bin/sh
# Fetches what the benchmark's peers (NetworkX among them) need and compiles the SuiteSparse:GraphBLAS harness into bench/peers/bin.
# On Debian and Ubuntu missing packages are installed with apt; elsewhere install SuiteSparse:GraphBLAS (its header and
# library), a C compiler and SciPy yourself, and run this again.
set -eu
cd "$(dirname "$0")"
cc=${CC:-gcc}

missing=
command -v "$cc" >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
echo '#include <GraphBLAS.h>' | "$cc" -E - >/dev/null 2>&1 || missing="$missing libgraphblas-dev"
python3 -c 'import scipy' >/dev/null 2>&1 || /usr/bin/python3 -c 'import scipy' >/dev/null 2>&1 ||
	missing="$missing python3-scipy"
python3 -c 'import networkx, scipy.sparse' >/dev/null 2>&1 || /usr/bin/python3 -c 'import networkx, scipy.sparse' >/dev/null 2>&1 ||
	missing="$missing python3-networkx"

if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "build.sh: missing:$missing; without apt-get these must be installed by hand" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" -eq 0 ] || sudo=sudo
	$sudo apt-get update
	# shellcheck disable=SC2086
	$sudo apt-get install -y --no-install-recommends $missing
fi

mkdir -p bin
# Through a temporary name: a benchmark that is running keeps the binary it started with.
"$cc" -O3 -Wall -Wextra -fopenmp -o "bin/suitesparse.$$" suitesparse/*.c -lgraphblas -lm
mv "bin/suitesparse.$$" bin/suitesparse
echo "built $(pwd)/bin/suitesparse"

# Maximum flows by libmaxflow, where it is installed, with the serial fused lasso, where its source lies
# beside the checkout.
serial=$PWD/../../../shared/peers/fusedlasso
if [ -f /usr/include/maxflow-3.0/maxflow.h ] && command -v g++ >/dev/null 2>&1; then
	lasso=
	[ -f "$serial/dnc.cpp" ] && lasso="-DHB_SERIAL -I$serial"
	# shellcheck disable=SC2086
	g++ -O3 -march=native -fopenmp -I/usr/include/maxflow-3.0 $lasso -o "bin/flows.$$" flows/flows.cpp -lmaxflow
	mv "bin/flows.$$" bin/flows
	echo "built $(pwd)/bin/flows"
fi
