# A library fails, a part of it fails, or it runs: small libraries get one answer from every command (docs/internals/compat.md).
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import fatbin

def cubin(sm, cuda=124):
    return fatbin.entry(fatbin.CUBIN, int(sm), fatbin.old_cubin(int(sm), "k", 64, cuda))

def ptx(sm, suffix=b"", version=b"8.0"):
    text = b".version %s\n.target sm_%d%s\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n\0" % (version, sm, suffix)
    return fatbin.entry(fatbin.PTX, sm, text, isa=tuple(map(int, version.split(b"."))))

one = fatbin.container

def data(name, good, *others):
    registered = b"".join(good)
    open(name, "wb").write(fatbin.elf((".nv_fatbin", registered, 1, 0x100000), (".rodata", b"".join(others), 1, 0x200000)))

# k80.so has a container in its data for sm_80 alone; k90a.so has it for sm_80 and compute_90a.
data("k80.so", [one(ptx(75))], one(cubin(80)))
data("k90a.so", [one(ptx(75))], one(cubin(80), ptx(90, b"a")))
data("most.so", [one(ptx(75))], *[one(cubin(80), ptx(90, b"a"))] * 3)
data("newer.so", [one(cubin(90))], *[one(cubin(80), ptx(90, version=b"8.7"))] * 3)
data("set.so", [one(ptx(75))], one(cubin(80)), one(cubin(90)), one(cubin(120)))
# As in TensorFlow 2.3.1 for Linux, the linked code lacks the GPU, and the inputs of the link were stripped.
open("stripped.so", "wb").write(fatbin.library(one(cubin(70, 101)), objects=[]))
# CUDA 12's runtimes report the error only to the linked kernels, so the start goes on.
open("stripped-12.so", "wb").write(fatbin.library(one(cubin(70)), one(cubin(80)), one(cubin(80)), objects=[]))
# As in XGBoost 1.7.6, both the linked code and its inputs lack the GPU.
open("linked.so", "wb").write(fatbin.library(one(cubin(80)), objects=[one(cubin(80)), one(cubin(80))]))
# As in TensorFlow 2.19, the inputs of the link have lost their machine code; in another library, none was for sm_75.
open("pruned.so", "wb").write(fatbin.library(one(cubin(75), cubin(80)), one(cubin(75)), one(cubin(75)), objects=[one(ptx(80))] * 2))
open("unpruned.so", "wb").write(fatbin.library(one(cubin(75), cubin(80)), one(cubin(75)), one(cubin(75)), objects=[one(cubin(80))]))
# Here PTX alone was linked, and the result for sm_75 is empty.
hollow = one(fatbin.entry(fatbin.CUBIN, 75, fatbin.old_cubin(75)), cubin(80))
open("hollow.so", "wb").write(fatbin.library(hollow, one(cubin(75)), one(cubin(75)), objects=[one(ptx(80))]))
# As in eigh-cuda128 0.4.1, neither the linked code nor the input of its link declares anything. In another library, an input has a kernel.
nothing = one(fatbin.entry(fatbin.PTX, 52, b".version 8.7\n.target sm_52\n.address_size 64\n\0", isa=(8, 7)))
linked = one(fatbin.entry(fatbin.CUBIN, 52, fatbin.old_cubin(52)))
open("nothing.so", "wb").write(fatbin.library(linked, objects=[nothing]))
open("something.so", "wb").write(fatbin.library(linked, objects=[nothing, one(ptx(52))]))
# As in onnxruntime-gpu 1.31.1 for Windows, files without kernels were compiled to machine code for one GPU alone.
def without_kernels(sm, compression=None):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "__nv_reservedSMEM_offset_0_alias", 64, kind=0x20), compression=compression)

open("without.so", "wb").write(fatbin.library(one(cubin(86)), *[one(without_kernels(90))] * 5))
# As in cuequivariance-ops-cu12 0.13.0, kernels are for newer GPUs alone (__CUDA_ARCH__), in machine code for each GPU or in PTX.
def variable(sm, room=64, compression=None):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "v", room, kind=0x11), compression=compression)

nothing75 = fatbin.entry(fatbin.PTX, 75, b".version 6.3\n.target sm_75\n.address_size 64\n.global .u32 v;\n\0")
guarded = {"raw": without_kernels(75), "lz4": without_kernels(75, "lz4"), "zstd": without_kernels(75, "zstd"),
           "variable": variable(75), "variables": variable(75, 8000), "variables-zstd": variable(75, 8000, "zstd"), "text": nothing75}
for name, entry in guarded.items():
    open(f"guarded-{name}.so", "wb").write(fatbin.library(one(entry, cubin(80))))
open("guarded-part.so", "wb").write(fatbin.library(one(without_kernels(75), cubin(80)), one(cubin(75), cubin(80))))
open("guarded.fatbin", "wb").write(one(without_kernels(75), cubin(80)))
# Here the kernels are for older GPUs alone, and the PTX has none. Other code has no kernels at all.
nothing90 = fatbin.entry(fatbin.PTX, 90, b".version 8.0\n.target sm_90\n.address_size 64\n\0", isa=(8, 0))
open("older.so", "wb").write(fatbin.library(one(cubin(75), nothing90)))
open("variables.so", "wb").write(fatbin.library(one(variable(75), variable(80))))
# Each kernel has a form for sm_80 and one for sm_90: the library chooses.
forms = [one(cubin(80), without_kernels(90)), one(without_kernels(80), cubin(90))]
open("forms.so", "wb").write(fatbin.library(*forms * 3))
# nvcc links each library: without relocatable code, the result declares nothing.
open("nvcc.so", "wb").write(fatbin.library(one(without_kernels(75)), one(without_kernels(75), cubin(80)), objects=[]))
# As in faiss-gpu 1.7.2, cuBLAS has sets for Pascal, Volta and Turing.
open("sets.so", "wb").write(fatbin.library(*[one(cubin(60), cubin(70), ptx(75))] * 6, *[one(cubin(60), cubin(61))] * 2, *[one(cubin(70))] * 3))
# As in sglang-kernel, the largest library of a package is for other GPUs. Another one has code for the GPU: for its family alone, or not.
def family(sm):
    own = bytearray(cubin(sm))
    own[40:48] = (int.from_bytes(own[40:48], "little") | 0x200000).to_bytes(8, "little")
    return bytes(own)

import zipfile
for name, own in ("family", family(120)), ("plain", cubin(120)):
    with zipfile.ZipFile(f"{name}-1.0-py3-none-manylinux_2_17_x86_64.whl", "w") as wheel:
        wheel.writestr(f"{name}/flash.so", fatbin.library(*[one(cubin(80))] * 3))
        wheel.writestr(f"{name}/core.so", fatbin.library(one(cubin(80), own)))
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\n")
# As in vLLM 0.11.2, with FlashAttention 2 for each GPU, and 3, which has most pieces, for Hopper.
with zipfile.ZipFile("attention-1.0-py3-none-manylinux_2_17_x86_64.whl", "w") as wheel:
    wheel.writestr("attention/_C.abi3.so", fatbin.library(*[one(cubin(90), cubin(120))] * 4))
    wheel.writestr("attention/flash_attn/_fa2_C.abi3.so", fatbin.library(*[one(cubin(80), ptx(80, version=b"8.7"))] * 3))
    wheel.writestr("attention/flash_attn/_fa3_C.abi3.so", fatbin.library(*[one(cubin(80), cubin(90))] * 6))
    wheel.writestr("attention-1.0.dist-info/METADATA", "Name: attention\nVersion: 1.0\n")
# Pieces without code for an H100 beside one that needs a newer driver; in chosen.so, those without are for another family alone.
for name, others in ("lacking.so", one(cubin(80), cubin(86))), ("chosen.so", one(family(100), family(120))):
    open(name, "wb").write(fatbin.library(*[one(cubin(80), cubin(90))] * 4, others, others, one(ptx(80, version=b"8.7"))))
# As in jaxlib's wheels, each container has its architectures in another order.
texts = [(52, b"", b"8.0"), (90, b"a", b"8.0"), (75, b"", b"7.5")]
open("orders.so", "wb").write(fatbin.library(*[one(*[cubin(sm) for sm in sms], *[ptx(*text) for text in texts[at:] + texts[:at]])
                                               for at, sms in enumerate(([90, 60, 75], [120, 80, 60], [86, 90, 50]))]))
PYTHON
on=(--target sm_120 --driver 580.65.06)

for file in k80.so k90a.so; do
	run "0|1" scan "${on[@]}" $file
	out_has "1 of 2 pieces has no code for this GPU"
	run 1 lint --gpus sm_120 --driver 580.65.06 $file
	out_has "1 of 2 pieces has no code for sm_120"
	run "0|1|2" check "${on[@]}" $file
	err_has "$file: 1 of 2 pieces has no code for sm_120: programs that use this piece fail"
	run "0|1" scan --json "${on[@]}" $file
	json 'd["totals"][0]["verdict"] == "compiles" and d["totals"][0]["lacking"] == 1 and "1 of 2 pieces" in d["totals"][0]["part"] and d["totals"][0]["failing"] == 0'
done
run 2 scan "${on[@]}" most.so
out_has "most.so: will fail: 3 of 4 pieces have no code for sm_120"
run 2 lint --gpus sm_120 --driver 580.65.06 most.so
run 2 scan --json "${on[@]}" most.so
json 'd["totals"][0]["verdict"] == "fails" and "3 of 4 pieces" in d["totals"][0]["reason"] and "needs" not in d["totals"][0]'
run 2 scan --json --target sm_90 --driver 550.163.01 newer.so
json 'd["totals"][0]["verdict"] == "fails" and d["totals"][0]["needs"].startswith("570") and "3 of 4 pieces need driver 570" in d["totals"][0]["reason"]'
# The library has a set of containers for one architecture each, and chooses one.
run "0|1" scan "${on[@]}" set.so
out_lacks "no code"

for gpu in sm_75 sm_86; do
	run "$([[ $gpu == sm_75 ]] && echo 0 || echo 2)" check --target $gpu --driver 550.163.01 stripped.so
done
out_has "stripped.so: will fail: its linked code has no machine code for sm_86 and cannot be linked again: a start ends with error 200"
run 2 scan --json --target sm_86 --driver 550.163.01 stripped.so
json 'd["totals"][0]["verdict"] == "fails" and "error 200" in d["totals"][0]["reason"]'
run 0 scan --target sm_86 --driver 550.163.01 stripped-12.so
out_has "1 of 3 pieces has no code for this GPU: programs that use this piece fail"
run 2 scan --target sm_90 --driver 550.163.01 linked.so # the file has nothing else

run 0 scan --target sm_75 --driver 550.163.01 pruned.so
out_lacks "no code"
run 0 check --target sm_75 --driver 550.163.01 pruned.so
err_lacks "no code"
for file in unpruned.so hollow.so; do
	run 0 scan --target sm_75 --driver 550.163.01 $file
	out_has "2 of 4 pieces have no code for this GPU"
done
run 0 scan --json --target sm_75 --driver 550.163.01 hollow.so
json '[p.get("hollow", False) for p in d["files"][0]["pieces"]].count(True) == 1 and all(p["linked"] for p in d["files"][0]["pieces"] if p.get("hollow"))'
run 0 scan --json --target sm_75 --driver 550.163.01 pruned.so
json 'not any("hollow" in p for p in d["files"][0]["pieces"])'
# Drivers 525 and 550 do not read PTX 8.7; driver 470 is too old for the CUDA runtime.
for driver in 525.60.13 550.163.01 580.65.06; do
	run 0 check --target sm_86 --driver $driver nothing.so
	out_has "nothing to compile"
done
run 0 scan --json --target sm_86 --driver 550.163.01 nothing.so
json '[(t["verdict"], t["failing"], "needs" in t) for t in d["totals"]] == [("runs", 0, False)]'
run 2 check --target sm_86 --driver 470.57.02 nothing.so
out_has "it needs driver 525 (CUDA 12.0) or newer"
run 0 scan --target sm_86 --driver 550.163.01 something.so
out_has "1 piece of code is unusable (too new: it needs driver 570 (CUDA 12.8) or newer)"
run 0 scan --target sm_86 --driver 550.163.01 without.so
out_lacks "no code"
run 0 scan --json --target sm_86 --driver 550.163.01 without.so
json '[(p["containers"], p.get("empty", False)) for p in d["files"][0]["pieces"]] == [(1, False), (5, True)]'
for file in guarded-{raw,lz4,zstd,variable,variables,variables-zstd,text}.so guarded.fatbin nvcc.so; do
	run 2 scan --target sm_75 --driver 550.163.01 $file
	out_has "$file: will fail: no kernel image for sm_75"
	run 0 scan --target sm_86 --driver 550.163.01 $file
	out_lacks "no code"
done
run 0 scan --json --target sm_75 --driver 550.163.01 guarded-part.so
json '[[e.get("hollow", False) for e in p["entries"]] for p in d["files"][0]["pieces"]] == [[True, False], [False, False]]'
json 'd["totals"][0]["part"] == "guarded-part.so: 1 of 2 pieces has no code for sm_75: programs that use this piece fail (kernels: k)"'
for gpu in sm_80 sm_90; do
	run 0 scan --target $gpu --driver 550.163.01 forms.so
	out_lacks "no code"
done
run 2 check --json --target sm_75 --driver 550.163.01 guarded-raw.so
json '[(f["error"], f["cause"]) for f in d["failing"]] == [("named symbol not found (500)", "it has no code for sm_75")]'
# Without a kernel, no program uses a registered container.
for gpu in sm_75 sm_86 sm_120; do
	run 0 scan --target $gpu --driver 580.65.06 variables.so
	out_has "no code that a driver loads"
done
run 0 scan --target sm_75 --driver 550.163.01 older.so
out_lacks "no code"
run 2 scan --target sm_90 --driver 550.163.01 older.so
out_has "older.so: will fail: no kernel image for sm_90"
for gpu in sm_70 sm_75; do
	run 0 scan --target $gpu --driver 550.163.01 sets.so
	out_lacks "no code"
done
run 0 scan --target sm_86 --driver 550.163.01 sets.so
out_has "5 of 11 pieces have no code for this GPU"

sleep 3 # jitwarm remembers nothing of a file that was written a moment ago
for command in scan check check; do # the second check reads no file again
	run "0|1" $command "${on[@]}" family-1.0-py3-none-manylinux_2_17_x86_64.whl
	cat "$out" "$err" >said
	grep -qF "flash.so: no code for sm_120: a program that uses this file fails" said || fail "$command: no part fails"
	run 2 $command "${on[@]}" plain-1.0-py3-none-manylinux_2_17_x86_64.whl
	out_has "flash.so: will fail: no kernel image for sm_120"
done

# FlashAttention 2 fails, though 3 runs. Programs choose 3 by the GPU, and do without it.
wheel=attention-1.0-py3-none-manylinux_2_17_x86_64.whl
run "0|1" check --target sm_90 --driver 550.163.01 $wheel
err_has "_fa2_C.abi3.so: 3 of 3 pieces need driver 570 (CUDA 12.8) or newer: programs that use these pieces fail"
run "0|1" scan --json "${on[@]}" $wheel
json '[(t["verdict"], t["failing"], "part" in t) for t in d["totals"]] == [("compiles", 0, False)]'

# The driver is named beside pieces without code, and is a warning of lint even if those are for another family.
for file in lacking.so chosen.so; do
	run 0 check --target sm_90 --driver 550.163.01 $file
	err_has "$file: 2 of 7 pieces have no code for sm_90, and 1 more needs driver 570 (CUDA 12.8) or newer: programs that use these pieces fail"
	run 1 lint --gpus sm_90 --driver 550.163.01 $file
	out_has "and 1 more needs driver 570"
	run 0 scan --json --target sm_90 --driver 550.163.01 $file
	json '"and 1 more needs driver 570" in d["totals"][0]["part"]'
done

# The document also lists GPUs that the driver does not run.
run 2 scan --json --target sm_86,sm_120 --driver 550.163.01 k80.so
json '[(r["target"], r["needs"][:3]) for r in d["refused"]] == [("sm_120", "570")] and [t["target"] for t in d["totals"]] == ["sm_86"]'

run 2 scan --json --target sm_120 --driver 550.163.01 k80.so
json 'd["files"] == [] == d["totals"] and d["refused"][0]["target"] == "sm_120" and d["refused"][0]["needs"][:3] == "570"'
err_has "does not run sm_120"

# A build for the CPU is reported as one, and no driver is named.
python3 -c 'import zipfile; zipfile.ZipFile("torch-2.1.0-py3-none-any.whl", "w").writestr("torch/a.py", "")'
run "0|2" scan --json --target sm_86 --driver 550.163.01 torch-2.1.0-py3-none-any.whl
json '[(t["verdict"], t["driver_from"]) for t in d["totals"]] == [("no-code", 0)]'

# Architectures are listed in their order, whatever it is in the file.
run 0 scan --json --target sm_86,sm_61 orders.so
json 'all(list(f[m]) == sorted(f[m], key=lambda t: int(t.split("_")[1].rstrip("a"))) for f in d["files"] for m in ("cubins", "ptx"))'
json 'all(sms == sorted(sms) for sms in ([int(e["target"].split("_")[1]) for e in p["entries"]] for p in d["files"][0]["pieces"]))'
json '[e["target"] for e in d["files"][0]["pieces"][0]["entries"]] == ["compute_52", "sm_60", "sm_75", "compute_75", "sm_90", "compute_90"]'
is_wine && exit 0
# Without a driver, scan lists them on one line.
run 0 scan orders.so
out_has "  sm_50 × 1, sm_60 × 2, sm_75 × 1, sm_80 × 1, sm_86 × 1, sm_90 × 2, sm_120 × 1, compute_52 × 3, compute_75 × 3, compute_90a × 3"

# Neither prime nor a second check calls a start warm that fails; doctor says it, too.
with_simdriver sm_86
for round in first second; do
	run 2 check stripped.so
	out_has "stripped.so: will fail: its linked code has no machine code for sm_86 and cannot be linked again: a start ends with error 200"
	out_lacks "warm"
	run 2 prime stripped.so
	out_has "Nothing is compiled: no code in these files can run on these GPUs."
done
run 2 doctor --no-probe stripped.so
out_has "no-code: "
out_has "error 200"
run 2 doctor --no-probe --json stripped.so
json 'd["verdict"] == "fails" and "error 200" in d["reason"] and "needs" not in d'
SIMDRIVER_CUDA=13000 SIMDRIVER_VERSION=580.65.06
export SIMDRIVER_CUDA SIMDRIVER_VERSION
with_simdriver sm_120
run 1 doctor --no-probe --json most.so # the piece that runs is cold
json 'd["findings"][0]["id"] == "no-code" and "3 of 4 pieces have no code for sm_120" in d["reason"] and any("3 of 4 pieces" in f["evidence"] for f in d["findings"])'
run "0|1" doctor --no-probe --json k90a.so
json '"1 of 2 pieces has no code for sm_120" in d["part"] and "reason" not in d'
