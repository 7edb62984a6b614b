#!/bin/bash
# Runs the tests of the GPU backend on a machine with a GPU. It needs neither Go nor
# a checkout, only the files that "make gpu-test" puts beside this script.
#
#   ./run.sh              the conformance kit in parallel shards, and the other tests
#   ./run.sh --long       the same with as many cases as "go test"
#   ./run.sh --sanitize   some of the tests under compute-sanitizer: memcheck, racecheck, initcheck
#   ./run.sh NAME …       only jobs whose name contains one of the arguments
#
# Environment: OUT, folder of the logs (default log); JOBS, number of parallel
# processes (two per core; 8 with --sanitize); LIMIT, seconds per process (150; 300
# with --sanitize); HIVEBLAS_CACHE, folder of compiled kernels (kernels); ANYWAY=1
# continues without a GPU. The exit code is 1 if a job fails.
set -u
cd "$(dirname "$0")" || exit 1
short=-test.short sanitize= only=()
for a; do
	case $a in
	--long) short= HIVEBLAS_LONG=1; export HIVEBLAS_LONG ;;
	--sanitize) sanitize=1 ;;
	-*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; [ "$a" = --help ]; exit ;;
	*) only+=("$a") ;;
	esac
done
export OUT=${OUT:-$PWD/log} HIVEBLAS_CACHE=${HIVEBLAS_CACHE:-$PWD/kernels} short
export LIMIT=${LIMIT:-$([ "$sanitize" ] && echo 300 || echo 150)}
mkdir -p "$OUT" "$HIVEBLAS_CACHE" || exit 1
rm -f "$OUT"/summary.txt "$OUT"/failed.txt "$OUT"/job-*

if ! first=$(./hiveblas-bench first-use 2>&1); then
	echo "$first"
	[ "${ANYWAY:-}" ] || exit 1
fi
if [ "$sanitize" ] && ! command -v compute-sanitizer >/dev/null; then
	PATH=$PATH:/usr/local/cuda/bin
	command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer was not found; install the CUDA toolkit"; exit 1; }
fi

# job NAME COMMAND … runs a command, keeps its output and adds a line to the summary.
job() {
	local name=$1 start end rc skipped
	shift
	start=$(date +%s%N)
	timeout "$LIMIT" "$@" >"$OUT/job-$name" 2>&1
	rc=$?
	end=$(date +%s%N)
	skipped=
	grep -q -e '^--- SKIP' "$OUT/job-$name" && # the line before has the reason
		skipped="$(grep -c -e '^--- SKIP' "$OUT/job-$name") skipped: $(grep -B1 -m1 -e '^--- SKIP' "$OUT/job-$name" | head -1 | sed 's/^ *[a-z_]*\.go:[0-9]*: //' | cut -c1-100)"
	[ $rc = 124 ] && skipped="longer than $LIMIT s"
	printf '%-28s %-6s %6d ms  %s\n' "$name" "$([ $rc = 0 ] && echo ok || echo FAILED)" $(((end - start) / 1000000)) "$skipped" >>"$OUT/summary.txt"
}
export -f job

kit="MxM/b MxM/P MxM/i MxM/u MxM/f MxM/m MxV/b MxV/P MxV/i MxV/u MxV/f MxV/m VxM/b VxM/P VxM/i VxM/u VxM/f VxM/m
	EWiseAdd EWiseMult EWiseUnion Apply Select Reduce Transpose Extract Assign Kronecker errors cancel"
families="centrality classify communities components cores flow geo lasso lgc sage scan search sets sgm triangles" # as in the Makefile
jobs() {
	local k f
	if [ "$sanitize" ]; then
		for tool in memcheck racecheck initcheck; do
			local under="compute-sanitizer --tool $tool --error-exitcode 9 --print-limit 20"
			for k in MxM/int32 MxM/float64 MxM/Path MxV/int32 MxV/float64 VxM/bool EWise Apply Select Reduce Transpose Extract Assign Kronecker; do
				echo "$tool-kit-${k//\//-} env HIVEBLAS_KIT=$k HIVEBLAS_KIT_BUDGET=1 $under ./cusparse.test -test.v -test.short -test.run TestConformance\$"
			done
			echo "$tool-cusparse $under ./cusparse.test -test.v -test.short -test.run (SpMV|SpMM|Spgemm|Session)OnGPU\$"
			echo "$tool-apps env HIVEBLAS_TEST_GPU=1 $under ./apps.test -test.v -test.short -test.run (BFS|SSSP|VertexNomination|Components|PageRank|Triangles|KTruss|FusedAndPipeline)OnDevice\$"
			for f in sgm classify lgc; do
				echo "$tool-$f env HIVEBLAS_TEST_GPU=1 $under ./$f.test -test.v -test.short -test.run (SGM|Classify|LocalCluster)OnDevice\$"
			done
			echo "$tool-auction env HIVEBLAS_TEST_GPU=1 $under ./auction.test -test.v -test.short -test.run OnDevice"
		done
		return
	fi
	for k in $kit; do
		echo "kit-${k//\//-} env HIVEBLAS_KIT=$k ./cusparse.test -test.v $short -test.run TestConformance\$"
	done
	echo "cusparse ./cusparse.test -test.v $short -test.run OnGPU\$"
	echo "driver ./driver.test -test.v $short"
	echo "jit ./jit.test -test.v $short"
	echo "ops ./ops.test $short"
	echo "apps ./apps.test $short"
	echo "programs-gpu env HIVEBLAS_TEST_GPU=1 ./examples.test -test.v -test.run OnDevice\$"
	echo "apps-gpu env HIVEBLAS_TEST_GPU=1 ./apps.test -test.v $short -test.run (BFS|SSSP|VertexNomination|Components|PageRank|Triangles|KTruss|FusedAndPipeline)OnDevice\$"
	for f in $families; do
		echo "$f-gpu env HIVEBLAS_TEST_GPU=1 ./$f.test -test.v $short -test.run OnDevice"
	done
	echo "auction env HIVEBLAS_TEST_GPU=1 ./auction.test -test.v $short -test.run OnDevice"
	echo "chunked ./chunked.test -test.v $short -test.run OnGPU"
	echo "info ./hiveblas info"
}
wanted() {
	local line s
	while read -r line; do
		[ ${#only[@]} = 0 ] && echo "$line"
		for s in "${only[@]}"; do
			case ${line%% *} in *"$s"*) echo "$line" ;; esac
		done
	done
}
list=$(jobs | wanted | sort -u)
[ "$list" ] || { echo "no job has a name with ${only[*]}"; exit 1; }
cores=$(nproc)
echo "$list" | xargs -P "${JOBS:-$([ "$sanitize" ] && echo 8 || echo $((2 * cores)))}" -d '\n' -I '{}' bash -c 'read -r -a w <<<"$1"; job "${w[@]}"' _ '{}'

sort "$OUT/summary.txt"
for f in "$OUT"/job-*; do # the output of failed jobs without passed tests
	name=${f##*/job-}
	grep -q "^$name  *FAILED" "$OUT/summary.txt" || continue
	{ echo "== $name"; grep -v -E '^ *(=== |--- (PASS|SKIP)|$)' "$f" | cut -c1-300 | head -60; } >>"$OUT/failed.txt"
done
cat "$OUT"/job-* >"$OUT/all.txt"
rm -f "$OUT"/job-*
[ -f "$OUT/failed.txt" ] && head -200 "$OUT/failed.txt"
failed=$(grep -c ' FAILED ' "$OUT/summary.txt")
echo "$(wc -l <"$OUT/summary.txt") jobs, $failed failed; logs in $OUT"
[ "$failed" = 0 ]
