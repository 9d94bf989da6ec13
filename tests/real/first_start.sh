#!/bin/bash
# first_start.sh [-e|-r] BUILD-FOLDER DRIVER XGBOOST-VERSION [GPU]   what `jitwarm prime` promises, with a real program
#
#   1. cold:   XGBoost trains with an empty cache; the entries that this makes are what there is to prime. (It takes
#              minutes, so the list is kept in ~/.cache/jitwarm/real-cold/, or $JITWARM_REAL_COLD.)
#   2. prime:  `jitwarm prime LIBRARY` fills another empty cache: every entry of the list must be there, each under the
#              name that was predicted. (It takes minutes of a core, so the cache is kept beside the list; then one entry in
#              nine is taken from it, and must come back to the byte. With JITWARM_LONG_TESTS=1 all are compiled.)
#   3. again:  a second prime must find nothing to compile, and change nothing
#   4. start:  XGBoost trains with the primed cache: no entry may be added, none rewritten
#
# -r: if there is no list, steps 4 and 5 have to do (but with JITWARM_LONG_TESTS=1 it is made):
#   5. robbed: XGBoost trains with a copy from which some entries were taken: it makes just these again, to the byte. So it
#              looks for what was primed. That is for programs that load all of it.
# -e: primed as for another machine (`make --target GPU --driver DRIVER -o PACK`), by ptxas, without driver and GPU, and imported under the
# driver; each entry of the cold start must be there with the same bytes.
#
# Under DRIVER (NVIDIA's own) on a GPU of the phantom, by default sm_86. The library comes from the wheel that
# scripts/get.sh frameworks xgboost-VERSION-linux fetches; it is unpacked beside the wheels, outside the repository.
# Exit status: 0; 1 if a promise is broken; 77 if driver, wheel or program are missing.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
drivers=${JITWARM_DRIVERS:-$cache/drivers}
frameworks=${JITWARM_FRAMEWORKS:-$cache/frameworks}
cold_lists=${JITWARM_REAL_COLD:-$cache/real-cold}

elsewhere='' robbed=''
case ${1:-} in
-e) elsewhere=1; shift ;;
-r) robbed=1; shift ;;
esac
if [ $# -lt 3 ]; then
	sed -n '2s/^# /usage: /p' "$0" >&2
	exit 64
fi
build=$(cd "$1" && pwd) || exit 64
driver=$2 version=$3 gpu=${4:-sm_86}

skip() { echo "skipped: $*"; exit 77; }
broken() { echo "BROKEN: $*"; exit 1; }

jitwarm=$build/src/jitwarm
train=$build/tests/real/train_xgboost
[ -d "$drivers/$driver" ] || skip "driver $driver is not in $drivers (scripts/get.sh drivers $driver)"
[ -x "$train" ] || skip "$train is not built"
"$jitwarm" prime --help >/dev/null 2>&1 || skip "$jitwarm has no prime"

# unpack: takes the library out of its wheel; the folder gets its name when it is complete
unpack()
{
	local wheel folder=$frameworks/extracted/xgboost-$version
	library=$folder/xgboost/lib/libxgboost.so
	[ ! -s "$library" ] || return 0
	wheel=$(compgen -G "$frameworks/xgboost-$version-linux/*.whl" | head -1) || return 1
	mkdir -p "$frameworks/extracted"
	local new
	new=$(mktemp -d "$frameworks/extracted/.new-XXXXXX") || return 1
	if ! python3 - "$wheel" "$new" <<-'P'; then
		import sys, zipfile
		with zipfile.ZipFile(sys.argv[1]) as wheel:
		    for name in wheel.namelist():
		        if ".so" in name:
		            wheel.extract(name, sys.argv[2])
	P
		rm -rf "$new"
		return 1
	fi
	chmod 755 "$new"
	mv -T "$new" "$folder" 2>/dev/null || rm -rf "$new" # another run was faster
	[ -s "$library" ]
}
unpack || skip "no wheel of xgboost $version in $frameworks (scripts/get.sh frameworks xgboost-$version-linux)"

[ -z "$elsewhere" ] || "$jitwarm" make --target "$gpu" --driver "$driver" -o "$frameworks/" "$jitwarm" --quiet 2>/dev/null ||
	skip "no ptxas for driver $driver (jitwarm compiler fetch)"

# shellcheck source=/dev/null
. "$root/tests/documents/keep.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
unset CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT CUDA_MODULE_LOADING CUDA_VISIBLE_DEVICES
export CUDA_CACHE_DISABLE=0 CUDA_CACHE_MAXSIZE=4294967296 JITWARM_STATE=$scratch/state

# on CACHE-FOLDER COMMAND...: runs it under the driver with this cache
on()
{
	CUDA_CACHE_PATH=$1 timeout 1800 "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpu" -- "${@:2}"
}
# names: the names (16 hexadecimal digits) of a cache's entries, also with their times
names() { (cd "$1" && find . -type f -path './?/?/??????????????' | tr -d './' | LC_ALL=C sort); }
times() { (cd "$1" && find . -type f -path './?/?/??????????????' -printf '%p %s %T@\n' | LC_ALL=C sort); }
sums() { (cd "$1" && find . -type f -path './?/?/??????????????' -exec sha256sum {} + | LC_ALL=C sort); }
count() { wc -l <"$1"; }
seconds() { date +%s; }

# start: runs the training, which ends with 2 on the phantom GPU after everything is loaded (train_xgboost.c)
start()
{
	local status=0
	on "$1" "$train" "$library" || status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || broken "the program ended with status $status"
}

cold=$cold_lists/$driver-$version-$gpu.txt kept=$cold_lists/$driver-$version-$gpu.primed
[ ! -s "$cold" ] && [ "${JITWARM_LONG_TESTS:-}" != 1 ] || robbed=
if [ -n "$robbed" ]; then
	: # there is no list
elif [ ! -s "$cold" ] || { [ -n "$elsewhere" ] && [ ! -s "$cold.sums" ]; }; then
	mkdir -p "$cold_lists" "$scratch/cold"
	began=$(seconds)
	start "$scratch/cold"
	names "$scratch/cold" >"$scratch/cold.txt"
	[ -s "$scratch/cold.txt" ] || broken "a cold start made no entry"
	sums "$scratch/cold" >"$cold.sums.$$" && mv "$cold.sums.$$" "$cold.sums"
	cp "$scratch/cold.txt" "$cold.$$" && mv "$cold.$$" "$cold"
	echo "cold start: $(count "$cold") entries in $(($(seconds) - began)) s"
fi

# prime LABEL: primes, and keeps the report under that label
prime()
{
	if [ -n "$elsewhere" ] && [ ! -e "$scratch/there.jwpack" ]; then
		"$jitwarm" make --target "$gpu" --driver "$driver" -o "$scratch/there.jwpack" --json "$library" >"$scratch/report.json" &&
			on "$scratch/primed" "$jitwarm" import --allow-unsigned --quiet "$scratch/there.jwpack"
	else
		on "$scratch/primed" "$jitwarm" prime --json "$library" >"$scratch/report.json"
	fi || broken "$1 ended with status $?"
	keep_document "$scratch/report.json"
	grep -q '"opaque":[[:space:]]*false' "$scratch/report.json" || broken "$1 found the driver's entries to be other than predicted"
}

# take_some FOLDER: takes one entry in nine; $scratch/taken.txt has their names, $scratch/all.sums the sums of all
take_some()
{
	sums "$1" >"$scratch/all.sums"
	awk 'NR % 9 == 1 { print $2 }' "$scratch/all.sums" >"$scratch/taken.txt"
	(cd "$1" && xargs rm) <"$scratch/taken.txt"
}
as_before() { sums "$1" | cmp -s - "$scratch/all.sums" || broken "what was taken does not come back as it was: $(sums "$1" | diff - "$scratch/all.sums" | head -3)"; }

if [ -n "$elsewhere" ] || [ "${JITWARM_LONG_TESTS:-}" = 1 ] || [ ! -d "$kept" ]; then
	kept_before=
	mkdir "$scratch/primed"
else
	kept_before=1
	cp -a "$kept" "$scratch/primed"
	take_some "$scratch/primed"
fi
began=$(seconds)
prime "prime"
[ -z "$kept_before" ] || as_before "$scratch/primed"
names "$scratch/primed" >"$scratch/primed.txt"
echo "primed: $(count "$scratch/primed.txt") entries in $(($(seconds) - began)) s"
if [ -z "$robbed" ]; then
	LC_ALL=C comm -23 "$cold" "$scratch/primed.txt" >"$scratch/missed.txt"
	[ ! -s "$scratch/missed.txt" ] || broken "$(count "$scratch/missed.txt") entries were not primed: $(head -5 "$scratch/missed.txt" | paste -sd' ')"
	echo "entries of a cold start: $(count "$cold"); others: $(LC_ALL=C comm -13 "$cold" "$scratch/primed.txt" | wc -l)"
fi
if [ -n "$elsewhere" ]; then
	sums "$scratch/primed" | LC_ALL=C comm -23 "$cold.sums" - >"$scratch/differ.txt"
	[ ! -s "$scratch/differ.txt" ] || broken "$(count "$scratch/differ.txt") entries are not the driver's own: $(head -3 "$scratch/differ.txt")"
	echo "all $(count "$cold.sums") entries of the cold start are there, to the byte"
fi

times "$scratch/primed" >"$scratch/before.txt"
prime "the second prime"
grep -q '"cold":[[:space:]]*0,' "$scratch/report.json" || broken "the second prime found something to compile"
times "$scratch/primed" | cmp -s - "$scratch/before.txt" || broken "the second prime changed the cache"

began=$(seconds)
start "$scratch/primed"
names "$scratch/primed" >"$scratch/after.txt"
echo "first start after priming: $(($(seconds) - began)) s, $(LC_ALL=C comm -13 "$scratch/primed.txt" "$scratch/after.txt" | wc -l) new entries"
cmp -s "$scratch/primed.txt" "$scratch/after.txt" || broken "the first start changed the set of entries"
times "$scratch/primed" | cmp -s - "$scratch/before.txt" || broken "the first start compiled something that was primed"
[ -n "$elsewhere" ] || [ -d "$kept" ] || { mkdir -p "$cold_lists" && cp -a "$scratch/primed" "$kept.$$" && mv "$kept.$$" "$kept"; }

# Takes one entry in nine.
if [ -n "$robbed" ]; then
	cp -a "$scratch/primed" "$scratch/robbed"
	take_some "$scratch/robbed"
	began=$(seconds)
	start "$scratch/robbed"
	as_before "$scratch/robbed"
	echo "a start with $(count "$scratch/taken.txt") entries taken: $(($(seconds) - began)) s, all of them made again to the byte"
fi
