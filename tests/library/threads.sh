#!/bin/bash
# threads.sh BUILD-FOLDER   two threads that scan, check and prime two caches at the same time, under the simulated driver
set -euo pipefail
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!CUDA_@}" "${!SIMDRIVER_@}" 2>/dev/null || true
export HOME=$work JITWARM_STATE=$work/state JITWARM_SYSTEM_ROOT=$work/machine
mkdir -p "$JITWARM_SYSTEM_ROOT/proc"
printf 'MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n' >"$JITWARM_SYSTEM_ROOT/proc/meminfo"
cd "$(dirname "$0")/../.."
export TSAN_OPTIONS=suppressions=$PWD/tests/library/tsan.txt:halt_on_error=0:exitcode=66:log_path=$work/race
status=0
scripts/with-simdriver.sh -B "$build" sm_86 -- "$build/tests/library/library-threads" \
	"$build/tests/framework/libsample_framework.so" "$work/one" "$work/two" || status=$?
for report in "$work"/race.*; do
	[ ! -e "$report" ] || { cat "$report"; status=1; }
done
exit $status
