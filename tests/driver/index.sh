#!/bin/bash
# index.sh BUILD-FOLDER DRIVER-VERSION   jitwarm predicts what a real driver does with an index in each state
#
# The framework's modules are primed, then the index is broken in some way. `check` and `cache verify` have to say what the
# driver does with it: with all entries there it uses them (and what it stores next deletes or evicts the others), or it
# compiles everything, or hangs. `prime` has to repair it: then the application compiles nothing, also after one more module.
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
[ "$version" = simulated ] || need_driver "$version"
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state
app=$build/tests/framework/framework-app library=$build/tests/framework/libsample_framework.so
index=$CUDA_CACHE_PATH/index

patience=20 # seconds
if [ "$version" = simulated ]; then
	patience=10
	under() { shift 2; "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@"; }
fi
# starts: prints the application's answer, or "hangs" if there is none within $patience seconds
starts()
{
	local answer status=0
	answer=$(under "$version" sm_86 timeout -s KILL "$patience" "$app" 2>&1 | tail -1) || status=$?
	[ "$status" = 0 ] || answer=hangs
	echo "$answer"
}
entries() { find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f | wc -l; }
make_modules 1 1
store_one() { under "$version" sm_86 "$probe" load 0 "$scratch/1.fatbin" >/dev/null || fail "a module is not loaded"; }
drop_one() { rm "$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f | sort | head -1)"; }

jitwarm 0 prime "$library"
count=$(entries)
[ "$(starts)" = "compiled 0 of $count" ] || fail "not warm: $(starts)"
cp -a "$CUDA_CACHE_PATH" "$scratch/warm"

# state NAME NEXT STARTS COMMAND [LEFT]: NEXT is `check`'s word; STARTS is what the application does with all entries there: 0
# (compiles none), all, hangs; LEFT is the number of entries after one more was stored
state()
{
	local name=$1 next=$2 wanted=$3 answer status=1
	fresh() { rm -rf "$CUDA_CACHE_PATH"; cp -a "$scratch/warm" "$CUDA_CACHE_PATH"; eval "$1"; }
	[ "$next" != adds ] || status=0
	fresh "$4"
	jitwarm "$status" check "$library"
	so "d['cold'] == 0 and d['warm'] == $count and d['cache']['next_insert'] == '$next' and d['cache']['harmful'] == ($status == 1)"
	jitwarm "$status" cache verify
	so "d['next_insert'] == '$next' and d['sound'] == $count"
	under "$version" sm_86 "$build/src/jitwarm" status --json >"$scratch/json" || [ $? = 2 ] || fail "$name: status"
	so "d['cache']['entries'] == $count and d['cache']['next_insert'] == '$next'"
	jitwarm "$status" prime --dry-run "$library"
	answer=$(starts)
	case $wanted in
	0) [ "$answer" = "compiled 0 of $count" ] ;;
	all) [ "$answer" = "compiled $count of $count" ] ;;
	hangs) [ "$answer" = hangs ] ;;
	esac || fail "$name: the application: $answer, not $wanted"
	# The application stores one more entry, and the report is read again.
	if [[ $wanted = 0 && $next != adds ]]; then
		fresh "$4"
		jitwarm 1 check "$library"
		store_one
		[ "$(entries)" = "$5" ] || fail "$name: $(entries) entries after an insert, not $5"
		jitwarm 1 check "$library"
		so "d['cold'] == $count"
	fi
	# prime repairs the index, though nothing is cold.
	fresh "$4"
	jitwarm 0 prime "$library"
	so "d['cold'] == 0 and d['repaired'] == ($status == 1) and d['cache']['next_insert'] == '$next'"
	jitwarm 0 check "$library"
	so "d['cache'] == {'index': 'sound', 'next_insert': 'adds', 'harmful': False, 'evicted': 0, 'evicted_bytes': 0}"
	[ "$(starts)" = "compiled 0 of $count" ] || fail "$name: not repaired: $(starts)"
	drop_one
	[ "$(starts)" = "compiled 1 of $count" ] || fail "$name: not repaired, an insert does more than add"
	[ "$(starts)" = "compiled 0 of $count" ] || fail "$name: not repaired, an insert has lost entries"
	echo "$name: $next"
}

state sound adds 0 :
state missing wipes 0 'rm "$index"' 1
state empty wipes 0 ': >"$index"' 1
state header wipes 0 'truncate -s 9 "$index"' 1
state garbage wipes 0 'echo forty bytes that make no index at all >"$index"' 1
state truncated wipes all 'truncate -s -20 "$index"'
state directory nothing all 'rm "$index"; mkdir "$index"'
state pipe hangs hangs 'rm "$index"; mkfifo "$index"'
state "link to a device" wipes 0 'rm "$index"; ln -s /dev/null "$index"' 1
state "link to nowhere" nothing all 'rm "$index"; ln -s nowhere/at/all "$index"'
# total: makes the total too large by more than the limit, so that each insert evicts everything and stores nothing
total() { printf '\0\0\0\x40\1\0\0\0' | dd of="$index" bs=1 seek=8 conv=notrunc status=none; }
state total evicts_all 0 total 0

# A folder with files in it is left alone.
rm -rf "$CUDA_CACHE_PATH" && cp -a "$scratch/warm" "$CUDA_CACHE_PATH"
rm "$index" && mkdir "$index" && : >"$index/kept"
status=0
under "$version" sm_86 "$build/src/jitwarm" prime "$library" >"$scratch/out" 2>"$scratch/err" || status=$?
[ "$status" = 3 ] && [ -e "$index/kept" ] && grep -q 'move it away' "$scratch/err" || fail "a folder in the index's place: $status, $(cat "$scratch/err")"

# The cache is larger than its limit: the next insert evicts the oldest entries.
rm -rf "$CUDA_CACHE_PATH" && cp -a "$scratch/warm" "$CUDA_CACHE_PATH"
eval "$(python3 - "$index" <<'P'
import struct, sys
data = open(sys.argv[1], "rb").read()
count, total = struct.unpack("<4xIQ", data[:16])
sizes = [struct.unpack_from("<8xQ", data, 16 + 16 * i)[0] for i in range(count)]
print(f"limit={total - sizes[0] - sizes[1] // 2}")
P
)"
CUDA_CACHE_MAXSIZE=$limit jitwarm 0 check "$library"
so "d['cold'] == 0 and d['cache']['next_insert'] == 'evicts' and d['cache']['evicted'] == 2 and 'CUDA_CACHE_MAXSIZE' in d['cache']['text']"
CUDA_CACHE_MAXSIZE=$limit jitwarm 0 prime "$library"
so "d['cache']['evicted'] == 2 and not d['repaired']"
[ "$(CUDA_CACHE_MAXSIZE=$limit starts)" = "compiled 0 of $count" ] || fail "over its limit: not warm"
[ "$(entries)" = "$count" ] || fail "a look-up has evicted"
CUDA_CACHE_MAXSIZE=$limit store_one
[ "$(entries)" -le $((count - 1)) ] || fail "over its limit: $(entries) entries are left"
