#!/bin/bash
# crowd.sh BUILD-FOLDER DRIVER-VERSION [MODULES [EACH]]   four programs under NVIDIA's own driver insert while prime does
#
# prime has MODULES modules (2000) to insert; meanwhile four programs, one process after the other each, load EACH (100) others
# into the same cache. watch.so, preloaded into the programs, logs how long each waited for the index' lock, and whose
# it was, and every file that they removed. What must hold:
#   - no program ever waits longer than 20 ms for a jitwarm that works or sleeps; one that waits for a processor or a disk on a
#     busy machine does not count: the first is not measured, and because of the second there may be three tries
#   - an entry that is gone at the end was removed by a driver (docs/internals/driver-cache.md: drivers that share an index of more than
#     256 rows wipe one another's entries) or never inserted by a driver that had waited in vain, but never removed by jitwarm
#   - the cache is sound, and a second prime finds everything warm
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# -ge 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
modules=${3:-2000} each=${4:-100} jitwarm=$build/src/jitwarm limit=900
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache

mkdir -p "$scratch/prime" "$CUDA_CACHE_PATH"
for ((i = 1; i <= modules; i++)); do "$probe" container "$scratch/prime/$i.fatbin" "$i" || exit 1; done
for p in 1 2 3 4; do
	mkdir "$scratch/$p"
	for ((i = 0; i < each; i++)); do "$probe" container "$scratch/$p/$i.fatbin" $((1000000 * p + i)) || exit 1; done
done

failed=0
complain() { echo "FAILED: $*"; failed=1 first=${first:-$*}; }

# program NUMBER: while prime runs, some programs at a time start and end beside it
program() {
	local files=("$scratch/$1"/*.fatbin) i
	for ((i = 0; i < each; i += 25)); do
		WATCH_LOG=$scratch/log LD_PRELOAD=$build/tests/driver/watch.so under "$version" sm_86 "$probe" load 0 "${files[@]:i:25}" >>"$scratch/$1.out" 2>&1 || return 1
		sleep 1
	done
}

# judge: returns 0, or 1 if something does not hold, or 2 if only a program waited too long
judge()
{
	python3 - "$scratch" "$modules" "$each" <<'P'
import json, sys
scratch, modules, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
prime, report = json.load(open(scratch + "/out")), json.load(open(scratch + "/report"))
lines = [line.split() for line in open(scratch + "/log")]
waits = [(float(l[2]), float(l[3])) for l in lines if l[0] in ("wait", "turned-away")]
turned_away = sum(l[0] == "turned-away" for l in lines)
gone = {l[2] for l in lines if l[0] == "gone" and not l[2].endswith("/index")}
longest = max([w[1] for w in waits], default=0)
print("prime: %d compiled, %d failed, %d lost, %.0f s; peak of the supervisor %.0f MB" % (
    prime["compiled"], prime["failed"], prime["lost"], prime["seconds"], prime["peak_supervisor_bytes"] / 1e6))
print("locks that programs had to wait for: %d; longest %.1f ms, of that at most %.1f ms for jitwarm; %d waited for jitwarm at all, %d in vain" % (
    len(waits), max([w[0] for w in waits], default=0), longest, sum(w[1] > 0 for w in waits), turned_away))
missing = modules + 4 * each - report["sound"]
print("entries: %d sound, %d missing; %d removals by drivers" % (report["sound"], missing, len(gone)))
bad = []
if prime["failed"] or prime.get("stopped"):
    bad.append("prime failed")
if missing > len(gone) + turned_away:
    bad.append("more entries are missing than drivers have removed or not inserted")
if report["damaged"] or report["next_insert"] == "wipes":
    bad.append("the cache is damaged")
for text in bad:
    print("FAILED: " + text)
if bad:
    sys.exit(1)
if longest > 20:
    print("a program waited longer than 20 ms for jitwarm")
    sys.exit(2)
P
}

# experiment: runs prime beside four programs, and returns judge's verdict
experiment()
{
	local prime p programs=() status=0
	rm -rf "$JITWARM_STATE" "$CUDA_CACHE_PATH" "$scratch/log" "$scratch"/?.out
	mkdir "$CUDA_CACHE_PATH"
	: >"$scratch/log"
	under "$version" sm_86 "$jitwarm" prime "$scratch/prime" --json >"$scratch/out" 2>"$scratch/err" &
	prime=$!
	for p in 1 2 3 4; do program $p & programs[p]=$!; done
	for p in 1 2 3 4; do wait "${programs[p]}" || complain "a program: $(tail -3 "$scratch/$p.out")"; done
	wait $prime || status=$?
	keep_document "$scratch/out"
	[ $status -le 1 ] || complain "prime: status $status: $(tail -3 "$scratch/err")"
	"$jitwarm" cache verify --json >"$scratch/report" 2>&1 || complain "the cache is not sound"
	keep_document "$scratch/report"
	judge
}

for try in 1 2 3; do
	status=0
	experiment || status=$?
	[ $status = 2 ] && [ $failed = 0 ] || break
	echo "try $try"
done
[ $status = 0 ] || failed=1
under "$version" sm_86 "$jitwarm" prime "$scratch/prime" --json >"$scratch/out" 2>"$scratch/err" || complain "the second prime: $(tail -3 "$scratch/err")"
under "$version" sm_86 "$jitwarm" check "$scratch/prime" >/dev/null 2>&1 || complain "cold after the second prime"
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
