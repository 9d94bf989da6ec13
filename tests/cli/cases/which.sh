# which lists the releases of a package that run on a GPU, from the list in the program, without network, GPU and driver.
is_wine && skip "the rows are of wheels for Linux"
unset PIP_INDEX_URL

# These are the answers for which the list was made.
run 1 which --target gtx1080 torch
out_has "torch on GTX 1080 (sm_61), newest driver, Linux x86-64"
out_has "  cu126  2.14.1 – 2.6.0  run, according to PyTorch's build script"
out_has "– 2.8.0  "
out_has "fail: no code for sm_61"
out_has "         2.7.1 – "
out_has "Newest that runs: pip install torch==2.14.1+cu126 --index-url https://download.pytorch.org/whl/cu126"
out_lacks "PyTorch's index has other builds"
out_has "List as of 20"
out_has "newer releases: jitwarm which --target gtx1080 torch --ask"
run 1 which --target rtx3070 --driver 550 torch
out_has "RTX 3070 (sm_86), driver 550 (CUDA 12.4)"
out_has "– 2.11.0  "
out_has "fail: they need driver 580"
out_has "pip install torch==2.14.1+cu126 --index-url https://download.pytorch.org/whl/cu126"
run 0 which --target rtx3070 --driver 580 torch

# The status is 0 if the newest release runs, also if it compiles, 1 if an older one does, 2 if none does.
run 0 which --target h100 --quiet torch
run 2 which --target gtx1080 --platform linux cuml-cu12
# If the list does not reach back to the first release, an older one may run: bitsandbytes 0.35.4 runs on a K80.
snapshot run 3 which --target k80 --platform linux bitsandbytes
snapshot run 3 which --target k80,gtx980 --platform linux bitsandbytes "jax[cuda12]"
snapshot run 3 which --target k80 --platform linux --json bitsandbytes
run 2 which --target k80 --platform linux bitsandbytes==0.50.2
snapshot run 3 which --target gtx1050ti --driver 384.130 --platform linux catboost
# Releases for other versions of Python need no examination.
run 2 which --target gtx1050ti --driver 384.130 --platform linux --python 3.11 catboost
snapshot run 2 which --target gtx1080 --platform linux --json cuml-cu12
snapshot run 1 which --target gtx1080 xgboost

# which prints at most eight rows; with --all, one for each release.
run "0|1" which --target rtx3070 tensorflow
snapshot run "0|1" which --target rtx3070 --all torch

# PyPI's builds for Windows are for the CPU alone.
run 1 which --platform windows --target rtx5090 --python 3.12 torch
out_has "torch on RTX 5090 (sm_120), newest driver, Windows x86-64, Python 3.12"
out_has "have no device code: they run on the CPU, unless they make code while they run"
out_has "  cu132  2.15.0 – "
out_has "pip install torch==2.15.0+cu132 --index-url https://download.pytorch.org/whl/cu132"
# A build says nothing of its parts, so it is not advised instead of the wheel on PyPI that lacks one.
run 0 which --target rtx2080ti --platform linux torch
out_has "  2.15.0 – 2.11.0  run without torch.linalg"
out_has "Newest that runs: pip install torch==2.10.0"
# Nothing on either index runs.
run 2 which --target gtx1080 --platform linux --python 3.3 torch
out_has "None runs: no release on PyPI or PyTorch's index runs on this GPU with Python 3.3."
# A release that PyPI has, too, is answered with all its builds; one build, and one of which PyPI's wheel was not examined, are known.
run 1 which --target gtx1080 --platform linux torch==2.8.0
out_has "  PyPI   2.8.0  fails: no code for sm_61"
out_has "  cu128  2.8.0  fails: no code for sm_61, according to PyTorch's build script"
out_has "  cu126  2.8.0  runs, according to PyTorch's build script"
out_has "To install this release: pip install torch==2.8.0+cu126 --index-url https://download.pytorch.org/whl/cu126"
# Rows for other Pythons say nothing of the builds below them.
run "0|1" which --target a100 --platform linux --python 3.9 torch
out_has "need another Python; 1.7.0 needs 3.6 to 3.8"
out_lacks "another Python; 2.0.1"
out_has "cu116  1.13.1 – 1.12.0"
out_has "according to PyTorch's build script"
run 0 which --target gtx1080 --platform linux torch===2.8.0+cu126
[[ $(grep -c '^  ' "$out") == 1 ]] || fail "more than one row"
run 2 which --target gtx1080 --platform linux torch==2.8.0+cu128
out_has "  cu128  2.8.0  fails: no code for sm_61, according to PyTorch's build script"
out_has "Newest that runs: pip install torch==2.14.1+cu126 --index-url"
run 3 which --target gtx1080 --platform windows torch==2.8.0+cu999
err_has "torch 2.8.0+cu999: not in jitwarm's list; builds with a label are on PyTorch's index (https://pytorch.org/get-started): “jitwarm which --target gtx1080 --platform windows torch==2.8.0”"
err_lacks "--ask"
# Such builds of old jaxlib have the device code themselves.
run 3 which --target v100 jaxlib==0.3.25+cuda11.cudnn82
err_has "jaxlib 0.3.25+cuda11.cudnn82: not in jitwarm's list, and PyPI has no builds with a label"
err_lacks plugin
run 0 which --target gtx1080 --platform linux torch==2.7.0
out_has "  PyPI   2.7.0, as 2.7.1  runs"
out_has "  cu118  2.7.0            runs, according to PyTorch's build script"
run 2 which --target rtx5090 --platform linux "torch>=2.0,<2.3"
out_lacks "cu118"
run 1 which --target rtx5090 --driver 570.124 --platform linux torchvision
out_has "Newest that runs: pip install torchvision==0.26.0+cu128 --index-url https://download.pytorch.org/whl/cu128"
run 1 which --target gtx1080 --platform linux --json torch
json 'd["answers"][0]["newest"] == "2.14.1+cu126"'
json '[(r["answer"], r["declared_by"], r["options"], "file" in r or "library" in r) for r in d["answers"][0]["releases"] if r["version"] == "2.14.1+cu126"] == [("runs", "PyTorch", "--index-url https://download.pytorch.org/whl/cu126", False)]'
json '[r["version"] for r in d["answers"][0]["releases"]][:3] == ["2.15.0", "2.15.0+cu132", "2.15.0+cu130"]'
json 'all("file" in r for r in d["answers"][0]["releases"] if "+" not in r["version"])'
# The wheels of flash-attn are on its releases page, where its setup.py looks for them.
run "0|1" which --target a100 --platform linux flash-attn
out_has "  2.8.3.post1 – 2.3.6  run, according to flash-attn's build script"
grep -q "pip install flash-attn==2.8.* --no-build-isolation$" "$out" || fail "no command"
# pip builds it with the installed torch, and has wheels for some versions.
out_has "First: pip install torch==2.8.0"
out_has "flash-attn has wheels for torch>=2.4,<2.9; for other versions, pip compiles it with nvcc."
run "2|3" which --target rtx2080ti --platform linux flash-attn
out_has "fail: no code for sm_75, according to flash-attn's build script"

# onnxruntime-gpu 1.23.0 fails between two patch releases that compile.
snapshot run 0 which --platform windows --target rtx5090 --json onnxruntime-gpu

# A package that everybody uses is no alarm: vLLM is made for the H100, and only what needs a newer driver is named.
run 1 which --target h100 --driver 550 vllm
run 0 which --target h100 vllm==0.8.5.post1
# Only some of its kernels are compiled, and all of it runs with a newer driver, or in an older release.
run 0 which --target h100 --platform linux vllm
out_has "run; may compile some kernels when they are first used"
out_lacks "min"
run 0 which --target h100 --driver 535 --platform linux vllm==0.11.0
out_has "For all of it: upgrade the driver to 570 or newer, or pip install vllm==0.8.5.post1"
# A row has the range of its times; libraries that a release opens by name count.
run 0 which --target rtx5090 onnxruntime-gpu
run 0 which --target rtx5090 tensorflow
# A library without code for the GPU is named if the package runs without it.
run 0 which --target rtx2080ti torch==2.15.0
# A package fails if the torch that it pins fails, also on Windows, where PyPI has torch for the CPU alone.
run 2 which --platform windows --target rtx5090 xformers==0.0.22.post7

# wheels for Linux on arm64
run "0|1" which --target gh200 torch

# the Python that a release is for
run 1 which --target rtx3070 --python 3.8 torch

# JSON has no sentences except reasons.
run 1 which --target gtx1080,rtx4090 --json torch xgboost
json '"driver" not in d and d["schema"] == "jitwarm.which/1" and d["index"] == "PyPI" and d["platform"] == "linux" and len(d["answers"]) == 4'
json '[(a["package"], a["target"]) for a in d["answers"]] == [("torch", "sm_61"), ("torch", "sm_89"), ("xgboost", "sm_61"), ("xgboost", "sm_89")]'
json 'd["answers"][0]["newest"] == "2.14.1+cu126" and d["answers"][1]["newest"] == d["answers"][1]["releases"][0]["version"]'
json '[r for r in d["answers"][0]["releases"] if r["version"] == "2.8.0"][0]["why"] == "no code for sm_61"'
json '{r["answer"] for r in d["answers"][0]["releases"]} <= {"runs", "fails", "unknown", "no_wheel"}'
snapshot run 1 which --target rtx3070 --driver 550 --json torch

# A list of packages: the unknown ones are counted.
printf 'torch>=2.1\nnumpy==1.26 ; python_version < "3.13"\n# a comment\nXGBoost\n' >requirements.txt
snapshot run 1 which --target gtx1080 -r requirements.txt
printf '%s\n' torch a{1..7} >requirements.txt
snapshot run 1 which --target gtx1080 -r requirements.txt
printf 'numpy\n' >requirements.txt
snapshot run 3 which --target gtx1080 -r requirements.txt
# Lines that are no packages are left out, and counted.
printf 'torch\n-e .\ngit+https://example.invalid/x\n-r /etc/shadow\n' >requirements.txt
snapshot run 1 which --target gtx1080 -r requirements.txt
printf -- '-e .\n' >requirements.txt
snapshot run 3 which --target gtx1080 -r requirements.txt
# A line that cannot be read costs a line and the status; the others have their answers.
printf 'torch = 2.1\nxgboost\ntorch>=banana\ntorch>=2 <3\n-e .\n\377\n' >requirements.txt
snapshot run 3 which --target gtx1080 --platform linux -r requirements.txt
run 3 which --target gtx1080 --platform linux --json -r requirements.txt
json 'len(d["answers"]) == 1 and d["unlisted"] == ["requirements.txt:1", "requirements.txt:3", "requirements.txt:4", "requirements.txt:6"]'
printf "torch>=banana%s\n" {1..40} >requirements.txt
run 3 which --target gtx1080 --platform linux -r requirements.txt
out_empty
[[ $(grep -c warning "$err") == 6 ]] || fail "not five lines and one for the others"
err_has "more lines of requirements.txt have no answer"
# Packages that the list lacks do not count as such lines.
printf 'p%s\n' {1..6} >requirements.txt
echo 'numpy>=1.16.*' >>requirements.txt
run 3 which --target gtx1080 --platform linux -r requirements.txt
err_has "warning: requirements.txt:7: jitwarm cannot read this line"
# An abi3 wheel is for the Pythons of its tag that its Requires-Python allows.
run 2 which --target b200 --python 3.14 vllm==0.19.1
out_has "0.19.1  needs Python 3.10 to 3.13"
run 0 which --target b200 --python 3.13 vllm==0.19.1
# A second word with a version of its own is a package.
run 3 which --target gtx1080 --platform linux torch 3to2==1.0
err_has "3to2: not in jitwarm's list"
printf -- '-e .\n%.0s' {1..5000} >many.txt
snapshot run 3 which --target gtx1080 -r many.txt
# An answer takes a millisecond, so a list of a million packages would take minutes.
printf 'p%s\n' {1..4097} >many.txt
run 3 which --target gtx1080 -r many.txt
err_has "jitwarm: many.txt: more than 4096 packages, or lines that name none: divide the list"
rm many.txt
snapshot run "3|64" which --target gtx1080 -r absent.txt

# The answer is for the release that a list pins, or for those within its range, on the platform of its marker.
printf 'xgboost==1.6.2 --hash=sha256:%064d\ntorch >= 2, < 2.3 # a range\ncupy-cuda12x ; sys_platform == "win32"\n' 0 >pins.txt
printf '[[packages]]\nname = "xgboost"\nversion = "1.6.2"\n' >pylock.toml
echo '{"version": "1", "install": [{"is_direct": false, "metadata": {"name": "xgboost", "version": "1.6.2"}}]}' >report.json
run 2 which --target rtx5090 --platform linux -r pins.txt
out_has "  1.6.2  compiles its kernels when it starts, up to "
out_has "  2.2.2 – 2.0.0  fail: no code for sm_120"
out_lacks "cupy"
for list in pylock.toml report.json; do
	run 0 which --target rtx5090 --platform linux -r $list
	out_has "  1.6.2  compiles its kernels when it starts, up to "
	out_lacks "3.4.1  "
done
run 2 which --target rtx5090 --platform linux pins.txt
out_has "  1.6.2  compiles its kernels when it starts, up to "
run 0 which --target rtx5090 --platform linux --json "xgboost>=2.1.4,!=3.0.*"
json '{r["version"].partition(".")[0] for r in d["answers"][0]["releases"]} == {"2", "3"} and not any(r["version"].startswith(("3.0.", "2.0")) for r in d["answers"][0]["releases"])'
snapshot run 64 which --target rtx5090 "xgboost>=x"
snapshot run 3 which --target rtx5090 "xgboost>99"
# A pin that the list lacks costs a line and the status, and the others have their answers.
printf 'torch==99.1\nxgboost>99\nxgboost==3.4.1\n' >pins.txt
snapshot run 3 which --target rtx5090 --platform linux -r pins.txt
# A pipe is a list, too: standard input, and what the shell has opened (“<(pip freeze)”).
if ! is_wine; then
	run 0 which --target rtx5090 --platform linux -r /dev/fd/3 3< <(cat report.json)
	out_has "  1.6.2  compiles its kernels when it starts, up to "
	# shellcheck disable=SC2086
	echo xgboost==1.6.2 | $JITWARM which --target rtx5090 --platform linux -r - >"$out" || true
	out_has "  1.6.2  compiles its kernels when it starts, up to "
fi
snapshot run 3 which --target rtx5090 -r -
# Python is named as people name it.
for python in 3.9 3.9.18 python3.9 cp39 Python-3.9; do
	run 0 which --target rtx3070 --python $python xgboost==2.1.4
done
for python in 3 abc 3.x 3.9.x python 3.123; do
	snapshot run 64 which --target rtx3070 --python $python torch
done

# These words are not packages, or not in the list.
run 3 which --target gtx1080 no-such-package
err_has "no-such-package: not in jitwarm's list; “jitwarm which --target gtx1080 no-such-package --ask” looks at its releases"
# Software for GPUs that the list lacks is not said to have no device code, nor taken for another package.
for name in tensorrt cudf-cu12 numba-cuda nvidia-cublas-cu12; do
	run 3 which --target rtx3070 $name
	err_has "jitwarm: $name: not in jitwarm's list; “jitwarm which --target rtx3070 $name --ask” looks at its releases"
	err_one_line
done
# A package without device code names those that have it, also with --ask: the wheels of keras do not name what it runs on.
while IFS='|' read -r name sources command; do
	run 3 which --target rtx3070 "$name"
	err_has "jitwarm: $name: its code for GPUs comes from $sources: “jitwarm which --target rtx3070 $command”"
	err_one_line
done <<'ROWS'
sageattention|triton|triton
comfyui|torch, torchvision and torchaudio|torch torchvision torchaudio
numba|numba-cuda|numba-cuda --ask
keras|torch, tensorflow or jax|torch
ROWS
run 3 which --target rtx3070 keras --ask
err_has "keras: its code for GPUs comes from torch, tensorflow or jax: “jitwarm which --target rtx3070 torch --ask”"
err_one_line
printf 'torch\nkeras\n' >requirements.txt
run 0 which --target rtx3070 --platform linux -r requirements.txt
out_has "Newest that runs: pip install torch=="
err_has "keras: its code for GPUs comes from torch, tensorflow or jax"
# A package that has another name now: the newer releases have that one.
run 0 which --target rtx3070 --platform linux tensorflow-gpu
out_has "Newer releases have another name: jitwarm which --target rtx3070 --platform linux tensorflow"
# A package that runs for another version of CUDA is named.
run 2 which --target v100 --platform linux cupy-cuda13x
out_has "Built for another CUDA, it runs: jitwarm which --target v100 --platform linux cupy-cuda12x"
run 2 which --target gtx1080 --platform linux "jax[cuda13]"
out_has "Built for another CUDA, it runs: jitwarm which --target gtx1080 --platform linux jax-cuda12-plugin"
run 2 which --target k80 --platform linux jax-cuda13-plugin
out_lacks "another CUDA"
# The builds of others are on an index of their own.
run 3 which --target rtx3070 llama-cpp-python
err_has "llama-cpp-python: not in jitwarm's list; the builds for GPUs are on an index of llama-cpp-python: “pip install llama-cpp-python --extra-index-url https://abetlen.github.io/llama-cpp-python/whl/cu124”"
run 3 which --target rtx3070 paddlepaddle-gpu
err_has "on an index of Paddle: “pip install paddlepaddle-gpu --index-url https://www.paddlepaddle.org.cn/packages/stable/cu126/”"
# An unknown name costs a line and the status; the others have their answers, wherever they stand.
run 3 which --target rtx3070 --driver 550 --platform linux --python 3.11 no-such-package==1 torch xgboost
err_has "no-such-package: not in jitwarm's list; “jitwarm which --target rtx3070 --driver 550 --platform linux --python 3.11 no-such-package==1 --ask” looks at its releases"
out_has "torch on RTX 3070"
out_has "xgboost on RTX 3070"
run 3 which --target rtx3070 --json torch numpy torch==99
json '[(a["package"], a["index"], a["date"] == d["date"]) for a in d["answers"]] == [("torch", "PyPI", True)] and d["unlisted"] == ["numpy", "torch==99"]'
run 3 which --target rtx3070 --json numpy scipy
json 'd["answers"] == [] and d["unlisted"] == ["numpy", "scipy"]'
run 3 which --target rtx3070 numpy scipy
out_empty
err_has "jitwarm: warning: scipy: not in jitwarm's list;"
# Several GPUs have a release for all of them.
run 1 which --target gtx1080ti,a100 --platform linux torch
out_has "Newest that runs on both GPUs:"
out_has "  torch  2.7.1  GTX 1080 Ti (sm_61): 2.15.0 fails: no code for sm_61"
out_has "Keep pip from what fails: jitwarm which --target gtx1080ti,a100 --platform linux --constraints -o gpu.txt"
out_has "Then: pip install -c gpu.txt torch"
run 1 which --target gtx1080ti,a100 --platform linux --json torch
json '[a["newest_on_all"] for a in d["answers"]] == ["2.14.1+cu126"] * 2'
run 2 which --target gtx1080ti,rtx5090 --platform linux triton
out_has "  triton  none  GTX 1080 Ti (sm_61): "
run 0 which --target rtx3070,rtx4090 --platform linux torch==2.8.0
out_lacks "on all"
# A driver that does not run the GPU is no failure of the command, and hides no other GPU's answer
run 2 which --target sm_120 --driver 470 torch
err_has "driver 470 (CUDA 11.4) does not run sm_120"
err_one_line
snapshot run 1 which --target sm_120,rtx3070 --driver 550 torch
# The answer names the package with the device code of the named one.
for names in cuml=cuml-cu12 cupy=cupy-cuda12x faiss=faiss-gpu-cu12 faster-whisper=ctranslate2 jaxlib=jax-cuda12-plugin PyTorch=torch \
	spconv=spconv-cu120; do
	snapshot run 3 which --target h100 "${names%=*}"
	snapshot run "0|1" which --target h100 --platform linux "${names#*=}"
done

# The GPU has its name from nvidia-smi.
snapshot run 0 which --target "NVIDIA GeForce RTX 4060 Laptop GPU" torch

# A program compiles what it uses at first use: a user of onnxruntime-gpu 1.23 waited ten seconds, not “8 to 31 min”.
run 0 which --target rtx5090 --driver 580 --platform linux --json onnxruntime-gpu
json 'next((r["answer"], r["modules"], r["loading"], r["start_seconds"]["low"]) for r in d["answers"][0]["releases"] if r["version"] == "1.23.2") == ("compiles", 151, "lazy", 0)'
# XGBoost 1.7.6 has CUDA 11.8's runtime, 1.6.2 an older one: drivers from 535 on load the former lazily.
for driver in 525 550; do
	run "0|1" which --target sm_90 --driver $driver --platform linux --json xgboost
	json '[r["loading"] for r in d["answers"][0]["releases"] if r["version"] in ("1.7.6", "1.6.2")] == ["'"$([[ $driver == 525 ]] && echo eager || echo lazy)"'", "eager"]'
done
run 0 which --target rtx5090 --driver 580 --platform linux onnxruntime-gpu

# The active environment's Python counts with --target, too; --python takes precedence.
empty_environment "$work/env"
[[ $(site_of "$work/env") =~ python(3\.[0-9]+) ]] || fail "no version in $(site_of "$work/env")"
python=${BASH_REMATCH[1]}
export VIRTUAL_ENV=$work/env
run 0 which --target h100 torch
run "0|1" which --target h100 --python 3.10 torch
unset VIRTUAL_ENV

# If no release runs, the reason may be the Python, the driver or the platform.
run 2 which --target h100 --platform linux --python 3.3 cuml-cu12
out_has "None runs: no release on PyPI runs on this GPU with Python 3.3."
# A release that a newer driver runs fails because of the driver, even if a larger library of it lacks code.
run 1 which --target rtx2080 --driver 470 --platform linux vllm
run 1 which --target rtx2080 --driver 525 --platform linux vllm
run 2 which --target rtx2080 --driver 450 --platform linux cuml-cu12
run 2 which --target rtx5090 --platform windows vllm

# NAME==VERSION, which is how which says what to install, answers for that release alone.
run 2 which --target rtx5090 --platform linux tensorflow==2.19.1
out_has "  2.19.1  "
out_has "Other releases: jitwarm which --target rtx5090 --platform linux tensorflow"
out_has "Newest that runs"
[[ $(grep -c '^  [0-9]' "$out") == 1 ]] || fail "more than one row"
run 0 which --target gtx1080 --platform linux "torch == 2.7.1"
snapshot run 0 which --target gtx1080 --platform linux --json xgboost==2.0.3
snapshot run 3 which --target gtx1080 torch==99
# 2.7 is 2.7.0, whose wheel was not examined; those of 2.7.1 and 2.6.0 have the same answer.
for version in 2.7 2.7.0; do
	run 0 which --target gtx1080 --platform linux torch==$version
	out_has "  PyPI   2.7.0, as 2.7.1  runs"
	err_empty
done
run 0 which --target gtx1080 --platform linux "torch>=2.7,<2.7.1"
out_has "  2.7.0  runs"
run 0 which --target gtx1080 --platform linux --json torch==2.7.0
json '[(r["version"], r["answer"], r["inferred"], r["file"].startswith("torch-2.7.1-")) for r in d["answers"][0]["releases"] if "declared_by" not in r] == [("2.7.0", "runs", True, True)]'
run 0 which --target rtx3060 --platform linux tensorflow==2.10
out_has "  2.10.0, as 2.10.1  compiles its kernels when it starts"
# That a release has no code is not inferred: tensorflow 1.15.0 has some, and 1.15.5 and 1.14.0 have none.
run 0 which --target gtx1060 --platform linux tensorflow
out_has "  2.0.4 – 1.14.0  those examined have no device code: they run on the CPU"
run 3 which --target gtx1060 --platform linux tensorflow==1.15.0
err_has "jitwarm has not examined tensorflow 1.15.0; “jitwarm which --target gtx1060 --platform linux "
err_has " tensorflow==1.15.0 --ask” examines this release"
# Between two that differ, a release that was not examined has no answer.
run 3 which --target h100 --platform linux xgboost==2.0.1
out_has "  2.0.3  runs"
out_has "  1.7.6  compiles its kernels"
out_has "  2.0.1  was not examined"
[[ $(wc -l <"$out") == 4 ]] || fail "other rows"
err_has "jitwarm has not examined xgboost 2.0.1; “jitwarm which --target h100 --platform linux xgboost==2.0.1 --ask” examines this release"
run 3 which --target h100 --platform linux --json xgboost==2.0.1
out_lacks "1.7.6"
# So it is for each GPU.
run 3 which --target h100,gtx1080 --platform linux xgboost==2.0.1
out_has "  xgboost  none  sm_90 (H100): 2.0.1 was not examined"
run 1 which --target gtx1080 --platform linux --json torch==2.8
json '[r["version"] for r in d["answers"][0]["releases"]] == ["2.8.0", "2.8.0+cu129", "2.8.0+cu128", "2.8.0+cu126"]'
for words in "torch==" "torch>=" "torch[opt]>=2.0,1" "torch[opt" "torch~=2"; do
	run 64 which --target gtx1080 "$words"
	err_has "“$words”: which takes NAME, NAME==VERSION or a range"
	err_one_line
done
# Extras bring other packages; an extra about CUDA brings the one with the device code.
run 1 which --target gtx1080 --platform linux "torch[opt-einsum] == 2.8.0"
out_has "torch on GTX 1080 (sm_61)"
out_has "  PyPI   2.8.0  fails: no code for sm_61"
out_has "pip install 'torch[opt-einsum]==2.8.0+cu126' --index-url"
for names in "jax[cuda12]=jax-cuda12-plugin" "jax[k8s,cuda13-local]=jax-cuda13-plugin" "JAX [cuda]=jax-cuda12-plugin" "jaxlib[cuda12_pip]=jax-cuda12-plugin" "cupy[cuda13x]=cupy-cuda13x"; do
	snapshot run "0|1" which --target h100 --platform linux "${names%=*}"
done
run 0 which --target h100 --platform linux "jax[cuda12]==0.11.2"
# The command installs what was asked for: jax at the plugin's release, and a cuDNN that runs on the GPU, if pip's choice, the newest one, fails.
run 0 which --target h100 --platform linux "jax[cuda12]"
grep -q "pip install 'jax\[cuda12\]==[0-9.]*'$" "$out" || fail "not jax"
out_lacks "cudnn"
run 0 which --target gtx1080 --platform linux "jax[cuda12]"
run 0 which --target gtx1080 --platform linux "jax[cuda12]==0.10.2"
for names in "jax[cuda12-local]" jax-cuda12-plugin "tensorflow[and-cuda]==2.19.1"; do
	run "0|1" which --target gtx1080 --platform linux "$names"
done
run "0|1" which --target gtx1080 --platform linux "tensorflow[and_cuda]"
snapshot run "0|1" which --target v100 --platform linux --json "onnxruntime-gpu[cuda, cudnn]==1.23.2"
run "0|1" which --target rtx3070 --driver 550 --platform linux "torch[opt-einsum]"
# Without an extra, pip installs jax without code for GPUs, and TensorFlow from 2.14 on without NVIDIA's libraries.
run 0 which --target h100 --platform linux jax
grep -q "pip install 'jax\[cuda12\]==[0-9.]*'$" "$out" || fail "no extra"
run 0 which --target h100 --platform linux "jax[k8s]"
out_has "pip install 'jax[k8s,cuda12]=="
run 0 which --target rtx3070 --platform linux tensorflow
out_has "Newest that runs: pip install 'tensorflow[and-cuda]==2.21.0'"
run 0 which --target gtx1060 --platform linux tensorflow
out_has "Newest that runs: pip install 'tensorflow[and-cuda]==2.21.0' 'nvidia-cudnn-cu12<9.11.0.98'"
run 0 which --target rtx3070 --platform linux "tensorflow[and-cuda]"
out_has "Newest that runs: pip install 'tensorflow[and-cuda]==2.21.0'"
run 0 which --target a100 --platform linux "tensorflow<2.14"
out_has ": pip install tensorflow==2.7.4"
run 0 which --target rtx3070 --platform linux torch tensorflow
out_has " 'tensorflow[and-cuda]==2.21.0'"
printf 'jax[cuda12] >= 0.4\n' >requirements.txt
run "0|1" which --target h100 --platform linux -r requirements.txt
out_has "jax-cuda12-plugin on "
# An extra that pins a cuDNN without code for the GPU fails (TensorFlow 2.15.1 alone does, too, for want of cuBLAS).
run 2 which --target rtx5090 --platform linux --json "tensorflow[and-cuda]==2.15.1"
json '[(r["answer"], r.get("pin")) for r in d["answers"][0]["releases"]] == [("fails", "nvidia-cudnn-cu12 8.9.4.25")]'
# pip takes the newest torch that a requirement allows; if this one fails, by the GPU or by the driver, the command names one that runs.
run 0 which --target gtx1080 --driver 550 --platform linux bitsandbytes
out_has "Newest that runs: pip install bitsandbytes==0.50.2 'torch<2.8.0'"
run 0 which --target rtx3070 --driver 550 --platform linux bitsandbytes==0.50.2
out_has "To install this release: pip install bitsandbytes==0.50.2 'torch<2.11.0'"
run 0 which --target rtx5090 --platform linux bitsandbytes
out_lacks "torch"
# The index is asked for a Python that the release is for.
is_wine || {
	run 3 which --target rtx3070 --platform linux tensorflow==2.1.0
	err_has "“jitwarm which --target rtx3070 --platform linux --python 3.7 tensorflow==2.1.0 --ask”"
}
# A package's code may come from another package on Windows.
run 3 which --target h100 --platform windows sageattention
err_has "sageattention: its code for GPUs comes from triton-windows: "
run 3 which --target h100 --platform linux sageattention
err_has "comes from triton: "

# With several GPUs, what pip brings along runs on all of them.
run 0 which --target h200,v100 --platform linux bitsandbytes
out_has "  bitsandbytes  0.50.2"
# On Windows, pip takes a torch without device code.
run 0 which --target gtx1080 --platform windows bitsandbytes
out_has "pip also installs torch 2.15.0, which fails: its wheel on PyPI has no device code for this platform."
grep -q "^Newest that runs: pip install bitsandbytes==0.50.2" < <(grep -A1 "^First: pip install torch==[0-9.]*+cu[0-9]* --index-url " "$out") || fail "no torch with device code"
run 0 which --target rtx5090 --platform windows xformers==0.0.35
grep -q "^To install this release: pip install xformers==0.0.35" < <(grep -A1 "^First: pip install torch==[0-9.]*+cu[0-9]* --index-url " "$out") || fail "no torch with device code"
run "0|1" which --target rtx5090,rtx3060 --platform windows torch xformers
grep -q "^Then: pip install -c gpu.txt --extra-index-url https://[^ ]*/cu[0-9]* torch xformers$" "$out" || fail "no index with device code"
run 0 which --target rtx5090 --platform windows --json xformers
json 'd["answers"][0]["before"].startswith("pip install torch==") and "+cu" in d["answers"][0]["before"]'
# The torch that a release requires has no device code on PyPI, so the builds of other indexes decide.
json '{r["version"]: r["answer"] for r in d["answers"][0]["releases"]}["0.0.31.post1"] == "compiles"'
json '{r["version"]: r["answer"] for r in d["answers"][0]["releases"]}["0.0.29.post3"] == "fails"' # torch 2.6.0 has no build with sm_120
# torchaudio for arm64 has no device code, nor have the older wheels of torch for arm64 that it allows.
run 3 which --target gtx1080 --platform linux-aarch64 torchaudio
out_has "0.10.2  those examined have no device code: they run on the CPU"
out_lacks "pip install"
# If none runs, the release fails, by the driver that the least of them needs.
run "1|2" which --target rtx3070 --driver 470 --platform linux --json bitsandbytes==0.50.2
json '[(r["answer"], r["pin"], r["why"], r["needs"]) for r in d["answers"][0]["releases"]] == [("fails", "torch<3,>=2.4", "needs driver 525 (CUDA 12.0) or newer", "525 (CUDA 12.0)")]'
# A Python for which torch has no wheel that runs leaves none; without --python, both have to be for one Python.
run 3 which --target gtx1080 --platform linux --python 3.14 bitsandbytes
out_has "  0.50.2 – 0.43.3  fail: they require torch, which fails: no code for sm_61"
# Without a required package that is no base, a release runs; the package is named once.
run 0 which --target gtx1080 --platform linux "torch<2.8"
out_has "pip also installs triton 3.3.1, which fails: Triton makes no code for sm_61."
[[ $(grep -c triton "$out") == 1 ]] || fail "not once"
run 0 which --target gtx1080 --platform linux --json torch==2.7.1
json '[(r["required"], r["required_why"]) for r in d["answers"][0]["releases"] if "declared_by" not in r] == [("triton 3.3.1", "Triton makes no code for sm_61")]'
run 0 which --target h100 --platform linux torch
out_lacks "triton"
# Lists of other tools: the table of pip is read; conda's packages are others, and an address is no file.
printf 'Package            Version\n------------------ -----------\nTorch              2.6.0\nxgboost            2.0.3\n' >list
run 0 which --target h100 --platform linux -r list
out_has "  2.0.3  runs"
printf '# packages in environment at /x:\n#\n# Name  Version  Build  Channel\ntorch  2.1.0  pypi_0  pypi\n' >list
run 3 which --target h100 --platform linux -r list
err_has "a list of conda's, whose packages are not those of pip's index: “pip list --format=freeze > requirements.txt” in its environment makes one that pip reads"
printf 'name: x\ndependencies:\n  - torch\n' >environment.yml
run 3 which --target h100 --platform linux -r environment.yml
err_has "pip list --format=freeze"
# A file that exists is read, or the command for it is shown; only a plain word may be a package beside a folder of that name.
run 3 which --target h100 --platform linux environment.yml
err_has "environment.yml: a list of conda's"
mkdir -p folder/torch torch
for names in folder/torch=folder ./torch=folder; do
	run 64 which --target h100 --platform linux "${names%=*}"
	err_has "${names%=*} is a folder: “jitwarm check ${names%=*}” looks at its files"
done
run 0 which --target h100 --platform linux torch
touch Dockerfile Pipfile
run 3 which --target h100 --platform linux Pipfile
err_has "“pipenv requirements > requirements.txt” makes one"
run 3 which --target h100 --platform linux Dockerfile
err_has "“docker run IMAGE pip freeze > requirements.txt” makes one"
run 64 which --target h100 --platform linux torch Pipfile
err_has "Pipfile is a file: write “-r Pipfile”"
rm -r torch folder Dockerfile Pipfile
for words in "-r https://h/r.txt" https://h/r.txt; do
	# shellcheck disable=SC2086
	run 64 which --target h100 --platform linux $words
	err_has "jitwarm reads no address; download the file first: “curl -LO https://h/r.txt”"
done
run 64 check --recording https://h/p.json
err_has "“curl -LO https://h/p.json”"
# Options of pip.
for words in "--index-url https://h" "--index-url=https://h" "-i https://h"; do
	# shellcheck disable=SC2086
	run 64 which --target h100 vllm $words
	err_has "is an option of pip: set the variable PIP_INDEX_URL instead, and add --ask"
done
run 64 which --target h100 --extra-index-url https://h vllm
err_has "--extra-index-url is an option of pip: set the variable PIP_EXTRA_INDEX_URL instead, and add --ask"
run 64 scan --target h100 --index vllm --extra-index-url https://h
err_has "set the variable PIP_EXTRA_INDEX_URL instead, and add --index"
for word in --pre --no-deps -U --upgrade --no-build-isolation; do
	run 64 which --target h100 vllm $word
	err_has "$word is an option of pip; jitwarm installs nothing: leave it out"
done
run 64 status --no-deps
err_has "unknown option --no-deps"
# A package that begins another one's name may be meant, too.
run 3 which --target h100 --platform linux sglang
err_has "sglang: not in jitwarm's list; did you mean sglang-kernel? “jitwarm which --target h100 --platform linux sglang-kernel”; --ask looks at releases of sglang"
# The answer names the package with device code that runs with the driver.
for words in "--target p100 --driver 470" "--target gtx970 --platform windows --driver 472.12"; do
	# shellcheck disable=SC2086
	run 3 which $words cupy
	err_has "cupy: its code for GPUs comes from cupy-cuda11x: “jitwarm which "
	err_has " cupy-cuda11x”"
done
# Wheels for Windows may have another name, also as a part of another package.
run 2 which --target rtx5080 --platform windows triton
out_has "None runs: PyPI has no wheel of triton for Windows x86-64."
out_has "Its package for this platform: jitwarm which --target rtx5080 --platform windows triton-windows --ask"
run 2 which --target gtx1080 --platform linux triton
out_lacks "for Windows"
run 3 which --target rtx5080 --platform windows sageattention
err_has "sageattention: its code for GPUs comes from triton-windows: “jitwarm which --target rtx5080 --platform windows triton-windows --ask”"
# The address of another index is one that pip can ask, and only of packages that it has.
run 1 which --target gtx1080 --platform linux xformers
out_has "PyTorch's index has other builds: set PIP_INDEX_URL to https://download.pytorch.org/whl/, and use --ask."
run 2 which --target b200 --driver 565 --platform linux vllm
out_lacks "index has other builds"
# The name of a wheel is its package and version.
for words in torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl folder/torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl; do
	run 1 which --target gtx1080 --platform linux "$words"
	out_has "  PyPI   2.8.0  fails: no code for sm_61"
done
run 64 which --target gtx1080 torch+cu121
err_has "“torch+cu121”: which takes NAME, NAME==VERSION or a range such as “torch>=2,<2.3”"
run 64 which --target gtx1080 torch 2.8.0
err_has "“2.8.0”: a version is written as in “torch==2.8.0”"
[[ ! -s $out ]] || fail "an answer before the refusal"
for words in ./x.whl "xgboost>>2"; do
	snapshot run 64 which --target gtx1080 torch "$words"
	[[ ! -s $out ]] || fail "an answer before the refusal"
done
# One release beside all of another package
snapshot run 0 which --target rtx5090 --platform linux onnxruntime-gpu==1.23.2 xgboost

# A name that is mistyped brings the nearest one of the list.
for names in xgbost=xgboost bitsandbyts=bitsandbytes Tensor_flow=tensorflow; do
	snapshot run 3 which --target gtx1080 "${names%=*}"
done
run 3 which --target gtx1080 no-such-package
err_lacks "did you mean"

# Releases that fail or run have one answer, however they load what they compile.
run 1 which --target rtx3070 --driver 550 --platform linux torch

# CuPy makes its kernels while it runs, as machine code for the GPUs of its own libraries.
run 2 which --target rtx5090 --platform linux cupy-cuda11x
run 0 which --target rtx5090 --platform linux cupy-cuda12x
out_has "– 11.5.0  fail: CuPy makes no code for sm_120"
# Triton compiles its kernels while it runs, for GPUs from 7.0 on that its ptxas knows; CUPTI, which its profiler brings, is not its code.
run 2 which --target gtx1080 --platform linux triton
run 0 which --target v100 --platform linux triton
run 0 which --target rtx5090 --platform linux triton
run 1 which --target rtx5090 --driver 570 --platform linux triton
out_has "– 3.7.0  fail: they need driver 580"
run 1 which --target rtx3090 --driver 470 --platform linux triton
# The driver that a release needs counts before code that a library of another package lacks (cuSPARSELt in torch 2.5).
run 1 which --target gtx1080 --driver 470 --platform linux torch
# 1.9.0.post1 is newer than 1.9.0.0, so the code of 1.9.0.0 and 1.8.0.2 says nothing of it.
run 1 which --target h100 --driver 550 --platform linux faiss-gpu-cu12
# A release fails if the torch that it requires fails: torch 2.7.1; and 2.7.0, which was not examined, as 2.6.0 and 2.7.1 fail.
run 0 which --target rtx5090 --platform linux torchvision
run 2 which --target rtx5090 --platform linux xformers==0.0.30
snapshot run 2 which --target rtx5090 --platform linux --json xformers==0.0.30
run 0 which --target rtx4090 --platform linux xformers==0.0.30
# The code of cuML is in libcuml-cu12.
run 0 which --target h100 --platform linux cuml-cu12
run 2 which --target gtx1080 --platform linux cuml-cu12
out_has "fail: no code for sm_61"
# An index of pip's own is named: its builds may differ from PyPI's.
PIP_INDEX_URL=https://example.org/simple snapshot run 1 which --target gtx1080 --platform linux xgboost
run 1 which --target gtx1080 --platform linux xgboost
out_lacks "PIP_INDEX_URL"
# A release without a wheel for the platform splits no row, except with --all; the newest ones and the oldest ones have a row.
run 1 which --target gtx1080 --platform linux xgboost
out_has "  3.2.0 – 0.90   run"
snapshot run 1 which --target gtx1080 --platform linux --all xgboost
run 1 which --target rtx5090 --platform windows torch
out_has "– 1.0.0    have no wheel for this platform"

run "0|1" which --target rtx2080 --platform linux faiss-gpu==1.7.2

run 1 which --target rtx3070 --platform linux torch==1.10.1
out_has "  PyPI   1.10.1, as 1.10.2  fails: no code for sm_86"
# A release that was not examined (2.12.0), or whose wheels are for other Pythons (2.8.0), says nothing of the code beside it, nor does one side alone (2.9.1, 2.8.4); a text that is no version has no place.
snapshot run 3 which --target gtx1080 --platform linux torch==2.12.0.post1
run 3 which --target rtx3070 --platform linux --python 3.14 torchaudio==2.9.0
out_lacks "2.9.1"
run 3 which --target rtx3070 --platform linux --python 3.9 tensorflow-gpu==2.6.0
out_lacks "2.8.4"
snapshot run 64 which --target gtx1080 --platform linux torch==1nightly
[[ ! -s $out ]] || fail "a neighbour of no version"
# Libraries of NVIDIA's that an extra brings make no wheel run on the GPU in which nothing calls them.
run "0|1" which --target rtx3070 --platform windows tensorflow
grep -q "^  2[0-9.]* – 2.11.0  those examined have no device code" "$out" || fail "TensorFlow for Windows after 2.10 is for the CPU"
out_lacks "it uses nvidia-cudnn"
# An extension goes with a torch of the CUDA version to which it is linked, and torch comes first where pip takes one without device code.
run "0|1" which --target rtx5090 --platform linux xformers==0.0.35
out_has "pip install xformers==0.0.35 'torch<2.11.0'"
# Windows runs wheels for Linux in WSL 2.
run 2 which --target rtx3070 --platform windows jax
out_has "In WSL 2, as on Linux, it runs: pip install 'jax[cuda12]=="
run "0|1" which --target rtx5090 --platform windows tensorflow
out_has "In WSL 2, as on Linux, it runs: pip install 'tensorflow[and-cuda]=="
run "0|1" which --target rtx5090 --platform windows torch
out_lacks "WSL 2"
# GPUs with one architecture have one answer, headed by both.
printf 'vllm==0.6.3.post1\ntorch==2.4.0\nflash-attn==2.6.3\n' >pinned.txt
run "1|2|3" which --target h100,h200,b200 --platform linux -r pinned.txt
out_has "3 packages on H100, H200 (sm_90) and sm_100 (B200), newest driver, Linux x86-64"
out_has "Newest that runs on all of them:"
out_has "  vllm        none  sm_100 (B200): 0.6.3.post1 was not examined"
out_has "Then: pip install -c gpu.txt -r pinned.txt"
# Two packages have an answer each; a package that is named itself is not named as the first one to install.
run "0|1" which --target h100 --platform linux flash-attn torch
out_has "flash-attn on sm_90 (H100)"
out_has "torch on sm_90 (H100)"
out_lacks "First: pip install torch"
out_has "Keep pip from what fails: jitwarm which --target h100 --platform linux --constraints -o gpu.txt"
out_has "Then: pip install -c gpu.txt flash-attn torch"
run "0|1" which --target h100 --platform linux --json "xgboost>=1.7" xgboost==2.0.3
json 'd["constraints"] == "jitwarm which --target h100 --platform linux --constraints -o gpu.txt" and d["install"].startswith("pip install -c gpu.txt ")'
# JSON has the advice, too.
run 1 which --target gtx1080 --platform linux --json bitsandbytes torch==2.8.0
json '[a.get("install") for a in d["answers"]] == ["pip install bitsandbytes==0.50.2 \x27torch<2.8.0\x27", "pip install torch==2.8.0+cu126 --index-url https://download.pytorch.org/whl/cu126"]'
run 2 which --target rtx3070 --platform windows --json jax
json 'd["answers"][0]["instead"]["kind"] == "wsl" and d["answers"][0]["instead"]["command"].startswith("pip install")'
run 2 which --target v100 --platform linux --json cupy-cuda13x
json 'd["answers"][0]["instead"]["kind"] == "other_cuda" and d["answers"][0]["instead"]["command"].endswith(" cupy-cuda12x")'
run 2 which --target rtx5080 --platform windows --json triton
json 'd["answers"][0]["instead"]["kind"] == "other_name"'
# A package whose code for GPUs is in another one is near, too.
run 3 which --target rtx5090 --platform linux sageatention
err_has "did you mean sageattention?"
