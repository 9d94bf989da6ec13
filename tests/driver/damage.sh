#!/bin/bash
# damage.sh BUILD-FOLDER DRIVER-VERSION   jitwarm predicts what the driver does with damaged entries
#
# For each kind of damage the sample framework is primed and one entry is harmed. A start of the framework shows whether the
# driver compiles it again, fails, or uses it. `check` and `cache verify` must say the same beforehand; after `prime`, and
# after `cache verify --repair` and a start, a start compiles nothing and does not fail. docs/internals/driver-cache.md ("Damage") says why.
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -euo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache JITWARM_STORE=0
library=$build/tests/framework/libsample_framework.so

# start: prints "compiled N" or "fails", the outcome of a start of the framework
start() { under "$version" sm_86 "$build/tests/framework/framework-app" >"$scratch/app" 2>&1 || { echo fails; return; }; sed -n 's/^\(compiled [0-9]*\) of .*/\1/p' "$scratch/app"; }
starts() { local does; does=$(start); [ "$does" = "$1" ] || { cat "$scratch/app"; fail "$kind: a start $2: $does, not $1"; }; }
harm() { python3 - "$CUDA_CACHE_PATH" "$1" <<'END'
import glob, os, struct, sys
cache, kind = sys.argv[1:]
entries = sorted(glob.glob(cache + "/?/?/*"), key=os.path.getsize)
key_end = lambda data: 28 + struct.unpack_from("<Q", data, 4)[0]
path = entries[-1]
data = bytearray(open(path, "rb").read())
at = key_end(data)
def fnv(bytes):
    state = 0xcbf29ce484222325
    for byte in bytes:
        state = (state ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return state
def value(new):
    data[at:] = new
    struct.pack_into("<QQ", data, 12, len(new), fnv(new))
old = data[at:]
if kind == "value": data[-40] ^= 16
elif kind == "key": data[100] ^= 16
elif kind == "checksum": data[20] ^= 16
elif kind == "header": data[4] ^= 16
elif kind == "zeros": data[:] = bytes(len(data))
elif kind == "zeros-behind-4096": data[4096:] = bytes(len(data) - 4096)
elif kind == "sm_75": old[48] = old[50] = 75; value(old)
elif kind == "sm_80": old[48] = old[50] = 80; value(old)
elif kind == "abi-8": old[7:9] = b"\x41\x08"; struct.pack_into("<I", old, 48, 0x06000004 | 86 << 8); value(old)
elif kind == "half": value(old[:len(old) // 2])
elif kind == "garbage": value(b"x" * len(old))
before = os.stat(path)
with open(path, "r+b") as file:
    file.write(data)
    file.truncate()
os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
END
}
harmed() { rm -rf "$CUDA_CACHE_PATH"; cp -r "$scratch/whole" "$CUDA_CACHE_PATH"; harm "$kind"; }

kind=whole
jitwarm 0 prime "$library"
cp -r "$CUDA_CACHE_PATH" "$scratch/whole"
sleep 3 # contents that were just written are not remembered
jitwarm 0 check "$library"
so 'd["cold"] == d["damaged"] == 0 and d["warm"] > 6'

for kind in value key checksum header zeros zeros-behind-4096 sm_75 sm_80 abi-8 half garbage; do
	case $kind in
	sm_80) does="compiled 0" bad=0 ;; # it runs there
	sm_75 | abi-8 | half | garbage) does=fails bad=1 ;;
	*) does="compiled 1" bad=1 ;;
	esac
	harmed
	starts "$does" "of the damaged cache"
	harmed
	jitwarm $bad check "$library"
	so "d['cold'] == d['damaged'] == $bad and d['warm'] == d['modules'] - $bad"
	jitwarm $bad prime -n "$library"
	so "d['cold'] == d['damaged'] == $bad"
	jitwarm $bad cache verify
	so "d['damaged'] == $bad"
	jitwarm 0 prime "$library"
	so "d['compiled'] == d['damaged'] == $bad"
	jitwarm 0 check "$library"
	starts "compiled 0" "after prime"
	harmed
	jitwarm 0 cache verify --repair
	so "d['damaged'] == 0"
	starts "compiled $bad" "after a repair"
	starts "compiled 0" "after that"
	echo "$kind: the driver $does; check, prime and verify: $bad damaged"
done
