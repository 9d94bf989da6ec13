# Six laptops have an RTX 3060, conda, and accounts with Hangul names: one laptop compiles for all.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
laptop() { # OF
	export HOME=$place/home/$1 JITWARM_STATE=$place/home/$1/.local/state/jitwarm CUDA_CACHE_PATH=$place/home/$1/.nv/ComputeCache
	export CONDA_PREFIX=$HOME/miniconda3/envs/수업
	mkdir -p "$HOME/.conda"
	conda_package "$CONDA_PREFIX" tensorflow-base 2.10.0 lib/python3.10/site-packages/tensorflow/python/_pywrap_tensorflow_internal.so
	printf '{"name": "tensorflow-gpu", "version": "2.10.0", "files": [], "depends": ["tensorflow-base 2.10.0"]}' >"$CONDA_PREFIX/conda-meta/tensorflow-gpu-2.10.0-0.json"
	cd "$HOME" || exit
}
mkdir "$place/usb"
hour
