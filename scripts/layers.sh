#!/usr/bin/env bash
# layers.sh   prints every #include that the floors of docs/architecture.md do not allow; nothing if there is none
#
# A room includes rooms of the floors below its own, and of its own floor those that the table "Sideways" allows. Both are
# read from that document, so that it cannot differ from this check. The program includes base, os and the public
# headers alone.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
document=docs/architecture.md
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
git ls-files 'src/*.[ch]' | xargs grep -nHE '^#include "[a-z]+/' | sed -E 's|^(src/([a-z]+)/[^:]*:[0-9]+):#include "([a-z]+)/.*|\1 \2 \3|' |
	while read -r place from to; do
		[ "$from" != "$to" ] && [ -n "${floor[$from]:-}" ] && [ -n "${floor[$to]:-}" ] || continue
		[ "${floor[$from]}" -lt "${floor[$to]}" ] || [ -n "${floor[$from>$to]:-}" ] || echo "$place: $from includes $to"
	done
git ls-files 'src/cli/*.[ch]' | xargs grep -nHE '^#include "[a-z]+/' | grep -vE '#include "(base|os|cli)/' || true
