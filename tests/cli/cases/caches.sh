# caches: the caches of other compilers: which exist, their size and age, what an older version left; hostile contents
unset CUPY_CACHE_DIR PYTORCH_KERNEL_CACHE_PATH TORCHINDUCTOR_CACHE_DIR TRITON_CACHE_DIR VLLM_CACHE_ROOT FLASHINFER_WORKSPACE_BASE
unset DG_JIT_CACHE_DIR CUTE_DSL_CACHE_DIR WARP_CACHE_PATH MLX_PTX_CACHE_DIR LIBCUDF_KERNEL_CACHE_PATH JAX_COMPILATION_CACHE_DIR
unset NUMBA_CACHE_DIR OPTIX_CACHE_PATH __GL_SHADER_DISK_CACHE_PATH XDG_CACHE_HOME
here=$work/caches
mkdir -p "$here"
row() { json "(lambda c: $2)(next(c for c in d['caches'] if c['name'] == '$1'))"; }
run 64 caches x
run 0 caches --json
json 'd["schema"] == "jitwarm.caches/1" and not [c for c in d["caches"] if c["moved"]]'
json '"JAX" not in [c["name"] for c in d["caches"]]'

# Moved by its variable; size, number and age
mkdir -p "$here/triton/ABC" "$here/missing-not"
head -c 1000 /dev/zero >"$here/triton/ABC/kernel.cubin"
head -c 234 /dev/zero >"$here/triton/one"
touch -d '2020-01-02 03:04:05 UTC' "$here/triton/one"
touch -d '2021-01-02 03:04:05 UTC' "$here/triton/ABC/kernel.cubin"
TRITON_CACHE_DIR=$here/triton run 0 caches --json
row Triton 'c["files"] == 2 and c["bytes"] == 1234 and c["moved"] and c["newest_s"] == 1609556645 and posix(c["path"]).endswith("/caches/triton")'
row Triton 'c["superseded"] == [] and not c["cut"] and c["unread"] == 0 and c["variable"] == "TRITON_CACHE_DIR"'
TRITON_CACHE_DIR=$here/triton run 0 caches
out_has "1.2 KB"
out_has "(TRITON_CACHE_DIR)"
TRITON_CACHE_DIR=$here/none run 0 caches --json
json '"Triton" not in [c["name"] for c in d["caches"]]'

# Below the variable's folder; versions, compared by number
for version in 0.2.9 0.2.10 0.10 .cached notes 7; do mkdir -p "$here/fi/.cache/flashinfer/$version"; done
printf 12345 >"$here/fi/.cache/flashinfer/0.2.9/a"
printf 123 >"$here/fi/.cache/flashinfer/0.2.10/a"
FLASHINFER_WORKSPACE_BASE=$here/fi run 0 caches --json
row FlashInfer 'c["superseded"] == ["0.2.10", "0.2.9"] and c["superseded_bytes"] == 8 and c["bytes"] == 8'
FLASHINFER_WORKSPACE_BASE=$here/fi run 0 caches
out_has "FlashInfer: 0.2.9 is of an older version"
# Where folders are named by hashes, nothing is said.
TRITON_CACHE_DIR=$here/fi/.cache/flashinfer run 0 caches --json
row Triton 'c["superseded"] == [] and c["bytes"] == 8'

is_wine && exit 0
# Where they are without a variable
mkdir -p "$HOME/.cupy/kernel_cache" "$HOME/.cache/torch/kernels" "$work/xdg/torch/kernels" "$work/tmp/torchinductor_alice"
env=(env TMPDIR="$work/tmp" LOGNAME=alice)
JITWARM="${env[*]} $JITWARM" run 0 caches --json
row CuPy '__import__("os").path.samefile(c["path"], "'"$HOME"'/.cupy/kernel_cache") and c["files"] == 0 and c["newest_s"] == 0'
row jiterator 'c["path"].endswith("/home/.cache/torch/kernels")'
row Inductor 'c["path"].endswith("/tmp/torchinductor_alice")'
XDG_CACHE_HOME=$work/xdg run 0 caches --json
row jiterator 'c["path"].endswith("/xdg/torch/kernels")'

# Links are not followed, pipes not opened, names escaped; a cache that is itself a link is looked at.
hostile=$'evil\n9  forged\e[31m'
mkdir -p "$here/bad/$hostile/0.1" "$here/outside"
head -c 100000 /dev/zero >"$here/outside/large"
ln -s "$here/outside" "$here/bad/link"
ln -s "$here/outside/large" "$here/bad/large"
ln -s . "$here/bad/loop"
mkfifo "$here/bad/pipe"
printf 1 >"$here/bad/$hostile/0.1/file"
ln -s "$here/bad" "$here/$hostile"
DG_JIT_CACHE_DIR=$here/$hostile run 0 caches --json
row DeepGEMM 'c["files"] == 1 and c["bytes"] == 1'
WARP_CACHE_PATH=$here/bad/$hostile run 0 caches
! grep -q '^9  forged' "$out" || fail "a name made a line of its own"
! grep -q $'\e' "$out" || fail "a name reached the terminal as it is"
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	mkdir "$here/bad/mounted"
	cat >"$work/mounted.sh" <<-'SH'
		mount -t tmpfs none "$1" && head -c 5000 /dev/zero >"$1/large" && shift && exec "$@"
	SH
	(
		JITWARM="unshare --mount bash $work/mounted.sh $here/bad/mounted $JITWARM"
		DG_JIT_CACHE_DIR=$here/bad run 0 caches --json
		row DeepGEMM 'c["bytes"] == 1'
	) || exit 1
fi
