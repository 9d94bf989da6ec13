#!/bin/bash
# watch.sh BUILD-FOLDER DRIVER-VERSION   `watch` sees that a process compiles under a real driver, from its compiler and its entries
#
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state
make_modules 1 400
files=()
for ((i = 1; i <= 400; i++)); do files+=("$scratch/$i.fatbin"); done
start() { "$root/scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- "$probe" load 0 "${files[@]}" >/dev/null 2>&1 & victim=$!; }
start
jitwarm 0 watch "$victim"
so "d['ended'] and d['process']['driver'] and d['process']['compiler'] and d['entries'] > 0 and d['compiling_seconds'] > 0"
wait "$victim"
# All modules are warm: the compiler is not loaded, and no entry appears.
start
jitwarm 0 watch "$victim"
so "not d['process']['compiler'] and d['entries'] == 0 and d['compiling_seconds'] == 0 and d['linking_seconds'] == 0"
wait "$victim"
