#!/bin/bash
# ahead.sh BUILD-FOLDER FORMER NEXT PART   what “jitwarm ahead” leaves for the next driver, and for the running one
#
# The kernel module is FORMER's while NEXT is installed: NEXT's own libcuda then answers 804.
# whole    a library and modules that a program has compiled at run time: NEXT's first start adds no entry, the bytes are NEXT's
#          own, and nothing is cold under FORMER
# states   no compiler, no space (the rest waits in the store), an upgrade that was undone, the rest after the boot
# limit    whose limit counts, and which entries go when the running driver adds others
# second   an upgrade that was undone, and a second upgrade before the boot, to 555.58.02
# beside   a cold start of FORMER at the same time
# full     a disk without space (needs root, for a small tmpfs)
# box      a container that has the cache, and NEXT's library from outside (needs root, for mounts)
# chain    modules that a program compiled with NVRTC, from FORMER to NEXT and on to 555.58.02 if NEXT is newer: each first start adds no entry
# killed   killed at 20 moments, while FORMER compiles other modules: the cache is sound, nothing is lost, and the next run completes it
# Exit status: 0; 1 if something does not hold, or “states” has no ptxas 12.2; 77 if a driver or another compiler is not at hand.
set -uo pipefail

[ $# = 4 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
former=$2 next=$3 part=$4
if [[ $part =~ ^(full|box)$ ]] && [ -z "${AHEAD_APART:-}" ]; then
	AHEAD_APART=1 unshare --mount --propagation private "$0" "$@"
	status=$?
	[ $status != 1 ] || [ "$(id -u)" = 0 ] || { echo "skipped: no mounts can be made here"; exit 77; }
	exit $status
fi
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$3"
need_driver "$former" "$next"
has_compiler() { timeout 300 "$build/src/jitwarm" compiler fetch "$1" >/dev/null 2>&1; }
# Some mistakes only “states” notices, so it must not be skipped.
[ "$part" != states ] || has_compiler 12.2 || fail "no ptxas 12.2 (jitwarm compiler fetch 12.2)"
compiler=$([ "$next" = 535.309.01 ] && echo 12.2 || echo 12.4)
need_compiler() { has_compiler "$1" || { echo "skipped: no ptxas $1 (jitwarm compiler fetch $1)"; exit 77; }; }
need_compiler "$compiler"
library=$build/tests/framework/libsample_framework.so
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache JITWARM_SYSTEM_ROOT=$scratch/root
export JITWARM_DRIVERS=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers} XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} HOME=$scratch/home
unset XDG_CONFIG_HOME
mkdir -p "$HOME" "$scratch/root/proc/driver/nvidia"

runs()
{
	echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $1  Mon Jan  1 00:00:00 UTC 2024" >"$scratch/root/proc/driver/nvidia/version"
	running=$1
}
# The new driver is installed while the former one runs.
installed=$former
as()
{
	local wanted=$1
	shift
	version=$installed
	PHANTOM_MODULE_VERSION=$running jitwarm "$wanted" "$@"
}
stamp_of() { sed -n "s/^$1,linux,\([^,]*\),\([^,]*\),.*/\1\2/p" "$root/data/driver-stamps.csv"; }
entries() { find "$scratch/cache" -path '*/?/?/*' -type f | sort; }
state() { so "d['state'] == '$1' and d['pending'] == $2 and d['ready'] <= d['modules']"; }
sound() { as "${1:-0}" cache verify; so "d['damaged'] == 0 and d['rows_without_file'] == 0"; }
# A program compiles this module at run time with the option CU_JIT_OPTIMIZATION_LEVEL 4.
cat >"$scratch/level.py" <<'P'
import ctypes, sys
cuda, device, context, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
text = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry level() { ret; }\n"
sys.exit(cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
         or cuda.cuCtxSetCurrent(context)
         or cuda.cuModuleLoadDataEx(ctypes.byref(module), text, 1, (ctypes.c_int * 1)(7), (ctypes.c_void_p * 1)(4)))
P
warm_before()
{
	runs "$former"
	installed=$former
	as 0 check "$library"
	so "d['cold'] == 0"
	load "$former" sm_86 1 4 0
}

runs "$former"
as 0 prime "$library"
load "$former" sm_86 1 4 4
as 0 ahead
state none False
installed=$next
as 1 ahead --dry-run
state noticed True
case $part in
whole)
	PHANTOM_MODULE_VERSION=$former under "$next" sm_86 "$build/src/jitwarm" check --target native "$library" >"$scratch/out"
	grep -q "^Driver $next is installed and starts at the next boot" "$scratch/out" && grep -qxF "Next: jitwarm ahead $library" "$scratch/out" ||
		fail "no advice: $(cat "$scratch/out")"
	under "$former" sm_86 python3 "$scratch/level.py" || fail "the program with an option under $former"
	as 0 ahead "$library"
	state ready True
	so "d['modules'] >= 11 and d['ready'] == d['modules'] and d['running'] == '$former' and d['next'] == '$next'"
	as 2 status
	so "d['ahead']['state'] == 'ready' and 'until the next boot' in d['why_no_gpu']"
	PHANTOM_MODULE_VERSION=$former under "$next" sm_86 "$build/src/jitwarm" status >"$scratch/out"
	grep -q '^Next .*restart the machine: afterwards no known module is compiled$' "$scratch/out" || fail "no next step: $(cat "$scratch/out")"
	as 0 cache prune --driver former
	so "d['chosen_entries'] == 0"
	warm_before
	runs "$next"
	installed=$next
	before=$(entries)
	load "$next" sm_86 1 4 0
	under "$next" sm_86 "$build/tests/framework/framework-app" >"$scratch/out" || fail "the application under $next"
	under "$next" sm_86 python3 "$scratch/level.py" || fail "the program with an option under $next"
	[ "$(entries)" = "$before" ] || fail "the first start under $next added entries: $(tail -1 "$scratch/out")"
	export CUDA_CACHE_PATH=$scratch/own JITWARM_STATE=$scratch/own-state
	as 0 prime "$library"
	load "$next" sm_86 1 4 4
	(cd "$scratch/own" && find . -path './?/?/*' -type f) | while read -r entry; do
		cmp "$scratch/own/$entry" "$scratch/cache/$entry" || exit 1
	done || fail "not what $next makes by itself"
	export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state
	as 0 ahead
	state live False
	grep -q 'jitwarm cannot know PTX that a program writes anew for each driver (Dr.Jit):.*jitwarm run --record FILE -- COMMAND' "$scratch/err" || fail "no word of recordings: $(cat "$scratch/err")"
	sound
	;;
states)
	# Without a compiler, no module is ready.
	HOME=$scratch XDG_CACHE_HOME=$scratch/none PATH=/usr/bin:/bin as 1 ahead
	state no-compiler True
	so "d['ready'] == 0"
	warm_before
	# An index that does not answer gives no compiler either.
	installed=$next
	no_proxy='*' PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL=http://127.0.0.1:9/simple HOME=$scratch XDG_CACHE_HOME=$scratch/none PATH=/usr/bin:/bin \
		as 1 ahead --fetch
	state no-compiler True
	so "'Connection refused' in d['why']"
	warm_before
	# A call that compiles all of them forgets what a former call had put into the store for the boot.
	cp -a "$scratch/cache" "$scratch/cache-before"
	cp -a "$scratch/state" "$scratch/state-before"
	"$root/tests/state.py" "$scratch/state" get ahead | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin) | {"state": "failed", "stored": 2}))' >"$scratch/ahead.json"
	"$root/tests/state.py" "$scratch/state" put ahead "$(cat "$scratch/ahead.json")"
	installed=$next
	as 0 ahead "$library"
	state ready True
	so "'stored' not in d"
	rm -rf "$scratch/cache" "$scratch/state"
	mv "$scratch/cache-before" "$scratch/cache"
	mv "$scratch/state-before" "$scratch/state"
	# There is space for some of the modules: none of the running driver's entries are evicted.
	"$root/tests/state.py" "$scratch/state" remove ahead
	installed=$next used=$(entries | xargs -d '\n' cat | wc -c)
	room=$((used + used * 3 / 4))
	export CUDA_CACHE_MAXSIZE=$room JITWARM_STORE=1
	as 0 ahead "$library"
	state no-room True
	so "d['limit_bytes'] > $room and d['ready'] + d['stored'] == d['modules'] > d['ready']"
	warm_before
	# Nothing is compiled again, and no pack is unpacked to find the entries.
	ahead_again()
	{
		cp -a "$scratch/state/store" "$scratch/store"
		"$root/tests/state.py" "$scratch/state" get speed >"$scratch/speed.json"
		python3 -c 'import hashlib, sys
for pack in sys.argv[1:]:
    data = bytearray(open(pack, "rb").read()[:-48])
    data[len(data) * 2 // 3:len(data) * 2 // 3 + 64] = bytes(64)
    open(pack, "r+b").write(data + bytes.fromhex("5f2a4d1828000000") + b"jitwarm\1" + hashlib.blake2b(data, digest_size=32).digest())' "$scratch/state/store"/*.jwpack
		as 0 ahead "$library"
		state no-room True
		so "d['ready'] + d['stored'] == d['modules']"
		cmp "$scratch/speed.json" <("$root/tests/state.py" "$scratch/state" get speed) || fail 'compiled again'
		rm -r "$scratch/state/store"
		mv "$scratch/store" "$scratch/state/store"
	}
	installed=$next
	as 0 ahead "$library"
	ahead_again
	# Modules beyond the limit do not wait for the boot either.
	mkdir "$scratch/more"
	for i in 1 2 3; do
		{ printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry more%d() { ret; }\n// ' $i
			head -c $((used / 2)) /dev/zero | tr '\0' x; echo; } >"$scratch/more/$i.ptx"
	done
	installed=$next
	as 1 ahead "$library" "$scratch/more"
	state no-room True
	warm_before
	# The rest is in the store: it is not compiled again, neither by another run nor after the boot, whatever the limit is then.
	installed=$next
	as 0 ahead "$library"
	ahead_again
	modules=$(python3 -c 'import json; print(json.load(open("'"$scratch"'/state/state.json"))["ahead"]["modules"])')
	cp -a "$scratch/cache" "$scratch/cache-before"
	cp -a "$scratch/state" "$scratch/state-before"
	runs "$next"
	as 0 prime "$library"
	python3 -c 'import json, sys; sys.exit(any(row["release"] == int(sys.argv[2][:3]) and row["model_ms"] for row in json.load(open(sys.argv[1]))["speed"]["rows"]))' \
		"$scratch/state/state.json" "$next" || fail "$next itself has compiled"
	as 0 ahead
	state live False
	so "d['ready'] == d['modules'] == $modules"
	load "$next" sm_86 1 4 0
	as 0 check "$library"
	sound
	rm -rf "$scratch/cache" "$scratch/state"
	mv "$scratch/cache-before" "$scratch/cache"
	mv "$scratch/state-before" "$scratch/state"
	runs "$former"
	installed=$former
	unset CUDA_CACHE_MAXSIZE JITWARM_STORE
	# The upgrade is undone, and made once more.
	as 0 ahead
	state undone False
	installed=$next
	as 0 ahead --dry-run
	# After the boot, the driver itself compiles what was left.
	runs "$next"
	CUDA_CACHE_MAXSIZE=1073741824 as 0 prime --if-changed "$library"
	as 0 ahead
	state live False
	so "d['ready'] == d['modules']"
	load "$next" sm_86 1 4 0
	sound
	;;
limit)
	bytes() { find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f -printf '%s\n' | awk '{ sum += $1 - 28 } END { print sum }'; }
	here() { [ -z "$(comm -23 <(echo "$before") <(entries))" ] || fail "entries of the running driver are gone: $*"; }
	used=$(bytes) before=$(entries) settings=$HOME/.config/environment.d/60-jitwarm.conf
	cp -a "$scratch/cache" "$scratch/copy"
	CUDA_CACHE_PATH=$scratch/copy JITWARM_STATE=$scratch/copy-state as 0 ahead "$library"
	both=$(CUDA_CACHE_PATH=$scratch/copy bytes)
	# The limit that “tune” wrote counts if the login's environment is missing, and also against a larger limit that only this process has.
	as 0 tune --apply --max-size $((used + 20000))
	as 1 ahead "$library"
	state no-room True
	"$root/tests/state.py" "$scratch/state" remove ahead
	CUDA_CACHE_MAXSIZE=4294967296 as 1 ahead "$library"
	state no-room True
	[ "$(bytes)" -le $((used + 20000)) ] || fail "beyond the account's limit"
	# A limit below the cache's size evicts nothing.
	CUDA_CACHE_MAXSIZE=1000 as 1 ahead "$library"
	state no-room True
	here "a caller's limit"
	# A raised limit is the next login's: until the boot, programs run with the old one.
	as 1 ahead --tune "$library"
	grep -qx 'CUDA_CACHE_MAXSIZE="1073741824"' "$settings" || fail "not raised"
	as 1 ahead "$library"
	state no-room True
	[ "$(bytes)" -le $((used + 20000)) ] || fail "beyond the limit of programs that run"
	# This holds after one more upgrade, too.
	sed -i 's/"next":[^,]*/"next":"999.1"/' "$scratch/state/state.json"
	grep -q '"999.1"' "$scratch/state/state.json" || fail "no other upgrade"
	as 1 ahead "$library"
	state no-room True
	[ "$(bytes)" -le $((used + 20000)) ] || fail "beyond the limit of programs that run, after one more upgrade"
	# The limit is never lowered.
	as 0 tune --apply --max-size 2147483648
	CUDA_CACHE_MAXSIZE=1000 as 1 ahead --tune "$library"
	grep -qx 'CUDA_CACHE_MAXSIZE="2147483648"' "$settings" || fail "the limit is lower than it was"
	# Modules made for another machine evict nothing either.
	CUDA_CACHE_MAXSIZE=$((used + (both - used) * 2 / 3)) as 1 make --target native --driver "$(find "$JITWARM_DRIVERS/$next" -name 'libcuda.so.*.*')" -o "$scratch/cache/" "$library"
	here make
	warm_before
	# There is space for both drivers: what FORMER then compiles evicts NEXT's entries, and after the boot the other way round.
	"$root/tests/state.py" "$scratch/state" remove ahead
	export CUDA_CACHE_MAXSIZE=$((both + 1000))
	installed=$next
	as 0 ahead "$library"
	state ready True
	load "$former" sm_86 41 60 20
	here "what it compiled"
	warm_before
	runs "$next"
	installed=$next
	as 0 ahead "$library"
	state live False
	load "$next" sm_86 61 80 20
	load "$next" sm_86 1 4 0
	as 0 check "$library"
	sound
	# Modules that are compiled then evict none of their own driver's entries.
	make_modules 91 94
	own=$(entries | xargs -d '\n' grep -l "$(stamp_of "$next")" | xargs -d '\n' stat -c %s | awk '{ sum += $1 - 28 } END { print sum }')
	sed -i 's/"ready":[0-9]*/"ready":1/' "$scratch/state/state.json"
	CUDA_CACHE_MAXSIZE=$((own + 1000)) as 1 ahead "$scratch"/9?.fatbin
	load "$next" sm_86 61 80 0
	;;
second)
	need_driver 555.58.02
	need_compiler 12.5
	as 0 ahead "$library"
	state ready True
	# The upgrade was undone: entries made ahead may be pruned after a month.
	installed=$former
	as 0 ahead
	state undone False
	as 0 cache prune --driver former
	so "d['chosen_entries'] == 0"
	sed -i "s/\"written_s\":[0-9]*/\"written_s\":$(date -d '31 days ago' +%s)/" "$scratch/state/state.json"
	as 1 cache prune --driver former
	so "{g['driver'] for g in d['groups']} == {'$(stamp_of "$next")'}"
	installed=555.58.02
	as 1 ahead --dry-run
	state noticed True
	as 0 ahead "$library"
	state ready True
	so "d['running'] == '$former' and d['next'] == '555.58.02'"
	# An unattended run finds the work done.
	as 0 prime --if-changed "$library"
	# The entries made for the first new driver now belong to a former driver.
	as 1 cache prune --driver former
	so "{g['driver'] for g in d['groups']} == {'$(stamp_of "$next")'}"
	warm_before
	runs 555.58.02
	before=$(entries)
	load 555.58.02 sm_86 1 4 0
	under 555.58.02 sm_86 "$build/tests/framework/framework-app" >"$scratch/out" || fail "the application under 555.58.02"
	[ "$(entries)" = "$before" ] || fail "the first start under 555.58.02 added entries"
	installed=555.58.02
	as 0 ahead
	state live False
	sound
	;;
beside)
	make_modules 11 40
	(load "$former" sm_86 11 40 30) >"$scratch/load.log" 2>&1 &
	beside=$!
	PHANTOM_MODULE_VERSION=$former under "$next" sm_86 "$build/src/jitwarm" ahead "$library" --quiet >"$scratch/out" 2>&1
	[ $? -le 1 ] || fail "beside a cold start: $(cat "$scratch/out")"
	wait $beside || fail "the cold start: $(cat "$scratch/load.log")"
	load "$former" sm_86 11 40 0
	as 0 ahead
	so "d['state'] == 'ready' and d['ready'] == d['modules'] >= 41"
	warm_before
	runs "$next"
	load "$next" sm_86 1 4 0
	load "$next" sm_86 11 40 0
	installed=$next
	sound
	;;
box)
	trap 'umount -l "$scratch/box" 2>/dev/null; rm -rf --one-file-system "$scratch"' EXIT
	mkdir "$scratch/box"
	mount -t tmpfs tmpfs "$scratch/box" || { echo "skipped: no tmpfs"; exit 77; }
	for each in /*; do
		if [ -L "$each" ]; then
			cp -P "$each" "$scratch/box/"
		elif [ -d "$each" ]; then
			mkdir "$scratch/box$each" && mount --rbind "$each" "$scratch/box$each" || exit 1
		fi
	done
	libraries=$(dirname "$(find "$JITWARM_DRIVERS/$next" -name 'libcuda.so.*.*')")
	mkdir "$scratch/box/new" && mount --bind "$libraries" "$scratch/box/new" || exit 1
	# As in many-machines.md, the container's own driver is the host's running one.
	under "$former" sm_86 chroot "$scratch/box" "$build/src/jitwarm" ahead --driver /new/libcuda.so.1 "$library" --json >"$scratch/json" 2>"$scratch/err" ||
		fail "in the box: $(cat "$scratch/json" "$scratch/err")"
	state ready True
	warm_before
	runs "$next"
	before=$(entries)
	under "$next" sm_86 "$build/tests/framework/framework-app" >"$scratch/out" || fail "the application under $next"
	[ "$(entries)" = "$before" ] || fail "the first start under $next added entries"
	;;
full)
	trap 'umount -l "$scratch/cache" "$scratch/small" 2>/dev/null; rm -rf "$scratch"' EXIT
	mkdir "$scratch/small"
	mount -t tmpfs -o "size=$((($(du -s --block-size=4096 "$scratch/cache" | cut -f1) + 10) * 4096))" tmpfs "$scratch/small" &&
		cp -a "$scratch/cache/." "$scratch/small/" && mount --bind "$scratch/small" "$scratch/cache" || { echo "skipped: no small tmpfs"; exit 77; }
	before=$(entries | sort)
	as 1 ahead "$library"
	so "d['state'] in ('failed', 'no-room', 'unfinished') and d['ready'] < d['modules']"
	[ -z "$(comm -23 <(echo "$before") <(entries))" ] || fail "entries of the running driver are gone"
	warm_before
	mount -o remount,size=64m "$scratch/small"
	installed=$next
	as 0 ahead "$library"
	state ready True
	warm_before
	sound
	;;
chain)
	nvrtc=$("$root/scripts/get.sh" nvrtc --here 12.2) || { echo "skipped: NVRTC 12.2 is not at hand (scripts/get.sh nvrtc 12.2)"; exit 77; }
	# This is a program as it is in the field: NVRTC, then cuModuleLoadData of the PTX.
	cat >"$scratch/program.py" <<'P'
import ctypes, sys
nvrtc, cuda = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcuda.so.1")
program, size, device, context, module = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
check = lambda result: result and sys.exit("error %d" % result)
source = b'extern "C" __global__ void k(float *y, float a) { y[threadIdx.x] = a * y[threadIdx.x] + COUNT; }'
for count in range(3):
    words = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_86", b"-DCOUNT=%d" % count)
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None))
    check(nvrtc.nvrtcCompileProgram(program, 2, words))
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, text))
    check(cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
          or cuda.cuCtxSetCurrent(context) or cuda.cuModuleLoadData(ctypes.byref(module), text))
P
	# starts DRIVER: runs both programs under it
	starts()
	{
		under "$1" sm_86 python3 "$scratch/program.py" "$nvrtc" || fail "the program of NVRTC under $1"
		under "$1" sm_86 "$build/tests/framework/framework-app" >"$scratch/out" || fail "the application under $1"
	}
	starts "$former"
	for to in "$next" 555.58.02; do
		[ "$to" = "$next" ] || [ "$former" \< "$next" ] || break
		[ "$to" = "$next" ] || [ -d "$JITWARM_DRIVERS/$to" ] || { echo "without $to: it is not at hand"; break; }
		[ "$to" != 555.58.02 ] || need_compiler 12.5
		installed=$to
		as 0 ahead "$library"
		state ready True
		so "d['ready'] == d['modules'] >= 13 and d['running'] == '$running' and d['next'] == '$to'"
		before=$(entries)
		starts "$running"
		[ "$(entries)" = "$before" ] || fail "something is cold under $running"
		runs "$to"
		starts "$to"
		[ "$(entries)" = "$before" ] || fail "the first start under $to added entries"
		as 0 ahead
		state live False
		sound
	done
	;;
killed)
	make_modules 11 30
	for i in $(seq 20); do
		runs "$former"
		load "$former" sm_86 $((10 + i)) $((10 + i)) 1 >"$scratch/load.log" &
		beside=$!
		(version=$next PHANTOM_MODULE_VERSION=$former under "$next" sm_86 timeout -s KILL "$(awk "BEGIN { print 0.05 * $i }")" \
			"$build/src/jitwarm" ahead --quiet) >"$scratch/killed" 2>&1
		wait $beside || fail "the running driver's program: $(cat "$scratch/load.log")"
		installed=$next
		sound
		[ $((i % 5)) = 0 ] || continue
		as 0 ahead
		so "d['state'] == 'ready' and d['ready'] == d['modules'] > $i"
		warm_before
	done
	;;
*) exit 64 ;;
esac
echo "$part holds: $former to $next"
