#!/bin/bash
# bake.sh BUILD-FOLDER DRIVER-VERSION   a library that was baked under one driver compiles nothing under it and the others
#
# The sample framework's copy is loaded with an empty cache, without a cache, and under other drivers. DRIVER-VERSION may be
# "simulated".
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
drivers=("$version")
if [ "$version" = simulated ]; then
	under() { local gpu=$2; shift 2; timeout 600 "$root/scripts/with-simdriver.sh" -B "$build" "$gpu" -- "$@"; }
else
	need_driver "$version"
	for other in 535.309.01 550.163.01 555.58.02; do
		[ "$other" = "$version" ] || [ ! -d "${JITWARM_DRIVERS:-$HOME/.cache/jitwarm/drivers}/$other" ] || drivers+=("$other")
	done
fi
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state JITWARM_STORE=0
framework=$build/tests/framework library=$build/tests/framework/libsample_framework.so
[ -e "$library" ] || { echo "skipped: $library is not built"; exit 77; }
before=$(sha256sum <"$library")

jitwarm_status=0
under "$version" sm_86 "$build/src/jitwarm" bake --json -o "$scratch/out" "$library" >"$scratch/json" 2>"$scratch/err" ||
	jitwarm_status=$?
cat "$scratch/err"
keep_document "$scratch/json"
so 'len(d["files"]) == 1 and d["files"][0]["linked"] == 1 and d["files"][0]["modules"] in (6, 7)'
so 'd["files"][0]["modules"] == d["files"][0]["baked"] + d["files"][0]["no_room"] and d["files"][0]["baked"] >= 6'
so "(d['files'][0]['no_room'] == 0) == ($jitwarm_status == 0) and $jitwarm_status < 2"
so '(d["files"][0]["size_before_bytes"] < d["files"][0]["size_after_bytes"]) == (d["files"][0]["moved"] > 0)'
mv "$scratch/cache" "$scratch/compiled"
[ "$(sha256sum <"$library")" = "$before" ] || fail "the original was changed"
[ "$(ls "$scratch/out")" = libsample_framework.so ] || fail "left behind: $(ls "$scratch/out")"
# Driver 535 cannot read one of the nine containers, which is compressed with zstd: it stays as it was, and other drivers compile it.
read -r no_room modules < <(python3 -c 'import json, sys
file = json.load(open(sys.argv[1]))["files"][0]
print(file["no_room"], file["modules"])' "$scratch/json")

# Counts the modules that the program compiles from the original and from the copy.
cp "$framework/framework-app" "$scratch/out"
compiled() { "$@" | sed -n '$s/^compiled \([0-9]*\) of .*/\1/p'; }
for driver in "${drivers[@]}"; do
	left=$no_room
	[ "$driver" = "$version" ] || left=$((no_room + 7 - modules))
	rm -rf "$scratch/cache"
	[ "$(compiled under "$driver" sm_86 "$framework/framework-app")" -ge 7 ] || fail "$driver: the original compiles less than 7 modules"
	rm -rf "$scratch/cache"
	[ "$(compiled under "$driver" sm_86 "$scratch/out/framework-app")" = "$left" ] || fail "$driver: the copy does not compile $left"
	entries=$(find "$scratch/cache" -path '*/?/?/*' -type f 2>/dev/null | wc -l)
	[ "$entries" = "$left" ] || fail "$driver: $entries entries, not $left"
	rm -rf "$scratch/cache"
	[ "$(CUDA_CACHE_DISABLE=1 compiled under "$driver" sm_86 "$scratch/out/framework-app")" = "$left" ] ||
		fail "$driver: without a cache the copy does not compile $left"
	# Nothing is linked: the driver opens its compiler library, which also links, only to compile.
	if [ "$version" != simulated ] && [ "$left" = 0 ]; then
		rm -f "$scratch"/opened.*
		under "$driver" sm_86 env LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/opened" "$scratch/out/framework-app" >/dev/null
		grep -q libcuda.so "$scratch"/opened.* || fail "$driver: the dynamic linker says nothing"
		! grep -q ptxjitcompiler "$scratch"/opened.* || fail "$driver: the compiler's library is opened"
	fi
	echo "$driver: $left of 8"
done

# Containers with only PTX have no space, least of all for several GPUs: they move to the end of the file.
gpus=$([ "$version" = simulated ] && echo sm_86 || echo sm_80,sm_86,sm_89)
rm -rf "$scratch/cache" "$scratch/longer"
under "$version" "$gpus" "$build/src/jitwarm" bake --json -o "$scratch/longer" "$library" >"$scratch/json" 2>"$scratch/err"
[ $? -le 1 ] || fail "bake ended with another status: $(cat "$scratch/err")"
so 'd["files"][0]["moved"] >= 3 and d["files"][0]["baked"] + d["files"][0]["no_room"] == d["files"][0]["modules"]'
so 'd["files"][0]["no_room"] == 0'
cp "$framework/framework-app" "$scratch/longer"
for driver in "${drivers[@]}"; do
	for gpu in ${gpus//,/ }; do
		rm -rf "$scratch/cache"
		compiled=$(compiled under "$driver" "$gpu" "$scratch/longer/framework-app")
		echo "$driver: $gpu, longer: $compiled of 8"
		[ "$driver" != "$version" ] || [ "$compiled" = 0 ] || fail "$driver: the longer copy compiles $compiled on $gpu"
	done
done
# jitwarm's own verdict on the copy
rm -rf "$scratch/cache" && mv "$scratch/compiled" "$scratch/cache"
jitwarm_status=0
under "$version" sm_86 "$build/src/jitwarm" bake verify --json "$scratch/out/libsample_framework.so" >"$scratch/json" 2>"$scratch/err" || jitwarm_status=$?
[ "$jitwarm_status" -le 1 ] || fail "bake verify ended with $jitwarm_status: $(cat "$scratch/err")"
keep_document "$scratch/json"
so "len(d['files']) == 1 and d['files'][0]['entries'] == $no_room and d['files'][0]['refused'] == 0"
so "d['files'][0]['compiler_opened'] == ($no_room > 0) or '$version' == 'simulated'"
under "$version" sm_86 "$build/src/jitwarm" bake verify --json "$library" >"$scratch/json" 2>"$scratch/err"
# The zstd container is not for drivers before 550 (CUDA 12.4).
so "d['files'][0]['entries'] >= 7 and d['files'][0]['too_old'] == ('$version' < '550')"
# The driver closes its compiler library after the last module, unless it links.
so "d['files'][0]['compiler_opened'] or d['files'][0]['entries']"
# This driver is older than the copy allows.
if [ "$version" != simulated ] && [ -d "${JITWARM_DRIVERS:-$HOME/.cache/jitwarm/drivers}/470.256.02" ]; then
	jitwarm_status=0
	under 470.256.02 sm_86 "$build/src/jitwarm" bake verify --json "$scratch/out/libsample_framework.so" >"$scratch/json" 2>"$scratch/err" || jitwarm_status=$?
	so "$jitwarm_status == 1 and d['files'][0]['too_old'] >= 7 and d['files'][0]['refused'] == 0"
fi

# A GPU for which the copy was not baked takes the remaining PTX.
if [ "$version" != simulated ]; then
	rm -rf "$scratch/cache"
	under "$version" sm_75 "$scratch/out/framework-app" >"$scratch/out.txt" || fail "sm_75 does not load what was baked for sm_86"
	tail -1 "$scratch/out.txt"
fi
