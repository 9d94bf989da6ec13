# tensorflow-gpu 2.10 in conda on three equal laptops: one compiles, a USB stick does the rest
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
stick=$place/stick
mkdir "$stick"
laptop() { # NAME: its home, its environment, its cache
	export HOME=$place/$1 CONDA_PREFIX=$place/$1/miniconda3/envs/tf JITWARM_STATE=$place/$1/state
	export CUDA_CACHE_PATH=$HOME/.nv/ComputeCache
	mkdir -p "$HOME"
	conda_package "$CONDA_PREFIX" tensorflow-base 2.10.0 lib/python3.10/site-packages/tensorflow/python/_pywrap_tensorflow_internal.so
	conda_package "$CONDA_PREFIX" cudnn 8.1.0.77 lib/libcudnn_ops_infer.so.8
	printf '{"name": "tensorflow-gpu", "version": "2.10.0", "files": [], "depends": ["tensorflow 2.10.0", "tensorflow-base 2.10.0"]}' \
		>"$CONDA_PREFIX/conda-meta/tensorflow-gpu-2.10.0-gpu_0.json"
}

laptop first
run 1 check tensorflow-gpu
out_has "8 of 8 modules are cold"
run 0 prime tensorflow-gpu
first_start 0
run 0 key generate --no-passphrase
run 0 export --sign -o "$stick/lab.jwpack"
trust=$(sed -n 's/.*jitwarm \(key trust RW[A-Za-z0-9+/]*=*\).*/\1/p' "$out")
[ -n "$trust" ] || fail "how the others come to trust it is not said"

for name in second third; do
	laptop $name
	run 3 import "$stick/lab.jwpack"
	err_has "is not trusted here"
	err_has "jitwarm key trust"
	# shellcheck disable=SC2086
	run 0 $trust
	run 0 import --dry-run "$stick/lab.jwpack"
	out_has "8 entries"
	run 0 import "$stick/lab.jwpack"
	run 0 check tensorflow-gpu
	out_has "warm, all 8 modules"
	first_start 0
	run 0 doctor --no-probe tensorflow-gpu
done

# Without the stick, and without knowing the package's name
laptop fourth
unset CONDA_PREFIX
mkdir -p "$HOME/.conda"
printf '%s\n' "$HOME/miniconda3/envs/tf" >"$HOME/.conda/environments.txt"
run 1 find
out_has "8 modules to compile"
user_follows
first_start 0
