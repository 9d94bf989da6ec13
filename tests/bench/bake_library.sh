#!/bin/bash
# bake_library.sh BUILD-FOLDER DRIVER-VERSION GPU LIBRARY [ROUNDS]
#
# What `jitwarm bake -o DIR LIBRARY` takes beyond the compiles, beside cp of the same file in the same run: wall and processor seconds,
# the median of ROUNDS (default: 5), page cache warm, with the library's machine code in a cache that this run makes first.
# DRIVER-VERSION may be "simulated".
#
#   cp, synced   cp of the library; the same with the copy on disk, as bake's is
#   prime        `jitwarm prime --all`, which finds nothing to do: the driver's start, and looking the modules up
#   bake         all of it, and what is left without prime's part
set -euo pipefail

[ $# -ge 4 ] && [ -x "$1/src/jitwarm" ] || { echo "usage: bake_library.sh BUILD-FOLDER DRIVER-VERSION GPU LIBRARY [ROUNDS]" >&2; exit 64; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "$1") version=$2 gpu=$3 library=$(realpath "$4") rounds=${5:-5}
scratch=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=${BENCH_CACHE:-$scratch/cache} CUDA_CACHE_MAXSIZE=4294967296 JITWARM_STORE=0
if [ "$version" = simulated ]; then
	under() { "$root/scripts/with-simdriver.sh" -B "$build" "$gpu" -- "$@"; }
else
	under() { "$root/scripts/with-driver.sh" -B "$build" -d "$version" "$gpu" -- "$@"; }
fi
# The command alone is measured, not what starts it with a driver.
cat >"$scratch/measure.py" <<'P'
import resource, subprocess, sys, time
began = time.monotonic()
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
took, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
if status > 1:
    sys.exit("%s ended with %d" % (sys.argv[2], status))
with open(sys.argv[1], "a") as file:
    print(took, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, file=file)
P
timed() { local name=$1; shift; under python3 "$scratch/measure.py" "$scratch/$name" "$@"; }

under "$build/src/jitwarm" prime --quiet --all "$library" >/dev/null || [ $? -le 1 ]
for ((round = 0; round < rounds; round++)); do
	rm -rf "$scratch/copy" "$scratch/out"
	cat "$library" >/dev/null
	sync
	timed cp cp --reflink=never "$library" "$scratch/copy"
	rm "$scratch/copy"
	sync
	timed synced sh -c 'cp --reflink=never "$1" "$2" && sync "$2"' sh "$library" "$scratch/copy"
	rm "$scratch/copy"
	sync
	timed prime "$build/src/jitwarm" prime --quiet --all "$library"
	timed bake "$build/src/jitwarm" bake --quiet -o "$scratch/out" "$library"
done
python3 - "$scratch" <<'P'
import statistics, sys
took = {}
for name in ("cp", "synced", "prime", "bake"):
    rows = [[float(part) for part in line.split()] for line in open(sys.argv[1] + "/" + name)]
    took[name] = [statistics.median(column) for column in zip(*rows)]
    print("%-7s %6.2f s, processor %5.2f s, %4d MiB at its most" % (name, *took[name]))
rest = [took["bake"][i] - took["prime"][i] for i in (0, 1)]
print("beyond prime: %.2f s, %.2f times cp, %.2f times cp on disk; processor %.2f s, %.2f times cp (%.2f times cp with prime)" % (
    rest[0], rest[0] / took["cp"][0], rest[0] / took["synced"][0], rest[1], rest[1] / took["cp"][1], took["bake"][1] / took["cp"][1]))
P
