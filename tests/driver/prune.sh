#!/bin/bash
# prune.sh BUILD-FOLDER DRIVER-VERSION FORMER-VERSION   cache prune beside real drivers, on the phantom GPU
#
# A cache holds entries of both drivers; a pack has all of them. The former driver's are removed, and the others hit under the
# driver, also while that driver adds further entries; the pruned entries come back from the pack. Then entries are torn and repaired.
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand.
set -uo pipefail

[ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
former=$3
need_driver "$version" "$former"
export CUDA_CACHE_PATH=$scratch/live JITWARM_STATE=$scratch/state

load "$former" sm_86 1 40 40
load "$version" sm_86 1 300 300
jitwarm 1 cache prune --driver former
so 'd["chosen_entries"] == 40 and d["removed"] == 0'
jitwarm 0 export --all -o "$scratch/kept.jwpack"
# Meanwhile a driver adds entries to an index of more than 4 KiB.
make_modules 301 340
(watched load "$version" sm_86 301 340 40 >"$scratch/beside.out" 2>&1) &
jitwarm 0 cache prune --driver former --apply
wait $! || { cat "$scratch/beside.out"; fail "the driver beside it"; }
so 'd["removed"] == 40'
python3 -c 'import json, sys; print("longest hold of the lock: %.2f ms" % (1e3 * json.load(open(sys.argv[1]))["longest_hold_seconds"]))' \
	"$scratch/json"
jitwarm 0 cache verify
left_out=$(python3 -c 'import json, sys; print(340 - json.load(open(sys.argv[1]))["sound"])' "$scratch/json")
[ "$left_out" -le "$(turned_away)" ] || fail "$left_out entries are missing, and the driver waited $(turned_away) times in vain for the lock"
so 'd["damaged"] == 0 and d["next_insert"] in ("adds", "evicts_soon")'
load "$version" sm_86 1 340 "$left_out"

# Pruned entries come back from the pack, and are used again.
jitwarm 0 import --as-is --allow-unsigned --cache "$scratch/back" "$scratch/kept.jwpack"
(CUDA_CACHE_PATH=$scratch/back; load "$former" sm_86 1 40 0) || exit 1

# Torn entries are removed, the others are used, and the driver compiles only the torn ones again.
find "$scratch/live" -type f ! -name index | sort | sed -n 1,30p | while read -r file; do truncate -s 2000 "$file"; done
printf x >"$scratch/live/index"
jitwarm 0 cache verify --repair
so 'd["repaired_entries"] == 30 and d["sound"] == 310 and d["rows"] == 310 and d["next_insert"] == "adds"'
load "$version" sm_86 1 340 30
jitwarm 0 cache verify
so 'd["sound"] == 340 and d["rows"] == 340 and d["index"]["rows_bytes"] == d["index"]["total_bytes"]'
