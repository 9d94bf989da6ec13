#!/usr/bin/env bash
# bench_prime.sh [-B BUILD-FOLDER] [-d DRIVER] [-j WORKERS] GPU LIBRARY...   how close prime comes to the ideal makespan
#
# Primes each LIBRARY (a file or a wheel) into an empty cache under a real driver on the phantom GPU and compares the wall time with the ideal: the larger
# of (the modules' own times, summed, over the workers) and (the longest module), both measured in the workers in the same run.
# The rival is that ideal: 1.00 would be a perfect schedule with workers that cost nothing to start.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release driver=550.163.01 jobs=$(nproc)
while getopts B:d:j: option; do
	case $option in
	B) build=$(cd "$OPTARG" && pwd) ;;
	d) driver=$OPTARG ;;
	j) jobs=$OPTARG ;;
	*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }

gpu=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache CUDA_CACHE_MAXSIZE=4294967296
under=("$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpu" --)
"${under[@]}" "$build/src/jitwarm" status --quiet # jitwarm asks this once for each driver; it is not part of priming
for library; do
	rm -rf "$CUDA_CACHE_PATH"
	echo "$(basename "$library"), $gpu, driver $driver"
	"${under[@]}" "$build/src/jitwarm" prime --json --quiet -j "$jobs" "$library" >"$scratch/out" || [ $? = 1 ]
	python3 - "$scratch/out" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
if not d["compiled"]:
    raise SystemExit("nothing to compile there")
ideal = max(d["compile_seconds"] / d["workers"], d["longest_seconds"])
print(f'modules {d["compiled"]}, workers {d["workers"]}, failed {d["failed"]}')
print(f'makespan {d["seconds"]:.1f} s, ideal {ideal:.1f} s, ratio {d["seconds"] / ideal:.3f}')
print(f'predicted {d["predicted_cpu_seconds"]:.1f} core-seconds, measured {d["compile_seconds"]:.1f}, ratio {d["compile_seconds"] / d["predicted_cpu_seconds"]:.2f}')
print(f'supervisor at most {d["peak_supervisor_bytes"] / 1e6:.0f} MB, a worker {d["peak_worker_bytes"] / 1e6:.0f} MB')
P
done
