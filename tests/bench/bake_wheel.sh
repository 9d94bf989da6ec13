#!/bin/bash
# bake_wheel.sh JITWARM CACHE GPU DRIVER WHEEL...
#
# How long `jitwarm bake --target GPU --driver DRIVER -o DIR WHEEL` takes where CACHE has all machine code, beside unpacking
# the wheel with unzip and packing it again with zip; page cache warm: processor seconds, since both are bound by deflating. And the
# memory that jitwarm had at its most, pages of the mapped wheel included.
set -euo pipefail

[ $# -ge 5 ] && [ -x "$1" ] || { echo "usage: bake_wheel.sh JITWARM CACHE GPU DRIVER WHEEL..." >&2; exit 64; }
jitwarm=$(realpath "$1") cache=$2 gpu=$3 driver=$4
shift 4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
peak='
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode
print("status", status, "peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, "MiB")'
TIMEFORMAT='%U %S'
for wheel; do
	wheel=$(realpath "$wheel")
	cat -- "$wheel" >/dev/null
	rm -rf "$scratch/unpacked" "$scratch/new.zip" "$scratch/out"
	rival=$({ time (unzip -q "$wheel" -d "$scratch/unpacked" && cd "$scratch/unpacked" && zip -qr ../new.zip .); } 2>&1)
	bake=$({ time python3 -c "$peak" "$jitwarm" bake --target "$gpu" --driver "$driver" --cache "$cache" -o "$scratch/out" "$wheel" >"$scratch/log"; } 2>&1)
	grep -q ' baked$' "$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
	awk -v u="$rival" -v s="$bake" -v p="$(tail -1 "$scratch/log")" -v n="${wheel##*/}" 'BEGIN { split(u, a); split(s, b)
		printf "%-60s unzip and zip %6.2f s  bake %6.2f s  ratio %.2f  %s\n", n, a[1] + a[2], b[1] + b[2], (b[1] + b[2]) / (a[1] + a[2]), p }'
done
