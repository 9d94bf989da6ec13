# The driver was upgraded over night, and the first start is slow again.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
# shellcheck source=/dev/null
. "$cases/../../cli/drivers.sh"
export CUDA_CACHE_PATH=$place/cache
empty_environment "$place/env"
export VIRTUAL_ENV=$place/env
wheel "$(site_of "$place/env")" torch 1.7.1 torch/lib/libtorch_cuda.so
driver_535_309
run 0 prime torch
first_start 0

driver_550
run 1 doctor --no-probe
out_has "cold: up to 8 modules"
out_has "the driver has changed from 535.309.01"
run 1 prime -n torch
out_has "the driver has changed from 535.309.01"
run 0 prime torch
first_start 0
run 0 doctor --no-probe
run 0 check torch
out_has "warm, all 8 modules"
# The upgrade is undone: the former driver's entries are still there.
driver_535_309
run 0 prime torch
out_has "Warm: all 8 modules"
first_start 0
