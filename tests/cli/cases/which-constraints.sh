# which --constraints prints a file with which pip and uv take no release that fails on a GPU.
unset PIP_INDEX_URL PIP_CONSTRAINT

# The releases that fail on a GTX 1080: whatever newer ones will come, one in between, packages of which none runs. Triton, of which none runs,
# is required by torch, which runs without it.
snapshot run 0 which --constraints --target gtx1080 --platform linux
out_has "torch<2.8.0  # 2.8.0 and newer: no code for sm_61"
out_has "open3d!=0.19.0  # 0.19.0: no code for sm_61"
out_has "cuml-cu12==0+jitwarm.no.release.runs.on.sm.61  # no release runs: no code for sm_61"
out_has "# triton: no release runs: Triton makes no code for sm_61; torch requires it, and runs without it"
out_has "# made by: jitwarm which --constraints --target gtx1080 --platform linux"
out_has "jitwarm which --constraints --target gtx1080 --platform linux --index cu126"
err_empty
# pip may not take an older jax without the extra.
out_has "# jax-cuda13-plugin: no release runs"
out_has "# nvidia-cudnn-cu13: no release runs"

# On a new GPU the old releases fail.
run 0 which --constraints --target rtx5090 --platform linux
out_has "torch>2.7.1  # 2.7.1 and older: no code for sm_120"

# The packages that the named ones require come with them; a name that the list lacks is a comment.
run 0 which --constraints --target gtx1080 --platform linux bitsandbytes
out_has "torch<2.8.0"
out_lacks "xformers"
run 0 which --constraints --target gtx1080 --platform linux transformers "jax[cuda12]==0.6.0"
out_has "torch<2.8.0"
out_has "nvidia-cudnn-cu12<9.11"
snapshot run 3 which --constraints --target gtx1080 --platform linux numpy torch
out_has "# numpy: not in jitwarm's list"
err_has "jitwarm's list lacks numpy"
run 3 which --constraints --target gtx1080 --platform linux numpy
out_has "# numpy: not in jitwarm's list"

# A list of requirements names packages, too. A line of it that nobody can read is shown.
printf 'torch>=2\nxformers ; python_version > "3"\n' >"$work/requirements.txt"
run 0 which --constraints --target gtx1080 --platform linux -r "$work/requirements.txt" open3d
out_has "torch<2.8.0"
out_has "xformers<0.0.31"
out_has "open3d!=0.19.0"
printf 'torch\n\001\002 \351 ==\n' >"$work/odd.txt"
run 3 which --constraints --target gtx1080 --platform linux -r "$work/odd.txt"
out_has "torch<2.8.0"
err_has "odd.txt:2: jitwarm cannot read this line"
run 64 which --constraints --target gtx1080 "$work/requirements.txt"
err_has "is a file: write"
run 64 which --constraints --target gtx1080 "../torch"

# Several GPUs: what runs on all of them. No torch of PyPI does on both.
snapshot run 0 which --constraints --target gtx1080,rtx5090 --platform linux torch open3d
err_has "no release of torch runs on all of these GPUs: write a file for each GPU"
run 0 which --constraints --target rtx4090,h100 --platform linux torch
err_empty

# A driver, a Python.
run 0 which --constraints --target rtx3070 --driver 550 --platform linux torch
out_has "torch<2.11.0"
out_has "driver: 550 (CUDA 12.4); platform: Linux x86-64; Python: all"
run 0 which --constraints --target gtx1080 --platform linux --python 3.8 torch
out_has "Python: 3.8"
out_lacks "torch<"
run 2 which --constraints --target gtx1080 --driver 590 --platform linux
out_empty
err_has "no longer runs sm_61"

# The builds of PyTorch's index.
snapshot run 0 which --constraints --target gtx1080 --platform linux --index cu126 torch torchvision
out_has "torch==2.14.1+cu126"
out_has "--extra-index-url https://download.pytorch.org/whl/cu126"
run 64 which --constraints --target gtx1080 --platform linux --index cu1
err_has "no build has this label; use cu1"
# On Windows, PyPI's torch is for the CPU.
run 0 which --constraints --target rtx3070 --driver 551 --platform windows torch
out_has "torch==2.14.1+cu126"

# The same as rows, and for uv.
snapshot run 0 which --constraints --json --target gtx1080 --platform linux torch triton
json '[row for row in d["constraints"] if row["package"] == "torch"][0] == {"package": "torch", "kind": "limits", "constraint": "torch<2.8.0", "reason": "2.8.0 and newer: no code for sm_61"}'
json 'd["newer"] == "torch 2.14.1+cu126" and d["gpus"] == ["sm_61"] and "constraint" not in d["constraints"][-1]'
snapshot run 0 which --constraints --format uv --target gtx1080 --platform linux torch
out_has '    "torch<2.8.0",  # 2.8.0 and newer: no code for sm_61'

# -o replaces the file as a whole; what fails leaves the old one, and no empty one.
run 0 which --constraints --target gtx1080 --platform linux torch -o "$work/gpu.txt"
out_has "Install with it: pip install -c"
out_lacks "torch<2.8.0"
grep -q '^torch<2.8.0' "$work/gpu.txt" || fail "no constraint in gpu.txt"
cp "$work/gpu.txt" "$work/before.txt"
run 2 which --constraints --target gtx1080 --driver 590 --platform linux -o "$work/gpu.txt"
cmp "$work/gpu.txt" "$work/before.txt" || fail "a command that failed has changed the file"
run 2 which --constraints --target gtx1080 --driver 590 --platform linux -o "$work/new.txt"
[ ! -e "$work/new.txt" ] || fail "a command that failed has left a file"
run 0 which --constraints --target a100 --platform linux torch -o "$work/gpu.txt"
grep -q 'A100' "$work/gpu.txt" || fail "gpu.txt was not replaced"
echo "numpy<2" >"$work/own.txt"
run 64 which --constraints --target a100 --platform linux torch -o "$work/own.txt"
err_has "jitwarm has not written this file"

# The file is ASCII whatever the language is, and whatever the names are.
LC_ALL=ko_KR.UTF-8 run 0 which --constraints --target gtx1080 --platform linux
LC_ALL=C grep -q '[^ -~]' "$out" && fail "not ASCII"
out_has "torch<2.8.0  # 2.8.0 and newer: no code for sm_61"
LC_ALL=ko_KR.UTF-8 run 0 which --constraints --target gtx1080 --platform linux torch -o "$work/é gpu.txt"
LC_ALL=C grep -q '[^ -~]' "$work/é gpu.txt" && fail "not ASCII"

# The torch of one of NVIDIA's images stays: its file of constraints holds it, or its version has their label.
printf 'numpy==1.26\ntorch==2.8.0a0+5228986c39.nv25.6\n' >"$work/image.txt"
PIP_CONSTRAINT=$work/image.txt run 0 which --constraints --target a100 --platform linux
out_has "# torch: the installed build must not be replaced"
err_has "the torch of this image must not be replaced, so the file leaves it out"
printf 'numpy<2\n' >"$work/image.txt"
PIP_CONSTRAINT=$work/image.txt run 0 which --constraints --target gtx1080 --platform linux
out_has "torch<2.8.0"
PIP_CONSTRAINT=$work/gpu.txt run 0 which --constraints --target gtx1080 --platform linux
out_has "torch<2.8.0"
mkdir -p "$work/venv/lib/python3.11/site-packages/torch-2.8.0a0+5228986c39.nv25.6.dist-info" "$work/venv/Lib/site-packages"
printf 'home = /usr\n' >"$work/venv/pyvenv.cfg"
is_wine || VIRTUAL_ENV=$work/venv run 0 which --constraints --target gtx1080 --platform linux
is_wine || out_has "# torch: the installed build must not be replaced"

# These options belong together.
run 64 which --target gtx1080 --index cu126 torch
err_has "--index is for --constraints"
run 64 which --target gtx1080 --constraints --ask
err_has "--ask does not go with --constraints"

# The CuPy that an extra of spaCy allows makes no code for an RTX 50: without it, pip would take a spaCy that does not have the extra.
run 0 which --constraints --target rtx5090 --platform linux cupy-cuda12x
out_has "# cupy-cuda12x: 13.3.0 and older: CuPy makes no code for sm_120; if it were left out, pip would install an older spacy[cuda12x]"
# One that some release of a package requires stays limited, unless the newest that runs requires what fails.
run 0 which --constraints --target v100 --platform linux xformers
out_has "xformers<0.0.31"
