#!/bin/bash
# doctor.sh BUILD-FOLDER DRIVER-VERSION   what `doctor` finds under a real driver: its own settings, cache, lock and code
#
# Each fault is made, the driver shows it (the framework compiles again), `doctor` names it, and after the fix the framework
# compiles nothing. Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
# A folder for temporary files would be a finding of its own.
place=$(mktemp -d /var/tmp/jitwarm-doctor.XXXXXX) || exit 77
trap 'rm -rf "$scratch" "$place"' EXIT
export CUDA_CACHE_PATH=$place/cache JITWARM_STATE=$scratch/state
app=$build/tests/framework/framework-app library=$build/tests/framework/libsample_framework.so
starts() { under "$version" sm_86 "$app" 2>&1 | tail -1; }
found() { # STATUS IDS ARGUMENT…
	local ids=$2
	jitwarm "$1" doctor "${@:3}"
	so "[f['id'] for f in d['findings']] == '$ids'.split()"
}

found 0 ""
so "d['probe'] == 'hit'"
found 1 cold "$library"
jitwarm 0 doctor --fix "$library"
so "d['probe'] == 'hit' and len(d['fixed']) == 1"
all=$(starts)
all=${all##* }
[ "$(starts)" = "compiled 0 of $all" ] || fail "after --fix: $(starts)"
found 0 "" "$library"

for name in CUDA_CACHE_DISABLE:cache-disabled CUDA_FORCE_PTX_JIT:jit-forced; do
	export "${name%:*}=1"
	[ "$(starts)" = "compiled $all of $all" ] || fail "$name: $(starts)"
	found 2 "${name#*:}" "$library"
	export "${name%:*}=0"
	found 0 "" "$library"
done
(export CUDA_CACHE_MAXSIZE=100000; found 1 limit-small "$library") || exit 1

rm "$CUDA_CACHE_PATH/index"
found 1 index "$library"
jitwarm 0 doctor --fix "$library"
[ "$(starts)" = "compiled 0 of $all" ] || fail "after a repair: $(starts)"
rm "$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f -size +8k | head -1)"
found 1 cold "$library"
jitwarm 0 doctor --fix "$library"
[ "$(starts)" = "compiled 0 of $all" ] || fail "after a lost entry: $(starts)"

# Another program holds the lock: the driver stores nothing, and says so to nobody.
rm -rf "$CUDA_CACHE_PATH"
jitwarm 0 prime "$library"
python3 - "$CUDA_CACHE_PATH/index" "$place/held" <<'PYTHON' &
import fcntl, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(300)
PYTHON
holder=$!
while [ ! -e "$place/held" ]; do sleep 0.1; done
found 1 probe-refused "$library"
kill "$holder"
found 0 "" "$library"

printf '.version 7.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/newer.ptx"
found 2 no-code "$place/newer.ptx"
printf '.version 9.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/isa.ptx"
found 2 driver-old "$place/isa.ptx"
