#!/bin/bash
# test-windows.sh
#
# Builds jitwarm.exe (scripts/build-windows.sh) and runs the tests for Windows (without those of tests/long) under Wine: the unit tests and whole
# commands, as a user whose folders have Hangul names, beside the simulated nvcuda.dll. Installs Wine if it may.
# Last line: "N passed, N failed, N skipped". Exit status: 0 all passed, 1 some failed, 3 nothing could be built, 77 no Wine.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

build=$PWD/build/windows
log=$build/test.log

install_wine() {
	command -v wine > /dev/null && return 0
	local as=()
	[ "$(id -u)" = 0 ] || as=(sudo -n)
	echo "test-windows: installing wine"
	"${as[@]}" apt-get -qq update > /dev/null 2>&1 || true
	"${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends wine wine64 > /dev/null 2>&1 || true
	command -v wine > /dev/null || { echo "test-windows: please install wine (apt-get install wine)" >&2; exit 77; }
}

# Wine needs no window system here, and its complaints about that are not wanted.
export DISPLAY='' WINEDEBUG=${WINEDEBUG:--all}
# The users' folders have Hangul names, which makensis and Wine read in a locale with UTF-8 only.
[ "$(locale charmap)" = UTF-8 ] || export LC_ALL=C.UTF-8

scripts/build-windows.sh "$@"
install_wine
# The first program in a new prefix waits until Wine has made it, for a minute on a busy machine, and no test's limit should count that. On
# a busy machine, Wine's own services may start too late for the very first program, which is then tried again.
for user in 김지원 박민수 박서준 이서연 홍길동; do
	for try in 1 2 3; do
		scripts/with-simdriver.sh -B "$build" -w -u $user sm_86 -- cmd /c exit > "$build/wine.log" 2>&1 < /dev/null && continue 2
		echo "test-windows: Wine did not make a home for its user, try $try: $(tail -n 3 "$build/wine.log")" >&2
	done
	exit 3
done
failed=0 without=$(left_out windows)
(cd "$build" && ctest -j "${CTEST_PARALLEL_LEVEL:-$(($(nproc) + 1))}" ${without:+-E "$without"}) > "$log" 2>&1 || failed=1
sed -n '/^ *[0-9]*\/[0-9]* Test /p' "$log"
[ $failed = 0 ] || failed_output "$build" >&2
# Each test prints something before it can fail. Wine did not start one that printed nothing (seen once, on a busy machine), so it
# is tried again.
mapfile -t mute < <(mute_failures "$build")
if [ ${#mute[@]} -gt 0 ]; then
	echo "test-windows: Wine did not start, and is asked again for: ${mute[*]}"
	others=$(cut -d: -f2 "$build/Testing/Temporary/LastTestsFailed.log" | grep -cvxF -f <(printf '%s\n' "${mute[@]}")) || true
	if (cd "$build" && ctest -R "^($(IFS='|' && echo "${mute[*]}"))$" --no-tests=error) > "$log.again" 2>&1; then
		for name in "${mute[@]}"; do
			sed -i "/ $name \..*\*\*\*Failed /s/\*\*\*Failed /   Passed /" "$log"
		done
		[ "$others" -gt 0 ] || failed=0
	fi
fi
count() { grep -cE "^ *[0-9]+/[0-9]+ Test .*$1" "$log" || true; }
passed=$(count ' Passed ') skipped=$(count 'Skipped ')
all=$(grep -cE '^ *[0-9]+/[0-9]+ Test ' "$log" || true)
# If there is no test at all, the build is wrong.
[ "$passed" -gt 0 ] || failed=1
echo "$passed passed, $((all - passed - skipped)) failed, $skipped skipped"
exit $failed
