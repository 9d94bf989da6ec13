#!/bin/bash
# check.sh BUILD-FOLDER fake|real   bake --target links with nvJitLink
#
# fake: libraries that only look like nvJitLink: which one is taken, and what goes wrong; the objects' code is the simulated driver's.
# real: NVIDIA's nvJitLink 12.2 (scripts/get.sh nvjitlink 12.2), ptxas 11.8 and 12.2: what was baked without a driver is loaded by drivers
# 535 and 550 on the phantom GPU, which make no entry and open no compiler.
# Exit status 1 if a case fails, 77 if something is not at hand.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) kind=$2
jitwarm=$build/src/jitwarm library=$build/tests/framework/libsample_framework.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_CACHE_PATH CUDA_VISIBLE_DEVICES \
	CUDA_HOME CUDA_PATH VIRTUAL_ENV CONDA_PREFIX
cd "$scratch" || exit 3
failed=0
ok() { echo "ok: $*"; }
fail() { echo "FAILED: $*"; failed=1 first=${first:-$*}; }
[ -e "$library" ] || { echo "skipped: $library is not built"; exit 77; }

if [ "$kind" = real ]; then
	nvjitlink=$("$root/scripts/get.sh" nvjitlink --here 12.2) || { echo "skipped: nvJitLink 12.2 is not at hand (scripts/get.sh nvjitlink 12.2)"; exit 77; }
	# bake uses the oldest suitable version of these, whatever else this account has fetched.
	mkdir ptxas
	for release in 11.8 12.2; do
		timeout 300 "$jitwarm" compiler fetch "$release" >out 2>&1 || { echo "skipped: no ptxas $release (jitwarm compiler fetch $release)"; exit 77; }
		cp -r "${JITWARM_PTXAS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ptxas}/$release"* ptxas/ || exit 1
	done
	export JITWARM_STATE=$scratch/state NO_COLOR=1 JITWARM_PTXAS=$scratch/ptxas
	for driver in 535.309.01 550.163.01; do
		[ -d "${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}/$driver" ] || continue
		"$jitwarm" bake --target sm_86,sm_90 --driver "$driver" --nvjitlink "$nvjitlink" -o "$driver" "$library" >out 2>&1
		grep -q "pieces of code baked" out && ! grep -q "not linked" out && ok "baked for $driver" || fail "baked for $driver: $(cat out)"
		for gpu in sm_86 sm_90; do
			timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpu" -- "$jitwarm" bake verify "$driver/libsample_framework.so" >out 2>&1
			grep -q " 0 entries made, the compiler library not opened" out && ok "$driver, $gpu" || fail "$driver, $gpu: $(cat out)"
		done
	done
	exit $failed
fi

# Everything but the link is in a cache already, so the ptxas is asked only for its version.
export JITWARM_STATE=$scratch/state NO_COLOR=1 JITWARM_PTXAS=$scratch/ptxas FAKE_NVJITLINK_SAYS=$scratch/said
simulated() { timeout 300 "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@"; }
CUDA_CACHE_PATH=$scratch/cache simulated "$jitwarm" prime --all "$library" >out 2>&1 && simulated "$jitwarm" status --driver-profile profile >out 2>&1 ||
	{ echo "FAILED: $(cat out)"; exit 1; }
mkdir -p ptxas/12.4
printf '#!/bin/sh\n[ "$1" = --version ] && echo "ptxas: NVIDIA (R) Ptx optimizing assembler" && echo "Cuda compilation tools, release 12.4, V12.4.1"\n' >ptxas/12.4/ptxas
chmod +x ptxas/12.4/ptxas
# The linker's output is the library's linked code for another GPU, with this GPU's number.
python3 - "$library" <<'P'
import struct, sys
data = open(sys.argv[1], "rb").read()
start = data.rindex(b"\x7fELF", 0, data.index(b".shstrtab\0sample_link\0"))
sections, = struct.unpack_from("<Q", data, start + 0x28)
count, = struct.unpack_from("<H", data, start + 0x3C)
cubin = bytearray(data[start : start + sections + 64 * count])
cubin[0x30] = 90
open("other", "wb").write(cubin)
cubin[0x30] = 86
open("linked", "wb").write(cubin)
P
fakes=$build/tests/nvjitlink
bake() { rm -rf baked said first; timeout 300 "$jitwarm" bake --target sm_86 --driver "${profile:-profile}" --cache cache -o baked "$@" "$library" >out 2>&1; }
# good TEXT SAID ARGUMENT...: the library that printed SAID links
good() {
	local text=$1 said=$2
	shift 2
	FAKE_NVJITLINK=$scratch/linked bake "$@"
	grep -q "7 of 7 pieces of code baked" out && ! grep -q "not linked" out && [ "$(cat said 2>/dev/null)" = "$said" ] && ok "$text" ||
		fail "$text: $(cat out; echo "said:"; cat said)"
}
# bad MODE TEXT ARGUMENT...: bake leaves the link out, and prints the reason in one line
bad() {
	local mode=$1 text=$2 got=0
	shift 2
	FAKE_NVJITLINK=$mode bake "$@" || got=$?
	[ $got = 1 ] && grep -q "6 of 9 pieces of code baked" out && [ "$(grep -cF -- "not linked, so each start may link such code: " out)" = 1 ] &&
		grep -qF -- "$text" out && ok "$mode: $text" || fail "$mode: $got, not “$text”: $(cat out)"
	[ -z "$(ls -A state/runs 2>/dev/null)" ] || fail "left in the state directory"
}
said="12.4 -arch=sm_86 2"
good "a file" "$said" --nvjitlink "$fakes/12.4/lib/libnvJitLink.so.12"
good "a folder" "$said" --nvjitlink "$fakes/12.4"
CUDA_HOME=$fakes/12.8 CUDA_PATH=$fakes/12.4 good "the one that is not too new" "$said"
CUDA_HOME=$fakes/12.0 CUDA_PATH=$fakes/12.4 good "the one that is not too old" "$said"
sed 's/12040/12080/; s/550.200.01/570.200.01/' profile >newer
profile=newer CUDA_HOME=$fakes/12.8 CUDA_PATH=$fakes/12.4 good "the oldest that will do" "$said"
mkdir -p again/lib && cp "$fakes/12.4/lib/libnvJitLink.so.12" again/lib
CUDA_HOME=$fakes/12.4 CUDA_PATH=$scratch/again FAKE_NVJITLINK_FIRST=$scratch/first good "the next where one fails" "$said
$said"
# ptxas 11.8 knows sm_90, but not sm_90a, for which drivers compile. The message names the parts that a container lacks.
mkdir ptxas/11.8
for release in 11.8 12.4; do
	cat >ptxas/$release/ptxas <<-P
		#!/bin/sh
		[ "\$1" = --version ] && echo "ptxas: NVIDIA (R) Ptx optimizing assembler" && echo "Cuda compilation tools, release $release, V${release}.1" && exit
		echo "$release \$1" >>$scratch/asked
		exit 1
	P
	chmod +x ptxas/$release/ptxas
done
timeout 300 "$jitwarm" bake --target sm_90 --driver profile --nvjitlink "$fakes/12.4" -o baked90 "$library" >out 2>&1
[ "$(sort -u asked 2>/dev/null)" = "12.4 -arch=sm_90a" ] && ok "the oldest ptxas that compiles as the driver does" || fail "asked for sm_90: $(sort -u asked; cat out)"
grep -q "not linked, so each start may link such code: one of its objects was not compiled" out && ok "what is missing to link" || fail "what is missing: $(cat out)"
rm -r ptxas/11.8

bad "$scratch/linked" "no nvJitLink of CUDA 12.4 to 12.4 was found for sm_86" --nvjitlink "$fakes/12.0"
bad "$scratch/linked" "no nvJitLink of CUDA 12.4 to 12.4 was found" --nvjitlink "$fakes/12.8"
bad "$scratch/other" "the linked code is not for the GPU" --nvjitlink "$fakes/12.4"
bad crash "the process that loads the compiler ended by signal 6" --nvjitlink "$fakes/12.4"
bad exit "the process that loads the compiler" --nvjitlink "$fakes/12.4"
bad refuse "does not link its objects: nvJitLink's error 6: error   : one" --nvjitlink "$fakes/12.4"
bad create "nvJitLink's error 1" --nvjitlink "$fakes/12.4"
bad huge "nvJitLink's output has 1125899906842624 bytes" --nvjitlink "$fakes/12.4"
bad junk "not a cubin" --nvjitlink "$fakes/12.4"
bad noise "nvJitLink's output has 0 bytes" --nvjitlink "$fakes/12.4"
: >empty.so
bad "$scratch/linked" "empty.so" --nvjitlink empty.so
bad "$scratch/linked" "not an nvJitLink of CUDA 12.0 or newer" --nvjitlink "$build/tests/simdriver/lib/libcuda.so.1"
if [ "$(id -u)" = 0 ]; then
	chown 65534 again/lib/libnvJitLink.so.12
	bad "$scratch/linked" "root does not use it" --nvjitlink "$scratch/again"
fi
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
