#!/bin/bash
# lint_nvcc.sh JITWARM   the checks of device code that four projects asked for or wrote with cuobjdump, as jitwarm lint --arch-list, on
#                        libraries and wheels that NVIDIA's nvcc makes (scripts/get.sh nvcc 13.0)
# Exit status: 0; 1 if something does not hold; 77 if nvcc or a C++ compiler is not at hand.
set -uo pipefail

jitwarm=$(realpath "$1") root=$(cd "$(dirname "$0")/../.." && pwd)
nvcc=$("$root/scripts/get.sh" nvcc --here 13.0) || { echo "skipped: nvcc 13.0 is not at hand (scripts/get.sh nvcc 13.0)"; exit 77; }
command -v g++ >/dev/null || { echo "skipped: no g++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() { echo "FAILED: $*"; cat out; exit 1; }
# lint STATUS ARGUMENT…: runs jitwarm lint
lint() {
	local wanted=$1 ended=0
	shift
	"$jitwarm" lint "$@" >out 2>&1 || ended=$?
	[ $ended = "$wanted" ] || fail "lint $*: status $ended, not $wanted"
}
has() { grep -qF -e "$1" out || fail "does not say “$1”"; }
lacks() { ! grep -qF -e "$1" out || fail "says “$1”"; }
build() { "$nvcc" -shared -Xcompiler -fPIC "$@" >log 2>&1 || { cat log; exit 1; }; }
# wheel NAME LIBRARY…: makes a wheel of them
wheel() {
	local name=$1
	shift
	python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for file in sys.argv[2:]: wheel.write(file, "pkg/" + file)' "$name" "$@"
}

cat >axpy.cu <<'C'
__global__ void axpy(float *y, const float *x, float a) { y[threadIdx.x] += a * x[threadIdx.x]; }
extern "C" void run_axpy(float *y, const float *x) { axpy<<<1, 32>>>(y, x, 2); }
C
cat >gemm.cu <<'C'
namespace app { __global__ void gemm(float *y) { y[threadIdx.x] *= 2; } }
extern "C" void run_gemm(float *y) { app::gemm<<<1, 32>>>(y); }
C
all=(-gencode "arch=compute_80,code=sm_80" -gencode "arch=compute_90,code=sm_90" -gencode "arch=compute_120,code=[sm_120,compute_120]")

# executorch#21567: a wheel for several generations that was built for the GPU of the build machine
build -gencode arch=compute_90,code=sm_90 -o libone.so axpy.cu
build "${all[@]}" -o liball.so axpy.cu gemm.cu
wheel executorch-1.0-py3-none-any.whl libone.so
lint 1 --arch-list "8.0;9.0;12.0+PTX" executorch-1.0-py3-none-any.whl
has "pkg/libone.so: it lacks sm_80"
has "pkg/libone.so: it lacks sm_120"
lacks "it lacks sm_90"
wheel executorch-1.1-py3-none-any.whl liball.so
lint 0 --arch-list "8.0;9.0;12.0+PTX" --each executorch-1.1-py3-none-any.whl
has "The library has the code of --arch-list: sm_80, sm_90, sm_120, compute_120"
# nvcc's own architecture options
lint 0 --arch-list "${all[*]}" --each liball.so
lint 0 --arch-list "80-real;90-real;120" --each liball.so

# EasyBuild#4692: an installed tree has PTX for the highest architecture; others' binaries are exempt.
mkdir -p tree/bin tree/lib64/vendor
cp liball.so tree/lib64/ && cp libone.so tree/lib64/vendor/
cat >main.cu <<'C'
__global__ void start() {}
int main() { start<<<1, 1>>>(); }
C
"$nvcc" "${all[@]}" -o tree/bin/app main.cu >log 2>&1 || { cat log; exit 1; }
printf '#!/bin/sh\n' >tree/bin/script
lint 1 --arch-list "80-real;90-real;120" tree
has "vendor/libone.so: it lacks sm_80"
lint 0 --arch-list "80-real;90-real;120" --except "vendor/*" --except "*/vendor/*" tree
has "vendor/libone.so: exempt by --except */vendor/*"
has "All libraries have the code of --arch-list"
lint 1 --arch-list "80-real;90-real;121" --except "*/vendor/*" tree
has "bin/app: it lacks compute_121"
# A library without PTX gives a warning if the list asks for none.
lint 0 --arch-list "90-real" libone.so
has "libone.so: GPUs newer than sm_90 have no code in it"

# EasyBuild#5008: PTX of separable compilation, which cuobjdump shows only with -all.
cat >device.cu <<'C'
__device__ float twice(float x) { return 2 * x; }
C
cat >caller.cu <<'C'
extern __device__ float twice(float);
__global__ void call(float *y) { *y = twice(*y); }
extern "C" void run_call(float *y) { call<<<1, 1>>>(y); }
C
build -rdc=true "${all[@]}" -o librdc.so device.cu caller.cu
lint 0 --arch-list "80-real;90-real;120" --each librdc.so

# EasyBuild#5084: a toolkit's own libraries lack newer GPUs.
lint 1 --arch-list 10.0 liball.so
has "it lacks sm_100"

# EESSI#1198: one of a program's files lacks code; the report names it and its kernels.
"$nvcc" -Xcompiler -fPIC "${all[@]}" -c -o axpy.o axpy.cu && "$nvcc" -Xcompiler -fPIC "${all[@]:0:4}" -c -o gemm.o gemm.cu ||
	fail "nvcc -c"
build -o libpart.so axpy.o gemm.o
lint 1 --arch-list "8.0;9.0;12.0+PTX" --gpus a100 --each libpart.so
has "1 of 2 pieces lacks sm_120 (kernels: app::gemm); build it with -gencode arch=compute_120,code=sm_120, which adds about"
lint 0 --arch-list "8.0;9.0;12.0+PTX" --gpus a100 libpart.so

# fak#4185, check_archive STATUS ARGUMENT…: checks a program linked with a static library by nvcc; without its PTX, or without sm_120, the
# check fails
check_archive() { # STATUS ARGUMENT…: nvcc's
	local wanted=$1
	shift
	"$nvcc" -lib "$@" -Xcompiler -fPIC -o libfak.a axpy.cu || fail "nvcc -lib"
	g++ -shared -o libfak.so -Wl,--whole-archive libfak.a -Wl,--no-whole-archive || fail "g++"
	lint "$wanted" --arch-list "${all[*]}" --gpus a100,h100 --each libfak.so
}
check_archive 0 "${all[@]}"
check_archive 1 "${all[@]:0:4}" -gencode arch=compute_120,code=sm_120
has "it lacks compute_120"
check_archive 1 "${all[@]:0:4}"
has "it lacks sm_120"
exit 0
