#!/bin/bash
# faults.sh BUILD-FOLDER DRIVER-VERSION   the fault matrix under NVIDIA's own driver, on the phantom GPU
#
# break.so, preloaded, breaks the second of four modules (crash, abort, exit, stack overflow, hang, sticky error, out of memory,
# compile error). Each time the other three are in the cache, the one is reported once, the command that comes with it shows
# it again, and once the cause is gone makes up for it. Struck once only, it is made up for at once.
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd) version=$2
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
[ -d "$store/$version" ] || { echo "driver $version is not in $store (scripts/get.sh drivers)"; exit 77; }
jitwarm=$build/src/jitwarm

scratch=$(mktemp -d)
# shellcheck source=/dev/null
. "$root/tests/documents/keep.sh"
trap 'rm -rf "$scratch"' EXIT
unset CUDA_CACHE_MAXSIZE CUDA_CACHE_DISABLE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache NO_COLOR=1

failed=0
complain() { echo "FAILED: $*"; failed=1; }
under() { timeout 600 "$root/scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- "$@"; }
broken() { # WHAT COMMAND...
	local what=$1
	shift
	BREAK=$what BREAK_STATE=$scratch/calls LD_PRELOAD=$build/tests/driver/break.so under "$@"
}
number() { ask "$scratch/out" "d['$1']" && echo "$answer"; }
expect() { # WHAT STATUS MEMBER=NUMBER... of the document just printed
	local what=$1 wanted=$2 pair
	shift 2
	keep_document "$scratch/out"
	[ "$status" = "$wanted" ] || complain "$what: status $status, not $wanted: $(tail -3 "$scratch/err")"
	for pair in "$@"; do
		ask "$scratch/out" "d['${pair%=*}']"
		[ "$answer" = "${pair#*=}" ] || complain "$what: ${pair%=*} is $answer: $(cat "$scratch/err")"
	done
}
prime() { JITWARM_MODULE_TIMEOUT=${limit:-600s} "$@" "$jitwarm" prime "$scratch/modules" -j 2 --json >"$scratch/out" 2>"$scratch/err"; status=$?; }
# Nobody waits ten minutes for the one that hangs; on a machine where all of them take long, they may take longer.
prime_hanging() {
	local limit
	for limit in 2s 10s 50s; do
		rm -rf "$scratch/calls" "$CUDA_CACHE_PATH"
		prime broken hang:2
		[ "$(number failed)" != 1 ] || return
		echo "hang: $(number failed) failed within $limit"
	done
}

mkdir "$scratch/modules" "$scratch/bin"
ln -s "$jitwarm" "$scratch/bin/jitwarm"
for i in 1 2 3 4; do "$build/tests/phantom/phantom-probe" container "$scratch/modules/$i.fatbin" "$i" || exit 1; done
# The driver is made known first, so that its probe is none of the calls that are counted.
prime under
expect 'before' 0 compiled=4 failed=0
[ $failed = 0 ] || exit 1

for kind in crash abort exit overflow hang sticky oom error; do
	rm -rf "$scratch/calls" "$CUDA_CACHE_PATH"
	if [ "$kind" = hang ]; then prime_hanging; else prime broken "$kind:2"; fi
	expect "$kind" 1 compiled=3 failed=1 undone=0
	command=$(python3 -c 'import json,sys; f,=json.load(open(sys.argv[1]))["failures"]; print(f["command"]); print(f["reason"], file=sys.stderr)' "$scratch/out" 2>"$scratch/reason") ||
		complain "$kind: not one report"
	echo "$kind: $(cat "$scratch/reason")"
	[ "$kind" = hang ] || { PATH=$scratch/bin:$PATH broken "$kind:2" bash -c "$command --json" >"$scratch/out" 2>"$scratch/err"; status=$?; expect "$kind, again" 1 failed=1 compiled=0; }
	PATH=$scratch/bin:$PATH under bash -c "$command --json" >"$scratch/out" 2>"$scratch/err"
	status=$?
	expect "$kind, the cause gone" 0 compiled=1 failed=0
	"$jitwarm" cache verify --json >"$scratch/out" 2>"$scratch/err"
	status=$?
	expect "$kind, the cache" 0 sound=4 damaged=0 files_without_row=0 rows_without_file=0
done
for kind in crash sticky; do
	rm -rf "$scratch/calls" "$CUDA_CACHE_PATH"
	prime broken "$kind:2:once"
	expect "$kind, once" 0 compiled=4 failed=0
done
[ -z "$(find "$JITWARM_STATE/runs" -mindepth 1 2>/dev/null)" ] || complain "left: $(ls "$JITWARM_STATE/runs")"
exit $failed
