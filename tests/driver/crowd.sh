#!/bin/bash
# crowd.sh BUILD-FOLDER DRIVER-VERSION [MODULES [EACH]]   four programs under NVIDIA's own driver insert while prime does
#
# prime has MODULES modules (2000) to insert; meanwhile four programs, one process after the other each, load EACH (100) others
# into the same cache. watch.so, preloaded into the programs, writes down how long each waited for the index' lock, and whose
# it was, and every file that they removed. What must hold:
#   - no program ever waits longer than 20 ms for a jitwarm
#   - an entry that is gone at the end was removed by a driver (docs/driver-cache.md: drivers that share an index of more than
#     256 rows wipe one another's entries), never by jitwarm
#   - the cache is sound, and a second prime has it warm
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# -ge 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd) version=$2 modules=${3:-2000} each=${4:-100}
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
[ -d "$store/$version" ] || { echo "driver $version is not in $store (scripts/get-drivers.sh)"; exit 77; }
jitwarm=$build/src/jitwarm probe=$build/tests/phantom/phantom-probe

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_CACHE_MAXSIZE CUDA_CACHE_DISABLE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT
export JITWARM_STATE=$scratch/state CUDA_CACHE_PATH=$scratch/cache NO_COLOR=1
under() { timeout 900 "$root/scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- "$@"; }

mkdir -p "$scratch/prime" "$CUDA_CACHE_PATH"
for ((i = 1; i <= modules; i++)); do "$probe" container "$scratch/prime/$i.fatbin" "$i" || exit 1; done
for p in 1 2 3 4; do
	mkdir "$scratch/$p"
	for ((i = 0; i < each; i++)); do "$probe" container "$scratch/$p/$i.fatbin" $((1000000 * p + i)) || exit 1; done
done

under "$jitwarm" prime "$scratch/prime" --json >"$scratch/out" 2>"$scratch/err" &
prime=$!
for p in 1 2 3 4; do
	# A few at a time, for as long as prime is at it: programs start and end beside it.
	(
		files=("$scratch/$p"/*.fatbin)
		for ((i = 0; i < each; i += 25)); do
			WATCH_LOG=$scratch/log LD_PRELOAD=$build/tests/driver/watch.so under "$probe" load 0 "${files[@]:i:25}" >>"$scratch/$p.out" 2>&1 || exit 1
			sleep 1
		done
	) &
	programs[p]=$!
done
failed=0
complain() { echo "FAILED: $*"; failed=1; }
for p in 1 2 3 4; do wait "${programs[p]}" || complain "a program: $(tail -3 "$scratch/$p.out")"; done
wait $prime
status=$?
[ $status -le 1 ] || complain "prime: status $status: $(tail -3 "$scratch/err")"
"$jitwarm" cache verify --json >"$scratch/report" 2>&1 || complain "the cache is not sound"
touch "$scratch/log"
python3 - "$scratch" "$modules" "$each" <<'P' || failed=1
import json, sys
scratch, modules, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
prime, report = json.load(open(scratch + "/out")), json.load(open(scratch + "/report"))
lines = [line.split() for line in open(scratch + "/log")]
waits = [(float(l[2]), float(l[3])) for l in lines if l[0] == "wait"]
gone = {l[2] for l in lines if l[0] == "gone" and not l[2].endswith("/index")}
print("prime: %d compiled, %d failed, %d lost, %.0f s; peak of the supervisor %.0f MB" % (
    prime["compiled"], prime["failed"], prime["lost"], prime["seconds"], prime["peak_supervisor_bytes"] / 1e6))
print("locks that programs had to wait for: %d; longest %.1f ms, of that at most %.1f ms for jitwarm; %d waited for jitwarm at all" % (
    len(waits), max([w[0] for w in waits], default=0), max([w[1] for w in waits], default=0), sum(w[1] > 0 for w in waits)))
missing = modules + 4 * each - report["sound"]
print("entries: %d sound, %d missing; %d removals by drivers" % (report["sound"], missing, len(gone)))
bad = []
if prime["failed"] or prime["stopped"] if "stopped" in prime else prime["failed"]:
    bad.append("prime failed")
if max([w[1] for w in waits], default=0) > 20:
    bad.append("a program waited longer than 20 ms for jitwarm")
if missing > len(gone):
    bad.append("more entries are missing than drivers have removed")
if report["damaged"] or report["next_insert"] == "wipes":
    bad.append("the cache is damaged")
for text in bad:
    print("FAILED: " + text)
sys.exit(bool(bad))
P
under "$jitwarm" prime "$scratch/prime" --json >"$scratch/out" 2>"$scratch/err" || complain "the second prime: $(tail -3 "$scratch/err")"
under "$jitwarm" check "$scratch/prime" >/dev/null 2>&1 || complain "cold after the second prime"
exit $failed
