#!/bin/bash
# progress.sh BUILD-FOLDER DRIVER-VERSION   the progress of real runs begins at 0 and never runs back
#
# Several mixes of modules are primed into an empty cache by one worker and by several: alike ones, many short ones, short ones and
# one that takes longer than all of them. What the bar is told is recorded (tests/bench/bench_progress.c), which also prints
# how far the time left is from the truth.
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state JITWARM_STORE=0

modules() { python3 "$root/tests/bench/make-modules.py" "$2" "$3" "$scratch/$1.so" || exit 1; }
modules alike 8 1500
modules short 40 150
modules long 1 20000

for jobs in 1 2 3; do
	for mix in alike short "short long"; do
		rm -rf "$scratch/cache"
		# shellcheck disable=SC2086
		under "$version" sm_86 "$build/tests/bench/bench_progress" "$build/src/jitwarm" $jobs \
			$(printf "$scratch/%s.so " $mix) || fail "$mix, $jobs workers: status $?"
	done
done
echo "progress: 9 runs"
