# A Pascal card (GTX 1080, sm_61): an old framework is compiled for it at its first start; a new one has no code for it.
with_simdriver sm_61
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
export CUDA_CACHE_PATH=$place/cache
empty_environment "$place/old"
export VIRTUAL_ENV=$place/old
wheel "$(site_of "$place/old")" tensorflow 1.4.0 tensorflow/python/_pywrap_tensorflow_internal.so
run 1 doctor --no-probe
out_has "cold: up to 8 modules"
user_follows
first_start 0
run 0 doctor --no-probe

# The new framework has PTX for 7.0 and newer alone, so nothing makes it run on this card.
empty_environment "$place/new"
export VIRTUAL_ENV=$place/new
site=$(site_of "$place/new")
wheel "$site" torch 2.8.0 torch/lib/libtorch_cuda.ptx
printf '.version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$site/torch/lib/libtorch_cuda.ptx"
run 2
out_has "torch 2.8.0: 1 file will fail"
run 2 prime torch
run 2 doctor --no-probe
out_has "no-code"
out_has "Do: install the newest torch"
# A driver of a branch without support for the card says so, too.
run 2 check --target gtx1080 --driver 590.44.01 torch
err_has "driver"
