#!/usr/bin/env bash
# build.sh PRESET [CMAKE-OPTION...]   configures and builds; prints nothing unless that fails
#
# Then it prints the lines of the log that say why, and the log stays: build-PRESET.log.
set -uo pipefail

case ${1:-} in
-h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
"" | -*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
preset=$1 log=build-$1.log
shift

if cmake --preset "$preset" "$@" >"$log" 2>&1 && cmake --build --preset "$preset" -j "$(nproc)" >>"$log" 2>&1; then
	rm -f "$log"
	exit 0
fi
causes='error: |cannot find|undefined reference|multiple definition|Could NOT find|No package|No space left|Killed|command not found'
grep -E "$causes|^CMake Error|^FAILED" "$log" | head -20 >&2
why=$(grep -m1 -E "$causes" "$log" || tail -n 1 "$log")
echo "build.sh: the $preset build failed: ${why#"${why%%[! ]*}"} (all of it is in $log)" >&2
exit 1
