#!/usr/bin/env bash
# layers.sh   prints every #include, and every call through include/jitwarm, that the floors of docs/internals/architecture.md do not
#             allow; nothing if there is none
#
# A room includes and calls rooms of the floors below its own, and of its own floor those that the table "Sideways" allows. Both are
# read from that document, so that it cannot differ from this check. The program includes base, os and the public
# headers alone.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
document=docs/internals/architecture.md
# "room floor" for each room, floors counted from the top, then "from>to" for each line of the second table
tables=$(awk '
	/^<!-- floors -->$/ { part = "floors"; next }
	/^<!-- sideways -->$/ { part = "sideways"; next }
	/^<!-- end -->$/ { part = ""; next }
	part == "floors" && NF { floor++; for (i = 1; i <= NF; i++) print $i, floor }
	part == "sideways" && $2 == "→" { for (i = 3; i <= NF; i++) print $1 ">" $i, 0 }' "$document")
[ -n "$tables" ] || { echo "$document: no floors in it"; exit 1; }
declare -A floor=()
while read -r name number; do floor[$name]=$number; done <<<"$tables"
for room in src/*/; do
	room=$(basename "$room")
	[ -n "${floor[$room]:-}" ] || echo "src/$room: $document has no such room"
done
{
	git ls-files 'src/*.[ch]' | xargs grep -nHE '^#include "[a-z]+/' | sed -E 's|^(src/([a-z]+)/[^:]*:[0-9]+):#include "([a-z]+)/.*|\1 \2 \3|'
	# A function belongs to the room that defines it: there, its name is in a line that begins at the margin and does not end with “;”.
	git ls-files 'src/*.c' | xargs awk '
		BEGIN { for (i = 1; i < ARGC; i++) ARGV[ARGC + i - 1] = ARGV[i]; count = ARGC - 1; ARGC = 2 * count + 1 }
		FNR == 1 { split(FILENAME, part, "/"); second = ++files > count }
		!second && /^[a-z]/ && !/^static/ && !/;$/ && match($0, /jw_[a-z0-9_]+\(/) { of[substr($0, RSTART, RLENGTH)] = part[2] }
		second && /^[\t ]/ {
			for (rest = $0; match(rest, /jw_[a-z0-9_]+\(/); rest = substr(rest, RSTART + RLENGTH)) {
				to = of[substr(rest, RSTART, RLENGTH)]
				if (to != "") print FILENAME ":" FNR, part[2], to
			}
		}'
} |
	while read -r place from to; do
		[ "$from" != "$to" ] && [ -n "${floor[$from]:-}" ] && [ -n "${floor[$to]:-}" ] || continue
		[ "${floor[$from]}" -lt "${floor[$to]}" ] || [ -n "${floor[$from>$to]:-}" ] || echo "$place: $from uses $to"
	done
git ls-files 'src/cli/*.[ch]' | xargs grep -nHE '^#include "[a-z]+/' | grep -vE '#include "(base|os|cli)/' || true
