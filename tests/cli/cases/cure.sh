# If code fails, the message names the release that runs: in scan, lint, check, status and doctor, for a wheel and an installed package.
with_simdriver sm_61
export CUDA_CACHE_PATH=$work/cache
PYTHONPATH=$cases/../../framework python3 - "$work" <<'PYTHON'
import os, sys, zipfile
import fatbin

def library(*targets):
    return fatbin.library(fatbin.container(*(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64)) for sm in targets)))

os.chdir(sys.argv[1])
for name, version, tags, targets in [("torch", "2.9.0", "cp312-cp312-manylinux_2_28_x86_64", [90]), ("torch", "2.9.0", "cp312-cp312-win_amd64", [90]),
                                     ("sglang_kernel", "0.4.9", "cp310-abi3-manylinux2014_x86_64", [80]), ("cuml_cu12", "25.10.0", "cp312-cp312-manylinux_2_28_x86_64", [80]), ("unlisted", "1.0", "cp312-cp312-linux_x86_64", [90])]:
    with zipfile.ZipFile(f"{name}-{version}-{tags}.whl", "w") as wheel:
        wheel.writestr(f"{name}/lib.so", library(*targets))
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n")
        wheel.writestr(f"{name}-{version}.dist-info/RECORD", f"{name}/lib.so,,\n")
PYTHON
# advice WORD...: the command that which prints for the same question
# shellcheck disable=SC2086
advice() {
	$JITWARM which "$@" | sed -n 's/^Newest that runs: //p'
}
cure="Newest torch that runs: $(advice --target gtx1080 --platform linux torch)"
[[ ${cure//\"/} == *"pip install torch==2.14.1+cu126 --index-url "* ]] || fail "which advises something else: $cure"

# A wheel is named by its file.
for command in scan lint; do
	gpu=--target
	[[ $command == scan ]] || gpu=--gpus
	run 2 $command $gpu gtx1080 torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl
	out_has "$cure"
	snapshot run 2 $command $gpu gtx1080 sglang_kernel-0.4.9-cp310-abi3-manylinux2014_x86_64.whl
	snapshot run 2 $command $gpu gtx1080 unlisted-1.0-cp312-cp312-linux_x86_64.whl
	ask="unlisted is not in jitwarm's list; find a release that runs on sm_61 (gtx1080): jitwarm which --target sm_61 unlisted --ask"
	if [[ $command == scan ]]; then out_has "$ask"; else out_lacks "which"; fi
done
# The driver calls for an older release; for several GPUs, each has its own.
snapshot run 2 scan --target gtx1080,k80 --driver 470 torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl
# GPUs with the same cure share a line, of a release and of a question; the line names all of them.
run 2 scan --target k80,gtx1080,a100 unlisted-1.0-cp312-cp312-linux_x86_64.whl
out_has "find a release that runs on sm_37 (K80), sm_61 (gtx1080), sm_80 (A100): jitwarm which --target sm_37,sm_61,sm_80 unlisted --ask"
[[ $(grep -c "jitwarm which" "$out") == 1 ]] || fail "a line for each GPU"
run 2 scan --target all unlisted-1.0-cp312-cp312-linux_x86_64.whl
[[ $(grep -c "that runs on these [0-9]* GPUs: jitwarm which --target sm_35,sm_37,[^ ]* unlisted --ask" "$out") == 1 ]] || fail "not one line for all GPUs"
run 2 scan --target gtx1080,p100 torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl
[[ $(grep -c "^Newest torch that runs on sm_61 (gtx1080), sm_60 (P100): pip install \"\?torch==" "$out") == 1 ]] || fail "not one release for both"
snapshot run 2 scan --json --target gtx1080 torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl

# An installed library is named by its package, each file once.
is_wine && exit 0
empty_environment "$work/env"
site=$(site_of "$work/env")
python3 -m zipfile -e torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl "$site"
python3 -m zipfile -e unlisted-1.0-cp312-cp312-linux_x86_64.whl "$site"
export VIRTUAL_ENV=$work/env
run 2 check
cure="Newest torch that runs: $(advice torch)"
out_has "$cure"
out_has "unlisted is not in jitwarm's list; find a release that runs on sm_61 (GTX 10): jitwarm which unlisted --ask"
[[ $(grep -c "pip install" "$out") == 1 ]] || fail "not one cure"
# The command asks about the driver that check asked about: which --target assumes the newest one, and which without --target the installed one.
snapshot run 2 check --target gtx1080
snapshot run 2 check --driver 12.2
snapshot run 2 check --driver 12.2 --json
run 2 check torch
out_has "$cure"
run 2 check --json
install=${cure#*: }
json "[(f['package'], f.get('runs'), f.get('install'), f['cure']) for f in d['failing']] == [('torch', '2.14.1+cu126', '$install', 'install torch 2.14.1+cu126 instead: “$install”'), ('unlisted', None, None, 'find a release that runs: “jitwarm which --target sm_61 --driver 550.200.01 unlisted --ask”')]"
snapshot run 2 status
snapshot run 2 doctor
# If no release that fits the Python runs, doctor names the command that shows why; older releases of sglang-kernel are not examined.
rm -r "$site"/torch* "$site"/unlisted*
python3 -m zipfile -e sglang_kernel-0.4.9-cp310-abi3-manylinux2014_x86_64.whl "$site"
snapshot run 2 doctor
rm -r "$site"/sglang*
python3 -m zipfile -e cuml_cu12-25.10.0-cp312-cp312-manylinux_2_28_x86_64.whl "$site"
snapshot run 2 doctor
# If the list lacks the package, doctor names the command that asks the index.
rm -r "$site"/cuml*
python3 -m zipfile -e unlisted-1.0-cp312-cp312-linux_x86_64.whl "$site"
snapshot run 2 doctor
# pip's indexes know nothing of the name of conda's package, so no command names it.
mkdir -p "$work/conda/conda-meta" "$work/conda/lib"
cp "$site/unlisted/lib.so" "$work/conda/lib/libmagma.so"
printf '{"name": "libmagma", "version": "2.9.0", "files": ["lib/libmagma.so"], "depends": []}\n' >"$work/conda/conda-meta/libmagma-2.9.0-0.json"
unset VIRTUAL_ENV
export CONDA_PREFIX=$work/conda
for command in check status doctor; do
	snapshot run 2 $command
done
snapshot run 2 check --json
