#!/usr/bin/env bash
# bench_compile.sh [-B BUILD-FOLDER] [-d DRIVER|here] [-n MODULES] [-s STATEMENTS] [-r ROUNDS] [-j WORKERS]   prime beside its rivals, on modules with real compile work
#
# Under a real driver on the phantom GPU (-d here: this machine's driver and GPU), each into an empty cache, ROUNDS times in turn:
#   one process that loads the modules one after the other, as a framework does;
#   WORKERS processes that do no more than load their share of them, each into a cache of its own: the bare cost of the compiles;
#   jitwarm prime with as many workers.
# Whole processes are timed, start to end, and the processor time that they and their children used: on a machine that has other things to
# do, the latter is the one to believe. The best round of each counts: what else the machine does only ever adds. Then the time that a
# module costs which is warm already, with the files read anew and with the files remembered.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release driver=550.163.01 modules=500 statements=1500 rounds=3 jobs=2
while getopts B:d:n:s:r:j: option; do
	case $option in
	B) build=$(cd "$OPTARG" && pwd) ;;
	d) driver=$OPTARG ;;
	n) modules=$OPTARG ;;
	s) statements=$OPTARG ;;
	r) rounds=$OPTARG ;;
	j) jobs=$OPTARG ;;
	*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
	esac
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
jitwarm=$build/src/jitwarm load=$build/tests/bench/bench_load library=$scratch/libmodules.so
under=()
[ "$driver" = here ] || under=("$root/scripts/with-driver.sh" -B "$build" -d "$driver" sm_86 --)
export JITWARM_STATE=$scratch/state JITWARM_STORE=0 CUDA_CACHE_MAXSIZE=4294967296 CUDA_MODULE_LOADING=EAGER LC_ALL=C TIMEFORMAT='%R %U %S'
cache() { export CUDA_CACHE_PATH=$scratch/$1; rm -rf "$CUDA_CACHE_PATH"; }
entries() { find "$scratch/$1" -path '*/?/?/*' -type f | wc -l; }
timed() { { time "$@" >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/time" || { cat "$scratch/err" >&2; return 1; }; cat "$scratch/time"; }

python3 "$root/tests/bench/make-modules.py" "$modules" "$statements" "$library"
cache warmup
timed "${under[@]}" "$jitwarm" status --quiet >/dev/null # jitwarm asks this once for each driver; it is not part of priming
cc -shared -x c - -o "$scratch/libnothing.so" <<<"int nothing;"
# Each share is a process of its own under one phantom GPU, and reads its list from standard input.
alone() { timed "${under[@]}" sh -c 'exec "$0" "$1" 0 1 <"$1.list"' "$load" "$library"; }
bare() {
	timed "${under[@]}" bash -c 'for ((i = 0; i < $2; i++)); do CUDA_CACHE_PATH=$3-$i "$0" "$1" $i $2 <"$1.list" & all+=($!); done
		for one in "${all[@]}"; do wait "$one" || exit 1; done' "$load" "$library" "$jobs" "$scratch/bare"
}
prime() { timed "${under[@]}" "$jitwarm" prime --quiet -j "$jobs" "$library"; }
for ((round = 1; round <= rounds; round++)); do
	cache alone; echo "alone $(alone)"
	rm -rf "$scratch"/bare-*; echo "bare $(bare)"
	cache primed; echo "prime $(prime)"
	[ "$(entries primed)" = "$modules" ] && [ "$(entries alone)" = "$modules" ] || { echo "not all modules were compiled: $(entries primed), $(entries alone)" >&2; exit 1; }
done | tee "$scratch/rows"
rm -rf "$JITWARM_STATE/inventory"* # as if the files had never been seen
for ((round = 1; round <= 3; round++)); do
	find "$JITWARM_STATE" -name 'inventory*' -delete
	echo "cold-look $(prime)"
	echo "warm-look $(prime)"
	echo "nothing $(timed "${under[@]}" "$jitwarm" prime --quiet "$scratch/libnothing.so")"
done >>"$scratch/rows"
python3 - "$scratch/rows" "$modules" "$jobs" <<'P'
import sys
best, used = {}, {}
for row in open(sys.argv[1]):
    name, seconds, user, system = row.split()
    best[name] = min(best.get(name, 1e9), float(seconds))
    used[name] = min(used.get(name, 1e9), float(user) + float(system))
modules, jobs = int(sys.argv[2]), int(sys.argv[3])
each = lambda what, name: (what[name] - what["nothing"]) / modules * 1e6
print(f"{modules} modules: one process {best['alone']:.2f} s, {jobs} bare processes {best['bare']:.2f} s, prime with {jobs} workers {best['prime']:.2f} s")
print(f"prime is {best['alone'] / best['prime']:.3f} times faster than one process; it takes {100 * (best['prime'] / best['bare'] - 1):+.1f} % more than the bare compiles")
print(f"processor time: one process {used['alone']:.2f} s, bare {used['bare']:.2f} s, prime {used['prime']:.2f} s: {100 * (used['prime'] / used['bare'] - 1):+.1f} % beside the bare compiles, "
      f"{used['alone'] * jobs / used['prime'] :.3f} times faster with {jobs} cores that do nothing else, at best")
print(f"a warm module costs {each(best, 'cold-look'):.0f} us where the file has to be read, {each(best, 'warm-look'):.0f} us where it is remembered, "
      f"of processor time {each(used, 'cold-look'):.0f} and {each(used, 'warm-look'):.0f} us (prime of nothing: {best['nothing'] * 1000:.0f} ms)")
P
