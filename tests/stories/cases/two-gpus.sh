# A machine has two different GPUs: the start on one was warm, and the start on the other is not.
with_simdriver sm_75,sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
export CUDA_CACHE_PATH=$place/cache
empty_environment "$place/env"
export VIRTUAL_ENV=$place/env
wheel "$(site_of "$place/env")" torch 1.7.1 torch/lib/libtorch_cuda.so
simulated "$app" 0 >/dev/null
first_start 0 0

run 1
[ "$(grep -c '^GPU     ' "$out")" = 2 ] || fail "two GPUs are not shown"
out_has "sm_75 (RTX 20): warm"
out_has "sm_86 (RTX 30): up to 8 modules, up to "
run 1 check torch
out_has "sm_75"
out_has "up to 8 of 8 modules"
run 0 prime
first_start 0 0
first_start 0 1
run 0 doctor --no-probe
run 0
out_has "sm_86 (RTX 30): warm"
