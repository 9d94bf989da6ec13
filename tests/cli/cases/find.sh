# find lists environments and programs at their usual places, below folders and in conda's list, also if these are hostile.
unset VIRTUAL_ENV CONDA_PREFIX CONDA_EXE CONDA_ENVS_PATH MAMBA_ROOT_PREFIX WORKON_HOME PIPX_HOME UV_TOOL_DIR UV_PYTHON_INSTALL_DIR PYENV_ROOT PYTHONPATH
with_simdriver sm_86
# ptx FILE NAME: writes a module that has to be compiled
ptx() {
	mkdir -p "$(dirname "$1")"
	printf '.version 7.8\n.target sm_70\n.address_size 64\n.visible .entry %s() { ret; }\n' "$2" >"$1"
}
conda() { mkdir -p "$1/conda-meta" "$(site_of "$1")"; }
# row END EXPRESSION: EXPRESSION is true for the place whose name ends with END
row() {
	json "(lambda c: $2)(next(c for c in d['places'] if posix(c['name']).endswith('$1')))"
}
no_row() { json "not [c for c in d['places'] if posix(c['name']).endswith('$1')]"; }

# Below a folder, find lists environments and conda's `envs`, each once; it lists nothing inside an environment, and follows no symlinks.
tree=$work/tree
environment "$tree/a/b/venv" 1.0
conda "$tree/conda"
conda "$tree/conda/envs/torch"
ptx "$(site_of "$tree/conda/envs/torch")/torch/k.ptx" in_conda
conda "$tree/conda/lib/inner"
mkdir -p "$tree/.hidden" && conda "$tree/.hidden/env"
is_wine || { ln -s "$tree" "$tree/a/loop" && mkfifo "$tree/a/pipe"; } || exit 1
snapshot run 1 find "$tree" --json
row a/b/venv 'c["kind"] == "venv" and c["environment"] and c["cold"] > 1 and c["images"] == 1 and c["start_seconds"]["likely"] > 0'
row envs/torch 'c["kind"] == "conda" and c["cold"] == 1 and c["warm"] == 0 and c["failing"] == 0'
row tree/conda 'c["images"] == 0 and c["cold"] == 0'
run 1 find "$tree" "$tree/conda" --json
json 'len(d["places"]) == 3'
differs_for WINDOWS snapshot run 1 find "$tree"
next=$(sed -n 's/^Next    jitwarm //p' "$out")
[[ $next == "prime --environment "* ]] || fail "no command: $next"
if ! is_wine; then
	eval "run 0 $next"
	run 1 find "$tree" --json
	row a/b/venv 'c["cold"] == 0 and c["warm"] > 1'
	differs_for WINDOWS snapshot run 1 find "$tree"
fi
# Without a result, find names the places that it has searched.
empty_environment "$work/none/venv"
mkdir -p "$work/none/many" && for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do conda "$work/none/many/$i"; done
snapshot run 0 find "$work/none/venv"
snapshot run 0 find "$work/none"
rm -r "$work/none"
# A bin folder with a Python marks an environment; without a Python, find searches the folders below.
environment "$work/marks/tools/deep/venv" 1.0
mkdir -p "$work/marks/tools/bin" "$work/marks/own/bin" "$(site_of "$work/marks/own")"
: >"$work/marks/own/bin/python3"
run '0|1' find --json "$work/marks"
row tools/deep/venv 'c["kind"] == "venv"'
row marks/own 'c["kind"] == "Python"'
json 'len(d["places"]) == 2'

# find also searches the folders below an installation, as in “jitwarm find /” on a machine with /usr/bin/python3.
empty_environment "$work/marks/own/later/venv"
differs_for WINDOWS snapshot run '0|1' find --json "$work/marks/own"
row own/later/venv 'c["kind"] == "venv"'
row marks/own 'c["kind"] == "Python"'
rm -r "$work/marks/own/later"

# The option names one environment, under both of its names; no other place is listed.
for option in --environment --env; do
	differs_for WINDOWS snapshot run '0|1' find --json $option "$tree/a/b/venv"
	row a/b/venv 'c["kind"] == "venv"'
	json 'len(d["places"]) == 1'
done
snapshot run 64 find --env "$tree/a" "$tree/b"
differs_for WINDOWS snapshot run '0|1' check --env "$tree/a/b/venv"

# A folder without an environment is itself a place; a missing folder is a failure.
ptx "$work/loose/x/k.ptx" loose
run 1 find "$work/loose" --json
row loose 'c["kind"] == "folder" and c["cold"] == 1 and not c["environment"]'
differs_for WINDOWS snapshot run "0|1" find --json "$sample"
json '[p["kind"] for p in d["places"]] == ["file"]'
run 1 find "$work/loose/" --json
json 'd["places"][0]["cold"] == 1'
snapshot run 3 find "$work/none"
# find works for another GPU on a machine without one; without a target and a GPU it only counts files.
snapshot run 1 find --target sm_90 --driver 550.163.01 "$work/loose" --json
row loose 'c["cold"] == 1'
# A GPU that the driver does not run is reported once for all places, and never as “without device code”.
run 2 find --target sm_120 --driver 550.163.01 "$work/loose" "$tree"
err_one_line
err_has "does not run sm_120, which needs driver 570"
out_empty
is_wine && exit 0

# the usual places
bin=$work/bin
mkdir -p "$bin" "$HOME/.conda"
export PIPX_HOME=$work/pipx UV_TOOL_DIR=$work/uv PYENV_ROOT=$work/pyenv WORKON_HOME=$work/hooks
empty_environment "$PIPX_HOME/venvs/tool"
empty_environment "$UV_TOOL_DIR/ruff"
mkdir -p "$PYENV_ROOT/versions/3.11.9/bin" && : >"$PYENV_ROOT/versions/3.11.9/bin/python3"
empty_environment "$WORKON_HOME/hook"
empty_environment "$HOME/project/.venv"
conda "$HOME/miniconda3"
conda "$HOME/miniconda3/envs/tf"
mkdir -p "$WORKON_HOME/not-one"
export CONDA_ENVS_PATH=$work/first:$work/second CONDA_EXE=$work/own/bin/conda
conda "$work/second/shared"
mkdir -p "$work/own/bin" && : >"$CONDA_EXE"
conda "$work/own/envs/inner"
ptx "$HOME/blender-4.2/lib/k.ptx" blender
# ollama and llama.cpp are found by the program on PATH.
mkdir -p "$work/ollama/bin" "$work/llama/bin" "$work/llama/lib"
for program in ollama/bin/ollama llama/bin/llama-server; do
	cp /bin/true "$work/$program"
	ln -s "$work/$program" "$bin/"
done
ptx "$work/ollama/lib/ollama/cuda_v12/k.ptx" ollama
cp "$sample" "$work/llama/lib/libggml-cuda.so"
program_path=$bin:$PATH
# conda's list has a million lines, symlinks, a pipe, control characters.
conda "$work/listed"
conda "$work/last"
conda "$work/late"
hostile=$work/$'evil\e[31m'
conda "$hostile"
mkfifo "$work/pipe"
{
	printf '%s\n' "$work/listed" "$work/pipe" relative /dev/zero "$hostile" "$work/listed"
	printf '/%s\n' {1..9993}
	printf '%s\n' "$work/last" "$work/late" # lines 10000 and 10001
} >"$HOME/.conda/environments.txt"
rm -rf "$work/cache"
run 1 find --json
row venvs/tool 'c["kind"] == "pipx"'
row uv/ruff 'c["kind"] == "uv"'
row 3.11.9 'c["kind"] == "pyenv"'
row hooks/hook 'c["kind"] == "venv"'
row project/.venv 'c["kind"] == "venv"'
row miniconda3 'c["kind"] == "conda"'
row envs/tf 'c["kind"] == "conda"'
row second/shared 'c["kind"] == "conda"'
row own/envs/inner 'c["kind"] == "conda"'
row Blender 'c["cold"] == 1 and len(c["paths"]) == 1'
row /listed 'c["kind"] == "conda"'
row /last 'c["kind"] == "conda"'
no_row /late
json 'len({c["name"] for c in d["places"]}) == len(d["places"])'
json 'all(len(set(c["paths"])) == len(c["paths"]) for c in d["places"])'
no_row not-one
row ollama 'c["kind"] == "program" and c["cold"] == 1 and c["paths"] == ["'"$work"'/ollama/lib/ollama"]'
row llama.cpp 'c["cold"] > 1 and c["paths"][0].endswith("/llama/lib/libggml-cuda.so")'
json 'len(d["notes"]) == 1 and "more than 10000 lines" in d["notes"][0]'
snapshot run 1 find
eval "run 0 $(sed -n 's/^Next    jitwarm //p' "$out")"
snapshot run 1 find --json
row llama.cpp 'c["cold"] == 0'

# The list is a pipe, a folder, or too large.
for list in "mkfifo" "mkdir" "truncate -s 2M"; do
	rm -r "$HOME/.conda/environments.txt"
	$list "$HOME/.conda/environments.txt"
	snapshot run 1 find --json
	json 'len(d["notes"]) == 1 and "environments.txt" in d["notes"][0]'
	no_row /listed
done
rm -r "$HOME/.conda/environments.txt"
# An environment that cannot be read is reported, and hides no other environment.
mkdir -p "$(site_of "$WORKON_HOME/hook")/broken-1.0.dist-info/METADATA"
run 1 find --json
row hooks/hook 'c["trouble"]'
row ollama 'c["cold"] == 1'

