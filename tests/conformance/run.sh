#!/bin/bash
# run.sh BUILD-FOLDER simulated|DRIVER-VERSION GPUS -- CMD...
#
# Runs a test under the simulated driver or under NVIDIA's of that version. Exit status 77, "skipped", if that driver is
# not at hand (scripts/get.sh drivers fetches it).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 driver=$2
shift 2

unset CUDA_CACHE_PATH CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_VISIBLE_DEVICES
if [ "$driver" = simulated ]; then
	exec "$root/scripts/with-simdriver.sh" -B "$build" "$@"
fi
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
if [ ! -d "$store/$driver" ]; then
	echo "driver $driver is not in $store: scripts/get.sh drivers $driver fetches it"
	exit 77
fi
exec "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$@"
