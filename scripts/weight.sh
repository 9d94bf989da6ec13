#!/usr/bin/env bash
# weight.sh   what the project weighs, a table for a reviewer: lines and files of each room, tests, scripts, commands, words
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
"") ;;
-h | --help) sed -n '2s/^# //p' "$0"; exit 0 ;;
*) sed -n '2s/^# //p' "$0" >&2; exit 64 ;;
esac

listed() { git ls-files "$@" | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done; }
lines() { tr '\n' '\0' | xargs -0r cat | wc -l; }
code() { listed 'src/*.[ch]' 'include/*.h'; }
row() { printf '%-34s %7d%s\n' "$1" "$2" "${3:+  in $3 files}"; } # NAME VALUE [FILES]

for room in src/*/ include/; do
	row "$room" "$(listed "$room*.[ch]" | lines)" "$(listed "$room*.[ch]" | wc -l)"
done
row "src and include" "$(code | lines)" "$(code | wc -l)"
row tests "$(listed 'tests/*.[ch]' 'tests/*.sh' 'tests/*.py' | lines)" "$(listed 'tests/*.[ch]' 'tests/*.sh' 'tests/*.py' | wc -l)"
row scripts "$(listed 'scripts/*' | lines)" "$(listed 'scripts/*' | wc -l)"
# The commands are counted as in “jitwarm help”: a group is one, and “complete” and “worker” are not for people.
row "commands" "$(sed -n 's/^	X(\([a-z]*\).*/\1/p' src/cli/cli.c | grep -vxE 'complete|worker' | sort -u | wc -l)"
row "words by hand, English" "$(listed '*.md' | grep -vE '^(docs/(ko/|reference/|contributing/driver-behaviour)|.*\.ko\.md)' | tr '\n' '\0' |
	xargs -0 cat | sed -E '/^<!-- (generated|statuses) -->/,/^<!-- end -->/d' | wc -w)"
