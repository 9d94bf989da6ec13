#!/bin/bash
# prune.sh BUILD-FOLDER DRIVER-VERSION FORMER-VERSION   cache prune beside real drivers, on the phantom GPU
#
# A cache holds what both drivers and two GPUs left. What is pruned goes into a pack; what is left hits under the driver, also
# while that driver adds further entries; what was pruned comes back from the pack. Then entries are torn and repaired.
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand.
set -uo pipefail

[ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 version=$2 former=$3
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
for driver in "$version" "$former"; do
	[ -d "$store/$driver" ] || { echo "driver $driver is not in $store (scripts/get-drivers.sh)"; exit 77; }
done
probe=$build/tests/phantom/phantom-probe

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_CACHE_MAXSIZE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT
export CUDA_CACHE_DISABLE=0 CUDA_CACHE_PATH=$scratch/live JITWARM_STATE=$scratch/state

fail() { echo "FAILED: $*"; exit 1; }
# under DRIVER GPU COMMAND…
under() { local driver=$1 gpu=$2; shift 2; timeout 200 "$here/../../scripts/with-driver.sh" -B "$build" -d "$driver" "$gpu" -- "$@"; }
# load DRIVER GPU FIRST LAST WANTED: the driver loads modules FIRST … LAST and compiles so many
load()
{
	local files=() i compiled
	for ((i = $3; i <= $4; i++)); do
		[ -f "$scratch/$i.fatbin" ] || "$probe" container "$scratch/$i.fatbin" "$i" || exit 1
		files+=("$scratch/$i.fatbin")
	done
	under "$1" "$2" "$probe" load 0 "${files[@]}" >"$scratch/load.out" 2>&1 || { cat "$scratch/load.out"; exit 1; }
	[ "$(grep -c 'result 0' "$scratch/load.out")" = $(($4 - $3 + 1)) ] || { cat "$scratch/load.out"; exit 1; }
	compiled=$(grep -c 'ptxas ran' "$scratch/load.out")
	[ "$compiled" = "$5" ] || fail "$1 on $2 compiled $compiled of modules $3 to $4, not $5"
}
# jitwarm STATUS ARGUMENT…, as on a machine with the driver; so EXPRESSION about its document
jitwarm()
{
	local wanted=$1 status=0
	shift
	under "$version" sm_86 "$build/src/jitwarm" "$@" --json >"$scratch/json" 2>"$scratch/err" || status=$?
	[ "$status" = "$wanted" ] || { cat "$scratch/json" "$scratch/err"; fail "jitwarm $*: status $status, not $wanted"; }
}
so()
{
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$scratch/json" "$1" || { cat "$scratch/json"; fail "not so: $1"; }
}

load "$former" sm_86 1 40 40
load "$version" sm_86 1 300 300
load "$version" sm_75 1 20 20
jitwarm 1 cache prune --driver former --arch other
so 'd["chosen"]["driver"] == 40 and d["chosen"]["target"] == 20 and d["removed"] == 0'
# Beside a driver that adds entries to an index of more than 4 KiB
for ((i = 301; i <= 340; i++)); do "$probe" container "$scratch/$i.fatbin" "$i"; done
(load "$version" sm_86 301 340 40 >"$scratch/beside.out" 2>&1) &
jitwarm 0 cache prune --driver former --arch other --apply --keep "$scratch/kept.jwpack"
wait $! || { cat "$scratch/beside.out"; fail "the driver beside it"; }
so 'd["removed"] == 60 and d["kept"] == 60 and d["not_kept"] == 0'
python3 -c 'import json, sys; print("longest hold of the lock: %.2f ms" % (1e3 * json.load(open(sys.argv[1]))["longest_hold_seconds"]))' \
	"$scratch/json"
jitwarm 0 cache verify
so 'd["sound"] == 340 and d["damaged"] == 0 and d["next_insert"] in ("adds", "evicts_soon")'
load "$version" sm_86 1 340 0

# What was pruned is in the pack, and hits again
jitwarm 0 import --as-is --allow-unsigned --cache "$scratch/back" "$scratch/kept.jwpack"
(CUDA_CACHE_PATH=$scratch/back; load "$former" sm_86 1 40 0) || exit 1
(CUDA_CACHE_PATH=$scratch/back; load "$version" sm_75 1 20 0) || exit 1

# Torn entries go, the rest hits, and the driver compiles just those again
find "$scratch/live" -type f ! -name index | sort | sed -n 1,30p | while read -r file; do truncate -s 2000 "$file"; done
printf x >"$scratch/live/index"
jitwarm 0 cache verify --repair
so 'd["repaired_entries"] == 30 and d["sound"] == 310 and d["rows"] == 310 and d["next_insert"] == "adds"'
load "$version" sm_86 1 340 30
jitwarm 0 cache verify
so 'd["sound"] == 340 and d["rows"] == 340 and d["index"]["rows_bytes"] == d["index"]["total_bytes"]'
