#!/bin/bash
# crowd.sh BUILD-FOLDER [NODES [PART…]]   64 machines that begin within a second share one library's modules (nodes.py), in a folder
#
# Parts: together: all of them; killed: a third is killed half way; ended: a third is killed, and the folder goes half way. All take some fifteen minutes, and what they
# compile together says nothing on a busy machine. Exit status 1 if a node has not everything in the end, or they compile more than 1.1 times
# what one would; 77 if a program is not at hand.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) count=${2:-64} parts=" ${*:3} "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in cc python3; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
[ -e "$build/tests/simdriver" ] || { echo "skipped: no simulated driver"; exit 77; }
while read -r name; do unset "$name"; done < <(env | grep -oE '^CUDA_[A-Z_]*=' | tr -d =)
export HOME=$work
failed=0
# nodes NAME EXPRESSION OPTION…: runs nodes.py with a place of their own; EXPRESSION is true for its report d
nodes() {
	local name=$1 good=$2
	shift 2
	[[ $parts =~ ^' '+$ || $parts == *" $name "* ]] || return 0
	mkdir "$work/$name"
	for file in libmodules.so libmodules.so.list; do [ ! -e "$work/$file" ] || ln "$work/$file" "$work/$name/$file"; done
	"$here/nodes.py" -n "$count" "$@" "$build" "$work/$name" >"$work/said" || failed=1
	echo "$name: $(cat "$work/said")"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), d' "$work/said" "$good" || failed=1
	[ -e "$work/libmodules.so" ] || ln "$work/$name"/libmodules.so* "$work/"
	rm -rf "$work/$name"
}
shape=(-m $((2 * count)) -s 12000 -c 110)
nodes together 'd["times_one"] <= 1.1 and not d["troubles"] and not d["refused"]' "${shape[@]}"
nodes killed 'd["killed"] == d["nodes"] // 3 and not d["refused"]' "${shape[@]}" -k
rm -f "$work"/libmodules.so*
# Each node compiles the other half alone, so it compiles less.
shape=(-m 64 -s 3000 -c 20)
nodes ended 'd["killed"] == d["nodes"] // 3 and d["troubles"]' "${shape[@]}" -k -x
exit $failed
