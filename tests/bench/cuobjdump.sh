#!/usr/bin/env bash
# cuobjdump.sh JITWARM CUOBJDUMP FILE...   scan beside NVIDIA's own tool: `scan --json` once, `cuobjdump -lelf` and `-lptx` file by file
#
# Wall time, page cache warm, one after the other. CUOBJDUMP is in the CUDA toolkit and in the wheel nvidia-cuda-cuobjdump.
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
jitwarm=$1 cuobjdump=$2
shift 2
cat "$@" >/dev/null
seconds() { local began; began=$(date +%s.%N); "$@" >/dev/null 2>&1 || true; echo "$(date +%s.%N) - $began" | bc; }
list() { local file; for file; do "$cuobjdump" -lelf "$file"; "$cuobjdump" -lptx "$file"; done; }
ours=$(seconds "$jitwarm" scan --json "$@")
theirs=$(seconds list "$@")
printf 'scan %.2f s, cuobjdump %.1f s, ratio %.1f over %d files\n' "$ours" "$theirs" "$(echo "$theirs / $ours" | bc -l)" $#
