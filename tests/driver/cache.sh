#!/bin/bash
# cache.sh BUILD-FOLDER DRIVER-VERSION PART   jitwarm's writer of the cache and a real driver, on the phantom GPU
#
# hits      the driver finds what jitwarm inserts: modules compiled into one directory are inserted into another, where
#           loading them compiles nothing and adds nothing
# together  both write at once, into an index of more than 4 KiB: nothing is lost that either made, nothing is wiped
# killed    jitwarm is killed at 50 random moments of inserting: no index is ever one that makes the driver wipe, no entry is
#           lost or torn; the next insert mends what was left, and the driver then finds everything
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 version=$2 part=$3
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
[ -d "$store/$version" ] || { echo "driver $version is not in $store (scripts/get.sh drivers)"; exit 77; }
probe=$build/tests/phantom/phantom-probe
insert=$build/tests/driver/cache-insert
jitwarm=$build/src/jitwarm

scratch=$(mktemp -d)
# shellcheck source=/dev/null
. "$here/../../tests/documents/keep.sh"
trap 'rm -rf "$scratch"' EXIT
unset CUDA_CACHE_MAXSIZE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT
export CUDA_CACHE_DISABLE=0

fail() { echo "FAILED: $*"; exit 1; }
# load DIR FIRST LAST: the driver loads modules FIRST … LAST with this cache; prints how many it compiled
load()
{
	local files=() i
	for ((i = $2; i <= $3; i++)); do
		[ -f "$scratch/$i.fatbin" ] || "$probe" container "$scratch/$i.fatbin" "$i" || exit 1
		files+=("$scratch/$i.fatbin")
	done
	CUDA_CACHE_PATH=$1 timeout 600 "$here/../../scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- \
		"$probe" load 0 "${files[@]}" >"$scratch/load.out" 2>&1 || { cat "$scratch/load.out"; exit 1; }
	[ "$(grep -c 'result 0' "$scratch/load.out")" = $(($3 - $2 + 1)) ] || { cat "$scratch/load.out"; exit 1; }
	grep -c 'ptxas ran' "$scratch/load.out" || true
}
entries() { find "$1" -path '*/.jitwarm-*' -prune -o -type f ! -name index -print | wc -l; }
# report DIR EXPRESSION: what cache verify says of it
report()
{
	"$jitwarm" cache verify --cache "$1" --json >"$scratch/report.json"
	keep_document "$scratch/report.json"
	python3 - "$scratch/report.json" "$2" <<-'PYTHON' || fail "not so: $2"
		import json, sys
		d = json.load(open(sys.argv[1]))
		if not eval(sys.argv[2]):
		    print(json.dumps({k: v for k, v in d.items() if k != "damaged_entries"}))
		    sys.exit(1)
	PYTHON
}

hits()
{
	compiled=$(load "$scratch/made" 1 40) || fail "$compiled"
	[ "$compiled" = 40 ] || fail "$compiled of 40 compiled"
	"$insert" "$scratch/made" "$scratch/live" 86 || fail "insert"
	report "$scratch/live" 'd["sound"] == 40 and d["rows"] == 40 and d["next_insert"] == "adds"'
	compiled=$(load "$scratch/live" 1 40) || fail "$compiled"
	[ "$compiled" = 0 ] || fail "$compiled of 40 compiled though they were inserted"
	[ "$(entries "$scratch/live")" = 40 ] || fail "$(entries "$scratch/live") entries"
	# The driver goes on in an index of ours
	compiled=$(load "$scratch/live" 41 45) || fail "$compiled"
	report "$scratch/live" 'd["sound"] == 45 and d["rows"] == 45 and d["index"]["rows_bytes"] == d["index"]["total_bytes"]'
}

together()
{
	compiled=$(load "$scratch/live" 1 270) && [ "$compiled" = 270 ] || fail "$compiled"
	compiled=$(load "$scratch/made" 271 330) && [ "$compiled" = 60 ] || fail "$compiled"
	# The containers are written before the race
	for ((i = 331; i <= 430; i++)); do "$probe" container "$scratch/$i.fatbin" "$i"; done
	"$insert" "$scratch/made" "$scratch/live" 86 10 >"$scratch/insert.out" 2>&1 &
	compiled=$(WATCH_LOG=$scratch/watch.log LD_PRELOAD=$build/tests/driver/watch.so load "$scratch/live" 331 430) || fail "$compiled"
	wait $! || fail "insert: $(cat "$scratch/insert.out")"
	cat "$scratch/insert.out"
	# A driver that has waited 200 ms for the lock goes on without: so it may be where jitwarm has it and no processor
	turned_away=$(cat "$scratch/watch.log" 2>/dev/null | grep -c ^turned-away)
	report "$scratch/live" 'd["sound"] >= 430 - '"$turned_away"' and d["damaged"] == 0 and d["next_insert"] in ("adds", "evicts_soon")'
	# A row may be lost where the driver writes the index after it has let go of the lock; entries never
	report "$scratch/live" 'd["rows"] >= 390 - '"$turned_away"' and d["rows_without_file"] == 0'
	compiled=$(load "$scratch/live" 1 430) || fail "$compiled"
	[ "$compiled" -le "$turned_away" ] || fail "$compiled of 430 compiled again, though the driver waited only $turned_away times in vain"
}

killed()
{
	local round
	compiled=$(load "$scratch/before" 1 60) && [ "$compiled" = 60 ] || fail "$compiled"
	compiled=$(load "$scratch/made" 61 180) && [ "$compiled" = 120 ] || fail "$compiled"
	cp -a "$scratch/before" "$scratch/live"
	for ((round = 0; round < 50; round++)); do
		"$insert" "$scratch/made" "$scratch/live" 86 >/dev/null 2>&1 &
		sleep 0.0$((RANDOM % 90 + 10))
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		report "$scratch/live" 'd["damaged"] == 0 and d["sound"] >= 60 and d["index"]["state"] == "sound" and d["next_insert"] != "wipes"'
		# Half of the rounds begin anew, so that many are killed while they add
		[ $((round % 2)) = 0 ] || continue
		rm -rf "$scratch/live"
		cp -a "$scratch/before" "$scratch/live"
	done
	"$insert" "$scratch/made" "$scratch/live" 86 || fail "insert"
	report "$scratch/live" 'd["sound"] == 180 and d["rows"] == 180 and d["next_insert"] == "adds" and d["index"]["rows_bytes"] == d["index"]["total_bytes"]'
	compiled=$(load "$scratch/live" 1 180) || fail "$compiled"
	[ "$compiled" = 0 ] || fail "$compiled of 180 compiled again"
}

case $part in
hits | together | killed) "$part" ;;
*) exit 64 ;;
esac
