#!/usr/bin/env bash
# test.sh [--all | NAME...]   installs what is missing, builds, and runs tests
#
# Without an argument: the first set, which shows that this build works: unit tests, fuzz corpora, the model of the cache, the simulated
# driver, NVIDIA's driver on the phantom GPU, and each command.
# --all      all else that a change has to pass: the other tests of this build, the tests under the sanitizers, threads, Windows under Wine, the
#            linters, fresh.sh --quick (skipped without root), and the two ways to compile that warn most (nightly.sh has all)
# NAME...    the tests whose names contain a NAME, of any set, in the ordinary build
#
# Each test has its set, `first`, `all` or `nightly`, as a label in CMake (tests/CMakeLists.txt). With --all, later builds and linters start
# beside the tests, at the lowest priority. What the tests write goes to memory if there is enough. Files that are fetched stay in
# ~/.cache/jitwarm. Last line: “N passed, N failed, N skipped”. Exit status: 0; 1 something failed; 64 wrong usage.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0"; }
which=first
case ${1:-} in
--all) [ $# = 1 ] || { usage >&2; exit 64; }; which=all ;;
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 64 ;;
?*) which=named ;;
esac

# Tests wait for processes and clocks more than they compute, and no test depends on how long anything takes.
export CTEST_PARALLEL_LEVEL=$(($(nproc) * 3))

# folder_in_memory: makes a folder in memory that allows what /tmp allows: programs, devices, 8 GB. Wine reaches it through a link.
folder_in_memory() {
	local folder available_kb
	available_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
	[ -z "${TMPDIR:-}" ] && [ "${available_kb:-0}" -ge $((8 << 20)) ] &&
		[ "$(df --output=avail -k /dev/shm | tail -n 1)" -ge $((8 << 20)) ] && folder=$(mktemp -d /dev/shm/jitwarm-tests.XXXXXX) || return 0
	if cp "$(type -P true)" "$folder/program" && "$folder/program" &&
		{ [ "$(id -u)" != 0 ] || { mknod "$folder/device" c 1 3 && : >"$folder/device"; }; }; then
		rm "$folder"/* && chmod 1777 "$folder" && echo "$folder"
	else
		rm -rf "$folder"
	fi
}

# tests STAGE BUILD CTEST-OPTION...: each test counts
tests() {
	local name=$1 folder=build/$2
	shift 2
	TMPDIR=${memory:-${TMPDIR:-/tmp}} ./scripts/run-tests.py "$name" "$folder" "$@"
}
# counted NAME COMMAND...: a stage without tests counts as one
counted() {
	local name=$1 status=0
	shift
	stage "$name" "$@" || status=$?
	./scripts/run-tests.py --stage "$name" "$stage_status"
	return $status
}

# test_threads: two threads of libjitwarm scan, check and prime two caches
test_threads() {
	local probe
	probe=$(mktemp)
	echo 'int main(void) { return 0; }' | "${CC:-cc}" -fsanitize=thread -x c - -o "$probe" && "$probe" || { echo "the thread sanitizer does not run here"; return 77; }
	rm "$probe"
	cmake --preset tsan >/dev/null &&
		cmake --build --preset tsan -j "$(nproc)" --target library-threads simdriver framework-app &&
		(cd build/tsan && ctest -R '^library-threads$' --output-on-failure)
}

# work_ahead: the pieces that do not need a test's result, one after the other
work_ahead() {
	piece sanitize build_preset sanitize
	piece threads test_threads
	piece windows ./scripts/build-windows.sh
	piece lint ./scripts/lint.sh
	piece fresh ./scripts/fresh.sh --quick
	piece compile ./scripts/compile.sh gcc-release clang-debug
}
piece() { # NAME COMMAND...
	local name=$1 status=0
	shift
	"$@" >"$ahead/$name.log" 2>&1 || status=$?
	echo $status >"$ahead/$name.new" && mv "$ahead/$name.new" "$ahead/$name.status"
}
await_piece() { # NAME
	while [ ! -e "$ahead/$1.status" ] && kill -0 "$worker" 2>/dev/null; do sleep 0.2; done
	[ -e "$ahead/$1.status" ] || { echo "the work ahead was ended"; return 1; }
	cat "$ahead/$1.log"
	return "$(cat "$ahead/$1.status")"
}

ahead=$(mktemp -d) worker=
export JITWARM_RESULTS=$ahead/results
: >"$JITWARM_RESULTS"
memory=$(folder_in_memory 2>/dev/null)
trap '[ -z "$worker" ] || kill -- -"$worker" 2>/dev/null; rm -rf "$ahead" ${memory:+"$memory"}' EXIT
finish() {
	local status=0
	./scripts/run-tests.py --summary $SECONDS >"$ahead/summary" || status=1
	# The last line stays the last.
	sed '$d' "$ahead/summary"
	[ $which != first ] || echo "The other tests that a change has to pass, some 15 minutes: ./scripts/test.sh --all"
	tail -n 1 "$ahead/summary"
	exit $status
}

if [ $which = all ]; then
	counted "set up" ./scripts/setup.sh --tests --all --windows || finish
else
	counted "set up" ./scripts/setup.sh --tests || finish
fi
# If python on PATH is a version manager's script, it starts in 140 ms, and the program in 10. The tests start thousands, and so does
# jitwarm, which asks Python for its packages.
[ ! -x /usr/bin/python3 ] || export PATH=/usr/bin:$PATH
# Files that were compiled before, in any folder, are not compiled again.
if command -v ccache >/dev/null && [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ]; then
	export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
fi
counted "build" build_preset release || finish

case $which in
first) stage "first tests" tests "first tests" release -L '^first$' ;;
named)
	named=$(printf '%s\n' "$@" | sed 's/[][\.*^$+?(){}|]/\\&/g' | paste -sd '|')
	stage "tests" tests "tests" release -R "$named"
	;;
all)
	# The processes form a group, so that all of them end with this script.
	set -m
	{ renice -n 19 "$BASHPID" >/dev/null; work_ahead; } </dev/null &
	worker=$!
	set +m
	stage "tests" tests "tests" release -L '^all$'
	counted "sanitizer build" await_piece sanitize &&
		stage "sanitizer tests" tests "sanitizer tests" sanitize -L '^(first|all)$'
	counted "threads" await_piece threads
	counted "Windows build" await_piece windows &&
		TMPDIR=${memory:-${TMPDIR:-/tmp}} stage "Windows tests" ./scripts/test-windows.sh
	counted "lint" await_piece lint
	counted "a bare machine" await_piece fresh
	counted "other ways to compile" await_piece compile
	;;
esac
finish
