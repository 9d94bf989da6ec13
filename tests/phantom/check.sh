#!/bin/bash
# check.sh BUILD-FOLDER [VERSION...]   what works on which driver and GPU (default: all drivers that were fetched)
#
# jit:   a PTX-only container loaded twice in a fresh CUDA_CACHE_PATH: the first compiles and leaves an entry, the second
#        is a hit
# run:   memset, copies, managed memory, a launch, events and synchronization, spinning and blocking
# pair:  two GPUs of different architectures in one process, addresses as JITWARM_PCI_DEVICES says, an entry for each
# fork:  the context is as it was after children by fork and vfork closed all their descriptors
# Exit status: 0; 1 if anything fails; 77 if there is no driver at hand.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
with=$here/../../scripts/with-driver.sh
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
[ $# -gt 0 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$1
shift
probe=$build/tests/phantom/phantom-probe

versions=()
mapfile -t at_hand < <(find "$store" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' 2>/dev/null | sort -V)
for v in "${@:-${at_hand[@]}}"; do
	[ -n "$v" ] && [ -d "$store/$v" ] && versions+=("$v")
done
[ ${#versions[@]} -gt 0 ] || { echo "not in $store: ${*:-any driver} (scripts/get.sh drivers)"; exit 77; }

gpus=(sm_75 sm_80 sm_86 sm_89 sm_90)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
"$probe" container "$scratch/one.fatbin" 1 || exit 1
# The path has a blank, at which LD_PRELOAD ends a name.
mkdir -p "$scratch/a build/tests"
ln -s "$(realpath "$build/tests/phantom")" "$scratch/a build/tests/"

fresh() { rm -rf "$scratch/cache"; mkdir "$scratch/cache"; }
entries() { find "$scratch/cache" -type f ! -name index | wc -l; }
# on VERSION GPUS COMMAND...: runs it under that driver
on()
{
	CUDA_CACHE_PATH=$scratch/cache CUDA_CACHE_DISABLE=0 timeout 300 \
		"$with" -B "$scratch/a build" -d "$1" "$2" -- "${@:3}" 2>&1
}
why() { echo "$*" >>"$scratch/why"; return 1; }
mark() { printf ' %-5s' "$1"; [ "$1" = ok ] || failed=1; }

jit()
{
	local first second
	fresh
	first=$(on "$1" "$2" "$probe" load 0 "$scratch/one.fatbin")
	[[ $first == *"result 0 ptxas ran"* ]] && [ "$(entries)" = 1 ] || why "$1 $2: first load: $first, $(entries) entries" || return
	second=$(on "$1" "$2" "$probe" load 0 "$scratch/one.fatbin")
	[[ $second == *"result 0 ptxas -"* ]] && [ "$(entries)" = 1 ] || why "$1 $2: second load: $second, $(entries) entries"
}

run()
{
	local said
	said=$(on "$1" "$2" "$probe" run 0) && said=$(on "$1" "$2" "$probe" run 0 block) || why "$1 $2: run: $said"
}

pair()
{
	local said
	fresh
	said=$(on "$1" sm_86,sm_89 bash -c 'echo "$JITWARM_PCI_DEVICES"; exec "$@"' - "$probe" devices)
	[[ $said == *"@0000:01:00.0,"*"@0000:02:00.0"*"0 sm_86 0000:01:00.0 "*"1 sm_89 0000:02:00.0 "* ]] ||
		why "$1: pair: $said" || return
	said=$(on "$1" sm_86,sm_89 "$probe" load 0 "$scratch/one.fatbin" && on "$1" sm_86,sm_89 "$probe" load 1 "$scratch/one.fatbin")
	[ "$(entries)" = 2 ] || why "$1: pair: $said, $(entries) entries"
}

forks()
{
	local said
	said=$(on "$1" sm_86 "$probe" fork 0) || why "$1: fork: $said"
}

printf '%-14s' driver
for g in "${gpus[@]}"; do printf ' %-11s' "$g"; done
printf ' pair  fork\n%-14s' ''
for g in "${gpus[@]}"; do printf ' %-5s %-5s' jit run; done
echo
for v in "${versions[@]}"; do
	printf '%-14s' "$v"
	for g in "${gpus[@]}"; do
		jit "$v" "$g" && mark ok || mark FAIL
		run "$v" "$g" && mark ok || mark FAIL
	done
	pair "$v" && mark ok || mark FAIL
	forks "$v" && mark ok || mark FAIL
	echo
done
[ ! -s "$scratch/why" ] || cat "$scratch/why"
exit $failed
