#!/bin/bash
# check.sh BUILD-FOLDER fake|real   prime of CUDA C sources
#
# fake: a library that only looks like NVRTC, under the simulated driver: what goes wrong. real: NVIDIA's NVRTC 12.4
# (scripts/get.sh nvrtc 12.4) under driver 550: a program that compiles and loads the same source finds it compiled.
# Exit status 1 if a case fails, 77 if something is not at hand.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) kind=$2
jitwarm=$build/src/jitwarm driver=550.163.01
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache NO_COLOR=1
unset CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_VISIBLE_DEVICES \
	FAKE_NVRTC_ARCHS
cd "$scratch" || exit 3
failed=0

under() {
	if [ "$kind" = fake ]; then
		timeout 300 "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@"
	else
		timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d "$driver" sm_86 -- "$@"
	fi
}
entries() { find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f 2>/dev/null | wc -l; }
# expect STATUS ENTRIES TEXT ARGUMENT...: prime ends with STATUS, leaves so many ENTRIES, and prints TEXT
expect() {
	local status=$1 count=$2 text=$3 got=0
	shift 3
	under "$jitwarm" prime "$@" >out 2>&1 || got=$?
	if [ "$got" = "$status" ] && [ "$(entries)" = "$count" ] && grep -qF -- "$text" out; then
		echo "ok: prime $* ($text)"
	else
		echo "FAILED: prime $*: status $got, not $status, or $(entries) entries, not $count, or not “$text”:"
		sed 's/^/    /' out
		failed=1 first=${first:-prime $*: status $got, not $status, or $(entries) entries, not $count, or not “$text”}
	fi
	[ -z "$(ls -A "$JITWARM_STATE/runs" 2>/dev/null)" ] || { echo "FAILED: left in the state directory"; failed=1; }
}

if [ "$kind" = fake ]; then
	export JITWARM_FAKE=$build/tests/nvrtc/libnvrtc.so.12
	for word in crash exit refuse silent hang empty text new; do echo "#$word" >$word.cu; done
	echo "__global__ void k() {}" >good.cu
	: >empty.so
	expect 0 1 "compiled by NVRTC 12.0 for compute_75" good.cu --nvrtc "$JITWARM_FAKE"
	expect 0 1 "Warm: the only module" good.cu --nvrtc "$build/tests/nvrtc"
	expect 0 2 "Compiled 1 module" good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options '-DA="b c" -I x\\y'
	FAKE_NVRTC_ARCHS=5 expect 0 3 "for compute_80" good.cu --nvrtc "$JITWARM_FAKE"
	expect 0 4 "for compute_60" good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options "-arch compute_60"
	expect 2 4 "NVRTC 12.0 does not know compute_90: it compiles for compute_50 to compute_75" \
		good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options --gpu-architecture=compute_90
	expect 64 4 "with sm_86 NVRTC makes no PTX" good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options -arch=sm_86
	expect 64 4 "is not an architecture" good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options -arch=turing
	expect 64 4 "a quote is not closed" good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options "-D'A"
	# A file that is not PTX is reported in a line, and not primed.
	for each in "64 empty.cu" "3 text.cu"; do
		expect "${each% *}" 4 "${each#* }: " "${each#* }" --nvrtc "$JITWARM_FAKE"
		[ "$(wc -l <out)" = 1 ] || { echo "FAILED: $(cat out)"; failed=1; }
	done
	expect 2 4 "jitwarm: new.cu: NVRTC 12.0 writes PTX 9.9, which is too new for driver " new.cu --nvrtc "$JITWARM_FAKE"
	grep -q 'runs/' out && { echo "FAILED: a path in the state directory: $(cat out)"; failed=1; }
	expect 64 4 "needs a CUDA C source" --nvrtc "$JITWARM_FAKE"
	expect 3 4 "jitwarm: refuse.cu: NVRTC 12.0 does not compile it: refuse.cu(2): error: two" refuse.cu --nvrtc "$JITWARM_FAKE"
	[ "$(head -1 out)" = "jitwarm: refuse.cu: NVRTC 12.0 does not compile it: refuse.cu(2): error: two" ] &&
		grep -q 'refuse.cu(1): warning: one' out || { echo "FAILED: the log, behind one clear line"; failed=1; }
	expect 3 4 "called.cu(2): error: two" refuse.cu --nvrtc "$JITWARM_FAKE" --nvrtc-name called.cu
	expect 3 4 "NVRTC_ERROR_COMPILATION" silent.cu --nvrtc "$JITWARM_FAKE"
	expect 3 4 "crash.cu: the process that loads the compiler ended by signal 6 (abort)" crash.cu --nvrtc "$JITWARM_FAKE"
	expect 3 4 "ended with status 7" exit.cu --nvrtc "$JITWARM_FAKE"
	expect 3 5 "crash.cu: " crash.cu good.cu --nvrtc "$JITWARM_FAKE" --nvrtc-options -DOTHER
	FAKE_NVRTC_ARCHS=0 expect 2 5 "does not say for which architectures" good.cu --nvrtc "$JITWARM_FAKE"
	FAKE_NVRTC_ARCHS=1000 expect 2 5 "does not say for which architectures" good.cu --nvrtc "$JITWARM_FAKE"
	expect 2 5 "cannot be loaded" good.cu --nvrtc "$scratch/empty.so"
	expect 2 5 "not an NVRTC of CUDA 11.2 or newer" good.cu --nvrtc "$build/tests/framework/libsample_framework.so"
	expect 3 5 "--nvrtc no-such-package: " good.cu --nvrtc no-such-package
	# If prime is ended, it stops the compiler.
	export FAKE_NVRTC_HANGS=$scratch/hangs
	(until [ -s hangs ]; do sleep 0.05; done; kill -TERM "$(cat hangs)") &
	expect 143 5 "jitwarm: hang.cu: interrupted" hang.cu --nvrtc "$JITWARM_FAKE"
	wait

	# api RESULT SOURCE OPTION...: a program on the public headers gets the same result
	api() {
		local wanted=$1
		shift
		under "$build/tests/cli/prime-api" "$jitwarm" "$@" >out 2>&1
		grep -qF -- "$wanted" out && echo "ok: jw_prime: $*" || { echo "FAILED: jw_prime: $*: not “$wanted”:"; sed 's/^/    /' out; failed=1; }
	}
	api "compiled 1, kept 0, sources failed 0" good.cu "nvrtc=$JITWARM_FAKE" define no-store
	api "compiled 0, kept 0, sources failed 0" good.cu "nvrtc=$JITWARM_FAKE" define no-store
	api "compiled 0, kept 0, sources failed 1" refuse.cu "nvrtc=$JITWARM_FAKE" define no-store
	api "note: refuse.cu: NVRTC 12.0 does not compile it: refuse.cu(2): error: two" refuse.cu "nvrtc=$JITWARM_FAKE" no-store
	# A source that failed is tried again.
	api "sources failed 1" refuse.cu good.cu "nvrtc=$JITWARM_FAKE" if-changed
	api "sources failed 1" refuse.cu good.cu "nvrtc=$JITWARM_FAKE" if-changed
	# Two sources of one name, primed together, give what each gives alone.
	mkdir one other
	echo "__global__ void one() {}" >one/same.cu
	echo "__global__ void other() {}" >other/same.cu
	export CUDA_CACHE_PATH=$scratch/alone
	expect 0 1 "Compiled 1 module" one/same.cu --nvrtc "$JITWARM_FAKE"
	expect 0 2 "Compiled 1 module" other/same.cu --nvrtc "$JITWARM_FAKE"
	alone=$(cd "$CUDA_CACHE_PATH" && ls -d ?/?/*)
	export CUDA_CACHE_PATH=$scratch/together
	expect 0 2 "Compiled 2 modules" one/same.cu other/same.cu --nvrtc "$JITWARM_FAKE" --no-store
	[ "$(cd "$CUDA_CACHE_PATH" && ls -d ?/?/*)" = "$alone" ] || { echo "FAILED: two sources of one name"; failed=1; }
	exit $failed
fi

nvrtc=$("$root/scripts/get.sh" nvrtc --here 12.4) || { echo "skipped: NVRTC 12.4 is not at hand (scripts/get.sh nvrtc 12.4)"; exit 77; }
[ -d "${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}/$driver" ] || { echo "skipped: no driver $driver"; exit 77; }
cat >kernel.cu <<'C'
#include "part.h"
extern "C" __global__ void axpy(float *y, const float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = part<COUNT>(a * x[i]);
}
C
cat >part.h <<'C'
template<int N> __device__ float part(float x) { float s = 0; for (int i = 0; i < N; i++) s = s * x + i; return s; }
C
# This is a program as it is in the field: NVRTC, then cuModuleLoadDataEx of the PTX.
cat >program.py <<'P'
import ctypes, sys
library, source, name, *options = sys.argv[1:]
nvrtc, cuda = ctypes.CDLL(library), ctypes.CDLL("libcuda.so.1")
program, size, device, context, module = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
check = lambda result: result and sys.exit("error %d" % result)
words = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), open(source, "rb").read(), name.encode(), 0, None, None))
check(nvrtc.nvrtcCompileProgram(program, len(options), words))
check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
text = ctypes.create_string_buffer(size.value)
check(nvrtc.nvrtcGetPTX(program, text))
check(cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
      or cuda.cuCtxSetCurrent(context) or cuda.cuModuleLoadDataEx(ctypes.byref(module), text, 0, None, None))
P
expect 0 1 "compiled by NVRTC 12.4 for compute_86" kernel.cu --nvrtc "$nvrtc" --nvrtc-options "-DCOUNT=4 -I $scratch"
run_program() { under python3 program.py "$nvrtc" kernel.cu "$@" || { echo "FAILED: the program"; failed=1; }; }
run_program kernel.cu -DCOUNT=4 -I "$scratch" --gpu-architecture=compute_86
[ "$(entries)" = 1 ] && echo "ok: the program adds nothing" || { echo "FAILED: the program had it compiled again"; failed=1; }
run_program kernel.cu -DCOUNT=5 -I "$scratch" --gpu-architecture=compute_86
[ "$(entries)" = 2 ] && echo "ok: with other options it is another module" || { echo "FAILED: $(entries) entries"; failed=1; }
expect 0 2 "Warm" kernel.cu --nvrtc "$nvrtc" --nvrtc-options "-DCOUNT=5 -I $scratch"
expect 3 2 'kernel.cu(5): error: identifier "COUNT" is undefined' kernel.cu --nvrtc "$nvrtc" --nvrtc-options "-I $scratch"
expect 2 2 "NVRTC 12.4 does not know compute_120" kernel.cu --nvrtc "$nvrtc" --nvrtc-options "-arch=compute_120 -I $scratch"
newer=$("$root/scripts/get.sh" nvrtc --here 13.0) &&
	expect 2 2 "is too new for driver 550.163.01" kernel.cu --nvrtc "$newer" --nvrtc-options "-DCOUNT=4 -I $scratch"
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
