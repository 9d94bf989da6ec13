#!/bin/bash
# get-nvrtc.sh [--here] VERSION...   fetches NVIDIA's NVRTC of these CUDA versions (12.4) from PyPI's wheels
#
# Where: $JITWARM_NVRTC/VERSION, by default ~/.cache/jitwarm/nvrtc/VERSION. A version that is there is not fetched again; it is
# always complete. Nothing is installed. Prints the path of each library.
# --here: fetches nothing; also looks into /usr/local/cuda-VERSION.
#
# Exit status: 0 all of them are there; 64 wrong usage; 3 failed, or not here.
set -euo pipefail

# shellcheck disable=SC2034 # cuda-wheel.sh reads them
store=${JITWARM_NVRTC:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/nvrtc} package=nvidia-cuda-nvrtc library=NVRTC names=(-name 'libnvrtc.so.*' ! -name '*alt*')
# shellcheck source=scripts/cuda-wheel.sh
. "$(dirname "${BASH_SOURCE[0]}")/cuda-wheel.sh"
