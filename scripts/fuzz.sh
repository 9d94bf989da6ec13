#!/bin/bash
# fuzz.sh TARGET [SECONDS]
#
# Builds the fuzz targets (clang, libFuzzer, address and undefined behaviour sanitizers) into build/fuzz and runs one of
# them, 60 seconds by default, over its corpus. New inputs are kept in build/fuzz/corpus/TARGET and not in the
# repository; an input that fails is left there as crash-* and its path printed.
#
#   TARGET    the THING of a tests/fuzz/fuzz_THING.c; "list" names them
#
# Exit status: 0 nothing found, 64 wrong usage, otherwise libFuzzer's (77: a finding).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/fuzz
case ${1:-} in
'' | -h | --help)
	sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
	[ -n "${1:-}" ] || exit 64
	exit 0
	;;
list)
	for source in "$root"/tests/fuzz/fuzz_*.c; do
		name=${source##*/fuzz_}
		echo "${name%.c}"
	done
	exit 0
	;;
esac
target=$1 seconds=${2:-60}
[ -f "$root/tests/fuzz/fuzz_$target.c" ] || { echo "fuzz.sh: no target $target (fuzz.sh list names them)" >&2; exit 64; }
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER="${CC:-clang}" \
	-DJITWARM_SANITIZE=address,undefined -DJITWARM_FUZZ=ON >/dev/null
cmake --build "$build" --target "fuzz_$target" >/dev/null
mkdir -p "$build/corpus/$target"
"$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=65536 \
	-artifact_prefix="$build/corpus/$target/" -print_final_stats=1 \
	"$build/corpus/$target" "$root/tests/fuzz/corpus/$target"
