#!/bin/bash
# check.sh FRAMEWORK-APP: what the sample framework does under the driver that the environment gives: the first start
# compiles every module, the second none.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CUDA_CACHE_PATH=$scratch/cache

first=$("$1" | tail -1)
second=$("$1" | tail -1)
echo "$first, then $second"
[[ $first =~ ^compiled\ ([0-9]+)\ of\ ([0-9]+)$ ]]
[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] && [ "${BASH_REMATCH[1]}" -ge 7 ]
[ "$second" = "compiled 0 of ${BASH_REMATCH[2]}" ]
