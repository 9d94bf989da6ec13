#!/usr/bin/env bash
# test.sh [--quick]   installs what is missing, builds, and runs the tests
#
# In this order: the release build with gcc and its tests (real drivers on the phantom GPU and the simulated driver among
# them), the same with address and undefined-behaviour sanitizers, two threads under the thread sanitizer, the Windows build
# under Wine, the linters, fresh.sh --quick (skipped without root), and the two ways to compile that warn most (nightly.sh has all).
# Later builds and linters start beside the tests, at the lowest priority. It ends if setting up or the first build fails.
# It leaves out the tests that tests/long names, and what the tests write goes to memory if there is enough; with
# JITWARM_LONG_TESTS=1 it runs all, on the disk (nightly.sh).
# --quick stops after the first build and its tests. Third parties' files that it fetches or builds stay in ~/.cache/jitwarm.
# At its end it names the slowest tests and, once more, those that failed.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
quick=
case ${1:-} in
--quick) quick=1 ;;
-h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
"") ;;
*) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac

jobs=$(nproc)
# Tests wait for processes and clocks more than they compute, and no test depends on how long anything takes.
export CTEST_PARALLEL_LEVEL=$((jobs * 3))

# folder_in_memory: makes a folder in memory that allows what /tmp allows: programs, devices, 8 GB. Wine reaches it through a link.
folder_in_memory() {
	local folder available_kb
	available_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
	[ -z "${TMPDIR:-}" ] && [ "${JITWARM_LONG_TESTS:-}" != 1 ] && [ "${available_kb:-0}" -ge $((8 << 20)) ] &&
		[ "$(df --output=avail -k /dev/shm | tail -n 1)" -ge $((8 << 20)) ] && folder=$(mktemp -d /dev/shm/jitwarm-tests.XXXXXX) || return 0
	if cp "$(type -P true)" "$folder/program" && "$folder/program" &&
		{ [ "$(id -u)" != 0 ] || { mknod "$folder/device" c 1 3 && : >"$folder/device"; }; }; then
		rm "$folder"/* && chmod 1777 "$folder" && echo "$folder"
	else
		rm -rf "$folder"
	fi
}

run() { # BUILD CTEST-OPTION...
	local folder=build/$1 without status=0
	without=$(left_out "$1")
	shift
	(cd "$folder" && TMPDIR=${memory:-${TMPDIR:-/tmp}} ctest "$@" ${without:+-E "$without"}) | tee "$folder/test.log" || status=1
	[ $status = 0 ] || failed_output "$folder"
	return $status
}
# slowest: prints a line for each log of this run: seconds, build, test
slowest() {
	local name
	for name in release sanitize windows; do
		[ ! "build/$name/test.log" -nt "$mark" ] ||
			sed -nE "s|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*|\2 $name \1|p" "build/$name/test.log"
	done | sort -rn | head -10
}
failed_tests() {
	local name
	for name in release sanitize windows; do
		[ ! "build/$name/test.log" -nt "$mark" ] ||
			sed -nE "s|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(.*[^ ]) +[0-9.]+ sec.*|$name: \1 (\2)|p" "build/$name/test.log"
	done | grep -v '(Skipped)$'
}

summary() {
	local list
	printf '\nthe slowest tests, in seconds:\n%s\n' "$(slowest)"
	list=$(failed_tests)
	# This comes at the end, which is the part that is kept when a log is shortened.
	[ ! -s "$REASONS" ] || printf '\nthe reasons (the whole outputs are above):\n%s\n' "$(<"$REASONS")"
	[ -z "$list" ] || printf '\nfailed:\n%s\n' "$list"
	stages_end
}

# check_long: a line of tests/long that names no test would leave out nothing, or hide that a test is gone; and ctest runs all tests if it
# does not understand a pattern
check_long() {
	local tests pattern status=0
	tests=$(cd build/release && ctest -N | sed -n 's/^ *Test *#[0-9]*: //p')
	while read -r _ pattern; do
		grep -qxE "$pattern" <<<"$tests" || { echo "tests/long: no such test: $pattern"; status=1; }
	done < <(grep -E '^[a-z]' tests/long)
	[ "${JITWARM_LONG_TESTS:-}" = 1 ] ||
		! grep -q ' driver-crowd-550.163.01$' < <(cd build/release && ctest -N -E "$(cd ../.. && left_out release)") ||
		{ echo "tests/long: ctest leaves out nothing"; status=1; }
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

# Without Wine nothing was tested, so here that is a failure.
test_windows() { ./scripts/test-windows.sh || return 1; }

# work_ahead: the pieces that do not need a test's result, one after the other
work_ahead() {
	piece sanitize build_preset sanitize
	piece threads test_threads
	piece windows-setup ./scripts/setup.sh --windows
	piece windows ./scripts/build-windows.sh
	piece lint ./scripts/lint.sh
	piece fresh ./scripts/fresh.sh --quick
	piece compile ./scripts/compile.sh gcc-minsizerel clang-debug
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

ahead=$(mktemp -d) mark=$(mktemp) worker=
export REASONS=$ahead/reasons
memory=$(folder_in_memory 2>/dev/null)
trap '[ -z "$worker" ] || kill -- -"$worker" 2>/dev/null; rm -rf "$ahead" "$mark" ${memory:+"$memory"}' EXIT

stage "set up" ./scripts/setup.sh --tests || { summary; exit 1; }
# If python on PATH is a version manager's script, it starts in 140 ms, and the program in 10. The tests start thousands, and so does
# jitwarm, which asks Python for its packages.
[ ! -x /usr/bin/python3 ] || export PATH=/usr/bin:$PATH
# Files that were compiled before, in any folder, are not compiled again.
if command -v ccache >/dev/null && [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ]; then
	export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
fi
stage "release build" build_preset release || { summary; exit 1; }
stage "tests/long" check_long
if [ -z "$quick" ]; then
	# The processes form a group, so that all of them end with this script.
	set -m
	{ renice -n 19 "$BASHPID" >/dev/null; work_ahead; } </dev/null &
	worker=$!
	set +m
fi
SNAPSHOT=compare stage "release tests" run release
if [ -z "$quick" ]; then
	stage "sanitizer build" await_piece sanitize
	stage "sanitizer tests" run sanitize -LE 'real|slow|driver'
	stage "threads" await_piece threads
	stage "set up for Windows" await_piece windows-setup
	stage "Windows build" await_piece windows
	stage "Windows" test_windows
	stage "lint" await_piece lint
	stage "a bare machine" await_piece fresh
	stage "other ways to compile" await_piece compile
fi

summary
