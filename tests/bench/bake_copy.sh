#!/bin/bash
# bake_copy.sh BUILD-FOLDER [SIZE-MIB...]
#
# How long `jitwarm bake -o DIR LIBRARY` takes where the cache has all machine code, beside cp of the same file in the same run, also with the copy on disk, for the
# sample framework followed by SIZE MiB of other bytes (default: 200 and 2200): wall and processor seconds, page cache warm, and the memory
# of jitwarm at its most, pages of the mapped library included. And a first scan of the copy beside a first scan of the library. It needs
# the simulated driver.
set -euo pipefail

[ $# -ge 1 ] && [ -x "$1/src/jitwarm" ] || { echo "usage: bake_copy.sh BUILD-FOLDER [SIZE-MIB...]" >&2; exit 64; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 200 2200
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache
sample=$build/tests/framework/libsample_framework.so
simulated() { "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@"; }
# "WALL CPU PEAK-MIB" of a command
measure='
import resource, subprocess, sys, time
began = time.monotonic()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
took, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
sys.exit("bake_copy.sh: %s ended with %d" % (sys.argv[1], status)) if status > 1 else print("%.2f %.2f %d" % (took, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024))'
timed() { simulated python3 -c "$measure" "$@"; }
first_scan() { rm -rf "$scratch/state"; timed "$build/src/jitwarm" scan --quiet --target sm_86 "$1"; }

simulated "$build/src/jitwarm" prime --quiet "$sample"
for mib; do
	rm -rf "$scratch/out" "$scratch/copy.so" "$scratch/lib.so"
	cp "$sample" "$scratch/lib.so"
	head -c "$((mib << 20))" /dev/urandom >>"$scratch/lib.so"
	cat "$scratch/lib.so" >/dev/null
	sync
	rival=$(timed cp --reflink=never "$scratch/lib.so" "$scratch/copy.so")
	rm "$scratch/copy.so"
	sync
	# On disk, as bake's copy is when it gets its name
	synced=$(timed sh -c 'cp --reflink=never "$1" "$2" && sync "$2"' sh "$scratch/lib.so" "$scratch/copy.so")
	rm "$scratch/copy.so"
	sync
	bake=$(timed "$build/src/jitwarm" bake --quiet -o "$scratch/out" "$scratch/lib.so")
	[ -e "$scratch/out/lib.so" ] || { echo "bake_copy.sh: nothing was baked" >&2; exit 1; }
	before=$(first_scan "$scratch/lib.so") after=$(first_scan "$scratch/out/lib.so")
	awk -v c="$rival" -v d="$synced" -v b="$bake" -v s="$before" -v t="$after" -v n="$mib" 'BEGIN { split(c, x); split(d, z); split(b, y); split(s, v); split(t, w)
		printf "%5d MiB  cp %.2f s (processor %.2f), synced %.2f s  bake %.2f s (%.2f)  ratio to cp %.2f (%.2f), synced %.2f  peak %d MiB  scan before %.2f s after %.2f s (%.2f %.2f)\n",
			n, x[1], x[2], z[1], y[1], y[2], y[1] / (x[1] + 1e-3), y[2] / (x[2] + 1e-3), y[1] / (z[1] + 1e-3), y[3], v[1], w[1], v[2], w[2] }'
done
