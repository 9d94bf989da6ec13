# lint checks a wheel's claim, the architecture list of its build, in each notation against each library, and against each piece of it.
PYTHONPATH=$cases/../../framework python3 - "$work" <<'PYTHON'
import sys, zipfile
import fatbin

def ptx(target, kernel):
    text = b".version 8.0\n.target %s\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n" % (target.encode(), kernel.encode())
    return fatbin.entry(fatbin.PTX, int(target.strip("smaf_")), fatbin.ptx_payload(text), isa=(8, 0))

def cubin(sm, kernel):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, kernel, 4096))

whole = [fatbin.container(cubin(80, f"k{i}"), cubin(90, f"k{i}"), ptx("sm_90", f"k{i}")) for i in range(3)]
files = {"pkg/liball.so": fatbin.library(*whole),
         "pkg/libpart.so": fatbin.library(*whole, fatbin.container(cubin(80, "_ZN3app4gemmEPf"), ptx("sm_90", "_ZN3app4gemmEPf"))),
         "pkg/libold.so": fatbin.library(fatbin.container(cubin(80, "old"), ptx("sm_90a", "old"))),
         "pkg/k_sm_80.cubin": fatbin.old_cubin(80, "k", 64), "pkg/k_sm_90.cubin": fatbin.old_cubin(90, "k", 64),
         "pkg/k_compute_90.ptx": b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"}
with zipfile.ZipFile(sys.argv[1] + "/p-1-py3-none-any.whl", "w") as wheel:
    for name, data in files.items():
        wheel.writestr(name, data)
for name in "liball.so", "libpart.so", "libold.so":
    open(f"{sys.argv[1]}/{name}", "wb").write(files["pkg/" + name])

def save(name, *libraries):
    with zipfile.ZipFile(f"{sys.argv[1]}/{name}", "w") as wheel:
        for i, data in enumerate(libraries):
            wheel.writestr(f"pkg/lib{i}.so", data)

# Code of two CUDA versions, the newer one first, as machine code or as PTX; and code that links a runtime
newer = fatbin.entry(fatbin.CUBIN, 90, fatbin.old_cubin(90, "k", 64, 129))
isa = fatbin.entry(fatbin.PTX, 90, fatbin.ptx_payload(b".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"), isa=(8, 8))
save("m-1-py3-none-any-cu128.whl", fatbin.library(fatbin.container(newer, cubin(80, "k")), fatbin.container(cubin(86, "k"))))
save("t-1-py3-none-any-cu128.whl", fatbin.library(fatbin.container(isa, cubin(80, "k"))))
for name, cuda, version in ("cuda13", 130, (9, 0)), ("cuda12", 129, (8, 8)):
    text = b".version %d.%d\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n" % version
    both = fatbin.container(fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86, "k", 64, cuda)),
                            fatbin.entry(fatbin.PTX, 90, fatbin.ptx_payload(text), isa=version))
    open(f"{sys.argv[1]}/{name}.so", "wb").write(fatbin.library(both))
save("r-1-py3-none-any-cu130.whl", fatbin.elf((".dynstr", b"\0libcudart.so.12\0", 3, 0x1000), (".nv_fatbin", fatbin.container(cubin(80, "k")), 1, 0x100000)))

# Wheels of listed packages, on RTX 20, RTX 30, RTX 50 and H100: only90 runs on the last alone; two libraries of long PTX take over a
# second, and each takes less; a part of `part` fails on all but the H100
text = fatbin.ptx_payload(b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .f32 %f<9>;\n" + b"\tfma.rn.f32 %f1, %f2, %f3, %f1;\n" * 8000 + b"\tret;\n}\n")
long = fatbin.library(fatbin.container(cubin(80, "k"), fatbin.entry(fatbin.PTX, 80, text, isa=(8, 0))))
only90 = fatbin.library(fatbin.container(cubin(90, "k")))
every = fatbin.container(cubin(75, "k"), cubin(80, "k"), cubin(90, "k"), cubin(120, "k"))
part = fatbin.library(every, every, every, fatbin.container(cubin(90, "k"), cubin(100, "k")))
linux = "cp312-cp312-manylinux_2_27_x86_64.whl"
save(f"onnxruntime_gpu-1.24.4-{linux}", only90)
save(f"onnxruntime_gpu-1.23.2-{linux}", only90)
save(f"onnxruntime_gpu-1.25.0-{linux}", long, long)
save(f"onnxruntime_gpu-1.25.1-{linux}", long)
save(f"bitsandbytes-0.44.1-{linux}", long, long)
save(f"onnxruntime_gpu-1.26.0-{linux}", part)
save(f"onnxruntime_gpu-1.28.0-{linux}", part)
save("part-1-py3-none-any.whl", part)
save(f"torch-2.12.0-{linux}", only90)
save(f"vllm-0.33.0-{linux}", only90)
save(f"xgboost-3.4.1-{linux}", fatbin.library(every, every, every, fatbin.container(ptx("sm_90a", "k"))))
save(f"xgboost-3.3.0-{linux}", only90)
save(f"xgboost-3.2.0-{linux}", fatbin.library(every))
PYTHON
cd "$work" || fail "cd"

# Each notation gives the same answer.
for list in "8.0;9.0+PTX" "80-real;90" "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]"; do
	run 0 lint --arch-list "$list" --each liball.so
	out_has "The library has the code of --arch-list: sm_80, sm_90, compute_90"
done
snapshot run 0 lint --arch-list 80-real --arch-list 90 liball.so
# Without --gpus, lint judges the GPUs of the list.
run 0 lint --arch-list "8.0;9.0" --json liball.so
json '[g["target"] for g in d["gpus"]] == ["sm_80", "sm_90"] and d["claims"] == [] and d["compared"] == 1 and d["labelled"] == 0'

# All pieces of a library lack one architecture; the existing code shows how large it would be.
snapshot run 1 lint --arch-list "8.0;9.0;12.0+PTX" liball.so
snapshot run 1 lint --arch-list "8.0;12.0" --json liball.so
# One piece lacks it: reported only with --each, with its kernels.
snapshot run 0 lint --arch-list "8.0;9.0" --gpus a100 libpart.so
snapshot run 1 lint --arch-list "8.0;9.0" --gpus a100 --each libpart.so
# PTX for one GPU alone does not count as PTX for newer ones.
snapshot run 1 lint --arch-list "8.0;9.0+PTX" --gpus a100 libold.so
snapshot run 0 lint --arch-list "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=compute_90a" --gpus a100 --json libold.so

# A failing program alone is 2. With anything that is 1, the status is 1.
run 2 lint --gpus rtx20 libold.so
run 1 lint --gpus rtx20 --arch-list 9.0 libold.so
out_has "libold.so: it lacks sm_90" "will fail"
snapshot run 1 lint --gpus rtx20,h100 --max-start 0 libold.so
snapshot run 2 lint --gpus rtx20 libold.so part-1-py3-none-any.whl

# In a wheel, members are named, loose files that are variants of each other count as one, and exempt members are left out and named.
snapshot run 1 lint --arch-list "80-real;90" --gpus a100 p-1-py3-none-any.whl
snapshot run 0 lint --arch-list "80-real;90" --gpus a100 --except="libold.*" p-1-py3-none-any.whl
snapshot run 0 lint --gpus rtx20 --except="lib?ld.so" libold.so
snapshot run 0 lint --gpus h100 --except="*" --json libold.so
# Annotations name the file.
snapshot run 1 lint --arch-list "8.0;9.0" --gpus a100 --format github p-1-py3-none-any.whl

# These lists are invalid.
run 64 lint --arch-list native liball.so
err_has "“native” means the GPU of the machine that builds, which jitwarm does not know; name the architectures"
snapshot run 64 lint --arch-list all-major liball.so
snapshot run 64 lint --arch-list rtx4090 liball.so
snapshot run 64 lint --each liball.so

# The cause is one line, and the cheapest cure comes first: PTX for one GPU alone should be PTX for all newer ones.
run 2 lint --gpus rtx50 libold.so
out_has "sm_120 (RTX 50): will fail: no kernel image for sm_120: its only PTX is compute_90a, which no other GPU accepts"
out_has "Building compute_90 in place of compute_90a costs nothing"
[[ $(grep -n "in place of" "$out" | cut -d: -f1) -lt $(grep -n ": -gencode arch=compute_120,code=sm_120" "$out" | cut -d: -f1) ]] || fail "not the cheapest first"
out_has "Code for sm_120 (RTX 50) avoids this; adds about 4."
snapshot run 2 lint --gpus rtx50 --json libold.so
run 2 lint --gpus rtx20 liball.so
out_has "its oldest code is for sm_80"
run 1 lint --gpus rtx50 --max-start 0 liball.so
out_has "saves under 0.1 s of a first start"

# If the driver is older than the toolkit, more code of that toolkit avoids nothing, but within a major version it does.
snapshot run 2 lint --gpus rtx30,h100,gtx1080 --driver 570 cuda13.so
snapshot run 2 lint --gpus rtx30 --driver 570 --format github cuda13.so
snapshot run 2 lint --gpus h100 --driver 570 cuda12.so
run 2 lint --gpus v100 --json cuda13.so
json '[(c["target"], c["cuda"], c["last_cuda"]) for c in d["codes"]] == [("sm_70", 9000, 12090)]'

# Each of two files has its annotation, with its own numbers.
mkdir two && cp libold.so two/a.so && cp liball.so two/b.so
snapshot run 2 lint --gpus rtx50 --format github two/a.so two/b.so
[[ $(wc -l <"$out") == 2 ]] || fail "not an annotation for each file"

# The file is [tool.jitwarm.lint] of the working directory's pyproject.toml; the command line takes precedence.
mkdir project && cp libpart.so libold.so project/ && cd project || fail "cd"
cat >pyproject.toml <<'TOML'
[project]
name = "model"

[tool.jitwarm.lint]
arch-list = "8.0;9.0" # the notation of the build
each = true
except = [
  "libold.*", # another project's
]
gpus = ["a100"]
max-start = '5s'
TOML
snapshot run 1 lint --json libpart.so libold.so
snapshot run 0 lint --arch-list 8.0 libpart.so
snapshot run 0 lint --gpus rtx30 --arch-list 80-real --max-start 0 libold.so libpart.so
for wrong in 'archs = "8.0"' 'each = "yes"' 'gpus = ["a100"' 'max-start = "soon"' 'arch-list = "native"'; do
	printf '[tool.jitwarm.lint]\n%s\n' "$wrong" >pyproject.toml
	snapshot run "3|64" lint libpart.so
done
printf '[tool.jitwarm.lint]\narchs = "8.0"\n' >pyproject.toml
run 64 lint libpart.so
err_has "pyproject.toml, line 2: [tool.jitwarm.lint] has no “archs”; it has arch-list, each, except, max-start, gpus and driver"

# The variant label in a wheel's name (PEP 825) names machine code and a CUDA version; other words mean nothing
cd "$work" || fail "cd"
label() { cp p-1-py3-none-any.whl "p-1-py3-none-any-$1.whl" && printf 'p-1-py3-none-any-%s.whl' "$1"; }
snapshot run 0 lint --except "libold.*" "$(label cu129_sm90)"
snapshot run 1 lint --gpus a100 "$(label cu129_sm_90_sm120)"
snapshot run 1 lint --gpus a100 --each --except "libold.*" --json "$(label sm90)"
# Together with --arch-list each has its own lines
run 1 lint --gpus a100 --arch-list "8.0" --except "libold.*" --json "$(label sm80_sm120)"
json '{(c["code"], c.get("label")) for c in d["claims"] if c["level"] == "error"} == {("sm_120", "sm80_sm120")}'
snapshot run 1 lint --gpus a100 --arch-list "9.0" --json "$(label sm90_sm120)"
# Each of several wheels has its own label; without --gpus, all of them name GPUs, or those on sale are judged
run 1 lint --json --except "libold.*" "$(label cu129_sm90)" "$(label sm120)"
json '[g["target"] for g in d["gpus"]] == ["sm_90", "sm_120"] and {c["path"] for c in d["claims"] if c["level"] == "error"} == {"p-1-py3-none-any-sm120.whl"}'
run 1 lint --json "$(label cu129_sm90)" libold.so
json '"sm_75" in [g["target"] for g in d["gpus"]]'
snapshot run 1 lint --gpus a100 libold.so "$(label cu118)"
run 64 lint --each "$(label cu118)"
err_has "--each needs a list of GPUs: add --arch-list, or name a wheel whose label names GPUs"
# The code's CUDA version: these cubins say 12.4
for word in cu12 cu12.4 cu124 cuda129; do
	run 0 lint --gpus a100 "$(label $word)"
	out_has "All libraries fit the label"
done
run 1 lint --gpus a100 "$(label cu118)"
out_has "the wheel's label is “cu118”, but CUDA 12.4 compiled it, so it may need a newer driver; build it with CUDA 11.8, or change the label"
snapshot run 1 lint --gpus a100 --format github "p-1-py3-none-any-cu118.whl"
# The newest piece decides, also by the ISA of its PTX; a linked runtime has to be of the label's major version
for name in m t; do
	snapshot run 1 lint --gpus a100 $name-1-py3-none-any-cu128.whl
done
snapshot run 1 lint --gpus a100 r-1-py3-none-any-cu130.whl
cp r-1-py3-none-any-cu130.whl r-1-py3-none-any-cu129.whl
snapshot run 0 lint --gpus a100 r-1-py3-none-any-cu129.whl
# Labels without a known word are no error
for word in cu0 sm9.0 null x86_64_v3 rocm64 abcd1234 cu cubin sm sm_any cuda.9; do
	run 0 lint --gpus a100 "$(label $word)"
	out_lacks "label"
done
run 0 lint --gpus a100 --json p-1-py3-none-any-null.whl
json 'd["labelled"] == 0 and d["claims"] == []'

# A release before the wheel that did better, by the list of releases
released() { cp two/a.so onnxruntime/capi/libonnxruntime_providers_cuda.so && python3 -m zipfile -c "$1" onnxruntime; }
mkdir -p onnxruntime/capi
released onnxruntime_gpu-1.23.0-cp312-cp312-manylinux_2_27_x86_64.whl
snapshot run 2 lint --gpus rtx20,rtx50 onnxruntime_gpu-1.23.0-cp312-cp312-manylinux_2_27_x86_64.whl
snapshot run 2 lint --gpus rtx20,rtx50 --json onnxruntime_gpu-1.23.0-cp312-cp312-manylinux_2_27_x86_64.whl
snapshot run 2 lint --gpus rtx50 --format github onnxruntime_gpu-1.23.0-cp312-cp312-manylinux_2_27_x86_64.whl
# No release before it, no list for the platform or the package: no comparison
for name in onnxruntime_gpu-0.1-cp312-cp312-manylinux_2_27_x86_64.whl onnxruntime_gpu-1.23.0-cp312-cp312-macosx_14_0_arm64.whl mine-1.23.0-cp312-cp312-manylinux_2_27_x86_64.whl; do
	released "$name"
	run 2 lint --gpus rtx50 --json "$name"
	json 'd["before"] == []'
done
# One that runs as well is none that does worse
cp liball.so onnxruntime/capi/libonnxruntime_providers_cuda.so && rm -f onnxruntime/capi/a.so && python3 -m zipfile -c onnxruntime_gpu-1.24.0-cp312-cp312-manylinux_2_27_x86_64.whl onnxruntime
run 0 lint --gpus a100 --json onnxruntime_gpu-1.24.0-cp312-cp312-manylinux_2_27_x86_64.whl
json 'd["before"] == []'

# The nearest release that was examined counts, on each GPU alone; GPUs with the same answer share a line
linux=cp312-cp312-manylinux_2_27_x86_64.whl ort=onnxruntime_gpu
snapshot run 2 lint --gpus rtx20,rtx50,rtx30,h100 $ort-1.24.4-$linux
snapshot run 2 lint --gpus rtx20,rtx30 torch-2.12.0-$linux
snapshot run 2 lint --gpus b200,rtx50 vllm-0.33.0-$linux
# Each wheel is compared alone
snapshot run 2 lint --gpus rtx30 --json xgboost-3.2.0-$linux $ort-1.24.4-$linux
snapshot run 2 lint --gpus rtx30 xgboost-3.3.0-$linux $ort-1.24.4-$linux
snapshot run 2 lint --gpus rtx30,rtx20 --format github xgboost-3.3.0-$linux $ort-1.24.4-$linux
# Compiling is worse than running, from a second for all libraries on; failing is no worse than failing, nor compiling than compiling
run 2 lint --gpus rtx20,h100,rtx50 --json $ort-1.25.0-$linux
json '[(b["target"], b["kind"]) for b in d["before"]] == [("sm_75", "fails"), ("sm_90", "compiles")]'
snapshot run 2 lint --gpus rtx20,h100,rtx50 $ort-1.25.0-$linux
run 0 lint --gpus h100 --json $ort-1.25.1-$linux
json 'd["before"] == [] and d["findings"][0]["start_seconds"]["likely"] > 0.5'
run 2 lint --gpus rtx50 --json $ort-1.23.2-$linux
json 'd["before"] == []'
# The release before it has modules to compile, too, in variants that are not loaded
run 0 lint --gpus h100 --json bitsandbytes-0.44.1-$linux
json 'd["before"] == [] and sum(f["start_seconds"]["likely"] for f in d["findings"]) > 1'
# Kernels for the GPUs of one family are no part that fails
snapshot run 0 lint --gpus rtx30 --json xgboost-3.4.1-$linux
