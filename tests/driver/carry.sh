#!/bin/bash
# carry.sh BUILD-FOLDER PART   what a change of NVIDIA's drivers leaves warm, on the phantom GPU
#
# same      535.216.03 becomes 535.261.03 and then 535.309.01 (all CUDA 12.2): entries are carried over unasked, the same bytes, also out of the store
# older     535.309.01 becomes 550.163.01, and back: each driver compiles once, and the store gives its entries back
# newer     the same, beginning with 550.163.01
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
part=$2
case $part in
older) drivers=(535.309.01 550.163.01) ;;
same) drivers=(535.216.03 535.261.03 535.309.01) ;;
newer) drivers=(550.163.01 535.309.01) ;;
*) exit 64 ;;
esac
former=${drivers[0]} present=${drivers[-1]}
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$present"
need_driver "${drivers[@]}"
framework=$build/tests/framework
library=$framework/libsample_framework.so
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache

fail() { cat "$scratch/out" "$scratch/err" 2>/dev/null; echo "FAILED: $*"; exit 1; }
run()
{
	local v=$1 status=0
	shift
	under "$v" sm_86 "$build/src/jitwarm" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	keep_document "$scratch/out"
	return "$(but_zstd $status "$scratch/out" "$scratch/err")"
}
json() { is_so "$scratch/out" "$1" || fail "not so: $1 ($answer)"; }
entries() { (cd "$1" && find . -path './?/?/*' -type f | sort); }
start()
{
	local before
	before=$(entries "$scratch/cache")
	under "$1" sm_86 "$framework/framework-app" >"$scratch/out" 2>"$scratch/err" || fail "the application under $1"
	[[ $(tail -1 "$scratch/out") == "compiled 0 of "* ]] || fail "the application: $(tail -1 "$scratch/out")"
	[ "$(entries "$scratch/cache")" = "$before" ] || fail "the start under $1 has added entries"
}
modules() { ask "$scratch/out" 'd["modules"]' && echo "$answer"; }
# own: the entries that the present driver makes by itself
own() { CUDA_CACHE_PATH=$scratch/own JITWARM_STATE=$scratch/own-state run "$present" prime "$library" --json || fail "priming under $present alone"; }
same_as_own()
{
	local entry
	for entry in $(entries "$scratch/own"); do
		cmp "$scratch/own/$entry" "$scratch/cache/$entry" || return 1
	done
}

export JITWARM_STORE=1
run "$former" prime "$library" --json || fail "priming under $former"
had=$(modules)
own
modules=$(modules)
[ "$had" -gt 4 ] && [ "$modules" -gt 4 ] || fail "$had and $modules modules"
case $part in
same)
	for each in "${drivers[@]:1}"; do
		run "$each" prime "$library" --json || fail "prime under $each"
		json "d['compiled'] == 0 and d['carried_over']['modules'] == d['restored'] == $modules and all(g['from'] == 'cache' for g in d['carried_over']['groups'])"
		start "$each"
	done
	same_as_own || fail "not what $present makes by itself"
	# The entries also come out of the store after the cache was wiped.
	rm -rf "$scratch/cache"
	run "$present" prime "$library" --json || fail "prime"
	json "d['compiled'] == 0 and d['carried_over']['modules'] == $modules and d['carried_over']['groups'][0]['from'] == 'store'"
	same_as_own || fail "out of the store: not what $present makes by itself"
	;;
*)
	before=$(entries "$scratch/cache")
	run "$present" prime "$library" --json || fail "prime"
	json "d['compiled'] == $modules and d['restored'] == 0 and 'carried_over' not in d"
	same_as_own || fail "not what $present makes by itself"
	start "$present"
	[ -z "$(comm -23 <(echo "$before") <(entries "$scratch/cache"))" ] || fail "entries of $former are gone"
	# Back under the former driver, the entries are there; after a wipe, the store has them.
	run "$former" prime "$library" --json || fail "prime under $former again"
	json "d['compiled'] == d['restored'] == 0 and d['warm'] == $had"
	start "$former"
	rm -rf "$scratch/cache"
	for each in "$former" "$present"; do
		run "$each" prime "$library" --json || fail "prime under $each with an empty cache"
		json "d['compiled'] == 0 and d['from_store']['entries'] == d['restored'] == $([ "$each" = "$former" ] && echo "$had" || echo "$modules")"
		start "$each"
	done
	same_as_own || fail "out of the store: not what $present makes by itself"
	;;
esac
run "$present" cache verify --json
json "d['damaged'] == 0 and d['files_without_row'] == 0 and d['rows_without_file'] == 0"
echo "$part holds: ${drivers[*]}"
