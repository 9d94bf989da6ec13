#!/usr/bin/env bash
# bench_find.sh [BUILD] [GIGABYTES...]   how long `jitwarm find` takes the first time and later; without sizes at 1 and 5 GB
#
# Environments of 1 GB each: 16 libraries of 64 MB of device code and 2,000 small files. Rivals in the same run: `cat` of all
# libraries for the first look, and GNU find printing size and time of every file for the second. Files are in the page cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/release}")
shift || true
[ $# -gt 0 ] || set -- 1 5
work=$(mktemp -d "${TMPDIR:-/var/tmp}/jitwarm-find.XXXXXX")
trap 'rm -rf "$work"' EXIT
now() { date +%s%N; }
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b - a) / 1e9 }'; }

objcopy -O binary --only-section=.nv_fatbin --set-section-flags .nv_fatbin=alloc "$build/tests/framework/libsample_framework.so" "$work/one"
one=$(stat -c %s "$work/one")
for ((i = 0; i < (64 << 20) / one; i++)); do cat "$work/one"; done >"$work/many"
printf '.section .nv_fatbin,"a"\n.p2align 3\n.incbin "%s"\n' "$work/many" >"$work/code.s"
gcc -shared -nostdlib -o "$work/code.so" "$work/code.s"
for gigabytes; do
	tree=$work/tree$gigabytes
	for ((e = 0; e < gigabytes; e++)); do
		site=$tree/env$e/lib/python3.11/site-packages/frame
		mkdir -p "$site/small"
		printf 'home = /usr\n' >"$tree/env$e/pyvenv.cfg"
		for ((i = 0; i < 16; i++)); do
			cp "$work/code.so" "$site/lib$i.so"
			printf '%d' "$((e * 100 + i))" >>"$site/lib$i.so" # each another file
		done
		(cd "$site/small" && seq -f 'module%g.py' 2000 | xargs touch)
	done
	find "$tree" -name '*.so' -exec cat {} + >/dev/null
	export JITWARM_STATE=$work/state$gigabytes
	a=$(now)
	find "$tree" -name '*.so' -exec cat {} + >/dev/null
	b=$(now)
	find "$tree" -printf '%s %T@ %p\n' >/dev/null
	c=$(now)
	ended=0
	for look in first second third; do
		TIMEFORMAT='%R s, of that processor time %U s and %S s'
		{ time ./scripts/with-simdriver.sh -B "$build" sm_86 -- "$build/src/jitwarm" find "$tree" >"$work/out" 2>&1; } 2>"$work/time" || ended=$?
		[ "$ended" -le 1 ] || { cat "$work/out"; exit 3; }
		printf '%s GB, %s look: %s (cat %s s, find %s s)\n' "$gigabytes" "$look" "$(cat "$work/time")" "$(seconds "$a" "$b")" "$(seconds "$b" "$c")"
	done
	tail -n 1 "$work/out"
	rm -rf "$tree"
done
