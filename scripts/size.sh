#!/usr/bin/env bash
# size.sh [COMMIT]   what the project weighs, a table for a reviewer: lines of each room, tests and scripts, in COMMIT (HEAD by default) and
#                    in the working tree; then commands and words. It judges nothing, and fails for no number
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
-h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;;
-*) sed -n '2,3s/^# //p' "$0" >&2; exit 64 ;;
esac
commit=$(git rev-parse --short --verify "${1:-HEAD}^{commit}")

listed() { git ls-files --cached --others --exclude-standard "$@" | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done; }
after() { listed "$@" | tr '\n' '\0' | xargs -0r cat | wc -l; }
before() { git grep -ac '' "$commit" -- "$@" | awk -F: '{ sum += $NF } END { print sum + 0 }'; }
row() { # NAME PATTERN...: lines of the files that fit
	local name=$1 old new
	shift
	old=$(before "$@") new=$(after "$@")
	printf '%-26s %8d %8d %+7d\n' "$name" "$old" "$new" $((new - old))
}

printf '%-26s %8s %8s\n' "lines" "$commit" now
for room in src/*/ include/; do
	row "$room" "$room*.[ch]"
done
row "src and include" 'src/*.[ch]' 'include/*.h'
row tests 'tests/*.[ch]' 'tests/*.sh' 'tests/*.py'
row scripts 'scripts/*'
# The commands are counted as in “jitwarm help”: a group is one, and “complete” and “worker” are not for people.
printf '%-26s %17d\n' commands "$(sed -n 's/^	X(\([a-z]*\).*/\1/p' src/cli/cli.c | grep -vxE 'complete|worker' | sort -u | wc -l)"
printf '%-26s %17d\n' "words by hand, English" "$(listed '*.md' | grep -vE '^(docs/(ko/|reference/|contributing/driver-behaviour)|.*\.ko\.md)' |
	tr '\n' '\0' | xargs -0 cat | sed -E '/^<!-- (generated|statuses) -->/,/^<!-- end -->/d' | wc -w)"
