#!/bin/bash
# check-wine.sh BUILD-FOLDER: the same for Windows, under Wine and the simulated nvcuda.dll, for a user with a Hangul name.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1
user=홍길동
run() { "$root/scripts/with-simdriver.sh" -B "$build" -w -u "$user" sm_86 -- "$build/tests/framework/framework-app.exe" "$@"; }

run 15 > /dev/null 2>&1 || status=$?
[ "${status:-0}" != 77 ] || exit 77
cache=$build/wine/$user/drive_c/users/$user/AppData/Roaming/NVIDIA/ComputeCache
rm -rf "$cache"
first=$(run | tr -d '\r' | tail -1)
second=$(run | tr -d '\r' | tail -1)
echo "$first, then $second"
[ "$first" = "compiled 8 of 8" ] && [ "$second" = "compiled 0 of 8" ]
[ -s "$cache/index" ]
