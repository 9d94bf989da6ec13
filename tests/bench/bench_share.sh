#!/bin/bash
# bench_share.sh [-B BUILD-FOLDER] [-n ROUNDS] CACHE-FOLDER
#
# pull of a cache's pack from Debian's docker-registry on loopback beside import of the same pack from disk, in one run (the best of
# ROUNDS, by turns; their own processor time, which other work changes less, in the mean), with requests and bytes; and 16 pulls at once. The entries are for sm_86; the simulated driver's are taken.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/release rounds=5
while getopts B:n: option; do
	case $option in
	B) build=$OPTARG ;;
	n) rounds=$OPTARG ;;
	*) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 1 ] && [ -d "$1" ] && [ -x "$build/src/jitwarm" ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 64; }
command -v docker-registry >/dev/null || { echo "bench_share.sh: no docker-registry" >&2; exit 77; }
root=$PWD build=$(cd "$build" && pwd) cache=$(cd "$1" && pwd) scratch=$(mktemp -d) server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch no_proxy='*' CUDA_CACHE_MAXSIZE=4294967296 NO_COLOR=1 JITWARM_PLAIN_HTTP=localhost JITWARM_STATE=$scratch/state
jw() { "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$build/src/jitwarm" "$@"; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$scratch/data" "$port" >registry.yml
docker-registry serve registry.yml >log 2>&1 &
server=$!
until (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do sleep 0.05; done
place=oci://127.0.0.1:$port/bench/cache:v1
CUDA_CACHE_PATH=$cache jw export -q -o pack.jwpack
CUDA_CACHE_PATH=$cache jw push -q "$place" pack.jwpack

TIMEFORMAT='%U %S'
# timed NAME COMMAND...: notes its seconds, and those of processor time
timed() {
	local what=$1 started ended
	shift
	rm -rf there
	started=$(date +%s%N)
	{ time CUDA_CACHE_PATH=$scratch/there "$@" >out 2>err || { cat err; exit 1; }; } 2>>"$what.cpu"
	ended=$(date +%s%N)
	echo $((ended - started)) >>"$what.ns"
}
for ((i = 0; i < rounds; i++)); do
	timed import jw import --allow-unsigned pack.jwpack
	timed pull jw pull --allow-unsigned "$place"
	cp out pulled
done
least() { sort -n "$1.ns" | head -1; }
entries=$(grep -oE '^[0-9]+ entries added' pulled)
awk -v p="$(least pull)" -v i="$(least import)" -v b="$(stat -c %s pack.jwpack)" -v e="$entries" \
	'BEGIN { printf "pull %.3f s, import of the same pack from disk %.3f s: %.2f times (at most 1.5); %s, a pack of %d bytes\n", p / 1e9, i / 1e9, p / i, e, b }'
spent() { awk '{ s += $1 + $2 } END { print s / NR }' "$1.cpu"; }
awk -v p="$(spent pull)" -v i="$(spent import)" 'BEGIN { printf "processor time: pull %.2f s, import %.2f s: %.2f times\n", p, i, p / i }'
grep -E 'request' pulled
started=$(date +%s%N)
pulls=()
for ((i = 0; i < 16; i++)); do
	(JITWARM_STATE=$scratch/state-$i CUDA_CACHE_PATH=$scratch/there-$i jw pull -q --allow-unsigned "$place" >/dev/null 2>&1) &
	pulls+=($!)
done
for pull in "${pulls[@]}"; do wait "$pull"; done
awk -v t="$(($(date +%s%N) - started))" -v p="$(least pull)" 'BEGIN { printf "16 pulls at once: %.3f s, %.2f of 16 one after the other\n", t / 1e9, t / (16 * p) }'
