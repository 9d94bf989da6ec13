#!/bin/bash
# coverage.sh [--least PERCENT] [--files] [CTEST-OPTION...]
#
# Builds with gcc's counters into build/coverage, runs the tests that need no driver of NVIDIA's, and prints which share of the
# branches and lines of src (without what works on Windows alone) they took, by room; --files prints each file. What a process counted is lost
# where it was killed, or where a limit or a lack of memory stopped the counters themselves (build/coverage/lost.txt), so that the
# true share is a little higher. CTEST-OPTION: other tests, as “-R unit-”; “-N”: none, what earlier runs counted. Tests that fail
# are reported and counted all the same; torture lets the counters' own code lack memory, which ends some trials.
#
# Exit status: 0, 1 where less than PERCENT of the branches were taken, 64 wrong usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$PWD/build/coverage
least=0 files=
while [ $# -gt 0 ]; do
	case $1 in
	--least) least=${2:?}; shift ;;
	--files) files=--files ;;
	-h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
	*) break ;;
	esac
	shift
done
command -v gcov >/dev/null || { echo "coverage.sh: no gcov: install gcc" >&2; exit 64; }

# A cache of compiled objects would bring counters that belong to another folder
export CCACHE_DISABLE=1 CMAKE_C_COMPILER_LAUNCHER=
mkdir -p "$build"
gcc -O1 -c scripts/coverage.c -o "$build/ends.o"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc \
	-DCMAKE_C_FLAGS='--coverage -O0 -fprofile-update=atomic' -DCMAKE_C_COMPILER_LAUNCHER= \
	-DCMAKE_EXE_LINKER_FLAGS="$build/ends.o -Wl,--wrap=_exit,--wrap=uv_process_kill" >/dev/null
cmake --build "$build" >/dev/null
# Standard error belongs to what is tested. Other accounts' processes count, too, where they reach this folder.
export GCOV_ERROR_FILE=$build/lost.txt
: >"$GCOV_ERROR_FILE"
"$build/src/jitwarm" --version >/dev/null
find "$build" -name '*.gcda' -exec chmod a+rw {} + -o -path "$GCOV_ERROR_FILE" -exec chmod a+rw {} +
# The tests of what others link against would link the counters
[ $# -gt 0 ] || set -- -LE driver -E '^library-(statics|static|cmake-static)$' -j "$(nproc)"
(cd "$build" && nice ctest --timeout 1800 "$@" | tail -n 40) || echo "coverage.sh: some tests failed" >&2
exec python3 -B scripts/coverage.py "$build" --least "$least" $files
