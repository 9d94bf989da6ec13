#!/usr/bin/env bash
# layers.sh   prints every #include that points upward (docs/architecture.md). Nothing printed: all is well.
#
#     cli
#     startup
#     find      tune
#     prime     pack
#     plan
#     compile   cache     devcode      gpu
#     base      os
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
declare -A level=([base]=1 [os]=1 [devcode]=2 [gpu]=2 [cache]=3 [compile]=3 [plan]=4 [prime]=5 [pack]=5 [find]=5 [tune]=5 [startup]=6 [cli]=7)
git ls-files 'src/*.[ch]' | xargs grep -nE '^#include "[a-z]+/' | while IFS=: read -r file line include; do
	from=$(cut -d/ -f2 <<<"$file")
	to=$(sed -E 's/.*"([a-z]+)\/.*/\1/' <<<"$include")
	[ -n "${level[$from]:-}" ] && [ -n "${level[$to]:-}" ] || continue
	[ "${level[$to]}" -le "${level[$from]}" ] || echo "$file:$line: $from includes $to"
done
# The program stands on the public headers, base and os alone.
git ls-files 'src/cli/*.[ch]' | xargs grep -nE '^#include "(devcode|gpu|cache|compile|plan|prime|pack|find|tune|startup)/' || true
