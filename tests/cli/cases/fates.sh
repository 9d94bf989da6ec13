# Small libraries get one answer from scan, check, lint and prime, by the rule of docs/internals/compat.md (tests/unit/test_plan_judge.c has
# each sentence). Code that cannot run is never called “nothing to compile”.
with_simdriver sm_86
export CUDA_CACHE_PATH=$work/cache
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import zipfile

import fatbin

def cubin(sm):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64, 124))

def ptx(sm, version=b"8.0", kernel=b".visible .entry k()\n{\n\tret;\n}\n", options=None, suffix=b""):
    text = b".version %s\n.target sm_%d%s\n.address_size 64\n%s\0" % (version, sm, suffix, kernel)
    more = {"options": options} if options else {}
    return fatbin.entry(fatbin.PTX, sm, text, isa=tuple(map(int, version.split(b"."))), **more)

one = fatbin.container

def write(name, *containers, **more):
    open(name, "wb").write(fatbin.library(*containers, **more))

write("minority.so", *[one(cubin(75), cubin(86))] * 3, one(cubin(75), cubin(80)), one(cubin(75), cubin(61)))
write("majority.so", one(cubin(75), cubin(86)), *[one(cubin(75), cubin(61))] * 2)
write("newer.so", *[one(cubin(75), cubin(86))] * 3, one(ptx(75, b"8.8"), cubin(90)))
write("objects.so", one(cubin(75)), objects=[one(cubin(75), ptx(52, options="--compile-only ")), one(cubin(75))])
write("stripped.so", *[one(cubin(86))] * 3, one(cubin(75)), objects=[])
write("empty.so", *[one(cubin(86))] * 3, *[one(ptx(75, kernel=b""))] * 5)
# A container of variables alone is a piece and a module: cudaMemcpyToSymbol has it compiled.
write("variables.so", one(ptx(75, kernel=b".global .align 4 .b8 x[4];\n")))
write("variables-newer.so", one(ptx(75, b"8.8", kernel=b".global .align 4 .b8 x[4];\n")))
open("relocatable.fatbin", "wb").write(one(ptx(75, b"8.8", options="--compile-only ")))
open("target.ptx", "w").write(".version 7.4\n.target sm_89\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")
open("good.ptx", "w").write(".version 7.8\n.target sm_89\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")
write("early.so", *[one(cubin(75), cubin(86))] * 3, one(ptx(86, b"6.0")))
write("kind.so", one(fatbin.entry(0x20, 80, bytes(64))), one(cubin(86)))
write("tile.so", one(fatbin.entry(0x80, 80, b"\x7fTileIR\0" + bytes(56))))
with zipfile.ZipFile("p-1.0-py3-none-manylinux_2_17_x86_64.whl", "w") as wheel:
    wheel.writestr("p/_C.so", fatbin.library(*[one(cubin(75), cubin(86))] * 5))
    wheel.writestr("p/linalg.so", fatbin.library(*[one(cubin(80), cubin(90))] * 3))
    wheel.writestr("p/flash_attn/_C.so", fatbin.library(*[one(cubin(80), cubin(90))] * 9))
    wheel.writestr("p/libcublas.so.12", fatbin.library(*[one(cubin(80), cubin(90))] * 9))
    wheel.writestr("p-1.0.dist-info/METADATA", "Name: p\nVersion: 1.0\n")
# Sources that the package compiles while it runs, with PTX for one GPU beside them; the same PTX elsewhere; a library among sources
for name, path in ("sources", "csrc/kda/ptx/k.ptx"), ("loose", "ptx/k.ptx"), ("linked", "csrc/k.so"):
    text = b".version 9.0\n.target sm_103a\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
    with zipfile.ZipFile(f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/data/{path}", fatbin.library(one(ptx(103, b"9.0", suffix=b"a"))) if path.endswith(".so") else text)
        wheel.writestr(f"{name}/data/csrc/k.cu", "__global__ void k() {}\n")
for name, requires in ("pinned", "torch (==2.1.0)"), ("allowed", "torch<2"), ("optional", "torch==2.1.0; extra == 'x'"):
    with zipfile.ZipFile(f"{name}-1.0-cp310-cp310-manylinux_2_17_x86_64.whl", "w") as wheel:
        wheel.writestr(f"{name}/_C.so", fatbin.library(one(cubin(75), cubin(86), cubin(120))))
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\nRequires-Dist: numpy\nRequires-Dist: {requires}\n\nRequires-Dist: torch==9\n")
PYTHON

# each FILE STATUS TEXT [GPU [DRIVER]]: scan, check and lint end alike; lint's status is STATUS with driver 550
each() {
	for command in "scan --target ${4:-sm_86}" "check --target ${4:-sm_86}" "lint --gpus ${4:-sm_86}"; do
		# shellcheck disable=SC2086
		run "$2" $command --driver "${5:-550.163.01}" "$1"
		[[ -z $3 ]] || out_has "$3"
	done
}
snapshot run 0 scan --target sm_86 --driver 550.163.01 minority.so
run 0 check --target sm_86 --driver 550.163.01 minority.so
out_lacks "no code"
snapshot run 0 lint --gpus sm_86 --driver 550.163.01 minority.so
snapshot each majority.so 2 "will fail: 2 of 3 pieces have no code for sm_86"
snapshot run 0 scan --target sm_86 --driver 550.163.01 newer.so
snapshot run 0 check --target sm_86 --driver 550.163.01 newer.so
snapshot run 0 scan --target sm_86 --driver 470.256.02 "$sample"
snapshot each objects.so "0|1" "" # the linked code is as good as its inputs
snapshot each stripped.so 0 ""
snapshot each empty.so "0|1" ""
snapshot each variables-newer.so 2 "driver 575 (CUDA 12.9) or newer"
snapshot each variables.so "0|1" "1 module"
snapshot each relocatable.fatbin "0|1" "" sm_86 535.309.01
# Each target has a first version of PTX; no driver compiles an older text for it.
snapshot each target.ptx 2 "will fail: sm_89 needs PTX 7.8 or newer" sm_89
run 2 scan --json --target sm_89 target.ptx
json '(lambda r: r["early"] == 1 and r["damaged"] == 0)(d["files"][0]["verdicts"]["sm_89"]["cannot_reasons"])'
snapshot run 0 scan --target sm_86 --driver 550.163.01 early.so
snapshot run 1 lint --gpus sm_86 --driver 550.163.01 early.so
snapshot each good.ptx "0|1" "1 module" sm_89
snapshot run 0 scan --target sm_86 --driver 550.163.01 kind.so
snapshot run 2 check --target sm_86 --driver 550.163.01 tile.so

# The library with the most pieces decides for a package; its own libraries without code are named, NVIDIA's and FlashAttention are not.
snapshot run 0 scan --target sm_75 --driver 550.163.01 p-1.0-py3-none-manylinux_2_17_x86_64.whl
snapshot run 1 lint --gpus sm_75 --driver 550.163.01 p-1.0-py3-none-manylinux_2_17_x86_64.whl
snapshot run 0 check --target sm_75 --driver 550.163.01 p-1.0-py3-none-manylinux_2_17_x86_64.whl

# PTX beside the sources that a package compiles while it runs does not decide; PTX and libraries elsewhere do.
each sources-1.0-py3-none-any.whl 0 "" sm_120 580.126.09
out_lacks "will fail"
run 1 check --json --target sm_103 --driver 580.126.09 sources-1.0-py3-none-any.whl
json 'd["cold"] == 1'
each loose-1.0-py3-none-any.whl 2 "will fail: no kernel image for sm_120" sm_120 580.126.09
each linked-1.0-py3-none-any.whl 2 "will fail: no kernel image for sm_120" sm_120 580.126.09

# A wheel fails with the torch that it requires.
snapshot each pinned-1.0-cp310-cp310-manylinux_2_17_x86_64.whl 2 "it requires torch 2.1.0, which fails: no code for sm_120" sm_120 580.126.09
each pinned-1.0-cp310-cp310-manylinux_2_17_x86_64.whl "0|1" "" sm_86
each allowed-1.0-cp310-cp310-manylinux_2_17_x86_64.whl 2 "it requires torch<2, which fails: no code for sm_120" sm_120 580.126.09
each optional-1.0-cp310-cp310-manylinux_2_17_x86_64.whl "0|1" "" sm_120 580.126.09
run 2 check --json --target sm_120 --driver 580.126.09 pinned-1.0-cp310-cp310-manylinux_2_17_x86_64.whl
json 'd["failing"][0]["cure"] == "install another release of the package"'
