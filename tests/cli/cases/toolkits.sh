# For each CUDA toolkit, jitwarm names the drivers that load its code and start its runtime (the table of
# tests/conformance/cases_compiler.c), in loose files, libraries and archives alike.
with_simdriver sm_86
python3 - "$cases/../../framework" <<'PYTHON'
import sys, zipfile
sys.path.insert(0, sys.argv[1])
import fatbin
def wheel(name, data):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("large/" + name.split("-")[0] + ".fatbin", data)
for cuda in 117, 118, 120, 121, 122, 124, 129:
    cubin = fatbin.old_cubin(75, "k", 64, cuda)
    open("k-%d.cubin" % cuda, "wb").write(cubin)
    for packed in None, "lz4":
        # An archive's member of more than 4 MiB is not held whole while it is read.
        for form, room in ("small", 64), ("large", 5 << 20):
            cubin = fatbin.old_cubin(75, "k", room, cuda)
            small = fatbin.entry(fatbin.CUBIN, 61, fatbin.old_cubin(61, "k", 64, cuda), isa=(1, 7))
            name = "%s%s-%d" % (form, packed or "", cuda)
            data = fatbin.container(fatbin.entry(fatbin.CUBIN, 75, cubin + bytes(room // 2), compression=packed, isa=(1, 7)), small,
                                    fatbin.entry(fatbin.CUBIN, 80, fatbin.old_cubin(80, "k", 6 << 20, cuda), isa=(1, 7)) if room > 64 else small)
            open(name + ".fatbin", "wb").write(data)
            wheel(name + ".whl", data)
# The container has no code, so no program misses it.
data = fatbin.container(fatbin.entry(fatbin.CUBIN, 75, fatbin.old_cubin(75), isa=(1, 7)),
                        *[fatbin.entry(fatbin.CUBIN, 61, fatbin.old_cubin(61), isa=(1, 7))] * 20000)
open("empty.fatbin", "wb").write(data)
wheel("empty.whl", data)

def library(cubins, ptx, runtime):
    entries = [fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64, cuda), isa=(1, 7)) for cuda in cubins for sm in (61, 75)]
    entries += [fatbin.entry(fatbin.PTX, 50, fatbin.ptx_payload(b".version %d.%d\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n" % v), isa=v)
                for v in ptx]
    code = fatbin.container(*entries)
    names = b"\0libm.so.6\0" + (runtime[0].encode() + b"\0" if runtime else b"")
    return (fatbin.elf((".dynstr", names, 3, 0x1000), (".nv_fatbin", code, 1, 0x100000)),
            fatbin.pe(["KERNEL32.dll", *runtime[1:]], (".nv_fatb", code)))
for name, made in {
    "static-80": ([80], [], ()), "static-102": ([102], [], ()), "static-110": ([110], [], ()), "static-118": ([118], [], ()),
    "static-121": ([121], [], ()), "static-text-102": ([], [(6, 5)], ()), "static-text-118": ([80], [(7, 8)], ()),
    "shared-80": ([80], [], ("libcudart.so.8.0", "cudart64_80.dll")), "shared-101": ([101], [], ("libcudart.so.10.1", "cudart64_101.dll")),
    "shared-110": ([118], [], ("libcudart.so.11.0", "cudart64_110.dll")), "shared-vendored": ([116], [], ("libcudart-d0da41ae.so.11.0", "CUDART64_110.DLL")),
    "shared-12": ([121], [], ("libcudart.so.12", "cudart64_12.dll")),
}.items():
    for ending, data in zip((".so", ".dll"), library(*made)):
        open(name + ending, "wb").write(data)
        wheel(name + ending + ".whl", data)
open("cut.dll", "wb").write(library([110], [], ("", "cudart64_110.dll"))[1][:0x420])
PYTHON

for cuda in 117 121 122 129; do
	for of in k-$cuda.cubin largelz4-$cuda.whl; do
		for driver in 470.256.02:117:121 525.147.05:117:129; do
			IFS=: read -r driver first last <<<"$driver"
			status=2
			[[ $cuda -lt $first || $cuda -gt $last ]] || status=0
			snapshot run $status scan --target sm_75 --driver "$driver" "$of"
			[[ $status == 0 ]] || out_has "it needs driver 525 (CUDA 12.0) or newer"
		done
	done
done
for of in empty.fatbin empty.whl; do
	run 0 scan --target sm_86 --json $of
	json '[f["verdicts"]["sm_86"]["nothing"] for f in d["files"]] == [0] and d["files"][0]["containers"] == 1'
done

# A library's runtime is its compiler's; from CUDA 11 on, the major version decides.
for name in static-80 static-102 static-110 static-118 static-121 static-text-102 static-text-118 shared-80 shared-101 shared-110 shared-vendored shared-12; do
	for ending in so dll.whl; do
		snapshot run 0 scan --target sm_61 "$name.$ending"
	done
done
snapshot run "0|3" scan --target sm_61 cut.dll
while read -r name cuda shared; do
	run 0 scan --target sm_61 --json "$name.dll"
	json "[(f['runtime_cuda'], f['runtime_shared']) for f in d['files']] == [($cuda, $shared)]"
done <<'TABLE'
static-102 10020 False
static-118 11080 False
static-text-118 11080 False
shared-101 10010 True
shared-110 11080 True
shared-12 12010 True
TABLE
# No driver runs it on this GPU.
run 2 scan --target sm_86 --json static-118.so
json '[(t["driver_from"], t["driver_to"], t["fails_to"]) for t in d["totals"]] == [(0, 0, 0)]'
snapshot run 2 scan --target sm_70 --json static-118.so

# A driver beyond the tables is accepted, and the answer says so.
printf '.version 9.5\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >text.ptx
for each in 621.10; do
	run 0 scan --target sm_86 --driver $each text.ptx
	err_empty
done
snapshot run 2 scan --target sm_86 --driver 13.4 text.ptx
for each in 13.6 650.10; do
	for command in "scan --target sm_86" "lint --gpus sm_86"; do
		# shellcheck disable=SC2086
		snapshot run 0 $command --driver $each text.ptx
	done
	snapshot run "1|2" check --target sm_86 --driver $each text.ptx
done
