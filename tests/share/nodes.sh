#!/bin/bash
# nodes.sh BUILD-FOLDER together|killed   eight machines prime the same files with --share, in a folder (nodes.py)
# Exit status 1 if together they compile more than 1.25 times what one has to, or one has not everything, 77 if a program is not at hand.
# A compile takes ten times as long as usual, so that a busy machine, too, has time between a claim and its look.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
for program in cc python3; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
[ -e "$build/tests/simdriver" ] || { echo "skipped: no simulated driver"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kill=()
[ "$2" = together ] || kill=(-k)
"$here/nodes.py" -n 8 -m 48 -s 3000 -c 10 "${kill[@]}" "$build" "$work/nodes" >"$work/said" || { cat "$work/said"; exit 1; }
cat "$work/said"
# Others compile the modules that the killed machines had begun.
python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert d["compiled"] <= d["modules"] * 1.25 and not d["troubles"] and not d["refused"], d
assert d["killed"] == int(sys.argv[2]), d' "$work/said" "$([ "$2" = together ] && echo 0 || echo 2)"
