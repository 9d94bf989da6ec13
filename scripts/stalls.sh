#!/usr/bin/env bash
# stalls.sh [BUILD]   twenty and more staged stalls get their cause from watch or doctor; ten healthy set-ups have no finding
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2s/^# //p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
JITWARM=$(realpath "${1:-build/release}")/src/jitwarm
export JITWARM
JITWARM_STALLS=all JITWARM_CASES=$PWD/tests/stories/cases tests/cli/run.sh stalls
JITWARM_CASES=$PWD/tests/stories/long tests/cli/run.sh slow-every-time
tests/cli/run.sh doctor && echo "doctor: ten healthy set-ups have no finding"
