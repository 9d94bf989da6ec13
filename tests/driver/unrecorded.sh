#!/bin/bash
# unrecorded.sh BUILD-FOLDER DRIVER-VERSION   `record` reports that a command keeps a real driver away from its cache
#
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state HOME=$scratch/home
mkdir "$HOME"
app=$build/tests/framework/framework-app
record()
{
	under "$version" sm_86 "$build/src/jitwarm" run --json --record "$scratch/r.json" -- "$@" >"$scratch/json" 2>"$scratch/err" ||
		fail "record: $(cat "$scratch/err")"
	keep_document "$scratch/json"
}

record env CUDA_CACHE_DISABLE=1 "$app"
so 'd["modules"] == 0 and d["compiler_seen"]'
grep -q 'sets CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself' "$scratch/err" || fail "$(cat "$scratch/err")"
record env CUDA_CACHE_PATH="$scratch/other" "$app"
so 'd["modules"] == 0 and d["compiler_seen"]'
[ -e "$scratch/other/index" ] || fail "the command did not cache elsewhere"
record env -u CUDA_CACHE_PATH "$app"
so 'd["modules"] == 0 and d["compiler_seen"]'
# Machine code and cached entries load no compiler.
make_modules 1 1
record "$probe" load 0 "$scratch/1.fatbin"
so 'd["modules"] == 1'
python3 - "$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f)" "$scratch/k.cubin" <<'P'
import struct, sys
data = open(sys.argv[1], "rb").read()
key, value = struct.unpack_from("<QQ", data, 4)
open(sys.argv[2], "wb").write(data[28 + key:28 + key + value])
P
record sh -c '"$0" load 0 "$1" && sleep 0.5' "$probe" "$scratch/k.cubin"
so 'd["modules"] == 0 and not d["compiler_seen"]'
grep -q 'compiled nothing into its cache' "$scratch/err" || fail "$(cat "$scratch/err")"
record "$app"
so 'd["modules"] >= 7 and d["compiler_seen"]'
