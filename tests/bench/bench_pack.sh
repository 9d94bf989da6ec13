#!/bin/bash
# bench_pack.sh [-B BUILD-FOLDER] [-n ROUNDS] [-b] CACHE-FOLDER
#
# export and import of a cache, beside what people do by hand, in one run: sizes, times (the best of ROUNDS, by turns), memory.
# -b also measures --best beside zstd -19.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/release rounds=5 best=
while getopts B:n:b option; do
	case $option in
	B) build=$OPTARG ;;
	n) rounds=$OPTARG ;;
	b) best=1 ;;
	*) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 1 ] && [ -d "$1" ] && [ -x "$build/src/jitwarm" ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 64; }
jitwarm=$PWD/$build/src/jitwarm
above=$(cd "$1/.." && pwd) name=$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_MAXSIZE=4294967296
cd "$scratch"

# timed NAME COMMAND...: keeps the least time in seconds and the largest memory of all rounds in $scratch/NAME.time
timed() {
	local what=$1
	shift
	python3 - "$scratch/$what.time" "$@" <<-'P'
		import os, resource, subprocess, sys, time
		started = time.monotonic()
		if subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
		    sys.exit("failed: " + " ".join(sys.argv[2:]))
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		now = (time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss)
		if os.path.exists(sys.argv[1]):
		    old = [float(x) for x in open(sys.argv[1]).read().split()]
		    now = (min(now[0], old[0]), min(now[1], old[1]), max(now[2], old[2]))
		open(sys.argv[1], "w").write("%f %f %f" % now)
	P
}
find "$above/$name" -type f -exec cat {} + >/dev/null
tar -C "$above" --zstd -cf plain.tar.zst "$name"
for ((i = 0; i < rounds; i++)); do
	timed tar-zstd-3-long sh -c "tar -C '$above' -cf - '$name' | zstd -3 --long=27 -T0 -q -f -o long.tar.zst"
	timed export "$jitwarm" export --all --cache "$above/$name" -o a.jwpack
	rm -rf unpacked imported
	mkdir unpacked
	timed unpack sh -c "zstd -dc --long=27 long.tar.zst | tar -xf - -C unpacked"
	timed import "$jitwarm" import --allow-unsigned --as-is --cache imported a.jwpack
done
if [ -n "$best" ]; then
	timed tar-zstd-19-long sh -c "tar -C '$above' -cf - '$name' | zstd -19 --long=27 -T0 -q -f -o best.tar.zst"
	timed export-best "$jitwarm" export --all --best --cache "$above/$name" -o best.jwpack
fi
bytes() { stat -c %s "$1"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
seconds() { cut -d' ' -f1 "$1.time"; }
for f in *.time; do
	awk -v n="${f%.time}" '{ printf "%-18s %6.2f s  %6.2f s of processors  %4.0f MB\n", n, $1, $2, $3 / 1000 }' "$f"
done
echo "pack $(bytes a.jwpack) bytes: tar --zstd has $(ratio "$(bytes plain.tar.zst)" "$(bytes a.jwpack)") times as many (wanted: 4), it has $(ratio "$(bytes a.jwpack)" "$(bytes long.tar.zst)") of tar | zstd -3 --long=27 (at most 0.9)"
echo "export takes $(ratio "$(seconds export)" "$(seconds tar-zstd-3-long)") of tar | zstd's time (at most 1.25), import $(ratio "$(seconds import)" "$(seconds unpack)") of unpacking's (at most 1.3)"
[ -z "$best" ] || echo "--best: $(bytes best.jwpack) bytes, $(ratio "$(bytes best.jwpack)" "$(bytes best.tar.zst)") of tar | zstd -19 --long=27 (at most 1)"
