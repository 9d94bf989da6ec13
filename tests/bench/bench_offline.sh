#!/usr/bin/env bash
# bench_offline.sh [-B BUILD-FOLDER] [-d DRIVER] [-g GPU] [-j WORKERS] [-r ROUNDS] [LIBRARY|NAME]...   prime for another machine, beside ptxas one after the other
#
# jitwarm make --target GPU --driver DRIVER, into an empty directory; then the same PTX out of the entries, with the same arguments, by the same
# ptxas, one module after the other, as a script would. ROUNDS times in turn, the best of each counts: what else the machine does only ever adds.
# Whole processes are timed, start to end, and the processor time that they and their children used, which is the one to believe on a machine
# that has other things to do. Every cubin has to be the same. A NAME is one of scripts/get.sh frameworks, fetched if it is not there; its
# libraries are taken out of the wheel first, as an installation has them. Without any: xgboost-1.0.2-linux. tensorflow-2.3.1-linux takes 180 core-seconds a time.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release driver=550.163.01 gpu=sm_86 jobs=$(nproc) rounds=1
while getopts B:d:g:j:r: option; do
	case $option in
	B) build=$(cd "$OPTARG" && pwd) ;;
	d) driver=$OPTARG ;;
	g) gpu=$OPTARG ;;
	j) jobs=$OPTARG ;;
	r) rounds=$OPTARG ;;
	*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- xgboost-1.0.2-linux
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_MAXSIZE=4294967296 LC_ALL=C TIMEFORMAT='%R %U %S'
unset CUDA_CACHE_PATH
cuda=$(awk -v driver="$driver" '$1 == driver { print $2 }' "$root/tests/phantom/drivers.txt")
[ -n "$cuda" ] || { echo "bench_offline.sh: which CUDA version is driver $driver of? (tests/phantom/drivers.txt)" >&2; exit 64; }
ptxas=$("$build/src/jitwarm" compiler fetch "$cuda")
timed() { { time "$@" >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/time" || { cat "$scratch/err" >&2; return 1; }; cat "$scratch/time"; }
load() { read -r one _ </proc/loadavg; echo "$one"; }
make_cache() { timed "$build/src/jitwarm" make --quiet --json -j "$jobs" --target "$gpu" --driver "$driver" --ptxas "$ptxas" -o "$scratch/cache/" "$1"; }

for library; do
	title=$(basename "$library")
	if [ ! -e "$library" ]; then
		wheel=$("$root/scripts/get.sh" frameworks "$library" | head -1)
		library=$scratch/$title
		mkdir "$library"
		python3 - "$wheel" "$library" <<-'P'
			import os, re, shutil, sys, zipfile
			with zipfile.ZipFile(sys.argv[1]) as wheel:
			    for name in wheel.namelist():
			        if re.search(r"\.(so[.0-9]*|pyd|dll)$", name) and wheel.getinfo(name).file_size > 1 << 20:
			            with wheel.open(name) as member, open(os.path.join(sys.argv[2], os.path.basename(name)), "wb") as out:
			                shutil.copyfileobj(member, out)
		P
	fi
	rm -f "$scratch/rows"
	before=$(load)
	for ((round = 1; round <= rounds; round++)); do
		rm -rf "$scratch/cache" "$JITWARM_STATE" # as if the files had never been seen
		echo "prime $(make_cache "$library") $(grep -oE '"compile_cpu_seconds":[[:space:]]*[0-9.]+' "$scratch/out" | grep -oE '[0-9.]+$')"
		rm -rf "$scratch/modules"
		python3 "$root/tests/bench/modules-of-cache.py" "$ptxas" "$scratch/cache" "$scratch/modules"
		echo "alone $(timed sh "$scratch/modules/compile.sh")"
	done >"$scratch/rows"
	echo "warm $(make_cache "$library")" >>"$scratch/rows" # reads the file, or remembers it, and compiles nothing
	python3 - "$scratch" "$jobs" "$title, $gpu, driver $driver" "$before" "$(load)" <<'P'
import glob, os, sys
scratch, jobs, title = sys.argv[1], int(sys.argv[2]), sys.argv[3]
best, used, ours = {}, {}, 1e9
for row in open(scratch + "/rows"):
    name, seconds, user, system, *compilers = row.split()
    if compilers: # prime's own time, without the compilers that it ran
        ours = min(ours, float(user) + float(system) - float(compilers[0]))
    best[name] = min(best.get(name, 1e9), float(seconds))
    used[name] = min(used.get(name, 1e9), float(user) + float(system))
ptx = glob.glob(scratch + "/modules/*.ptx")
same = sum(open(p[:-3] + "cubin", "rb").read() == open(p[:-3] + "made", "rb").read() for p in ptx)
size = sum(map(os.path.getsize, ptx))
print(f"{title}: {len(ptx)} modules, {size / 1e6:.0f} MB of PTX, {same} cubins the same to the byte")
print(f"ptxas one after the other {best['alone']:.1f} s, prime with {jobs} workers {best['prime']:.1f} s: {best['alone'] / best['prime']:.2f} times faster (load average {sys.argv[4]} before, {sys.argv[5]} after)")
print(f"processor time: ptxas {used['alone']:.2f} s, prime {used['prime']:.2f} s: {100 * (used['prime'] / used['alone'] - 1):+.1f} %; {ours:.2f} s of it are jitwarm's own, {ours / len(ptx) * 1000:.1f} ms a module; "
      f"{used['alone'] * jobs / used['prime']:.2f} times faster with {jobs} cores that do nothing else, at best; a second prime {best['warm']:.2f} s")
sys.exit(same != len(ptx))
P
done
