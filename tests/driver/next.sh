#!/bin/bash
# next.sh BUILD-FOLDER DRIVER-VERSION NEXT-VERSION   preparing a cache for the driver of the next boot, as docs/many-machines.md shows it
#
# Under the running driver, “make --driver FILE” compiles for the next one with NVIDIA's ptxas, and “import --as-is” puts the entries into
# the cache. The first start under the next driver adds no entry, whose bytes are what that driver makes itself, and a start under the
# running one stays warm.
# Exit status: 0; 1 if something does not hold; 77 if a driver or its compiler is not at hand.
set -uo pipefail

[ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
next=$3
need_driver "$version" "$next"
compilers=${JITWARM_PTXAS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ptxas}
drivers=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
library=$build/tests/framework/libsample_framework.so program=$build/tests/framework/framework-app
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state JITWARM_PTXAS=$compilers
entries() { (cd "$1" && find . -path './?/?/*' -type f | sort); }
# starts DRIVER WANTED: the application's start compiles so many modules
starts()
{
	under "$1" sm_86 "$program" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "the application under $1"; }
	grep -q "^compiled $2 of" "$scratch/out" || fail "under $1: $(tail -n 1 "$scratch/out")"
}

jitwarm 0 prime "$library"
starts "$version" 0
before=$(entries "$scratch/cache")
# The two commands of the page; its FILE may be a link, too.
file=$(find "$drivers/$next" -name 'libcuda.so.*.*')
status=0
under "$version" sm_86 "$build/src/jitwarm" make --target native --driver "$file" --fetch -o "$scratch/next.jwpack" "$library" >"$scratch/out" 2>&1 || status=$?
[ $status != 3 ] || ! grep -qE 'pip|index|network' "$scratch/out" || { cat "$scratch/out"; exit 77; }
[ $status = 0 ] || { cat "$scratch/out"; fail "make: status $status"; }
jitwarm 0 import --as-is --allow-unsigned --cache "$scratch/cache" "$scratch/next.jwpack"
so "d['added'] >= 7"
prepared=$(entries "$scratch/cache")
[ "$before" != "$prepared" ] && [ -z "$(comm -23 <(echo "$before") <(echo "$prepared"))" ] || fail "entries of the running driver are gone"
jitwarm 0 cache verify
starts "$version" 0
starts "$next" 0
[ "$(entries "$scratch/cache")" = "$prepared" ] || fail "the first start under $next has added entries"
# That driver compiles the same by itself.
CUDA_CACHE_PATH=$scratch/own
under "$next" sm_86 "$program" >"$scratch/out" 2>&1 || fail "the application with an empty cache"
for entry in $(entries "$scratch/own"); do
	cmp "$scratch/own/$entry" "$scratch/cache/$entry" || fail "not what $next makes by itself"
done
echo "holds: $version to $next, $(($(wc -l <<<"$prepared") - $(wc -l <<<"$before"))) entries, and none added at the first start"
