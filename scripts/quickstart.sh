#!/usr/bin/env bash
# quickstart.sh   installs what is missing, builds, and runs the main job
#
# With an NVIDIA GPU, it runs jitwarm status, then jitwarm prime for the active Python environment. Without a GPU, it does so for the
# sample framework of ptx/: under NVIDIA's real driver on the phantom GPU (tests/phantom), or, if that cannot be fetched, under the
# simulated driver (tests/simdriver). It says which. Then it compiles for another machine, without driver: NVIDIA's ptxas, if it can be
# fetched, compiles the sample framework into a pack. At the end the program is build/release/src/jitwarm.
set -euo pipefail

case ${1:-} in
-h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
"") ;;
*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
build=build/release
jitwarm=$PWD/$build/src/jitwarm
driver=550.163.01 cuda=12.4
gpu=sm_86

show() { printf '\n$ %s\n' "$*"; }
# A cold cache (1), and a lack of packages to judge (2), are outcomes, not failures.
outcome() { "$@" || [ $? -le 2 ]; }

has_gpu() {
	local device
	[ -e /dev/dxg ] && return 0
	for device in /sys/bus/pci/devices/*; do
		[ "$(cat "$device/vendor" 2>/dev/null)" = 0x10de ] && [[ $(cat "$device/class" 2>/dev/null) == 0x03* ]] && return 0
	done
	return 1
}

to_type() { printf 'The program is %s. To type “jitwarm” and “man jitwarm”: export PATH=%q:$PATH\n' "$jitwarm" "${jitwarm%/*}"; }

# Without a GPU, the script continues with steps that need a compiler.
if has_gpu; then ./scripts/setup.sh; else ./scripts/setup.sh --compiler; fi
if [ -x "$jitwarm" ]; then echo "building what has changed ..."; else echo "building (half a minute on two cores) ..."; fi
targets=(jitwarm man)
has_gpu || targets+=(sample_framework framework-app simdriver phantom phantom-probe)
build_preset release -- "${targets[@]}"

if has_gpu; then
	show jitwarm status
	outcome "$jitwarm" status
	show jitwarm prime
	outcome "$jitwarm" prime
	to_type
	exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Root may meet a checkout of another account, as in a job's container, whose program it has started already; a home of another account is not used.
foreign() { [ "$(id -u)" = 0 ] && [ -n "$(find "$1" -maxdepth 0 ! -uid 0)" ]; }
if foreign .; then export JITWARM_TRUST_ACCOUNTS=1; fi
if foreign "${HOME:-/}"; then export HOME=$scratch; fi
export CUDA_CACHE_PATH=$scratch/ComputeCache JITWARM_STATE=$scratch/state
library=$(ls "$PWD/$build"/tests/framework/libsample_framework.so)
application=$PWD/$build/tests/framework/framework-app
real=no
if ./scripts/get.sh drivers "$driver" >/dev/null 2>"$scratch/fetch.log"; then
	echo "This machine has no NVIDIA GPU: trying it on NVIDIA's real driver $driver and a phantom GPU ($gpu), on the sample framework."
	real=yes
	under=(./scripts/with-driver.sh -B "$build" -d "$driver" "$gpu" --)
else
	echo "This machine has no NVIDIA GPU, and NVIDIA's driver cannot be fetched here ($(tail -1 "$scratch/fetch.log"))."
	echo "Trying it on the simulated driver ($gpu), on the sample framework."
	under=(./scripts/with-simdriver.sh -B "$build" "$gpu" --)
fi

show jitwarm status
outcome "${under[@]}" "$jitwarm" status
show jitwarm check "$library"
outcome "${under[@]}" "$jitwarm" check "$library"
show jitwarm prime "$library"
"${under[@]}" "$jitwarm" prime "$library"
show jitwarm check "$library"
"${under[@]}" "$jitwarm" check "$library"
show "$(basename "$application")   # the sample framework's first start"
"${under[@]}" "$application"
# offline: without GPU and driver, compiles for another machine; the pack is then tried if the driver is at hand
offline()
{
	local pack=$scratch/sample.jwpack
	printf '\n%s\n' "What needs neither GPU nor driver: NVIDIA's own compiler makes, for a machine with a GPU of $gpu and driver $driver, what that driver would make."
	show jitwarm compiler fetch $cuda
	timeout 60 "$jitwarm" compiler fetch $cuda 2>"$scratch/fetch.log" ||
		{ echo "That compiler cannot be fetched here, so this is left out ($(tail -1 "$scratch/fetch.log"))."; return 0; }
	show jitwarm make --target $gpu --driver $driver -o sample.jwpack "$library"
	"$jitwarm" make --target $gpu --driver $driver -o "$pack" "$library"
	[ $real = yes ] || { echo "On a machine with that driver “jitwarm import sample.jwpack” adds it to the cache."; return 0; }
	export CUDA_CACHE_PATH=$scratch/Imported
	show jitwarm import --allow-unsigned sample.jwpack "  # under driver $driver, into an empty cache"
	"${under[@]}" "$jitwarm" import --allow-unsigned "$pack"
	show "$(basename "$application")   # its first start with what was imported"
	"${under[@]}" "$application"
}
offline
echo
to_type
