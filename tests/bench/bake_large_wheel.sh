#!/bin/bash
# bake_large_wheel.sh BUILD-FOLDER [SIZE-MIB...]
#
# The memory that `jitwarm bake -o DIR WHEEL` has at its most, pages of mapped files included, where the wheel's library is the sample
# framework followed by SIZE MiB of other bytes (default: 200 and 2048) and the cache has all machine code; and its processor seconds. It
# needs the simulated driver, and four times that space.
set -euo pipefail

[ $# -ge 1 ] && [ -x "$1/src/jitwarm" ] || { echo "usage: bake_large_wheel.sh BUILD-FOLDER [SIZE-MIB...]" >&2; exit 64; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 200 2048
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache
sample=$build/tests/framework/libsample_framework.so
simulated() { "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@"; }
measure='
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.exit("bake_large_wheel.sh: %s ended with %d" % (sys.argv[1], status)) if status > 1 else print(
    "processor %.1f s, peak %.1f MB" % (used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6))'
# A quarter of the other bytes are random, and are followed by themselves: deflate packs some, and not all.
make='
import base64, hashlib, os, sys, zipfile
sample, mib, path = open(sys.argv[1], "rb").read(), int(sys.argv[2]), sys.argv[3]
digest, size = hashlib.sha256(), 0
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
    with wheel.open("large/lib.so", "w", force_zip64=True) as to:
        for piece in [sample] + [None] * mib:
            piece = piece or os.urandom(1 << 18) + bytes(3 << 18)
            to.write(piece)
            digest.update(piece)
            size += len(piece)
    info = "large-1.0.dist-info/"
    texts = {"METADATA": "Metadata-Version: 2.1\nName: large\nVersion: 1.0\n", "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n"}
    row = lambda name, digest, size: "%s,sha256=%s,%d" % (name, base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode(), size)
    rows = [row("large/lib.so", digest, size)]
    for name, text in texts.items():
        wheel.writestr(info + name, text)
        rows.append(row(info + name, hashlib.sha256(text.encode()), len(text)))
    wheel.writestr(info + "RECORD", "\n".join(rows + [info + "RECORD,,", ""]))'

simulated "$build/src/jitwarm" prime --quiet "$sample"
for mib; do
	rm -rf "$scratch/out"
	python3 -c "$make" "$sample" "$mib" "$scratch/large-1.0-py3-none-any.whl"
	printf '%5d MiB  bake ' "$mib"
	simulated python3 -c "$measure" "$build/src/jitwarm" bake --quiet -o "$scratch/out" "$scratch/large-1.0-py3-none-any.whl"
	[ -e "$scratch/out/large-1.0+jitwarm.sm86-py3-none-any.whl" ] || { echo "bake_large_wheel.sh: nothing was baked" >&2; exit 1; }
done
