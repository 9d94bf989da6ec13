# “RUN jitwarm prime” in a Dockerfile: there is no GPU while an image is built
program=$JITWARM
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
here=$JITWARM
export CUDA_CACHE_PATH=$place/host-cache
empty_environment "$place/image/venv"
export VIRTUAL_ENV=$place/image/venv
wheel "$(site_of "$place/image/venv")" torch 1.7.1 torch/lib/libtorch_cuda.so

# docker build
JITWARM=$program
export JITWARM_PCI_DEVICES=''
for command in "prime torch" "check torch"; do
	# shellcheck disable=SC2086
	run 2 $command
	err_has "no NVIDIA driver"
	err_has "--target"
done
# What can be said without: what a GPU's driver would compile.
run 0 scan --target rtx3070 torch
out_has "8 modules"
unset JITWARM_PCI_DEVICES

# The host has the GPU: it compiles once, and the container imports at its start.
JITWARM=$here
run 0 prime torch
run 0 export -o "$place/image/torch.jwpack"
run 0 tune --print docker
out_has "-e CUDA_CACHE_PATH="
out_has "-v "

# docker run --gpus all: another home, an empty cache, the host's driver
export HOME=$place/container JITWARM_STATE=$place/container/state CUDA_CACHE_PATH=$place/container/cache
mkdir -p "$HOME"
run 1 check torch
run 0 import --allow-unsigned "$place/image/torch.jwpack"
run 0 check torch
first_start 0
