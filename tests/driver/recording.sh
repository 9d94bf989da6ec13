#!/bin/bash
# recording.sh BUILD-FOLDER DRIVER PART   a recording of modules that are in no file, under NVIDIA's driver
#
# programs   of each program of recorded.py: recorded on one cache, primed into an empty one, the next start adds no entry, and all have
#            the bytes of a cold start. So it is after “make” and “import”
# image      docs/containers.md's recipe, in roots of their own (needs root, for mounts): recorded with a GPU, made where there is neither driver nor
#            GPU, copied into another root, where a start adds no entry
# Exit status: 0; 1 if something does not hold; 77 if the driver, its ptxas or an NVRTC is not at hand.
set -uo pipefail

[ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
part=$3
if [ "$part" = image ] && [ -z "${RECORDING_APART:-}" ]; then
	RECORDING_APART=1 unshare --mount --propagation private "$0" "$@"
	status=$?
	[ $status != 1 ] || [ "$(id -u)" = 0 ] || { echo "skipped: no mounts can be made here"; exit 77; }
	exit $status
fi
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
cuda=$([ "${version%%.*}" = 535 ] && echo 12.2 || echo 12.4)
nvrtc=$("$root/scripts/get.sh" nvrtc --here "$cuda") || { echo "skipped: NVRTC $cuda is not at hand (scripts/get.sh nvrtc $cuda)"; exit 77; }
timeout 300 "$build/src/jitwarm" compiler fetch "$cuda" >/dev/null 2>&1 || { echo "skipped: no ptxas $cuda (jitwarm compiler fetch $cuda)"; exit 77; }
export JITWARM_DRIVERS=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers} XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} HOME=$scratch/home
unset XDG_CONFIG_HOME
mkdir -p "$HOME"
cp "$root/tests/driver/recorded.py" "$scratch/"
python3 -c 'import sys, zlib; open(sys.argv[1], "wb").write(zlib.compress(b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry packed() { ret; }\n\0"))' "$scratch/packed.z"

# on NAME: switches to the cache and the state of another machine
on() { export CUDA_CACHE_PATH=$scratch/$1 JITWARM_STATE=$scratch/$1-state; }
start() { under "$version" sm_86 "$@" python3 "$scratch/recorded.py" "$program" "$nvrtc" >"$scratch/out" 2>"$scratch/err" || fail "$program: $(cat "$scratch/err")"; }
entries() { (cd "$CUDA_CACHE_PATH" && find . -path './?/?/*' -type f -exec cksum {} + | sort -k3); }
as_cold()
{
	local before
	before=$(entries)
	[ "$before" = "$cold" ] || fail "$program: $1 makes other entries than a cold start: $(diff <(echo "$cold") <(echo "$before"))"
	start
	[ "$(entries)" = "$before" ] || fail "$program: a start after $1 adds entries"
}

if [ "$part" = image ]; then
	trap 'umount -lR "$scratch/box" 2>/dev/null; rm -rf --one-file-system "$scratch"' EXIT
	mkdir "$scratch/box" && mount -t tmpfs tmpfs "$scratch/box" && mkdir "$scratch/box/"{empty,build,run}{,-new,-work} || { echo "skipped: no tmpfs"; exit 77; }
	root_of() { mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/box/$1-new,workdir=$scratch/box/$1-work" "$scratch/box/$1" &&
		mount --rbind /proc "$scratch/box/$1/proc" && mount --rbind /dev "$scratch/box/$1/dev" && mount --rbind /sys "$scratch/box/$1/sys" || { echo "skipped: no overlay"; exit 77; }; }
	program=nvrtc
	on recorded
	start "$build/src/jitwarm" run --record "$scratch/app.recording.json" --
	root_of build
	mkdir -p "$scratch/box/build$scratch" "$scratch/box/build$JITWARM_DRIVERS"
	cp "$scratch/app.recording.json" "$scratch/box/build/"
	mount --bind "$scratch/box/empty" "$scratch/box/build$JITWARM_DRIVERS"
	inside() { chroot "$scratch/box/build" env -i PATH="$PATH" HOME=/root XDG_CACHE_HOME="$XDG_CACHE_HOME" JITWARM_STATE=/state "$build/src/jitwarm" "$@"; }
	inside prime --recording /app.recording.json >"$scratch/out" 2>&1
	[ $? = 2 ] || fail "a GPU is there: $(cat "$scratch/out")"
	inside make --target sm_86 --driver "$version" --recording /app.recording.json -o /cache/ >"$scratch/out" 2>&1 || fail "make: $(cat "$scratch/out")"
	root_of run
	cp -a "$scratch/box/build/cache" "$scratch/box/run/cache"
	[ "$(stat -c '%a %u' "$scratch/box/run/cache" "$scratch/box/run/cache/index" | xargs)" = "755 0 666 0" ] || fail "other accounts cannot use /cache"
	before=$(cd "$scratch/box/run/cache" && find . -path './?/?/*' -type f -exec cksum {} +)
	[ "$(wc -l <<<"$before")" = 3 ] || fail "not three entries: $before"
	CUDA_CACHE_PATH=/cache under "$version" sm_86 chroot "$scratch/box/run" python3 "$scratch/recorded.py" nvrtc "$nvrtc" >"$scratch/out" 2>&1 ||
		fail "the program: $(cat "$scratch/out")"
	[ "$(cd "$scratch/box/run/cache" && find . -path './?/?/*' -type f -exec cksum {} +)" = "$before" ] || fail "a start adds entries"
	exit 0
fi

for each in nvrtc:3 options:3 packed:1 link:4 container:1 written:1; do
	program=${each%:*} wanted=${each#*:} recording=$scratch/${each%:*}.json
	on "$program-cold"
	start
	cold=$(entries)
	[ "$(wc -l <<<"$cold")" = "$wanted" ] || fail "$program: a cold start makes $(wc -l <<<"$cold") entries, not $wanted"
	on "$program-recorded"
	start "$build/src/jitwarm" run --record "$recording" --json --
	on "$program-primed"
	jitwarm 1 check --recording "$recording"
	so "d['cold'] == $wanted and d['verdict'] == 'cold'"
	jitwarm 0 prime --recording "$recording"
	so "d['compiled'] == d['recorded_texts'] == $wanted and 'recorded_not_in_files' not in d"
	jitwarm 0 check --recording "$recording"
	so "d['warm'] == $wanted and d['cold'] == 0 and d['verdict'] == 'warm'"
	as_cold prime
	on "$program-made"
	HOME=$scratch "$build/src/jitwarm" make --target sm_86 --driver "$version" --recording "$recording" -o "$scratch/$program.jwpack" >"$scratch/out" 2>&1 ||
		fail "$program: make: $(cat "$scratch/out")"
	jitwarm 0 import --allow-unsigned "$scratch/$program.jwpack"
	as_cold "make and import"
	echo "ok: $program: $wanted of $wanted, and the next start adds 0"
done

# Each PTX is there once, whatever its options. A GPU that runs the PTX has it compiled, too; one that does not has nothing to compile.
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(len(d["texts"]) != 1 or len({m["options"] for m in d["not_in_files"]}) != 3)' \
	"$scratch/options.json" || fail "the same text is there twice"
for each in 89:0:1 75:2:0; do
	IFS=: read -r sm status made <<<"$each"
	HOME=$scratch "$build/src/jitwarm" make --json --target "sm_$sm" --driver "$version" --recording "$scratch/nvrtc.json" -o "$scratch/other-$sm/" >"$scratch/json" 2>"$scratch/err"
	[ $? = "$status" ] || fail "for sm_$sm: $(cat "$scratch/json" "$scratch/err")"
	so "d['compiled'] == 3 * $made"
done
# A module that the driver refuses is reported with the recording's name, and tried again if the recording is named.
on broken
python3 - "$scratch/packed.json" "$scratch/broken.json" <<'P'
import base64, json, sys
document = json.load(open(sys.argv[1]))
ptx = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken() { nonsense; }\n\0"
module, name = document["not_in_files"][0], 0xCBF29CE484222325
key = document["driver"]["stamp"].encode() + b"HOST64sm_86" + ptx + b"\0 " + module["options"].encode()
for byte in key:
    name = (name ^ byte) * 0x100000001B3 % 2**64
module.update(key="%016x" % name, key_bytes=len(key), size_bytes=len(ptx))
# A zstd frame of one raw block (RFC 8878)
frame = bytes.fromhex("28b52ffd") + bytes([0x20, len(ptx)]) + (len(ptx) << 3 | 1).to_bytes(3, "little") + ptx
document["texts"][0].update(size_bytes=len(ptx), zstd=base64.b64encode(frame).decode())
json.dump(document, open(sys.argv[2], "w"))
P
for _ in 1 2; do
	jitwarm 2 prime --recording "$scratch/broken.json"
	so "d['failed'] == d['cold'] == 1 and [f['path'] for f in d['failures']] == ['$scratch/broken.json']"
	so "d['failures'][0]['command'] == 'jitwarm prime --recording $scratch/broken.json' and 'PTX' in d['failures'][0]['reason']"
done
jitwarm 2 check --recording "$scratch/broken.json"

# A module written for a driver is too new for an older driver.
if [ "$cuda" = 12.4 ]; then
	HOME=$scratch "$build/src/jitwarm" make --target sm_86 --driver 535.309.01 --recording "$scratch/written.json" -o "$scratch/older/" >"$scratch/out" 2>&1
	[ $? = 1 ] && grep -q "1 recorded module is too new for driver 535.309.01" "$scratch/out" || fail "for an older driver: $(cat "$scratch/out")"
fi
