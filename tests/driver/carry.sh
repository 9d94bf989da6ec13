#!/bin/bash
# carry.sh BUILD-FOLDER PART   what a change of NVIDIA's drivers leaves warm, on the phantom GPU
#
# older     535.309.01 becomes 550.163.01: `prime --carry-over` compiles nothing but what 535 could not read (zstd), and neither
#           does the sample framework's first start; `prime --recompile-carried` then makes every entry what 550 writes by itself,
#           to the byte
# same      535.216.03 becomes 535.309.01 (both CUDA 12.2): goes over by itself, to the byte
# newer     550.163.01 becomes 535.309.01: refused by name, and compiled
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
part=$2
case $part in
older) drivers=(535.309.01 550.163.01) ;;
same) drivers=(535.216.03 535.309.01) ;;
newer) drivers=(550.163.01 535.309.01) ;;
*) exit 64 ;;
esac
former=${drivers[0]} present=${drivers[1]}
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
	under "$1" sm_86 "$framework/framework-app" >"$scratch/out" 2>"$scratch/err" || fail "the application under $1"
	[[ $(tail -1 "$scratch/out") == "compiled $2 of "* ]] || fail "the application: $(tail -1 "$scratch/out")"
}
modules() { ask "$scratch/out" 'd["modules"]' && echo "$answer"; }
# What the present driver makes by itself
own() { CUDA_CACHE_PATH=$scratch/own JITWARM_STATE=$scratch/own-state run "$present" prime "$library" --json || fail "priming under $present alone"; }
same_as_own()
{
	local entry
	for entry in $(entries "$scratch/own"); do
		cmp "$scratch/own/$entry" "$scratch/cache/$entry" || return 1
	done
}

run "$former" prime "$library" --json || fail "priming under $former"
had=$(modules)
own
modules=$(modules)
both=$((had < modules ? had : modules))
[ "$both" -gt 4 ] || fail "$had and $modules modules"
case $part in
older)
	run "$present" prime "$library" --dry-run --json
	json "d['cold'] == $modules and d['carried_over']['refused'] == $both and '--carry-over takes it' in d['carried_over']['groups'][0]['why']"
	run "$present" prime --carry-over "$library" --json || fail "prime --carry-over"
	json "d['compiled'] == $modules - $both and d['restored'] == d['carried'] == d['carried_over']['older'] == $both"
	before=$(entries "$scratch/cache")
	start "$present" 0
	[ "$(entries "$scratch/cache")" = "$before" ] || fail "the start has added entries"
	same_as_own >/dev/null && fail "the two compilers make the same bytes: this tests nothing"
	run "$present" check "$library" --json || fail "check"
	json "d['carried'] == $both and d['cold'] == 0"
	run "$present" prime --recompile-carried "$library" --json || fail "prime --recompile-carried"
	json "d['anew'] == d['compiled'] == $both and d['undone'] == 0"
	same_as_own || fail "not what $present makes by itself"
	run "$present" check "$library" --json
	json "d['carried'] == 0 and d['warm'] == $modules"
	;;
same)
	run "$present" prime "$library" --json || fail "prime"
	json "d['compiled'] == 0 and d['carried'] == 0 and d['carried_over']['modules'] == $modules and d['carried_over']['older'] == 0"
	same_as_own || fail "not what $present makes by itself"
	start "$present" 0
	# And out of the store, where the cache was wiped
	rm -rf "$scratch/cache" "$scratch/state"
	JITWARM_STORE=1 run "$former" prime "$library" || fail "priming under $former"
	rm -rf "$scratch/cache"
	JITWARM_STORE=1 run "$present" prime "$library" --json || fail "prime"
	json "d['compiled'] == 0 and d['carried_over']['modules'] == $modules and d['carried_over']['groups'][0]['from'] == 'store'"
	same_as_own || fail "out of the store: not what $present makes by itself"
	;;
newer)
	run "$present" prime --carry-over "$library" --json || fail "prime --carry-over"
	json "d['compiled'] == $modules and d['carried_over']['modules'] == 0 and d['carried_over']['refused'] == $both"
	json "all(word in d['carried_over']['groups'][0]['why'] for word in ('newer than this machine', 'which cannot load its code'))"
	same_as_own || fail "not what $present makes by itself"
	start "$present" 0
	;;
esac
run "$present" cache verify --json
json "d['damaged'] == 0 and d['files_without_row'] == 0 and d['rows_without_file'] == 0"
echo "$part holds: $former to $present"
