# scan, check and lint name a file without code for a GPU by its kernels; check knows them from its inventory, too.
export JITWARM_STATE=$work/state
PYTHONPATH=$cases/../../framework python3 - "$work/libpart.so" <<'PYTHON'
import sys
import fatbin

def container(kernel, *capabilities):
    return fatbin.container(*(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, kernel, 64)) for sm in capabilities))

whole = [container(f"k{i}", 80, 90) for i in range(4)]
open(sys.argv[1], "wb").write(fatbin.library(*whole, container("_ZN2at6native4copyIfEEvPT_", 80), container("gemm", 80, 86)))
PYTHON
lacking='(kernels: gemm, at::native::copy)'
run 0 scan --target h100 "$work/libpart.so"
out_has "2 of 6 pieces have no code for this GPU: programs that use these pieces fail $lacking"
run 1 lint --gpus h100 "$work/libpart.so"
out_has "2 of 6 pieces have no code for sm_90: programs that use these pieces fail $lacking"
for time in first second; do
	run 0 check --target h100 --driver 550.163.01 "$work/libpart.so"
	err_has "2 of 6 pieces have no code for sm_90: programs that use these pieces fail $lacking"
done
# All of these kernels run, and none is named.
run 0 scan --target a100 "$work/libpart.so"
out_lacks "kernels"

# As in XGBoost 1.7.6, the linked code that lacks the GPU is NCCL's.
PYTHONPATH=$cases/../../framework python3 - "$work/libnccl.so" <<'PYTHON'
import sys
import fatbin

def container(kernel, *capabilities):
    return fatbin.container(*(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, kernel, 64)) for sm in capabilities))

open(sys.argv[1], "wb").write(fatbin.library(container("ncclKernel_AllReduce_Sum_f32", 80), *[container(f"k{i}", 80, 90) for i in range(4)],
                                             objects=[container("ncclKernel_AllReduce_Sum_f32", 80)]))
PYTHON
nccl="(kernels of NCCL, which only programs on several GPUs use: ncclKernel_AllReduce_Sum_f32)"
run 0 scan --target h100 "$work/libnccl.so"
out_has "1 of 5 pieces has no code for this GPU: programs that use this piece fail $nccl"
run 0 check --target h100 --driver 550.163.01 "$work/libnccl.so"
err_has "1 of 5 pieces has no code for sm_90: programs that use this piece fail $nccl"

# A failure comes with the error that a program prints, the cause, and the remedy.
PYTHONPATH=$cases/../../framework python3 - "$work" <<'PYTHON'
import sys
import fatbin

text = b".version %s\n.target %s\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n\0"
def library(name, *entries):
    open(f"{sys.argv[1]}/{name}.so", "wb").write(fatbin.library(fatbin.container(*entries)))

library("own", fatbin.entry(fatbin.CUBIN, 80, fatbin.old_cubin(80, "k", 64)), fatbin.entry(fatbin.PTX, 90, text % (b"8.0", b"sm_90a"), isa=(8, 0)))
library("new", fatbin.entry(fatbin.PTX, 75, text % (b"8.7", b"sm_75"), isa=(8, 7)))
library("unknown", fatbin.entry(fatbin.PTX, 75, text % (b"9.9", b"sm_75"), isa=(9, 9)))
library("packed", fatbin.entry(fatbin.CUBIN, 80, fatbin.old_cubin(80, "k", 64), compression="zstd"))
library("packed_text", fatbin.entry(fatbin.PTX, 75, text % (b"8.0", b"sm_75"), isa=(8, 0), compression="zstd"))
library("cut_text", fatbin.entry(fatbin.PTX, 75, b"no header", isa=(8, 0)))
library("nowhere", fatbin.entry(fatbin.CUBIN, 1000, fatbin.old_cubin(80, "k", 64)))
library("later", fatbin.entry(fatbin.CUBIN, 80, fatbin.old_cubin(80, "k", 64, 130)), fatbin.entry(fatbin.PTX, 80, text % (b"9.0", b"sm_80"), isa=(9, 0)))
library("later_text", fatbin.entry(fatbin.PTX, 75, text % (b"9.0", b"sm_75"), isa=(9, 0)))
library("other", fatbin.entry(fatbin.CUBIN, 90, fatbin.old_cubin(90, "k", 64)))
def one(kernel, version):
    return fatbin.container(fatbin.entry(fatbin.PTX, 75, (text % (version, b"sm_75")).replace(b"k()", kernel + b"()"), isa=tuple(map(int, version.split(b".")))))
open(f"{sys.argv[1]}/some.so", "wb").write(fatbin.library(*(one(b"k%d" % i, b"8.0") for i in range(3)), one(b"far", b"9.9")))
open(f"{sys.argv[1]}/most.so", "wb").write(fatbin.library(one(b"k", b"8.0"), one(b"far", b"9.9"), one(b"far2", b"9.9")))
PYTHON
# failing LIBRARY TARGET DRIVER ERROR CAUSE CURE: scan prints these for the library
failing() {
	run 2 check --json --target "$2" --driver "$3" "$work/$1.so"
	json "[(f['error'], f['cause'], f['cure']) for f in d['failing']] == [('$4', '$5', '$6')]"
	json "d['reason'] == d['gpus'][0]['reason'] and '$1.so: will fail: ' in d['reason'] and d['gpus'][0]['verdict'] == 'fails'"
	json "('install driver ' + d['needs'] + ' or a newer one' if 'needs' in d else '') == ('$6' if 'install' in '$6' else '')"
}
failing own sm_120 580.65.06 "a PTX JIT compilation failed (218)" "its only PTX is compute_90a, which no other GPU accepts" \
	"use a build that has -gencode arch=compute_120,code=sm_120"
failing new sm_80 550.163.01 "the provided PTX was compiled with an unsupported toolchain. (222)" "toolkit 12.8 requires driver 570 (CUDA 12.8) or newer" \
	"install driver 570 (CUDA 12.8) or a newer one"
failing unknown sm_80 550.163.01 "the provided PTX was compiled with an unsupported toolchain. (222)" "no driver that jitwarm knows reads its PTX" \
	"use a build that has -gencode arch=compute_80,code=sm_80"
# A runtime that is newer than the driver refuses it before the driver sees the code.
for late in later later_text; do
	failing $late sm_80 550.163.01 "CUDA driver version is insufficient for CUDA runtime version (35)" "toolkit 13.0 requires driver 580 (CUDA 13.0) or newer" \
		"install driver 580 (CUDA 13.0) or a newer one"
done
failing packed sm_80 535.309.01 "device kernel image is invalid (200)" "it is compressed with zstd: drivers before 550.54.14 (CUDA 12.4) refuse it" \
	"install driver 550.54.14 (CUDA 12.4) or a newer one"
failing packed_text sm_80 535.309.01 "a PTX JIT compilation failed (218)" "it is compressed with zstd: drivers before 550.54.14 (CUDA 12.4) refuse it" \
	"install driver 550.54.14 (CUDA 12.4) or a newer one"
failing cut_text sm_80 550.163.01 "a PTX JIT compilation failed (218)" "its device code is damaged" "use a build that has -gencode arch=compute_80,code=sm_80"
failing nowhere sm_80 550.163.01 "unknown error (999)" "its device code is damaged" "use a build that has -gencode arch=compute_80,code=sm_80"
failing other sm_80 550.163.01 "no kernel image is available for execution on the device (209)" "its oldest code is for sm_90" \
	"use a build that has -gencode arch=compute_80,code=sm_80"

# PTX of an ISA that no known driver reads is not missing code.
export CUDA_MODULE_LOADING=LAZY
run "0|1" check --target sm_80 --driver 550.163.01 "$work/some.so"
err_has "1 of 4 pieces has PTX that no known driver reads: programs that use this piece fail (kernels: far)"
run 1 check --target sm_80 --driver 550.163.01 "$work/most.so" # one piece is cold
out_has "will fail: 2 of 3 pieces have PTX that no known driver reads (kernels: far, far2)"
run 2 check --target sm_80 --driver 550.163.01 "$work/unknown.so"
out_has "will fail: PTX that no known driver reads for sm_80"
