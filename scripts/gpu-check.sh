#!/bin/bash
# gpu-check.sh [--json FILE] [--quick] [--library FILE [--start COMMAND]] [-B BUILD-FOLDER]
#
# Finds out, on a machine with an NVIDIA GPU, whether its driver does what jitwarm relies on, and how fast priming is:
#
#   - driver, CUDA, GPUs, machine
#   - the conformance suite (tests/conformance): every fact about the driver's cache that jitwarm builds on
#   - the sample framework: cold start, `jitwarm prime`, start (which must compile nothing), prime again
#   - priming with 1, 2, 4 ... workers, up to all cores: seconds, and memory of a worker
#
# A table comes on standard output, everything in detail goes to FILE (gpu-check.json without --json). The cache that the
# driver and your programs use is neither read nor written: all of it happens in a temporary directory.
#
#   --library FILE    also a library or wheel of yours; the scaling is then measured with it
#   --start COMMAND   how a program starts that loads that library (for sh); it is started cold and primed
#   --quick           under a minute: the cases about keys and values only, and no steps between one worker and all
#   -B BUILD-FOLDER   default: build/release, which is built if it is not there
#
# Without a GPU it can be tried under scripts/with-driver.sh, as its test does.
#
# Exit status: 0 everything is as jitwarm expects; 1 something differs (the table says what); 2 no driver, no GPU or no
# python3; 3 the build failed; 64 wrong usage.
set -euo pipefail

self=$(basename "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release options=()
usage() { echo "usage: $(sed -n '2s/^# //p' "$0")    ($self --help says more)" >&2; exit 64; }
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
	--quick) options+=("$1"); shift ;;
	--json | --library | --start) [ $# -ge 2 ] || usage; options+=("$1" "$2"); shift 2 ;;
	-B) [ $# -ge 2 ] || usage; build=$2; shift 2 ;;
	*) usage ;;
	esac
done
command -v python3 >/dev/null || { echo "$self: python3 is needed" >&2; exit 2; }

if [ "$build" = "$root/build/release" ] && ! [ -x "$build/tests/conformance/conformance" ]; then
	echo "building (a minute) ..." >&2
	log=$(mktemp)
	(cd "$root" && cmake --preset release -DJITWARM_WERROR=OFF && cmake --build --preset release -j "$(nproc)") >"$log" 2>&1 ||
		{ grep -E 'error|CMake Error' "$log" | head -20 >&2; echo "$self: the build failed: see $log (scripts/setup.sh installs what it needs)" >&2; exit 3; }
	rm -f "$log"
fi
build=$(cd "$build" 2>/dev/null && pwd) || { echo "$self: no such build folder" >&2; exit 64; }
exec python3 -B "$root/scripts/gpu_check.py" "$build" ${options[@]+"${options[@]}"}
