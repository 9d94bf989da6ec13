# For a name that leads to no device code, every command says what it is and what to name instead, with the same words and status.
differs_for WINDOWS
cd "$work" || fail "cd"
mkdir lib
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >lib/a.ptx
printf 'import torch\n' >train.py
printf '#!/usr/bin/env python3\nimport torch\n' >train
printf '__global__ void k() {}\n' >a.cu
printf 'int main(void) { return 0; }\n' >a.c
: >empty
printf 'torch==2.4.1\n' >requirements-dev.txt
printf '[project]\nname = "lab"\ndependencies = ["torch"]\n' >pyproject.toml
printf '\1\2\3\0\4' >model.bin
python3 -c 'import bz2, gzip, lzma
for name, pack in ("foo.tar.gz", gzip), ("foo.tar.bz2", bz2), ("foo.tar.xz", lzma): open(name, "wb").write(pack.compress(b"x" * 999))'
refused() { # FILE TEXT
	local command
	for command in "check --target sm_86 --driver 550.163.01" "scan --target sm_86" "make -n --target sm_86 --driver 550.163.01 -o cache/" \
		lint "doctor --no-probe"; do
		if [[ $command == make* && $1 == *.cu ]]; then continue; fi
		# shellcheck disable=SC2086
		run 64 $command "$1"
		err_has "$1: $2"
		out_lacks "no device code"
	done
}
snapshot refused train.py "a Python script"
snapshot refused train "a Python script"
snapshot refused a.c "a text"
snapshot refused a.cu "CUDA C source, which only “jitwarm prime” compiles"
# Another line handles lists of packages.
snapshot refused requirements-dev.txt "a list of packages: “jitwarm scan --index -r requirements-dev.txt”"
refused pyproject.toml "a project: “uv pip compile pyproject.toml -o requirements.txt” lists its packages, then “jitwarm scan --index -r requirements.txt”"
for command in prime scan; do
	snapshot run "2|64" $command pyproject.toml requirements-dev.txt
done
snapshot refused empty "empty"
snapshot refused model.bin "not a kind of file that holds device code"
snapshot refused foo.tar.gz "compressed by gzip"
snapshot refused foo.tar.bz2 "compressed by bzip2"
snapshot refused foo.tar.xz "compressed by xz"
# Beside a judged file, a part is left; a folder is searched only for files that may hold code.
snapshot run 1 lint --gpus rtx30 lib/a.ptx train.py
cp train.py a.cu lib
run 0 lint --gpus rtx30 lib
out_has "a.ptx"
# prime takes sources: here only the compiler is missing.
snapshot run "1|2|3" make --nvrtc none --target sm_86 --driver 550.163.01 -o cache/ a.cu
err_lacks "CUDA C source"

# Files of real formats without device code are judged.
python3 -c 'import io, tarfile, zipfile
zipfile.ZipFile("pure-1-py3-none-any.whl", "w").writestr("pure/a.py", "pass")
with tarfile.open("a.tar", "w") as tar: tar.add("a.c")'
for each in pure-1-py3-none-any.whl a.tar; do
	run 0 check --target sm_86 --driver 550.163.01 "$each"
	out_has "no device code found"
done

# A build for the CPU is reported as such if its name promises device code or its version denies it.
for each in torch-2.9.0-cp312-cp312-manylinux_2_28_aarch64.whl flash_attn-2.8.3-cp312-cp312-win_amd64.whl thing-1.0+cpu-py3-none-any.whl; do
	cp pure-1-py3-none-any.whl "$each"
	snapshot run 0 check --target sm_86 --driver 550.163.01 "$each"
	out_lacks "no device code found"
done

for each in torch-2.9.0-cp312-none-macosx_11_0_arm64.whl thing-1.0-py3-none-macosx_11_0_arm64.whl; do
	cp pure-1-py3-none-any.whl "$each"
done
snapshot run 0 scan --target sm_86 torch-2.9.0-cp312-none-macosx_11_0_arm64.whl thing-1.0-py3-none-macosx_11_0_arm64.whl
[[ $(grep -c ": a file for macOS, which has no CUDA: " "$out") == 2 && $(wc -l <"$out") == 2 ]] || fail "not two lines"
# The message also names the package with the code, if it is known.
cp pure-1-py3-none-any.whl faiss_cpu-1.8-cp312-cp312-manylinux_2_28_x86_64.whl
run 0 lint faiss_cpu-1.8-cp312-cp312-manylinux_2_28_x86_64.whl
out_has "a CPU build without device code; for device code, use faiss-gpu"
# It does so beside a file with code, but not for a file that could not be read.
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >k.ptx
head -c 20 pure-1-py3-none-any.whl >torch-2.9.1-cp312-cp312-manylinux_2_28_aarch64.whl
snapshot run 1 scan --target sm_86 k.ptx faiss_cpu-1.8-cp312-cp312-manylinux_2_28_x86_64.whl torch-2.9.1-cp312-cp312-manylinux_2_28_aarch64.whl
[[ $(grep -c "a CPU build without device code; for device code, use faiss-gpu$" "$out") == 1 ]] || fail "nothing of the second file"
out_lacks "torch-2.9.1"
# A URL is not a file.
snapshot run 3 scan --target sm_86 https://localhost/torch-2.9.0-cp312-none-any.whl

# The message names the environment without device code.
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
for command in "check --target sm_86 --driver 550.163.01" "scan --target sm_86"; do
	# shellcheck disable=SC2086
	run 2 $command # there was no file, so nothing was judged
	out_has "no device code found in the virtual environment"
	out_has "env; “jitwarm find”"
	[[ $command == scan* ]] || out_has "Exit status 2: nothing was checked. 0 needs a package, a file or -e DIR."
done
site=$(site_of "$work/env")
for each in torch-2.9.0+cpu numba-0.62; do
	dist_info "$site" "${each%-*}" "${each#*-}" "${each%-*}.so"
	printf 'no code\n' >"$site/${each%-*}.so"
done
run 0 check --target sm_86 --driver 550.163.01 torch
out_has "torch 2.9.0+cpu: a CPU build without device code"
dist_info "$site" coded 1.0 coded.ptx && cp k.ptx "$site/coded.ptx"
# A package with machine code for the GPU is no CPU build, although nothing is left to compile.
dist_info "$site" torch 2.9.0 native.so
mv "$site/torch-2.9.0+cpu.dist-info" "$work/cpu"
PYTHONPATH=$cases/../../framework python3 - "$site/native.so" <<'PYTHON'
import sys, fatbin
open(sys.argv[1], "wb").write(fatbin.library(fatbin.container(fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86, "k", 64)))))
PYTHON
(cd "$site" && python3 -m zipfile -c "$work/torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl" native.so torch-2.9.0.dist-info/)
for each in torch torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl; do
	run 0 check --target sm_86 --driver 550.163.01 "$each"
	out_lacks "a CPU build"
done
mv "$work/cpu" "$site/torch-2.9.0+cpu.dist-info"
rm -r "$site/torch-2.9.0.dist-info" "$site/native.so"
run 0 scan --target sm_86 coded torch
out_has "coded.ptx"
out_has "torch 2.9.0+cpu: a CPU build without device code"
run 0 scan --target sm_86
out_lacks "a CPU build"
rm -r "$site/coded-1.0.dist-info" "$site/coded.ptx"
# A package without device code is an answer, and names the environment that was looked at.
run 0 check --target sm_86 --driver 550.163.01 numba
out_has "numba: no device code found in the virtual environment "
out_lacks "Exit status"
# The files of this environment have no code: the answer and the status are the same.
run 2 scan --target sm_86
out_has "no device code found in the virtual environment"
run 2 check --target sm_86 --driver 550.163.01
out_has "torch 2.9.0+cpu: a CPU build without device code"
out_has "no device code found in the virtual environment"
# All commands on an environment agree, with files and without. jitwarm and doctor are about the machine, unless a file is named.
(
	with_simdriver sm_86
	empty_environment "$work/bare"
	# doctor would report a cache among temporary files.
	CUDA_CACHE_PATH=$(mktemp -d /var/tmp/jitwarm-code.XXXXXX) || skip "no /var/tmp"
	trap 'rm -rf "$CUDA_CACHE_PATH"' EXIT
	for VIRTUAL_ENV in "$work/env" "$work/bare"; do
		for command in check prime "prime -n" "scan" "make --target sm_86 --driver 550.163.01 -n" "doctor -e $VIRTUAL_ENV"; do
			# shellcheck disable=SC2086
			run 2 $command
			out_has "no device code found in the virtual environment"
			out_has "; “jitwarm find” shows the environments here"
			# shellcheck disable=SC2086
			[[ $command == scan ]] || { run 2 $command --json && json 'd["verdict"] == "nothing"'; }
		done
		snapshot run 0 doctor
		run 0 status
		out_has ": no package with device code"
		snapshot run 2 -e "$VIRTUAL_ENV"
		CUDA_CACHE_MAXSIZE=1000 snapshot run 1 doctor
		out_lacks "all is well"
	done
) || exit 1
# A file's name is not that of a package in an index.
mkdir "$site/faiss_gpu_cu12-1.9.0.dist-info"
printf 'Name: faiss-gpu-cu12\nVersion: 1.9.0\n' >"$site/faiss_gpu_cu12-1.9.0.dist-info/METADATA"
snapshot run 3 scan --target sm_86 nothing.whl
err_lacks "--index"
# A removed environment is still the active one: the message explains why another is used.
is_wine || VIRTUAL_ENV=$work/gone snapshot run 3 check --target sm_86 --driver 550.163.01 frame
is_wine || err_has "(VIRTUAL_ENV is $work/gone, which is not a folder)"
