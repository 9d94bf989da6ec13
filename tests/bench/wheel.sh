#!/bin/bash
# wheel.sh BENCH_SCAN WHEEL...
#
# The time in which a wheel is scanned, beside inflating it to nowhere with unzip, page cache warm: processor seconds, since
# both are bound by inflating, and the memory that the scan had at its most (the mapped wheel's pages included).
set -euo pipefail

[ $# -ge 2 ] && [ -x "$1" ] || { echo "usage: wheel.sh BENCH_SCAN WHEEL..." >&2; exit 64; }
bench=$1
shift
TIMEFORMAT='%U'
for wheel; do
	cat -- "$wheel" >/dev/null
	unzip=$({ time unzip -p "$wheel" >/dev/null; } 2>&1)
	scan=$({ time "$bench" --rounds 1 "$wheel" >/tmp/wheel-bench.$$; } 2>&1)
	peak=$(sed -n 's/.* peak \(.*\)/\1/p' /tmp/wheel-bench.$$)
	rm -f /tmp/wheel-bench.$$
	awk -v u="$unzip" -v s="$scan" -v p="$peak" -v n="${wheel##*/}" \
		'BEGIN { printf "%-60s unzip %6.2f s  scan %6.2f s  ratio %.2f  peak %s\n", n, u, s, s / u, p }'
done
