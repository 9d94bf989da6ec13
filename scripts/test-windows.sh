#!/bin/bash
# test-windows.sh
#
# Builds jitwarm.exe (scripts/build-windows.sh) and runs the tests for Windows under Wine: the unit tests and whole commands, as a user whose
# folders have Hangul names, beside the simulated nvcuda.dll. Installs Wine if it may. Each test that printed nothing before it failed runs
# again, since Wine does not always start a program on a busy machine.
# Last line: "N passed, N failed, N skipped", unless JITWARM_RESULTS names a file for the outcomes (scripts/run-tests.py). Exit status: 0 all
# passed; 1 some failed, or no test could run.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$PWD/build/windows own=
if [ -z "${JITWARM_RESULTS:-}" ]; then
	own=$(mktemp)
	export JITWARM_RESULTS=$own
	trap 'rm -f "$own"' EXIT
fi
# cannot WHY: without Wine nothing is tested, which is a failure
cannot() {
	echo "test-windows: $*" >&2
	scripts/run-tests.py --stage "Windows tests" 1
	exit 1
}

# Wine needs no window system here, and its complaints about that are not wanted.
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(($(nproc) + 1))}
export DISPLAY='' WINEDEBUG=${WINEDEBUG:--all}
# The users' folders have Hangul names, which makensis and Wine read in a locale with UTF-8 only.
[ "$(locale charmap)" = UTF-8 ] || export LC_ALL=C.UTF-8

scripts/build-windows.sh "$@"
command -v wine > /dev/null || ./scripts/setup.sh --windows > /dev/null 2>&1 || true
command -v wine > /dev/null || cannot "Wine is missing (apt-get install wine)"
# The first program in a new prefix waits until Wine has made it, for a minute on a busy machine, and no test's limit should count that. On
# a busy machine, Wine's own services may start too late for the very first program, which is then tried again.
for user in 김지원 박민수 박서준 이서연 홍길동; do
	for try in 1 2 3; do
		scripts/with-simdriver.sh -B "$build" -w -u $user sm_86 -- cmd /c exit > "$build/wine.log" 2>&1 < /dev/null && continue 2
		echo "test-windows: Wine did not make a home for its user, try $try: $(tail -n 3 "$build/wine.log")" >&2
	done
	cannot "Wine does not start"
done
status=0
scripts/run-tests.py --retry-mute "Windows tests" "$build" -L '^(first|all)$' || status=1
[ -z "$own" ] || scripts/run-tests.py --summary $SECONDS || status=1
exit $status
