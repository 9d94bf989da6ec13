# “RUN jitwarm prime” in a Dockerfile: there is no GPU while an image is built.
program=$JITWARM
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
on_the_host=$JITWARM
empty_environment "$place/venv"
export VIRTUAL_ENV=$place/venv
wheel "$(site_of "$place/venv")" torch 1.7.1 torch/lib/libtorch_cuda.so
# machine NAME: a machine with its own home
machine() {
	export HOME=$place/$1 JITWARM_STATE=$place/$1/state CUDA_CACHE_PATH=$place/$1/.nv/ComputeCache
	mkdir -p "$HOME"
	cd "$HOME" || exit
}
build_machine() { JITWARM=$program; export JITWARM_PCI_DEVICES=; machine build; }
with_gpu() { JITWARM=$on_the_host; unset JITWARM_PCI_DEVICES; machine "$1"; }
start() { simulated "$app" | tail -n 1; }
hour
