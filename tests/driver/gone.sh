#!/bin/bash
# gone.sh BUILD-FOLDER DRIVER-VERSION   what jitwarm says of entries that are gone, after a real driver or a person took them
#
# 60 modules are primed; then the driver meets an index as another program's insert leaves it for a moment (one row fewer than
# it counts) and wipes. After priming again the cache is emptied, removed, robbed of a file, and filled past its limit.
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state JITWARM_STORE=1

# told REASON COUNT WORDS: so many of the modules are cold for this reason, say `check` and the dry run of `prime`
told()
{
	jitwarm 1 check --explain "$scratch/lib"
	so "[c['modules'] for c in d['causes'] if c['reason'] == '$1'] == [$2] and d['cold'] == $2 and '$3' in d['causes'][0]['text']"
	jitwarm 1 prime --dry-run "$scratch/lib"
	so "'$3' in d['why'] and d['cold'] == $2"
}
again() { jitwarm 0 prime "$scratch/lib"; }

mkdir "$scratch/lib"
make_modules 1 60
for ((i = 1; i <= 60; i++)); do cat "$scratch/$i.fatbin"; done >"$scratch/lib/all.fatbin"
again
load "$version" sm_86 1 60 0

# A driver's own wipe
python3 - "$scratch/cache/index" <<'P'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    count = struct.unpack("<4xI", file.read(8))[0]
    file.seek(4)
    file.write(struct.pack("<I", count + 1))
P
load "$version" sm_86 1001 1001 1
told deleted 60 'or by a driver'
again

# A person's
rm -r "$scratch/cache"
told deleted 60 'by somebody'
again
rm "$(find "$scratch/cache" -type f ! -name index | head -1)"
told deleted 1 'by somebody'
again

# And room that had to be made
limit=$(python3 -c 'import struct, sys; print(struct.unpack("<8xQ", open(sys.argv[1], "rb").read(16))[0])' "$scratch/cache/index")
export CUDA_CACHE_MAXSIZE=$limit
load "$version" sm_86 1005 1014 10
jitwarm 2 check --explain "$scratch/lib" # no room for all of them
so "[c['reason'] for c in d['causes']] == ['evicted']"
