# An environment's packages bring compilers that programs use at run time (NVRTC, NVVM, nvJitLink, ptxas): check and doctor say which are
# too new for the driver, and which are too old for the GPU.
with_simdriver sm_86
driver=550.200.01
! is_wine || driver=551.61
empty_environment "$work/env"
site=$(site_of "$work/env")
export VIRTUAL_ENV=$work/env
# package NAME VERSION FILE...: installs it into the environment
package() {
	local file
	dist_info "$site" "$@"
	for file in "${@:3}"; do
		[[ -e $site/$file ]] || echo x >"$site/$file"
	done
}
remove() { rm -rf "${site:?}"/*; }
# compilers STATUS ARGUMENT... -- EXPRESSION: EXPRESSION is true for c, the list of lines about compilers
compilers() {
	local status=$1 words=()
	shift
	while [[ $1 != -- ]]; do words+=("$1"); shift; done
	run "$status" check --json "${words[@]}"
	json "(lambda c: $2)([w['why'] for w in d['compilers']])"
}
reads="and driver $driver reads up to 8.4: such PTX fails (222)"

# Compilers of the driver's CUDA version, or older ones, are fine.
package nvidia-cuda-nvrtc-cu12 12.4.127 nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4 nvidia/cuda_nvrtc/lib/libnvrtc.so.12
package nvidia-nvjitlink-cu12 12.8.93 nvidia/nvjitlink/lib/libnvJitLink.so.12
package odd 1 nvidia/odd/libnvrtc-builtins.so.1x nvidia/odd/libnvrtc-builtins.so.99999.1 nvidia/odd/libnvrtc-builtins.so. nvidia/odd/libnvvm.so nvidia/odd/ptxas
compilers 2 -- 'c == []'
run "0|1" doctor --no-probe
out_lacks "CUDA 12.4"
# For another GPU, these compilers are too old.
differs_for WINDOWS snapshot compilers 2 --target sm_120 --driver 570.26 -- "c == [\"NVRTC 12.4 does not know sm_120: programs that compile with it fail\"]"
# They are reported also beside a GPU that they know.
compilers 2 --target sm_86,sm_120 --driver 570.26 -- "c == [\"NVRTC 12.4 does not know sm_120: programs that compile with it fail\"]"

# The compilers are too new. NVRTC and NVVM write PTX, which the driver refuses; nvJitLink and ptxas write machine code, which a driver of
# the same CUDA 12 loads.
remove
package nvidia-cuda-nvrtc-cu12 12.8.93 nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8 nvidia/cuda_nvrtc/lib/libnvrtc-builtins.alt.so.12.8
package cudatoolkit 11.8.0 nvidia/old/libnvvm.so.4
package nvidia-cuda-nvcc-cu12 12.6.85 nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so
package nvidia-nvjitlink 13.0.39 nvidia/cu13/lib/libnvJitLink.so.13
compilers 2 -- "sorted(c) == sorted([\"NVRTC 12.8 writes PTX 8.7, $reads\", \"NVVM 12.6 writes PTX 8.5, $reads\", \"nvJitLink 13.0 writes machine code that driver $driver does not load: programs fail\"])"
snapshot run 2 check
differs_for WINDOWS snapshot run 1 doctor --no-probe --json
json '[f["fix"] for f in d["findings"] if f["id"] == "compiler"] == ["install driver 580 (CUDA 13.0) or a newer one, or nvJitLink of CUDA 12.4"]'
compilers 2 --target sm_86 --driver 580.65 -- 'c == []'

# nvJitLink links a relocatable file of PTX (cuDF's shim), whatever the driver: the environment's newest nvJitLink decides if it reads the PTX.
remove
package cudf-cu12 25.8.0 cudf/core/udf/shim_86.fatbin
python3 - "$cases/../../framework" "$site/cudf/core/udf/shim_86.fatbin" <<'PYTHON' || fail "cannot write the file"
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
text = b".version 8.8\n.target sm_86\n.address_size 64\n.visible .func (.param .b32 r) add_one(.param .b32 a)\n{\n\tret;\n}\n\0"
open(sys.argv[2], "wb").write(fatbin.container(fatbin.entry(fatbin.PTX, 86, text, "--compile-only ", isa=(8, 8))))
PYTHON
(pipes= && compilers 0 --target sm_86 --driver 535.309.01 -- 'c == []') || exit 1
package nvidia-nvjitlink-cu12 12.8.93 nvidia/nvjitlink/lib/libnvJitLink.so.12
links="shim_86.fatbin, which has PTX 8.8" # behind a path, which on Windows has other separators
run 0 check --target sm_86 --driver 535.309.01
out_has "$links"
(
	pipes=
	for any in 535.309.01 575.51.03; do
		compilers "0|1|2" --target sm_86 --driver $any cudf-cu12 -- "len(c) == 1 and \"$links\" in c[0] and d['compilers'][0]['fails']"
	done
	compilers 0 --target sm_80 --driver 535.309.01 -- 'c == []'
	run 1 doctor --no-probe --json
	json '[f["fix"] for f in d["findings"] if f["id"] == "compiler"] == ["install nvJitLink of CUDA 12.9 or a newer one"]'
	package nvidia-nvjitlink 12.9.86 nvidia/nvjitlink9/lib/libnvJitLink.so.12
	compilers 0 --target sm_86 --driver 535.309.01 -- 'c == []'
) || exit 1

# The compilers are newer than any CUDA release that jitwarm knows.
remove
package nvidia-cuda-nvrtc 99.1.37 nvidia/cu99/lib/libnvrtc-builtins.so.99.1
newer="NVRTC 99.1 writes newer PTX than driver $driver reads (8.4): such PTX fails (222)"
snapshot compilers 2 -- "c == [\"$newer\"]"
snapshot run 2 check
differs_for WINDOWS snapshot run 1 doctor --no-probe
out_has "$newer"
compilers 2 --target sm_86 --driver 99.1 -- 'c == []'

# The compilers are too new for the GPU, whatever the driver: CUDA 13 begins with sm_75.
remove
package nvidia-cuda-nvrtc 13.0.48 nvidia/cu13/lib/libnvrtc-builtins.so.13.0
package nvidia-nvvm 13.0.48 nvidia/cu13/nvvm/lib64/libnvvm.so
package nvidia-nvjitlink 13.0.39 nvidia/cu13/lib/libnvJitLink.so.13
gone() { printf "%s 13.0 makes no code for %s, and programs that compile with it fail; the last that does is 12.9" "$@"; }
for driver_13 in 550.163.01 580.65; do
	for gpu in sm_61 sm_70; do
		snapshot compilers 2 --target $gpu --driver $driver_13 -- "sorted(c) == sorted([\"$(gone NVRTC $gpu)\", \"$(gone nvJitLink $gpu)\"] + [\"$(gone NVVM $gpu)\"] * ('NVVM' in str(c)))"
	done
done
compilers 2 --target sm_75 --driver 580.65 -- 'c == []'
with_simdriver sm_61
differs_for WINDOWS snapshot run 1 doctor --no-probe --json
json '[f["fix"] for f in d["findings"] if f["id"] == "compiler"] == ["install NVRTC of CUDA 12.9 or an older one"]'
with_simdriver sm_86
export VIRTUAL_ENV=$work/env
remove
package nvidia-cuda-nvrtc-cu11 11.8.89 nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.11.8
compilers 2 --target sm_35 --driver 470.256.02 -- 'c == ["NVRTC 11.8 writes PTX 7.8, and driver 470.256.02 reads up to 7.4: such PTX fails (222)"]'

# Even if one package is named, its programs use the compilers of the whole environment, but NVRTC only if its files name it.
remove
package cupy-cuda12x 13.3.0 cupy/_core.so
{ cat "$sample" && printf 'libnvrtc.so'; } >"$site/cupy/_core.so"
package plain 1.0 plain/_core.so
cp "$sample" "$site/plain/_core.so"
package nvidia-cuda-nvrtc-cu12 12.8.93 nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8 nvidia/cuda_nvrtc/lib/libnvrtc.so.12
run 1 check --json
cp "$out" "$work/whole"
compilers 1 cupy-cuda12x -- "c == [\"NVRTC 12.8 writes PTX 8.7, $reads\"] == [w['why'] for w in json.load(open('$work/whole'))['compilers']]"
snapshot run 1 check cupy-cuda12x
snapshot compilers 1 "$site/cupy/_core.so" -- "c == [\"NVRTC 12.8 writes PTX 8.7, $reads\"]"
# The environment of a named file, and for a wheel the active one, need not be named.
compilers 1 "$site/plain/_core.so" -- 'c == []'
(unset VIRTUAL_ENV && compilers 1 "$site/cupy/_core.so" -- "c == [\"NVRTC 12.8 writes PTX 8.7, $reads\"]") || exit 1
cp "$site/cupy/_core.so" "$work/nvrtc.so"
(cd "$work" && mkdir wheel && mv nvrtc.so wheel && python3 -m zipfile -c "$work/cupy-1.0-py3-none-any.whl" wheel)
compilers 1 "$work/cupy-1.0-py3-none-any.whl" -- "c == [\"NVRTC 12.8 writes PTX 8.7, $reads\"]"
compilers 1 plain -- 'c == []'
differs_for WINDOWS snapshot run "0|1" doctor --no-probe plain
out_lacks NVRTC
compilers 0 nvidia-cuda-nvrtc-cu12 -- "c == [\"NVRTC 12.8 writes PTX 8.7, $reads\"]"
# Any of a package's files may name it, and what no program loads counts in no version and place
package nvidia-cuda-nvrtc 13.0.48 nvidia/cu13/lib/libnvrtc-builtins.so.13.0
package nvidia-nvjitlink 13.0.39 nvidia/cu13/lib/libnvJitLink.so.13
snapshot compilers 1 plain -- 'len(c) == 1 and "nvJitLink" in c[0]'
package late 1.0 late/a.so late/b.so
cp "$sample" "$site/late/a.so"
cp "$site/cupy/_core.so" "$site/late/b.so"
compilers 1 late -- 'len(c) == 3'
# A sparse file, which costs nothing to make, is not searched for the name.
if ! is_wine && truncate -s 15T "$site/late/b.so"; then
	limit=20 snapshot run 1 check late
fi

# The file has its Windows name.
remove
package nvidia-cuda-nvrtc-cu12 12.9.86 nvidia/cuda_nvrtc/bin/nvrtc-builtins64_129.dll
compilers 2 -- "c == [\"NVRTC 12.9 writes PTX 8.8, $reads\"]"

# Users do not wait for code that only a package's own tests load, and nothing fails without it.
remove
package numba-cuda 0.20 numba_cuda/numba/cuda/tests/data/jitlink.ptx numba_cuda/tests_of/used.ptx numba_cuda/tests/newer.ptx
ptx() { printf '.version 7.0\n.target %s\n.address_size 64\n.visible .entry %s() { ret; }\n' "$2" "$1"; }
ptx jitlink sm_70 >"$site/numba_cuda/numba/cuda/tests/data/jitlink.ptx"
ptx newer sm_90 >"$site/numba_cuda/tests/newer.ptx"
ptx used sm_70 >"$site/numba_cuda/tests_of/used.ptx"
differs_for WINDOWS snapshot run 1 check --json
snapshot run 1 check
run 1 check --json --all
json 'd["cold"] == 2 and not d["failing"] and d["part"].endswith("newer.ptx: no code for sm_86; the package runs without it")'
run 1 check --json "$site/numba_cuda/numba/cuda/tests/data/jitlink.ptx"
json 'd["cold"] == 1'
# Every command agrees, also for the wheel.
(cd "$site" && python3 -m zipfile -c "$work/numba_cuda-0.20-py3-none-any.whl" numba_cuda)
wheel=$work/numba_cuda-0.20-py3-none-any.whl
for of in numba-cuda "" "$wheel"; do
	run 1 check --json ${of:+"$of"}
	json 'd["cold"] == d["left_out"] == 1 and not d["failing"]'
	run 0 scan --json ${of:+"$of"}
	json '[(t["modules"], t["left_out"]) for t in d["totals"]] == [(1, 1)] and len(d["files"]) == 3'
	json '[f["verdicts"]["sm_86"]["left_out"] for f in d["files"] if "jitlink" in (f.get("member") or f["path"])] == [True]'
	run 1 prime -n --json ${of:+"$of"}
	json 'd["cold"] == d["left_out"] == 1'
	run "1|2" prime -n --json --all ${of:+"$of"}
	json 'd["cold"] == 2'
done
differs_for WINDOWS snapshot run 1 check --json --all "$wheel"
json 'd["cold"] == 2 and not d["failing"] and d["part"].endswith("newer.ptx: no code for sm_86; the package runs without it")'
named=$site/numba_cuda/numba/cuda/tests/data/jitlink.ptx
run 1 prime -n --json "$named"
json 'd["cold"] == 1'
run 0 scan --json "$named"
json '[t["modules"] for t in d["totals"]] == [1]'

# Triton's ptxas contains its own version; Triton has a second one for newer GPUs.
is_wine && exit 0
remove
# program FILE RELEASE: writes a ptxas of that release
program() {
	mkdir -p "$(dirname "$site/$1")"
	python3 - "$site/$1" "$2" <<'PYTHON'
import os, struct, sys
text = bytes(9000) + b"Cuda compilation tools, release %s, V%s.1\n\0" % ((sys.argv[2].encode(),) * 2) + bytes(90000)
section = lambda kind, flags, offset, size: struct.pack("<IIQQQQIIQQ", 0, kind, flags, 0, offset, size, 0, 0, 1, 0)
header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 3, 0)
body = section(0, 0, 0, 0) + section(1, 6, 64, 100) + section(1, 2, 256, len(text))
open(sys.argv[1], "wb").write(header + body + text)
os.chmod(sys.argv[1], 0o755)
PYTHON
}
program triton/backends/nvidia/bin/ptxas 13.0
package triton 3.5.0 triton/backends/nvidia/bin/ptxas
snapshot compilers 2 -- 'c == ["ptxas 13.0 writes machine code that driver '"$driver"' does not load: programs fail"]'
program triton/backends/nvidia/bin/ptxas 12.4
compilers 2 -- 'c == []'
compilers 2 --target sm_120 --driver 580.65 -- 'len(c) == 1 and "ptxas 12.4 does not know sm_120" in c[0]'
# JAX and TensorFlow themselves report a ptxas that is newer than the driver, and go on; they do not use NVVM.
slower="ptxas 12.8 is newer than driver $driver: JAX compiles more slowly, and nothing fails"
program nvidia/cuda_nvcc/bin/ptxas 12.8
package nvidia-cuda-nvcc-cu12 12.8.93 nvidia/cuda_nvcc/bin/ptxas nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so
compilers 2 -- "c == [\"NVVM 12.8 writes PTX 8.7, $reads\"]"
package jax-cuda12-plugin 0.4.25 jax_cuda12_plugin/plugin.so
compilers 2 -- "c == [\"$slower\"] and [w['fails'] for w in d['compilers']] == [False]"
snapshot run 2 check
run "0|1" doctor --no-probe
out_lacks "ptxas"
# They start the ptxas on PATH rather than their own: an older one reads no PTX of theirs.
program ../old/ptxas 12.2
older="JAX starts the ptxas on PATH ($(cd "$site/.." && pwd)/old/ptxas), which reads PTX up to 8.2, not 8.7: “Unsupported .version”"
(
	PATH=$(cd "$site/.." && pwd)/old:$PATH
	snapshot compilers 2 -- "c == [\"$older\"] and [w['fails'] for w in d['compilers']] == [True]"
	snapshot run "0|1" doctor --no-probe
	program ../old/ptxas 12.8
	compilers 2 -- "c == [\"$slower\"]"
	rm "$site/../old/ptxas"
	program ../old/ptxas 12.2
	rm -rf "$site"/jax_cuda12_plugin*
	compilers 2 -- '"PATH" not in str(c)'
) || exit 1
rm -r "$site/../old"
package jax-cuda12-plugin 0.4.25 jax_cuda12_plugin/plugin.so
package numba 0.60 numba/_helper.so
snapshot compilers 2 -- "sorted(c) == sorted([\"NVVM 12.8 writes PTX 8.7, $reads\", \"$slower\"])"
program nvidia/cuda_nvcc/bin/ptxas 13.0
compilers 2 -- "len([w for w in d['compilers'] if w['fails'] and w['name'] == 'ptxas']) == 1"
remove
program triton/backends/nvidia/bin/ptxas 12.4
program triton/backends/nvidia/bin/ptxas-blackwell 12.8
package triton 3.5.0 triton/backends/nvidia/bin/ptxas triton/backends/nvidia/bin/ptxas-blackwell
compilers 2 --target sm_86,sm_120 --driver 580.65 -- 'c == []'
# Files with any fault are examined and left alone.
python3 - "$site/triton/backends/nvidia/bin/ptxas" "$site/bad" <<'PYTHON'
import os, random, sys
random.seed(1)
whole = open(sys.argv[1], "rb").read()
for i in range(120):
    data = bytearray(whole)
    for _ in range(random.randrange(1, 12)):
        data[random.randrange(300)] = random.choice((0, 1, 127, 128, 255))
    os.makedirs("%s/%d" % (sys.argv[2], i))
    open("%s/%d/ptxas" % (sys.argv[2], i), "wb").write(data[:random.choice((len(data), 63, 200, 9300, 9340))])
    os.chmod("%s/%d/ptxas" % (sys.argv[2], i), 0o755)
PYTHON
snapshot run "0|1|2|3" check --json --target sm_120 --driver 580.65 "$site/bad"
rm -r "$site/bad"
# A truncated ptxas has no version.
truncate -s 300 "$site/triton/backends/nvidia/bin/ptxas-blackwell"
snapshot compilers "0|1|3" --target sm_86,sm_120 --driver 580.65 -- 'c == []'

# ---- compilers outside the environment: CUDA_HOME, the linker's cache
if ! is_wine; then
	remove
	mkdir -p "$work/toolkit/lib64"
	echo x >"$work/toolkit/lib64/libnvrtc.so.13"
	echo x >"$work/toolkit/lib64/libnvrtc-builtins.so.13.3"
	{ cat "$sample" && printf 'libnvrtc.so'; } >"$work/jit.so"
	refused="NVRTC 13.3 writes PTX 9.3, $reads"
	for place in CUDA_HOME LD_LIBRARY_PATH; do
		(
			if [[ $place == CUDA_HOME ]]; then export CUDA_HOME=$work/toolkit; else export LD_LIBRARY_PATH=$work/toolkit/lib64:$LD_LIBRARY_PATH; fi
			compilers 1 "$work/jit.so" -- "c == [\"$refused\"]"
			run 1 check "$work/jit.so"
			out_has "$refused ($work/toolkit/lib64/libnvrtc.so.13)"
			snapshot run 1 doctor --no-probe "$work/jit.so"
			# On another machine, this machine's compilers do not count.
			compilers "1|2" --target sm_86 --driver 550.163.01 "$work/jit.so" -- 'c == []'
			# A file that does not name NVRTC does not load it.
			compilers 1 "$sample" -- 'c == []'
			run 1 doctor --no-probe "$sample"
			out_lacks NVRTC
			# Numba names compilers in its Python alone.
			package numba-cuda 0.30.4 numba_cuda/cext.so
			cp "$sample" "$site/numba_cuda/cext.so"
			snapshot run 1 check numba-cuda
			remove
			# Any program of a whole environment may load it.
			package plain 1.0 plain/_core.so
			cp "$sample" "$site/plain/_core.so"
			compilers 1 -- "c == [\"$refused\"]"
			compilers 1 plain -- 'c == []'
			remove
			# A program uses its environment's compiler before these, whether the whole environment, a package, a file of it or a wheel is named.
			package nvidia-cuda-nvrtc-cu12 12.4.127 nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4 nvidia/cuda_nvrtc/lib/libnvrtc.so.12
			compilers 2 -- 'c == []'
			package cupy-cuda12x 13.3.0 cupy/_core.so
			cp "$work/jit.so" "$site/cupy/_core.so"
			cp "$work/jit.so" "$site/cupy/nvrtc.so"
			(cd "$site" && python3 -m zipfile -c "$work/cupy_cuda12x-13.3.0-py3-none-any.whl" cupy)
			rm "$site/cupy/nvrtc.so"
			for of in "" cupy-cuda12x "$site/cupy/_core.so" "$site/cupy" "$work/cupy_cuda12x-13.3.0-py3-none-any.whl"; do
				compilers 1 ${of:+"$of"} -- 'c == []'
				snapshot run "0|1" doctor --no-probe ${of:+"$of"}
			done
			# An environment that is not active has its own compiler, also a conda environment; programs outside have none of it.
			mkdir -p "$work/conda/conda-meta" "$work/conda/lib/python3.11/site-packages/cupy"
			echo x >"$work/conda/lib/libnvrtc.so.12"
			cp "$work/jit.so" "$work/conda/lib/python3.11/site-packages/cupy/_core.so"
			compilers 1 "$work/conda/lib/python3.11/site-packages/cupy/_core.so" -- 'c == []'
			(unset VIRTUAL_ENV && compilers 1 "$site/cupy/_core.so" -- 'c == []')
			compilers 1 "$work/jit.so" -- "c == [\"$refused\"]"
			rm -r "$site/nvidia"
			for of in "$site/cupy/_core.so" "$work/cupy_cuda12x-13.3.0-py3-none-any.whl"; do
				compilers 1 "$of" -- "c == [\"$refused\"]"
			done
			remove
		) || exit 1
	done
fi
