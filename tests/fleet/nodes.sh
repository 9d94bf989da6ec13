#!/bin/bash
# nodes.sh BUILD-FOLDER   fifty machines prime the same files at the same time with --store, in one folder
#
# Each has a state and a cache of its own, and the same key. Each compiles what it needs; ten more are killed half way. The folder then holds
# only complete packs with their signatures. Fifty new machines compile nothing, also after --superseded has removed all packs but one.
# Exit status 1 if not, 77 if a program is missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) root=$(cd "$here/../.." && pwd) machines=50
command -v python3 >/dev/null && [ -e "$build/tests/simdriver" ] || { echo "skipped: no python3, or no simulated driver"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export NO_COLOR=1 SIMDRIVER_STATE=$work/sim
sample=$build/tests/framework/libsample_framework.so place=$work/place
fail() { echo "FAILED: $*"; exit 1; }
# jitwarm MACHINE ARGUMENT…
jitwarm() {
	local machine=$work/$1
	shift
	CUDA_CACHE_PATH=$machine/cache JITWARM_STATE=$machine/state exec "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$build/src/jitwarm" "$@"
}
(jitwarm maker key generate) >/dev/null || fail "key generate"
mkdir "$place"
# begin NAME: starts the machines; waits for all of them, and adds up what they have done
begin() {
	local i failed=0 pids=()
	for ((i = 0; i < machines; i++)); do
		mkdir -p "$1-$i/state" && cp -r maker/state/{keys,trusted} "$1-$i/state/"
		(jitwarm "$1-$i" prime -j1 --json --store "$place" "$sample") >"$1-$i/out" 2>"$1-$i/err" </dev/null &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do wait "${pids[i]}" || { cat "$1-$i/err"; failed=1; }; done
	[ $failed = 0 ] || fail "a machine of the round “$1”"
	python3 - "$1" $machines <<'P' || fail "$1"
import json, sys
name, machines = sys.argv[1], int(sys.argv[2])
documents = [json.load(open("%s-%d/out" % (name, i))) for i in range(machines)]
compiled = [d["compiled"] for d in documents]
for d in documents:
    assert not d["undone"] and not d["failed"] and not d["folder"]["refused"] and "trouble" not in d["folder"], d
    assert d["compiled"] == d["folder"]["placed"], d
    assert d["compiled"] + d.get("from_folder", {}).get("entries", 0) == d["cold"] == d["modules"], d
assert max(compiled) > 0 if name == "first" else max(compiled) == 0, compiled
print("%s: %d machines compiled %d modules together" % (name, machines, sum(compiled)))
P
}
sound() {
	(jitwarm maker store list --json --store "$place") >listed || fail "a pack is damaged: $1"
	for pack in "$place"/*.jwpack; do [ -s "$pack.minisig" ] || fail "$pack has no signature: $1"; done
}

begin first
sound "after the first round"
# Ten machines are killed while they compile or write: nothing that they leave is taken for a pack.
for ((i = 0; i < 10; i++)); do
	mkdir -p "killed-$i/state" && cp -r maker/state/{keys,trusted} "killed-$i/state/"
	(jitwarm "killed-$i" prime -j1 --store "$place/none-$i" "$sample") >/dev/null 2>&1 </dev/null &
	pids[i]=$!
	mkdir "$place/none-$i"
done
for ((i = 0; i < 10; i++)); do sleep 0.2; kill -KILL "${pids[i]}"; done
wait
for ((i = 0; i < 10; i++)); do
	for pack in "$place/none-$i"/*.jwpack; do
		[ ! -e "$pack" ] || { [ -s "$pack.minisig" ] && (jitwarm maker store list --store "$place/none-$i") >/dev/null || fail "a killed machine left $pack"; }
	done
	rm -r "$place/none-$i"
done
begin second
sound "after the second round"
(jitwarm maker store clear --superseded --yes --store "$place") >/dev/null || fail "store clear"
[ "$(find "$place" -name '*.jwpack' | wc -l)" = 1 ] && [ "$(find "$place" -type f | wc -l)" = 2 ] || fail "not one pack and its signature: $(ls "$place")"
begin third
