# doctor's list of the caches of other compilers: which exist, and where; hostile names
unset CUPY_CACHE_DIR PYTORCH_KERNEL_CACHE_PATH TORCHINDUCTOR_CACHE_DIR TRITON_CACHE_DIR VLLM_CACHE_ROOT FLASHINFER_WORKSPACE_BASE
unset DG_JIT_CACHE_DIR CUTE_DSL_CACHE_DIR WARP_CACHE_PATH MLX_PTX_CACHE_DIR LIBCUDF_KERNEL_CACHE_PATH JAX_COMPILATION_CACHE_DIR
unset NUMBA_CACHE_DIR OPTIX_CACHE_PATH __GL_SHADER_DISK_CACHE_PATH XDG_CACHE_HOME
here=$work/caches
mkdir -p "$here"
row() { json "(lambda c: $2)(next(c for c in d['caches'] if c['name'] == '$1'))"; }
look() { run "0|1|2" doctor --no-probe "$@"; }
run 64 caches
err_has "no longer there: jitwarm doctor lists the caches of other compilers"
look --json
json 'not [c for c in d["caches"] if c["moved"]] and "JAX" not in [c["name"] for c in d["caches"]]'

# Moved by its variable
mkdir -p "$here/triton"
TRITON_CACHE_DIR=$here/triton look --json
row Triton 'c["moved"] and c["variable"] == "TRITON_CACHE_DIR" and posix(c["path"]).endswith("/caches/triton")'
TRITON_CACHE_DIR=$here/triton look
out_has "Caches of other compilers"
out_has "(TRITON_CACHE_DIR)"
TRITON_CACHE_DIR=$here/none look --json
json '"Triton" not in [c["name"] for c in d["caches"]]'

# Below the variable's folder
mkdir -p "$here/fi/.cache/flashinfer"
FLASHINFER_WORKSPACE_BASE=$here/fi look --json
row FlashInfer 'posix(c["path"]).endswith("/caches/fi/.cache/flashinfer")'

is_wine && exit 0
# Where they are without a variable
mkdir -p "$HOME/.cupy/kernel_cache" "$HOME/.cache/torch/kernels" "$work/xdg/torch/kernels" "$work/tmp/torchinductor_alice"
env=(env TMPDIR="$work/tmp" LOGNAME=alice)
JITWARM="${env[*]} $JITWARM" look --json
row CuPy '__import__("os").path.samefile(c["path"], "'"$HOME"'/.cupy/kernel_cache")'
row jiterator 'c["path"].endswith("/home/.cache/torch/kernels")'
row Inductor 'c["path"].endswith("/tmp/torchinductor_alice")'
XDG_CACHE_HOME=$work/xdg look --json
row jiterator 'c["path"].endswith("/xdg/torch/kernels")'

# A name is escaped; a cache that is itself a link is named by its end.
hostile=$'evil\n 9  forged\e[31m'
mkdir -p "$here/bad/$hostile"
ln -s "$here/bad" "$here/$hostile"
DG_JIT_CACHE_DIR=$here/$hostile look --json
row DeepGEMM 'c["path"].endswith("/caches/bad")'
WARP_CACHE_PATH=$here/bad/$hostile look
! grep -q '^ 9  forged' "$out" || fail "a name made a line of its own"
! grep -q $'\e' "$out" || fail "a name reached the terminal as it is"
