#!/bin/bash
# with-driver.sh [-B BUILD-FOLDER] [-d DRIVER-VERSION] GPUS -- COMMAND...
#
# Runs a command under NVIDIA's own user-space driver on GPUs that tests/phantom emulates, for example
#     scripts/with-driver.sh -d 550.163.01 sm_86,sm_89 -- build/release/src/jitwarm status
# Contexts, modules, the JIT and its cache are real; kernels are not executed.
#
#   GPUS               a comma list of sm_75, sm_80, sm_86, sm_89, sm_90, in the order of their PCI addresses
#   -d DRIVER-VERSION  default: the newest one here, else 550.163.01. One that is missing is fetched
#   -B BUILD-FOLDER    where the phantom is built. Default: build/release of this repository if that has it, else
#                      the folder (build or build/*) in which it was built last
#
# In the command's environment: LD_PRELOAD, LD_LIBRARY_PATH, PHANTOM_GPU, PHANTOM_DRIVER_VERSION; CUDA_DEVICE_ORDER
# (PCI_BUS_ID unless it is set: else the driver puts the fastest GPU first); JITWARM_PCI_DEVICES, the display devices
# that jitwarm sees instead of this machine's: VENDOR:DEVICE@ADDRESS,... in lower-case hexadecimal digits.
# ASAN_OPTIONS begin with options that a program built with the address sanitizer needs here (a library is preloaded before it;
# the driver maps GPU addresses into the sanitizer's gap; what the driver leaks is its own).
# CUDA_CACHE_PATH and other variables that control the driver are passed on unchanged.
#
# Exit status: that of the command; 64 for wrong usage; 2 if the phantom or the driver is not available, 3 if
# fetching the driver failed.
set -euo pipefail

self=${0##*/}
case ${BASH_SOURCE[0]} in
/*) root=${BASH_SOURCE[0]%/*/*} ;;
*) root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) ;;
esac
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
fallback=550.163.01

fail() { echo "$self: $2" >&2; exit "$1"; }
help() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }
usage() { echo "usage: $(sed -n '2s/^# //p' "$0")    ($self --help says more)" >&2; exit 64; }

build='' version=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) help; exit 0 ;;
	-B) [ $# -ge 2 ] || usage; build=$2; shift 2 ;;
	-d) [ $# -ge 2 ] || usage; version=$2; shift 2 ;;
	-*) usage ;;
	*) break ;;
	esac
done
[ $# -ge 3 ] && [ "$2" = -- ] || usage
gpus=$1
shift 2

# Finds the folder with phantom.so, in the build folder that was named or found.
how="build it with: cmake --preset release && cmake --build --preset release --target phantom phantom-probe"
find_phantom()
{
	local candidate newest=
	for candidate in "$root"/build/release "$root"/build "$root"/build/*; do
		[ -f "$candidate/tests/phantom/phantom.so" ] || continue
		[ -z "$newest" ] || [ "$candidate/tests/phantom/phantom.so" -nt "$newest/tests/phantom/phantom.so" ] || continue
		newest=$candidate
		[ "$candidate" != "$root/build/release" ] || break
	done
	echo "$newest"
}
if [ -z "$build" ]; then
	build=$(find_phantom)
	[ -n "$build" ] || fail 2 "no build folder has tests/phantom/phantom.so; $how"
fi
phantom=$(cd "$build" 2>/dev/null && pwd)/tests/phantom || fail 2 "$build: no such folder"
[ -f "$phantom/phantom.so" ] && [ -x "$phantom/phantom-probe" ] ||
	fail 2 "$phantom: no phantom.so and phantom-probe there; $how"

devices=$("$phantom/phantom-probe" pci "$gpus") || exit 64

at_hand() { find "$store" -mindepth 1 -maxdepth 1 -name '[0-9]*.[0-9]*' -printf '%f\n' 2>/dev/null | sort -V | tail -1 || true; }
[ -n "$version" ] || version=$(at_hand)
version=${version:-$fallback}
[ -d "$store/$version" ] || "$root/scripts/get.sh" drivers --quiet "$version" >&2 || exit $?
folders=
shopt -s globstar nullglob
for file in "$store/$version"/**/*.so*; do
	[[ :$folders: == *:"${file%/*}":* ]] || folders+=${folders:+:}${file%/*}
done

export PHANTOM_GPU=$gpus PHANTOM_DRIVER_VERSION=$version JITWARM_PCI_DEVICES=$devices
# Modules compiled before must not come back in a test that compiles on purpose; tests of the store set this to 1.
export JITWARM_STORE=${JITWARM_STORE:-0}
export CUDA_DEVICE_ORDER=${CUDA_DEVICE_ORDER:-PCI_BUS_ID}
sanitizer=verify_asan_link_order=0:protect_shadow_gap=0:detect_leaks=0
export ASAN_OPTIONS=$sanitizer${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export LD_LIBRARY_PATH=$folders${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
preload=$phantom/phantom.so
# LD_PRELOAD ends a name at a blank; a name without a folder is searched in LD_LIBRARY_PATH.
case $preload in *[[:space:]]*) preload=phantom.so LD_LIBRARY_PATH+=:$phantom ;; esac
export LD_PRELOAD=$preload${LD_PRELOAD:+:$LD_PRELOAD}
exec "$@"
