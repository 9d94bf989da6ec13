# Sourced by the tests of this folder, with the build's folder and the version of a driver: . lib.sh BUILD-FOLDER DRIVER-VERSION
# shellcheck shell=bash
#
#   $root $build $version $probe $scratch   $scratch is removed at the end
#   need_driver VERSION…          ends the test as skipped if one of them is not at hand
#   under DRIVER GPU COMMAND…     runs it under that driver
#   watched COMMAND…              watch.so logs what happens to it at the cache's lock
#   turned_away                   how many times the driver waited for that lock in vain: each time it may have left out an entry
#   make_modules FIRST LAST       the containers $scratch/FIRST.fatbin …, each of another module
#   load DRIVER GPU FIRST LAST WANTED   the driver loads them, and compiles so many
#   jitwarm STATUS ARGUMENT…      as on a machine with the driver; its document is in $scratch/json
#   so EXPRESSION                 a Python expression about that document, d, is true
#   fail WORDS
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd) version=$2
# shellcheck disable=SC2034
probe=$build/tests/phantom/phantom-probe
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_CACHE_MAXSIZE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT
export CUDA_CACHE_DISABLE=0 NO_COLOR=1

# shellcheck source=/dev/null
. "$root/tests/documents/keep.sh"
fail() { echo "FAILED: $(basename "$0"):${BASH_LINENO[${#BASH_LINENO[@]} - 2]}: $*"; exit 1; }
need_driver()
{
	local wanted store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
	for wanted in "$@"; do
		[ -d "$store/$wanted" ] || { echo "driver $wanted is not in $store (scripts/get.sh drivers)"; exit 77; }
	done
}
under() { local driver=$1 gpu=$2; shift 2; timeout "${limit:-600}" "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpu" -- "$@"; }
watched() { WATCH_LOG=$scratch/watch.log LD_PRELOAD=$build/tests/driver/watch.so "$@"; }
turned_away() { cat "$scratch/watch.log" 2>/dev/null | grep -c ^turned-away; }
make_modules()
{
	local i
	for ((i = $1; i <= $2; i++)); do
		[ -f "$scratch/$i.fatbin" ] || "$probe" container "$scratch/$i.fatbin" "$i" || exit 1
	done
}
load()
{
	local files=() i compiled
	make_modules "$3" "$4"
	for ((i = $3; i <= $4; i++)); do files+=("$scratch/$i.fatbin"); done
	under "$1" "$2" "$probe" load 0 "${files[@]}" >"$scratch/load.out" 2>&1 || { cat "$scratch/load.out"; exit 1; }
	[ "$(grep -c 'result 0' "$scratch/load.out")" = $(($4 - $3 + 1)) ] || { cat "$scratch/load.out"; exit 1; }
	compiled=$(grep -c 'ptxas ran' "$scratch/load.out")
	[ "$compiled" = "$5" ] || fail "$1 on $2 compiled $compiled of modules $3 to $4, not $5"
}
# but_zstd STATUS FILE…: a driver before 550.54.14 cannot read the sample framework's zstd module, so its file fails with any cache; status
# 2 for that reason counts as 0
but_zstd() { if [ "$1" = 2 ] && grep -qs 'packed with zstd' "${@:2}"; then echo 0; else echo "$1"; fi; }
jitwarm()
{
	local wanted=$1 status=0
	shift
	under "$version" sm_86 "$build/src/jitwarm" "$@" --json >"$scratch/json" 2>"$scratch/err" || status=$?
	keep_document "$scratch/json"
	[ "$wanted" != 0 ] || status=$(but_zstd $status "$scratch/json" "$scratch/err")
	[ "$status" = "$wanted" ] || { cat "$scratch/json" "$scratch/err"; fail "jitwarm $*: status $status, not $wanted"; }
}
so() { is_so "$scratch/json" "$1" || { cat "$scratch/json"; fail "not so: $1 ($answer)"; }; }
