# Every piece of code has a fate: it runs, is in the cache or compiled, fails, or jitwarm says that it cannot tell. Code that cannot run is
# never called “nothing to compile”.
with_simdriver sm_86
export CUDA_CACHE_PATH=$work/cache
old=(--target sm_86 --driver 550.163.01) new=(--target sm_86 --driver 580.65.06)
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import os
import fatbin

def text(sm, version=b"7.0", kernel=b"k"):
    return b".version %s\n.target sm_%s\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n\0" % (version, str(sm).encode(), kernel)

def cubin(sm):
    return fatbin.entry(fatbin.CUBIN, int(sm), fatbin.old_cubin(int(sm), "k", 64))

def ptx(sm, version=b"7.0", kernel=b"k", **more):
    return fatbin.entry(fatbin.PTX, sm, text(sm, version, kernel), isa=tuple(map(int, version.split(b"."))), **more)

def other(kind, sm):
    return fatbin.entry(kind, sm, b"\x7fTileIR\0" + bytes(56))

def write(name, data):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "wb").write(data)

one = fatbin.container
# As nvcc -rdc=true makes it: linked code for sm_80, and its objects.
write("objects.so", fatbin.library(one(cubin(80)), objects=[one(cubin(80)), one(cubin(80))]))
write("half.so", fatbin.library(one(cubin(80)), objects=[one(cubin(80), ptx(52, options="--compile-only ")), one(cubin(80))]))
write("linked.so", fatbin.library(one(cubin(80)), objects=[one(cubin(80), ptx(52, options="--compile-only ")),
                                                           one(ptx(52, kernel=b"l", options="--compile-only "))]))
# If nvlink linked for another GPU than its objects are for, the result has the code of some of them, or of none; LTO-IR is for each newer
# GPU.
empty, lto = fatbin.entry(fatbin.CUBIN, 75, fatbin.old_cubin(75)), other(8, 75)
write("wrong.so", fatbin.library(one(empty), objects=[one(cubin(80)), one(cubin(80))]))
write("wrong_ptx.so", fatbin.library(one(empty), objects=[one(ptx(80)), one(ptx(80, kernel=b"l"))]))
write("no_link.so", fatbin.library(one(cubin(90)), objects=[one(cubin(75)), one(cubin(80))]))
write("part.so", fatbin.library(one(cubin(75)), objects=[one(cubin(80)), one(cubin(75), cubin(80))]))
write("lto.so", fatbin.library(one(cubin(75)), objects=[one(cubin(80), lto), one(cubin(80), lto)]))
# One PTX has no code and is for a family of GPUs; another is of a version that no known driver reads.
write("none.so", fatbin.library(one(fatbin.entry(fatbin.CUBIN, 80, fatbin.old_cubin(80)), fatbin.entry(fatbin.PTX, 90, b".version 8.0\n.target sm_90a\n.address_size 64\n\0", isa=(8, 0)))))
write("loose.so", fatbin.elf((".nv_fatbin", one(ptx(75, b"8.7", b"b")), 1, 0x100000), (".rodata", one(ptx(75, b"9.0", b"c")), 1, 0x200000)))
# Like candle's programs: most of the kernels are PTX in the data.
write("data.so", fatbin.elf((".nv_fatbin", one(cubin(86)), 1, 0x100000),
                            (".rodata", one(ptx(75, b"8.7", b"b")) + one(ptx(75, b"8.7", b"c")), 1, 0x200000)))
# As embed-anything, a program of candle: FlashAttention is registered, for one GPU alone; and as a library with incidental PTX.
for name, count in ("candle.so", 4), ("profiled.so", 2):
    write(name, fatbin.elf((".nv_fatbin", one(cubin(80)) * 3, 1, 0x100000),
                           (".rodata", b"".join(one(ptx(75, kernel=b"k%d" % i)) for i in range(count)), 1, 0x200000)))
write("only.so", fatbin.elf((".rodata", one(ptx(86, kernel=b"c")), 1, 0x200000)))
broken = fatbin.entry(fatbin.PTX, 75, text(75).replace(b"}", b" "), isa=(7, 0))
write("broken/broken.so", fatbin.library(one(broken), one(ptx(75, b"8.7", b"b"))))
write("future.so", fatbin.library(one(ptx(75, b"20.0"))))
write("folder/liba.so", fatbin.library(one(ptx(75, b"7.5"))))
write("folder/libb.so", fatbin.library(one(ptx(75, b"8.7", b"b"))))
write("inside.so", fatbin.library(one(ptx(75, b"7.5")), one(ptx(75, b"8.7", b"b"))))
write("families.so", fatbin.library(one(cubin(86)), one(cubin(90))))
write("tile/libtile.so", fatbin.library(one(other(0x80, 80))))
write("libtile_and_ptx.so", fatbin.library(one(ptx(75)), one(other(0x80, 80))))
write("libkind.so", fatbin.library(one(other(0x20, 80)), one(cubin(86))))
# As cuDNN 7 and OptiX Prime: kernels for every GPU, and others for each generation.
every = cubin(50), cubin(61), cubin(70), cubin(75), ptx(75)
for name in "cudnn/libcudnn.so.7", "cudnn/libown.so":
    write(name, fatbin.library(one(*every), one(*every), one(*every), one(cubin(50), cubin(61)), one(cubin(70), cubin(75))))
write("cudnn/liboptix_prime.so.1", fatbin.library(one(cubin(50), cubin(61), *every[2:]), one(cubin(50), cubin(52)), one(*every[1:])))
write("attention/two.so", fatbin.library(one(cubin(80)), one(cubin(80))))
write("attention/core.so", fatbin.library(one(cubin(75), cubin(80))))
write("attention/flash_attn_3/core.so", fatbin.library(one(cubin(80)), one(cubin(80)), one(cubin(80))))
PYTHON

# Relocatable code runs only if each object has code for the GPU.
for file in objects.so half.so; do
	for command in check scan lint; do
		target=("${old[@]}")
		[[ $command != lint ]] || target=(--gpus sm_75 --driver 550.163.01)
		run "2|$([[ $file == half.so && $command == check ]] && echo 1)" $command "${target[@]/sm_86/sm_75}" $file # cold counts
		out_has "will fail: no kernel image for sm_75"
		out_lacks "nothing to compile"
	done
	run 0 check "${old[@]}" $file # its machine code runs
done
run 1 check --json --target sm_75 --driver 550.163.01 linked.so
json 'd["failing"] == [] and d["link"] == d["modules"] == 2'
for file in wrong.so wrong_ptx.so no_link.so; do
	run 2 lint --gpus sm_75 --driver 550.163.01 $file
	for command in check scan; do
		run 2 $command --target sm_75 --driver 550.163.01 $file
		out_has "will fail: no kernel image for sm_75"
		out_lacks "runs as it is"
		out_lacks "nothing to compile"
	done
done
run 0 scan --target sm_75 --driver 550.163.01 part.so
out_has "runs as it is, but 1 of 2 pieces has no code for this GPU: programs that use this piece fail"
run 0 scan --target sm_75 --driver 550.163.01 lto.so
out_lacks "has no code"

is_wine || run 2 prime tile/libtile.so # under driver 550
is_wine || out_has "Nothing is compiled: no code in these files can run on these GPUs."

# A too old driver is reported even if a neighbouring file runs.
for what in folder; do
	run 2 prime $what
	out_has "Start your program again: it has nothing left to compile, but fails if it uses code that cannot run."
	run "1|2" check "${old[@]}" $what
	out_has "will fail: PTX newer than the driver reads for sm_86; it needs driver 570 (CUDA 12.8) or newer"
	out_lacks "liba.so: "
	run 2 doctor $what
	out_has "driver-old: "
	out_has "install driver 570 (CUDA 12.8), or a newer one"
	run 2 check $what # the rest could be compiled
	out_has "1 file will fail"
	run 2 check "${old[@]/550.163.01/570}" $what # of driver 570, the names of entries are unknown
	out_lacks "will fail"
done
# Another piece of the file runs, and the runtime of both pieces loads lazily, or leaves out what the driver refuses.
for mode in LAZY EAGER; do
	CUDA_MODULE_LOADING=$mode run 1 check "${old[@]}" inside.so # the piece that runs is cold
	err_has "1 of 2 pieces needs driver 570 (CUDA 12.8) or newer: programs that use this piece fail"
	[[ $(grep -c 'driver 570' "$err") == 1 ]] || fail "one piece is told twice"
done
run 2 find folder
out_has "1 file will fail"
run 2 find folder --json
json 'd["places"][0]["failing"] == 1 and d["places"][0]["verdict"] == "fails"'
json 'd["places"][0]["needs"] == "570 (CUDA 12.8)" and "libb.so: will fail: PTX newer than the driver reads" in d["places"][0]["reason"]'
run 2 doctor folder --json
json 'd["needs"] == "570 (CUDA 12.8)" and "libb.so: will fail: PTX newer than the driver reads" in d["reason"] and "part" not in d'
run "1|2" check folder --json --target sm_86,sm_75 --driver 550.163.01 # one module is cold
json '[(g["verdict"], g["needs"]) for g in d["gpus"]] == [("fails", "570 (CUDA 12.8)")] * 2 and d["reason"] == d["gpus"][0]["reason"]'

run 2 scan "${new[@]}" future.so
out_has "sm_86 (RTX 30): programs fail with driver 455 to 620"
run 0 check --target sm_100 --driver 580.65.06 none.so
out_has "nothing to compile"
# Loose code does not raise the driver that a file needs for its other code.
run 2 check "${old[@]}" loose.so
out_has "it needs driver 570 (CUDA 12.8) or newer"
# A file fails if the driver refuses most of it, loose or not; or if none of its code is for the GPU.
run 2 check "${old[@]}" data.so
out_has "data.so: will fail: 2 of 3 pieces need driver 570 (CUDA 12.8) or newer"
run 2 check "${old[@]/sm_86/sm_75}" only.so
out_has "only.so: will fail: no kernel image for sm_75"
# Modules in the data that run count, too, if most registered pieces have no code for the GPU.
run 1 check --target sm_90 --driver 550.163.01 candle.so
out_has "4 of 4 modules"
err_has "candle.so: 3 of 7 pieces have no code for sm_90: programs that use these pieces fail"
run 1 check --target sm_90 --driver 550.163.01 profiled.so
out_has "profiled.so: will fail: no kernel image for sm_90"
# A file fails once, even if the driver refuses more of it.
run "1|2" prime broken/broken.so
run 2 prime --json broken
json 'd["refused"] == 1'
run 2 check --json broken
json 'len(d["failing"]) == 1 and d["failing"][0]["why"].startswith("the driver refuses 1 module")'

# A piece without code for the GPU is a part that fails: lint, which packagers run, ends with 1.
run 0 check families.so
out_has "nothing to compile"
err_has "families.so: 1 of 2 pieces has no code for sm_86: programs that use this piece fail"
run 0 check --json families.so
json 'd["lacking"] == 1 and d["gpus"][0]["lacking"] == 1 and d["verdict"] == "runs"'
json 'd["gpus"][0]["verdict"] == "runs" and "families.so: 1 of 2 pieces has no code for sm_86: programs that use this piece fail" in d["part"]'
run 0 scan "${old[@]}" families.so
out_has "runs as it is, but 1 of 2 pieces has no code for this GPU: programs that use this piece fail"
run 0 scan --json "${old[@]}" families.so
json '[d["files"][0]["verdicts"]["sm_86"][m] for m in ("native", "nothing", "pieces", "lacking")] == [1, 1, 2, 1]'
run "0|1" doctor families.so
err_has "1 of 2 pieces has no code for sm_86: programs that use this piece fail"
run 0 prime families.so
err_has "1 of 2 pieces has no code for sm_86: programs that use this piece fail"
run 1 lint --gpus sm_86 families.so
out_has "sm_86 (RTX 30): 1 of 2 pieces has no code for sm_86: programs that use this piece fail"
run 1 lint --gpus sm_86 --json families.so
json 'd["gpus"][0]["lacking"] == 1 and [(f["kind"], f["level"]) for f in d["findings"]] == [("lacks", "warning")]'

# Drivers before 580 refuse Tile IR. For newer ones, jitwarm cannot tell what is in the cache.
for command in check scan; do
	run 2 $command "${old[@]}" tile/libtile.so
	out_has "will fail: Tile IR for sm_86; it needs driver 580 (CUDA 13.0) or newer"
	run 2 $command "${new[@]}" tile/libtile.so
	out_lacks "nothing to compile"
	cat "$out" "$err" >"$work/both"
	says "$work/both" "compiled by the driver at first load; jitwarm cannot tell if it is in the cache" || fail "$command is silent"
done
run 2 check --json "${new[@]}" tile/libtile.so
json 'd["verdict"] == "unsure" and d["tile"] == 1 and d["unknown"] == 0 and d["modules"] == 0 and d["failing"] == []'
run 2 scan --json "${new[@]}" tile/libtile.so
json 'd["files"][0]["other"] == {"kind 0x80": 1} and d["files"][0]["verdicts"]["sm_86"]["tile"] == 1'
run 2 lint --json --gpus sm_86 tile/libtile.so
json 'd["gpus"][0]["tile"] == 1 and d["gpus"][0]["level"] == "warning" and [f["kind"] for f in d["findings"]] == ["unsure"]'
run 2 lint --gpus sm_86 --driver 550.163.01 tile/libtile.so
out_has "will fail: Tile IR"
# The Tile IR is for newer GPUs alone.
run 2 check --target sm_75 --driver 580.65.06 tile/libtile.so
out_has "no kernel image for sm_75"
# Beside PTX, both are reported.
run 2 check "${new[@]}" libtile_and_ptx.so # of driver 580, the names of entries are unknown
out_has "1 module to compile, if not in the cache"
err_has "libtile_and_ptx.so: 1 piece of Tile IR for sm_86"
run 2 scan "${new[@]}" libtile_and_ptx.so
out_has "1 module to compile"
out_has "1 piece of Tile IR, compiled by the driver"
run "1|2" check "${old[@]}" libtile_and_ptx.so
out_has "will fail: Tile IR"

# Programs use no FlashAttention on GPUs older than sm_80, however much there is. On others, the package fails without it, and FlashAttention
# alone is not enough.
package() {
	python3 -c 'import sys, zipfile
with zipfile.ZipFile("both-1.0-py3-none-linux_x86_64.whl", "w") as wheel:
    for core, name in zip(sys.argv[1::2], sys.argv[2::2]):
        wheel.write("attention/" + core, "both/" + name)' "$@"
}
package core.so core.so flash_attn_3/core.so flash_attn_3/core.so
run 0 scan "${old[@]/sm_86/sm_75}" both-1.0-py3-none-linux_x86_64.whl
out_has "both/flash_attn_3/core.so: no code for sm_75: a program that uses this file fails"
run 2 scan --json --target sm_90,sm_70 --driver 550.163.01 both-1.0-py3-none-linux_x86_64.whl
json '[t["verdict"] for t in d["totals"]] == ["fails"] * 2'
package flash_attn_3/core.so core.so core.so flash_attn_3/core.so
run 2 scan "${old[@]/sm_86/sm_75}" both-1.0-py3-none-linux_x86_64.whl
out_has "both/core.so: will fail"
package flash_attn_3/core.so core.so core.so other/core.so
run 2 scan "${old[@]/sm_86/sm_75}" both-1.0-py3-none-linux_x86_64.whl
# A variant without code is not what runs of the package.
package flash_attn_3/core.so libx_cuda12.so core.so libx_cuda11.so two.so core.so
run 2 scan "${old[@]/sm_86/sm_75}" both-1.0-py3-none-linux_x86_64.whl
out_has "both/core.so: will fail"

# cuDNN 7 has kernels for each generation of GPUs, and chooses. On an RTX 30, for which it has kernels of none, some are missing.
run 0 scan "${old[@]/sm_86/sm_61}" cudnn/libcudnn.so.7
out_has "runs as it is"
out_lacks "no code"
run 0 scan --json "${old[@]}" cudnn/libcudnn.so.7
json '[d["totals"][0][m] for m in ("verdict", "lacking")] == ["compiles", 1] and d["files"][0]["verdicts"]["sm_86"]["lacking"] == 2'
run 0 scan "${old[@]/sm_86/sm_61}" cudnn/libown.so
out_has "1 of 5 pieces has no code"
for gpu in sm_50 sm_61 sm_75 sm_86; do
	run 0 scan "${old[@]/sm_86/$gpu}" cudnn/liboptix_prime.so.1
	out_lacks "no code"
done

# A piece of another kind is named by its number.
for command in check scan; do
	run 2 $command "${new[@]}" libkind.so
	cat "$out" "$err" >"$work/both"
	says "$work/both" "1 piece of kind 0x20" || fail "$command is silent"
done
# The runtime loads lazily, so only the users of the piece fail, unless all is loaded at the start.
run 0 scan "${old[@]}" libkind.so
out_has "1 piece of code is unusable (of kind 0x20, which the driver does not know)"
CUDA_MODULE_LOADING=EAGER run 2 check "${old[@]}" libkind.so
out_has "will fail: code of the unknown kind 0x20 for sm_86"
run 2 check --json "${new[@]}" libkind.so
json 'd["verdict"] == "unsure" and d["unknown"] == 1'

# a machine with such a driver
is_wine || {
	export SIMDRIVER_VERSION=580.65.06 SIMDRIVER_CUDA=13000
	rm -rf "$work/state"
	run 2 prime tile/libtile.so
	out_has "Nothing to compile: these files have no code that jitwarm could compile."
	err_has "1 piece of Tile IR for sm_86, compiled by the driver at first load"
	run 2 prime libtile_and_ptx.so
	out_has "it has nothing left to compile, except for code that jitwarm cannot judge"
	run 2 check libtile_and_ptx.so
	out_has "the only module in the cache; jitwarm cannot tell about other code"
	run 2 prime --json libtile_and_ptx.so
	json 'd["tile"] == 1 and d["warm"] == 1'
	run 2 doctor libtile_and_ptx.so
	out_has "unsure: 1 piece of Tile IR"
	run 2 find tile
	out_has "cannot tell whether a start compiles anything"
	environment "$work/env" 1.0
	cp tile/libtile.so "$(site_of "$work/env")/frame/"
	dist_info "$(site_of "$work/env")" frame 1.0 frame/libtile.so
	VIRTUAL_ENV=$work/env run 2 prime
	VIRTUAL_ENV=$work/env run 2 status
	out_has "frame 1.0: jitwarm cannot tell whether a start compiles anything"
}

# A program loads of a family of files machine code for its GPU before PTX, as Cycles does. If none of them runs, one counts for all: that
# which needs a newer driver. Other numbers in names tell kernels apart.
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import os
import fatbin

text = b".version %s\n.target sm_75\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n\0"
for folder, number in ("family", "_sm_"), ("kernels", "_"):
    os.mkdir(folder)
    for sm in 61, 70, 86:
        open(f"{folder}/kernel{number}{sm}.cubin", "wb").write(fatbin.old_cubin(sm, "k", 64))
open("family/kernel_compute_75.ptx", "wb").write(text % (b"8.1", b"k"))
open("kernels/kernel_75.ptx", "wb").write(text % (b"8.1", b"k"))

# A library chooses by the GPU among containers in its data: one that is too new is for another GPU if others run.
def one(sm, version):
    return fatbin.container(fatbin.entry(fatbin.PTX, sm, text % (version, b"k%d" % sm), isa=tuple(map(int, version.split(b".")))))

open("chooses.so", "wb").write(fatbin.elf((".rodata", one(75, b"8.7") + one(80, b"7.0"), 1, 0x200000)))
PYTHON
for command in check scan lint; do
	target=(--target sm_86)
	[[ $command != lint ]] || target=(--gpus sm_86)
	run 0 $command "${target[@]}" --driver 550.163.01 family
	out_has "$([[ $command == lint ]] && echo " 0 modules " || echo "nothing to compile")"
	out_lacks "530"
done
for run in first second; do # the second one from the inventory
	run 1 check --all "${old[@]}" family
	out_has "1 of 1 module"
	run 1 check "${old[@]/sm_86/sm_80}" family
	out_has "1 of 1 module"
	run 1 check "${old[@]}" kernels
	out_has "1 of 1 module"
	run 0 check "${old[@]}" family
	out_has "nothing to compile"
done
for command in check scan; do
	run 2 $command --target sm_80 --driver 525.147.05 --json family
	json 'len(d["failing"]) == 1 if "failing" in d else d["totals"][0]["failing"] == 1'
done
run 2 check --target sm_80 --driver 525.147.05 family
out_has "1 file will fail"
out_has "kernel_compute_75.ptx: will fail: PTX newer than the driver reads for sm_80; it needs driver 530"
out_lacks "cubin"
run 2 lint --gpus sm_80 --driver 525.147.05 family
out_lacks "cubin: will fail"
run 1 check "${old[@]}" chooses.so
err_lacks "too new for this driver"
# Older drivers compile one module of two, and no program fails with them.
run 0 scan --target sm_80,sm_86,sm_89 --driver 580 chooses.so
out_has "  570+ (older drivers load less code)"
