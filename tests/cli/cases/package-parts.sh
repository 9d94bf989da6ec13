# A package of which one library lacks code for the GPU gets one answer from check and prime: the package runs, and a part of it fails.
with_simdriver sm_86
export CUDA_CACHE_PATH=$work/cache
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
site=$(site_of "$VIRTUAL_ENV")
dist_info "$site" pair 1.0 pair/main.so pair/extra.so
PYTHONPATH=$cases/../../framework python3 - "$site/pair" <<'PYTHON'
import sys
import fatbin

def cubin(sm):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64))

def write(name, *containers):
    open(sys.argv[1] + "/" + name, "wb").write(fatbin.library(*map(fatbin.container, containers)))

write("main.so", cubin(86), cubin(86))
write("extra.so", cubin(90))
PYTHON

# The same files without their package are two libraries, of which one fails.
for what in pair ""; do
	run 0 check $what
	err_has "extra.so: no code for sm_86; the package runs without it"
	run 0 check --json $what
	json 'd["verdict"] == "runs" and d["failing"] == []'
	for dry in -n ""; do
		run 0 prime $dry $what
		out_lacks "can run on these GPUs"
		err_has "extra.so: no code for sm_86; the package runs without it"
		run 0 prime $dry --json $what
		json '"verdict" not in d or d["verdict"] == "runs"'
	done
done
snapshot run 0 make --target sm_86 --driver 550.163.01 -n pair
for command in check prime "prime -n"; do
	run 2 $command "$site/pair/extra.so"
done

# The files of a folder belong to their packages. Named alone, or below no RECORD, they are judged alone.
run 0 check "$site/pair"
err_has "extra.so: no code for sm_86; the package runs without it"
(
	pipes=
	run 0 check "$site"
	run 0 scan --target sm_86 "$site/pair"
	cp -r "$site/pair" "$work/copied"
	run 2 check "$work/copied"
) || exit 1

# A profiler's libraries are no part of the package: CUPTI, which Triton brings. Alone, a file is judged as it is.
dist_info "$site" profiled 1.0 profiled/main.so profiled/lib/cupti-blackwell/libcheckpoint.so profiled/lib/libnvperf_host.so
mkdir -p "$site/profiled/lib/cupti-blackwell"
cp "$site/pair/main.so" "$site/profiled/main.so"
cp "$site/pair/extra.so" "$site/profiled/lib/libnvperf_host.so"
cp "$site/pair/extra.so" "$site/profiled/lib/cupti-blackwell/libcheckpoint.so"
run 0 check profiled
err_lacks "no code for sm_86"
run 2 check "$site/profiled/lib/libnvperf_host.so"
rm -r "$site"/profiled*

# torchao runs without its libraries, which are for other GPUs, Open Image Denoise on another device, and python-vali without its one
# kernel. Files of the same names in another package say nothing of the kind, nor do cuDNN's engines about cuDNN.
dist_info "$site" torchao 1.0 torchao/_C_cutlass_90a.abi3.so torchao/_C_mxfp8.so
dist_info "$site" scene 1.0 scene/core.so scene/oidn/libOpenImageDenoise_device_cuda.so.2.0.1
dist_info "$site" python_vali 1.0 python_vali/_python_vali.cpython-311-x86_64-linux-gnu.so
dist_info "$site" cudnn 1.0 cudnn/libcudnn_engines_precompiled.so.9 cudnn/libcudnn_ops.so.9
dist_info "$site" another 1.0 another/_C_cutlass_90a.abi3.so
dist_info "$site" mytorchao 1.0 mytorchao/_C.so
PYTHONPATH=$cases/../../framework python3 - "$site" <<'PYTHON'
import os
import sys
import fatbin

def write(name, *sms):
    name = sys.argv[1] + "/" + name
    os.makedirs(os.path.dirname(name), exist_ok=True)
    code = [fatbin.container(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64))) for sm in sms]
    open(name, "wb").write(fatbin.library(*code))

write("torchao/_C_cutlass_90a.abi3.so", 90, 90)
write("torchao/_C_mxfp8.so", 100)
write("scene/core.so", 86)
write("scene/oidn/libOpenImageDenoise_device_cuda.so.2.0.1", 75, 75)
write("python_vali/_python_vali.cpython-311-x86_64-linux-gnu.so", 75)
write("cudnn/libcudnn_engines_precompiled.so.9", 86, 86, 86)
write("cudnn/libcudnn_ops.so.9", 90)
write("another/_C_cutlass_90a.abi3.so", 90)
write("mytorchao/_C.so", 90)
PYTHON
for package in torchao scene python_vali; do
	run 0 scan $package
	run 0 check $package
	err_empty
done
run 0 scan --target sm_86 --json torchao
json '[(t["verdict"], t["failing"], t["lacking"]) for t in d["totals"]] == [("runs", 0, 0)]'
# A package of NVIDIA's fails only if most of its libraries do.
run 0 scan cudnn
out_has "no kernel image for this GPU"
for of in another mytorchao; do
	run 2 scan $of
	out_has ": will fail: no kernel image for sm_86"
done

# Programs load, among variants for several CUDA versions, the one for the CUDA of the torch beside them: check and prime leave the other out.
rm -rf "${site:?}"/*
dist_info "$site" quantised 1.0 quantised/libq_cuda122.so quantised/libq_cuda123.so
dist_info "$site" torch 2.1.0 torch/lib/libtorch_cuda.so
PYTHONPATH=$cases/../../framework python3 - "$site" <<'PYTHON'
import sys
import fatbin

def write(name, kernel, minor):
    text = b".version 8.%d\n.target sm_52\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n\0" % (minor, kernel)
    entry = fatbin.entry(fatbin.PTX, 52, text, isa=(8, minor))
    open(sys.argv[1] + "/" + name, "wb").write(fatbin.library(fatbin.container(entry)))

write("quantised/libq_cuda122.so", b"old", 2)
write("quantised/libq_cuda123.so", b"new", 3)
write("torch/lib/libtorch_cuda.so", b"torch", 2)
PYTHON
run 1 check --json
json 'sorted(posix(f["path"]).split("/")[-1] for f in d["files"]) == ["libq_cuda122.so", "libtorch_cuda.so"]'
run 0 prime
run 0 check
# Without torch's files, any of them may be loaded.
run 1 check --json quantised
json 'd["gpus"][0]["modules"] == 2'
