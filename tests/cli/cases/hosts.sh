# A library without code of its own that needs a CUDA runtime (libcudart.so.12, cudart64_12.dll) makes its package one for GPUs: a driver
# that the runtime refuses fails, whether the package is a wheel, unpacked or installed, unless other code of the package runs.
with_simdriver sm_86
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
site=$(site_of "$VIRTUAL_ENV")
PYTHONPATH=$cases/../../framework python3 - "$site" <<'PYTHON'
import os
import sys
import zipfile
import fatbin

def host(name=b"libcudart-15a7433b.so.12.6.37"):
    return fatbin.elf((".dynstr", b"\0libm.so.6\0" + name + b"\0", 3, 0x1000), (".rodata", bytes(64), 1, 0x2000))

def save(name, members):
    with zipfile.ZipFile(f"{name}-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, data in members.items():
            wheel.writestr(member, data)
            for folder in "unpacked/" + name, sys.argv[1]:
                os.makedirs(os.path.dirname(f"{folder}/{member}"), exist_ok=True)
                open(f"{folder}/{member}", "wb").write(data)
    os.makedirs(f"{sys.argv[1]}/{name}-1.0.dist-info")
    open(f"{sys.argv[1]}/{name}-1.0.dist-info/METADATA", "w").write(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    open(f"{sys.argv[1]}/{name}-1.0.dist-info/RECORD", "w").writelines(f"{member},,\n" for member in members)

plain = fatbin.elf((".dynstr", b"\0libm.so.6\0", 3, 0x1000))
cubin = fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86, "k", 64, 118), isa=(1, 7))
empty = fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86), isa=(1, 7))
runs = fatbin.elf((".dynstr", b"\0libcudart.so.11.0\0", 3, 0x1000), (".nv_fatbin", fatbin.container(cubin), 1, 0x100000))
far = fatbin.elf((".rodata", os.urandom(12 << 20), 1, 0x2000), (".dynstr", b"\0libcudart.so.12\0", 3, 0x2000000), (".data", os.urandom(12 << 20), 1, 0x3000000))
module = ".cpython-312-x86_64-linux-gnu.so"
save("compiler", {f"compiler/_c{module}": host(), "compiler.libs/libcudart-15a7433b.so.12.6.37": host(b"libcudart-15a7433b.so.12.6.37"),
                  "compiler.libs/libnvrtc-builtins.so.12.6": plain})
save("plugin", {"plugin/liba.so": plain, "plugin/libb.so": plain, "plugin/liba_cuda.so": host()})
save("beside", {"beside/core.so": runs, "beside/video.so": host()})
save("kernelless", {"kernelless/_c.so": fatbin.elf((".dynstr", b"\0libcudart.so.12\0", 3, 0x1000), (".nv_fatbin", fatbin.container(empty), 1, 0x100000))})
save("variants", {"variants/libx_cuda11.so": host(b"libcudart.so.11.0"), "variants/libx_cuda12.so": host()})
save("moved", {"moved/_c.so": far})
save("cpu", {"cpu/_c.so": plain})
open("host.pyd", "wb").write(fatbin.pe(["KERNEL32.dll", "cudart64_12.dll"]))
PYTHON

# same STATUS VERDICT DRIVER PACKAGE: check and scan have one answer for its wheel, unpacked and installed
same() {
	local named status=$1 verdict=$2 driver=$3 name=$4
	for named in "$name"-1.0-*.whl "unpacked/$name" "$name"; do
		run "$status" check --target sm_86 --driver "$driver" --json "$named"
		json "d['verdict'] == '$verdict'"
		run "$status" scan --target sm_86 --driver "$driver" --json "$named"
		json "d['totals'][0]['verdict'] == '$verdict'"
	done
}
for name in compiler kernelless moved; do
	same 2 fails 470 $name
	same 0 runs 535 $name
done
snapshot same 2 fails 470 plugin
run 0 check --target sm_86 --driver 470 beside-1.0-*.whl
run 0 check --target sm_86 --driver 470 beside
same 0 runs 470 variants
for named in cpu-1.0-*.whl unpacked/cpu cpu; do
	run 0 check --target sm_86 --driver 470 "$named"
	out_has "no device code found"
done

# The library itself is named, not the runtime that a tool has copied into the wheel; NVRTC's line is the same for each form.
for named in compiler-1.0-*.whl unpacked/compiler compiler; do
	snapshot run 2 check --target sm_86 --driver 470 "$named"
	run 0 check --target sm_86 --driver 570 "$named"
	out_has "nothing to compile"
	out_lacks "NVRTC"
done
snapshot run 2 scan --target sm_86 --driver 470 compiler-1.0-*.whl
snapshot run 0 scan --target sm_86 --driver 470 --json variants
snapshot run 2 lint --driver 470 --gpus rtx30 compiler-1.0-*.whl
snapshot run 2 check --target sm_86 --driver 470 host.pyd
run 0 check --target sm_86 --driver 535 host.pyd

# The runtime needs a driver even if this loads no code, on GPUs that only newer drivers run, too.
for named in compiler kernelless; do
	run 0 scan --target sm_86,sm_120 --json $named
	json '[(t["driver_from"], t["fails_to"]) for t in d["totals"]] == [(525, 520), (570, 0)]'
	snapshot run 0 scan --target sm_120 $named
done
