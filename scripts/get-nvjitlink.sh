#!/bin/bash
# get-nvjitlink.sh [--here] VERSION...   fetches NVIDIA's nvJitLink of these CUDA versions (12.4) from PyPI's wheels
#
# Where: $JITWARM_NVJITLINK/VERSION, by default ~/.cache/jitwarm/nvjitlink/VERSION. A version that is there is not fetched again; it is
# always complete. Nothing is installed. Prints the path of each library.
# --here: fetches nothing; also looks into /usr/local/cuda-VERSION.
#
# Exit status: 0 all of them are there; 64 wrong usage; 3 failed, or not here.
set -euo pipefail

# shellcheck disable=SC2034 # cuda-wheel.sh reads them
store=${JITWARM_NVJITLINK:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/nvjitlink} package=nvidia-nvjitlink library=nvJitLink names=(-name 'libnvJitLink.so.*')
# shellcheck source=scripts/cuda-wheel.sh
. "$(dirname "${BASH_SOURCE[0]}")/cuda-wheel.sh"
