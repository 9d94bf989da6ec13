#!/usr/bin/env bash
# weight.sh [--check]   what the project weighs: lines and files of each room, tests, scripts, headers with one user, commands, options, words
#
# --check prints only what is over its limit, and then ends with 1. A limit is what was reached last: it is lowered, never raised.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=
case ${1:-} in
--check) check=1 ;;
"") ;;
-h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
*) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac

listed() { git ls-files "$@" | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done; }
lines() { tr '\n' '\0' | xargs -0r cat | wc -l; }
code() { listed 'src/*.[ch]' 'include/*.h'; }
# A header that nothing but its own source, or one other file, includes
single_users() {
	code | grep '^src/.*\.h$' | while read -r header; do
		users=$(git grep -lF "\"${header#src/}\"" -- src tests | grep -vFx "${header%.h}.c" | wc -l)
		[ "$users" -gt 1 ] || printf '%s\n' "$header"
	done
}
row() { # NAME VALUE LIMIT; a limit of - is none
	if [ -z "$check" ]; then
		printf '%-34s %7d  %s\n' "$1" "$2" "$([ "$3" = - ] || echo "at most $3")"
	elif [ "$3" != - ] && [ "$2" -gt "$3" ]; then
		printf '%s: %d, at most %d\n' "$1" "$2" "$3"
		over=1
	fi
}

over=
if [ -z "$check" ]; then
	for room in src/*/ include/; do
		printf '%-34s %7d  in %d files\n' "$room" "$(listed "$room*.[ch]" | lines)" "$(listed "$room*.[ch]" | wc -l)"
	done
fi
row "src and include, lines" "$(code | lines)" 96785
row "src and include, files" "$(code | wc -l)" 511
row "headers with one user" "$(single_users | wc -l)" 0
row "tests, lines" "$(listed 'tests/*.[ch]' 'tests/*.sh' 'tests/*.py' | lines)" 78715
row "scripts, files" "$(listed 'scripts/*' | wc -l)" 45
# As “jitwarm help” lists them: a group is one, and “complete” and “worker” are not for people
row "commands" "$(sed -n 's/^	X(\([a-z]*\).*/\1/p' src/cli/cli.c | grep -vxE 'complete|worker' | sort -u | wc -l)" 28
row "words by hand, English" "$(listed '*.md' | grep -vE '^(docs/(ko/|json|driver-behaviour)|.*\.ko\.md)' | tr '\n' '\0' |
	xargs -0 cat | sed -E '/^<!-- (generated|statuses) -->/,/^<!-- end -->/d' | wc -w)" 34000
[ -z "$over" ]
