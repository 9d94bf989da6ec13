#!/usr/bin/env bash
# bench.sh [-B BUILD-FOLDER] [-t]   measures every number that README and docs give for speed and memory, each with its rival in the same run
#
# Uses the installed files of the following, and names those that are missing: a CUDA toolkit's libraries ($CUDA_HOME/lib64, /usr/local/cuda/lib64), the wheels
# of scripts/get.sh frameworks, the drivers of scripts/get.sh drivers, cuobjdump. -t: also TensorFlow for another
# machine (180 core-seconds). Run nothing else on the machine meanwhile.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
build=build/release long=
while getopts B:th option; do
	case $option in
	B) build=$OPTARG ;;
	t) long=1 ;;
	*) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 64 ;;
	esac
done
bench=$build/tests/bench
[ -x "$bench/bench_keys" ] || { echo "bench.sh: $bench is not built: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
frameworks=${JITWARM_FRAMEWORKS:-$cache/frameworks}
toolkit=${CUDA_HOME:-/usr/local/cuda}
[ -d "$toolkit/lib64" ] || toolkit=$(ls -d /usr/local/cuda-* 2>/dev/null | sort -V | tail -1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

title() { printf '\n== %s\n' "$*"; }
missing() { echo "(left out: $*)"; }

title "hashing keys, several modules side by side"
"$bench/bench_keys"

title "caches of 10,000 and 100,000 entries, beside find, cat and cp"
"$bench/bench_many"

title "scanning a CUDA toolkit's libraries"
mapfile -t libraries < <(find -L "$toolkit/lib64/" -maxdepth 1 -name 'lib*.so' -type f -size +1M 2>/dev/null | xargs -r -n1 readlink -f | sort -u)
if [ ${#libraries[@]} -gt 0 ]; then
	"$bench/bench_scan" "${libraries[@]}" | tail -4
	"$bench/bench_verdicts" "${libraries[@]}" | tail -6
	if command -v "${CUOBJDUMP:-cuobjdump}" >/dev/null; then
		tests/bench/cuobjdump.sh "$build/src/jitwarm" "${CUOBJDUMP:-cuobjdump}" "${libraries[@]}"
	else
		missing "cuobjdump is not on PATH"
	fi
else
	missing "no CUDA toolkit; CUDA_HOME names one"
fi

title "scanning wheels, beside unzip"
mapfile -t wheels < <(ls "$frameworks"/*/*.whl 2>/dev/null)
if [ ${#wheels[@]} -gt 0 ]; then
	tests/bench/wheel.sh "$bench/bench_scan" "${wheels[@]}"
else
	missing "no wheels in $frameworks"
fi

title "a second scan of a wheel, beside one that remembers nothing"
for wheel in "${wheels[@]}"; do
	JITWARM_STATE=$scratch/known "$build/src/jitwarm" scan --quiet --target sm_86 "$wheel" >/dev/null
	printf '%-60s ' "${wheel##*/}"
	tests/bench/side-by-side.py env JITWARM_STATE=/dev/null/none "$build/src/jitwarm" scan --quiet --target sm_86 "$wheel" -- \
		env JITWARM_STATE="$scratch/known" "$build/src/jitwarm" scan --quiet --target sm_86 "$wheel"
done

title "two large libraries of one wheel, side by side"
wheel=$(ls "$frameworks"/xgboost-1.0.2-linux/*.whl 2>/dev/null)
if [ -n "$wheel" ]; then
	python3 -I - "$wheel" "$scratch/two.whl" <<-'P'
		import sys, zipfile
		with zipfile.ZipFile(sys.argv[1]) as wheel, zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as two:
		    library = wheel.read(max(wheel.infolist(), key=lambda member: member.file_size))
		    two.writestr("first.so", library)
		    two.writestr("second.so", library)
	P
	JITWARM_STATE=/dev/null/none tests/bench/side-by-side.py taskset -c 0 "$build/src/jitwarm" scan --quiet "$scratch/two.whl" -- \
		"$build/src/jitwarm" scan --quiet "$scratch/two.whl"
else
	missing "no wheel xgboost-1.0.2-linux"
fi

title "a second check"
wheel=$(ls "$frameworks"/tensorflow-2.10.0-windows/*.whl 2>/dev/null)
if [ -n "$wheel" ]; then
	python3 -I -m zipfile -l "$wheel" | grep -oE '^\S+_pywrap_tensorflow_internal.pyd' | head -1 >"$scratch/name"
	python3 -I - "$wheel" "$(cat "$scratch/name")" "$scratch/tensorflow.pyd" <<-'P'
		import sys, zipfile, shutil
		with zipfile.ZipFile(sys.argv[1]) as z, z.open(sys.argv[2]) as member, open(sys.argv[3], "wb") as out:
		    shutil.copyfileobj(member, out)
	P
	"$bench/bench_check" --program "$build/src/jitwarm" "$scratch/tensorflow.pyd"
else
	missing "no wheel tensorflow-2.10.0-windows"
fi

title "prime under a real driver"
library=$(ls "$frameworks"/ctranslate2-4.6.2-linux/*.whl 2>/dev/null)
if [ -n "$library" ] && [ -d "$cache/drivers/550.163.01" ]; then
	tests/bench/bench_prime.sh -B "$build" -d 550.163.01 sm_90 "$library"
	library=$frameworks/extracted/xgboost-1.3.3/xgboost/lib/libxgboost.so
	[ ! -e "$library" ] || tests/bench/bench_prime.sh -B "$build" -d 550.163.01 sm_86 "$library"
	for pair in sm_86:tensorflow-2.3.1 sm_90:xgboost-1.7.6; do
		library=$(ls "$frameworks/${pair#*:}"-linux/*.whl 2>/dev/null)
		[ -z "$library" ] || tests/bench/bench_prime.sh -B "$build" -d 550.163.01 "${pair%%:*}" "$library"
	done
else
	missing "no driver 550.163.01 or no wheel ctranslate2-4.6.2-linux"
fi

title "prime beside its rivals"
if [ -d "$cache/drivers/550.163.01" ]; then
	tests/bench/bench_compile.sh -B "$build" -d 550.163.01
else
	missing "no driver 550.163.01"
fi

title "prime for another machine, beside ptxas one after the other"
names=()
for name in xgboost-1.0.2-linux xgboost-1.3.3-linux; do
	! compgen -G "$frameworks/$name/*.whl" >/dev/null || names+=("$name")
done
[ -z "$long" ] || names+=(tensorflow-2.3.1-linux)
if [ ${#names[@]} -gt 0 ]; then
	tests/bench/bench_offline.sh -B "$build" "${names[@]}"
else
	missing "no wheel xgboost-1.0.2-linux"
fi

title "packs, beside tar and zstd"
archive=${JITWARM_TESTDATA:-../shared/testdata}/driver-caches/framework-2018-sm70.tar.zst
if [ -f "$archive" ]; then
	zstd -dqc --long=27 "$archive" | tar -xf - -C "$scratch"
	tests/bench/bench_pack.sh -B "$build" "$scratch/framework-2018-sm70"
else
	missing "no test data in $(dirname "$archive")"
fi
