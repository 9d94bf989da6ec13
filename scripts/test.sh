#!/usr/bin/env bash
# test.sh [--quick]   installs what is missing, builds, and runs every test
#
# In this order: the release build with gcc and all its tests (real drivers on the phantom GPU and the simulated driver among
# them), the same with address and undefined-behaviour sanitizers, the linters, and the Windows build under Wine.
# --quick stops after the first. What third parties' things it fetches or builds is kept in ~/.cache/jitwarm.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
quick=
case ${1:-} in
--quick) quick=1 ;;
-h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
"") ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac

passed=0 failed=0 names=
jobs=$(nproc)
# A drive between two tests that each keep several workers busy would only measure the machine.
export CTEST_PARALLEL_LEVEL=$jobs

stage() {
	local name=$1 began=$SECONDS
	shift
	printf '\n==== %s\n' "$name"
	if "$@"; then
		passed=$((passed + 1))
		printf '==== %s: passed in %d s\n' "$name" $((SECONDS - began))
	else
		failed=$((failed + 1))
		names+=" [$name]"
		printf '==== %s: FAILED after %d s\n' "$name" $((SECONDS - began))
	fi
}

build() { cmake --preset "$1" >"build-$1.log" 2>&1 && cmake --build --preset "$1" -j "$jobs" >>"build-$1.log" 2>&1 ||
	{ grep -E 'error|warning|FAILED|CMake Error' "build-$1.log" | head -40; return 1; }; rm -f "build-$1.log"; }
run() { (cd "build/$1" && shift && ctest --output-on-failure "$@"); }

stage "set up" ./scripts/setup.sh --tests
stage "release build" build release
stage "release tests" run release
if [ -z "$quick" ]; then
	stage "sanitizer build" build sanitize
	stage "sanitizer tests" run sanitize -LE 'real|slow|driver'
	stage "lint" ./scripts/lint.sh
	stage "set up for Windows" ./scripts/setup.sh --windows
	stage "Windows" ./scripts/test-windows.sh
fi

printf '\nstages: %d passed, %d failed%s\n' "$passed" "$failed" "${names:+:$names}"
[ "$failed" = 0 ]
