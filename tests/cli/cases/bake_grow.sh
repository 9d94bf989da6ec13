# `jitwarm bake` when containers have no space: the copy of an ELF file becomes longer, loads, and is as sound as the original.
! is_wine || skip "bake writes no Windows libraries"
! is_emulated || skip "cc compiles for another processor"
command -v cc >/dev/null && command -v readelf >/dev/null || skip "cc or readelf is missing"
with_simdriver sm_86
framework=$cases/../../framework data=$build/tests/framework/sample_data.c
[[ -e $data ]] || skip "the sample framework is not built"
names=('-DSECTION_FATBIN=".nv_fatbin"' '-DSECTION_SEGMENT=".nvFatBinSegment"' '-DSECTION_RELOCATABLE="__nv_relfatbin"')
sample() { cc -w -O1 -I "$framework" "${names[@]}" "$@" || fail "cc: $*"; }
library() { local out=$1; shift; sample -fPIC -shared '-DSAMPLE_EXPORT=__attribute__((visibility("default")))' "$@" -o "$out" "$data"; }
program() { local out=$1; shift; sample -DSAMPLE_EXPORT= "$@" -o "$out" "$framework/app.c" "$framework/driver_posix.c" "$data" -ldl; }

# sound FILE: prints each complaint of the ELF tools once
sound() {
	readelf -lSdW "$1" 2>&1 >/dev/null | sed 's/^[^:]*: //' | sort -u
	if command -v eu-elflint >/dev/null; then eu-elflint --gnu-ld "$1" 2>&1 | sed 's/0x[0-9a-f]*//g; s/\[ *[0-9]*\]//g' | sort -u; fi
}

# baked NAME [COUNT STATUS]: bakes $work/NAME, and checks that the copy is longer and sound
baked() {
	local count=${2:-7}
	rm -rf "$CUDA_CACHE_PATH"
	run "${3:-0}" bake --json -o "$work/out" "$work/$1"
	json 'd["files"][0]["baked"] == d["files"][0]["modules"] == '"$count"' and d["files"][0]["no_room"] == 0'
	json 'd["files"][0]["moved"] >= 2 and d["files"][0]["size_before_bytes"] < d["files"][0]["size_after_bytes"]'
	[[ $(stat -c %s "$work/out/$1") == $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][0]["size_after_bytes"])' "$out") ]] ||
		fail "$1: the copy has another length"
	sound "$work/$1" >"$work/before"
	sound "$work/out/$1" >"$work/after"
	cmp -s "$work/before" "$work/after" || fail "$1: $(diff "$work/before" "$work/after")"
}

# starts PROGRAM [COUNT]: without a cache, PROGRAM compiles COUNT modules, by default none
starts() {
	rm -rf "$CUDA_CACHE_PATH"
	simulated "$1" >"$out" 2>"$err" || fail "$1 ended with $?: $(cat "$err")"
	out_has "compiled ${2:-0} of"
}

loader=$build/tests/framework/framework-app
loads() { cp "$work/out/$1" "$work/out/libsample_framework.so"; cp "$loader" "$work/out/app"; starts "$work/out/app" "${2:-0}"; }

library "$work/plain.so"
baked plain.so
loads plain.so

# A baked copy has nothing more to bake.
run '0|1' bake --json -o "$work/again" "$work/out/plain.so"
json 'not d["files"] or not d["files"][0]["modules"]'

# The library has packed relocations.
if library "$work/relr.so" -Wl,-z,pack-relative-relocs 2>/dev/null && [[ $(readelf -dW "$work/relr.so") == *RELR* ]]; then
	baked relr.so
	loads relr.so
fi

# The library has no symbols; no section headers; or one segment.
cp "$work/plain.so" "$work/stripped.so"
strip -s "$work/stripped.so"
baked stripped.so
loads stripped.so
python3 - "$work/plain.so" "$work/headerless.so" <<'P'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
b[0x28:0x30] = bytes(8)
b[0x3c:0x40] = bytes(4)
phoff, count = *struct.unpack_from("<Q", b, 0x20), *struct.unpack_from("<H", b, 0x38)
del b[max(at + size for at, size in (struct.unpack_from("<Q16xQ", b, phoff + 56 * i + 8) for i in range(count))):]
open(sys.argv[2], "wb").write(b)
P
# Without section headers, nothing says that objects are linked at start.
baked headerless.so 6 0
loads headerless.so 2
library "$work/one.so" -Wl,-z,noseparate-code -Wl,-z,max-page-size=0x200000
baked one.so
loads one.so

# The library is prelinked: the values of the relocations are in place, too.
python3 - "$work/plain.so" "$work/prelinked.so" <<'P'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
phoff, = struct.unpack_from("<Q", b, 0x20)
count, = struct.unpack_from("<H", b, 0x38)
segments = [struct.unpack_from("<IIQQQQQQ", b, phoff + 56 * i) for i in range(count)]
def place(address):
    return next(s[2] + address - s[3] for s in segments if s[0] == 1 and s[3] <= address < s[3] + s[5])
dynamic = next(s for s in segments if s[0] == 2)
tags = dict(struct.unpack_from("<QQ", b, dynamic[2] + 16 * i) for i in range(dynamic[5] // 16))
at, written = place(tags[7]), 0
for i in range(tags[8] // 24):
    address, kind, addend = struct.unpack_from("<QQQ", b, at + 24 * i)
    if kind == 8:
        struct.pack_into("<Q", b, place(address), addend)
        written += 1
assert written
open(sys.argv[2], "wb").write(b)
P
baked prelinked.so
loads prelinked.so
python3 - "$work/prelinked.so" "$work/out/prelinked.so" <<'P' || fail "the values in place are the old ones"
import struct, sys
old, new = (open(name, "rb").read() for name in sys.argv[1:])
at = changed = 0
while (at := old.find(struct.pack("<I", 0x466243b1), at)) >= 0:
    changed += old[at + 8:at + 16] != new[at + 8:at + 16]
    at += 8
sys.exit(changed < 2)
P

# patchelf has changed the library before.
if command -v patchelf >/dev/null; then
	cp "$work/plain.so" "$work/patched.so"
	patchelf --set-rpath "$(printf '/%0500d' 0)" "$work/patched.so"
	baked patched.so
	loads patched.so
fi

# An archive is appended to the library, and readers look for it at the end of the file.
python3 - "$work" <<'P'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/a.zip", "w") as z: z.writestr("inside", "content")
P
cat "$work/plain.so" "$work/a.zip" >"$work/carrier.so"
snapshot run 1 bake -o "$work/out" "$work/carrier.so"
python3 -c 'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).read("inside") == b"content"' "$work/out/carrier.so" || fail "the archive is lost"

# Programs are linked for any address, or for a fixed one.
grep -q __asan_init "$build/src/jitwarm" || for how in pie no-pie; do
	program "$work/program-$how" "-f$how" "-$how"
	baked "program-$how"
	starts "$work/out/program-$how"
	# A program with appended data, which it may look for at the end of the file, keeps its length.
	{ cat "$work/program-$how"; printf payload; } >"$work/followed"
	rm -rf "$CUDA_CACHE_PATH"
	run 1 bake -o "$work/out" "$work/followed"
	out_has "and the code cannot be moved: data after its sections"
	[[ $(stat -c %s "$work/out/followed") == $(stat -c %s "$work/followed") && $(tail -c 7 "$work/out/followed") == payload ]] || fail "followed: other bytes at the end"
done

# Data that other pointers lead to is not moved.
cat >"$work/pointer.c" <<'C'
#include <stddef.h>
#include "sample_data.c"
const void *volatile pointer_to_solver = sample_solver_fatbin, *volatile pointer_to_network = &sample_network_fatbin[4];
C
sample -fPIC -shared '-DSAMPLE_EXPORT=__attribute__((visibility("default")))' -I "${data%/*}" -o "$work/pointer.so" "$work/pointer.c"
rm -rf "$CUDA_CACHE_PATH"
run 1 bake --json -o "$work/out" "$work/pointer.so"
json 'd["files"][0]["no_room"] >= 2 and d["files"][0]["baked"] + d["files"][0]["no_room"] == 7'
cp "$work/out/pointer.so" "$work/out/libsample_framework.so"
simulated "$work/out/app" >"$out" 2>"$err" || fail "the program ended with $?"

# The loader would map one segment's bytes over what follows it; others are made to take hours: a thousand segments at one address, a
# hundred of the same content, or more pointers than the file has bytes. None of them grows; if there are few segments, what has space is
# baked.
python3 - "$work/plain.so" "$work/overlapping.so" "$work/shared.so" "$work/dense.so" "$work/short.so" <<'P'
import struct, sys
plain = open(sys.argv[1], "rb").read()
MORE = 8 << 20
phoff, = struct.unpack_from("<Q", plain, 0x20)
count, = struct.unpack_from("<H", plain, 0x38)
headers = plain[phoff:phoff + 56 * count]
segments = list(struct.iter_unpack("<IIQQQQQQ", headers))
end = max(s[3] + s[6] for s in segments if s[0] == 1)
place = (max(end, len(plain)) + 4095) // 4096 * 4096
def made(copies, kind, step):
    b = bytearray(plain.ljust(place, b"\0") + b"\xff" * MORE)
    struct.pack_into("<Q", b, 0x20, len(b))
    struct.pack_into("<H", b, 0x38, count + copies)
    struct.pack_into("<H", b, 0x10, kind)
    b += headers
    for i in range(copies):
        b += struct.pack("<IIQQQQQQ", 1, 6, place, place + i * step, place + i * step, MORE, MORE, 4096)
    return b
open(sys.argv[2], "wb").write(made(1000, 2, 0))
open(sys.argv[3], "wb").write(made(100, 2, MORE))
b = made(1, 3, 0)
dynamic = next(s for s in segments if s[0] == 2)
at = next(i for i in range(dynamic[2], dynamic[2] + dynamic[5], 16) if not any(b[i:i + 8]))
assert at + 48 <= dynamic[2] + dynamic[5]
struct.pack_into("<QQQQ", b, at, 36, place, 35, MORE)
struct.pack_into("<Q", b, place, place) # they begin after all others, so the addend is not a pointer
open(sys.argv[4], "wb").write(b)
b = bytearray(plain) # its last segment is longer in the file than in memory
at = phoff + 56 * max(i for i, s in enumerate(segments) if s[0] == 1)
struct.pack_into("<Q", b, at + 40, 7)
open(sys.argv[5], "wb").write(b)
P
for made in overlapping shared; do
	run 3 bake --json -o "$work/out" "$work/$made.so"
	json 'd["files"][0]["failed"] == "more than 64 program headers"'
done
for made in dense short; do
	rm -rf "$CUDA_CACHE_PATH"
	run 1 bake --json -o "$work/out" "$work/$made.so"
	json 'd["files"][0]["no_room"] >= 2 and d["files"][0]["baked"] + d["files"][0]["no_room"] == 7 and not d["files"][0]["moved"]'
done
