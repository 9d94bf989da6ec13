# jitwarm bake where containers of PE files have no room: the copy becomes longer by a section, loads, and is as sound as the original.
compiler=x86_64-w64-mingw32-gcc
command -v $compiler >/dev/null || skip "$compiler is missing"
with_simdriver sm_86
framework=$cases/../../framework data=$build/tests/framework/sample_data.c
[[ -e $data ]] || skip "the sample framework is not built"
names=('-DSECTION_FATBIN=".nv_fatb"' '-DSECTION_SEGMENT=".nvFatBi"' '-DSECTION_RELOCATABLE="__nv_rel"')
sample() { $compiler -w -O1 -I "$framework" "${names[@]}" "$@" || fail "$compiler: $*"; }
library() { local out=$1; shift; sample -shared '-DSAMPLE_EXPORT=__declspec(dllexport)' -Wl,--out-implib,"$work/unused.a" "$@" -o "$out" "$data"; }
program() { local out=$1; shift; sample -DSAMPLE_EXPORT= "$@" -o "$out" "$framework/app.c" "$framework/driver_win32.c" "$data"; }

# sound FILE: what the tools say of it, without what has to differ
sound() {
	x86_64-w64-mingw32-objdump -p "$1" 2>&1 | grep -vE '^(SizeOfImage|SizeOfInitializedData|CheckSum)|file format' | sed 's/\[[^]]*\]//'
}

# baked NAME [STATUS]: bakes $work/NAME, and looks whether the copy is longer and sound
baked() {
	rm -rf "$CUDA_CACHE_PATH"
	run "${2:-0}" bake --json -o "$work/out" "$work/$1"
	json 'd["files"][0]["baked"] == d["files"][0]["modules"] == 7 and d["files"][0]["no_room"] == 0'
	json 'd["files"][0]["moved"] >= 2 and d["files"][0]["size_before_bytes"] < d["files"][0]["size_after_bytes"]'
	python3 -B "$cases/../../bake/pe.py" "$work/$1" "$work/out/$1" >"$work/faults" || fail "$1: $(cat "$work/faults")"
	diff <(sound "$work/$1") <(sound "$work/out/$1") >"$work/faults" || fail "$1: $(cat "$work/faults")"
	run 0 bake -n --json "$work/out/$1"
	json 'not d["files"]'
}
# stays NAME REASON: what cannot move is told, and the rest is baked
stays() {
	rm -rf "$CUDA_CACHE_PATH"
	run 1 bake -o "$work/out" "$work/$1"
	out_has "and cannot move: $2"
	python3 -B "$cases/../../bake/pe.py" "$work/$1" "$work/out/$1" >"$work/faults" || fail "$1: $(cat "$work/faults")"
}

# Under Wine alone: without a cache nothing is compiled
loader=$build/tests/framework/framework-app.exe
starts() {
	is_wine || return 0
	rm -rf "$CUDA_CACHE_PATH"
	simulated "$1" >"$out" 2>"$err" || fail "$1 ended with $?: $(cat "$err")"
	out_has "compiled 0 of"
}
loads() { ! is_wine || { cp "$work/out/$1" "$work/out/sample_framework.dll"; cp "$loader" "$work/out/app.exe"; starts "$work/out/app.exe"; }; }

library "$work/plain.dll"
baked plain.dll
loads plain.dll

# Without symbols; a Python module; other alignments; not for large addresses
library "$work/stripped.dll" -s
baked stripped.dll
loads stripped.dll
cp "$work/stripped.dll" "$work/module.pyd"
baked module.pyd
library "$work/aligned.dll" -s -Wl,--file-alignment,4096 -Wl,--section-alignment,65536
baked aligned.dll
loads aligned.dll
library "$work/small.dll" -Wl,--disable-high-entropy-va
python3 - "$work/small.dll" <<'P'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<I", b, 60)
flags, = struct.unpack_from("<H", b, at + 22)
struct.pack_into("<H", b, at + 22, flags & ~0x20)
open(sys.argv[1], "wb").write(b)
P
baked small.dll
loads small.dll

# Without room for one more section's header all headers move; with data behind the sections that a program may look for at the
# end, or with a directory where the headers would go, nothing moves. The copy has no checksum.
python3 - "$work/stripped.dll" "$work/full.dll" "$work/unsummed.dll" "$work/followed.dll" "$work/stuck.dll" <<'P'
import struct, sys
plain = open(sys.argv[1], "rb").read()
at, = struct.unpack_from("<I", plain, 60)
count, _, _, _, size = struct.unpack_from("<HIIIH", plain, at + 6)
table, (headers,) = at + 24 + size, struct.unpack_from("<I", plain, at + 84)
full, moved = bytearray(plain), (headers - table - 40 * count) // 8 * 8
assert moved >= 40
full[at : at + moved] = bytes(moved)
full[at + moved : table + 40 * count + moved] = plain[at : table + 40 * count]
struct.pack_into("<I", full, 60, at + moved)
open(sys.argv[2], "wb").write(full)
unsummed = bytearray(plain)
unsummed[at + 88 : at + 92] = bytes(4)
open(sys.argv[3], "wb").write(unsummed)
open(sys.argv[4], "wb").write(plain + bytes(100) + b"what an installer looks for")
stuck = bytearray(full)
struct.pack_into("<II", stuck, at + moved + 136 + 8 * 7, 64, 16)
open(sys.argv[5], "wb").write(stuck)
P
baked full.dll
loads full.dll
baked unsummed.dll
loads unsummed.dll
stays followed.dll "data after its sections"
stays stuck.dll "no room for one more section's header"
for name in followed stuck; do
	[[ $(stat -c %s "$work/out/$name.dll") == $(stat -c %s "$work/$name.dll") ]] || fail "$name.dll: the copy has another length"
done

# Programs: at any address, and at a fixed one
program "$work/program.exe"
baked program.exe
starts "$work/out/program.exe"
program "$work/fixed.exe" -Wl,--disable-dynamicbase -Wl,--disable-reloc-section -Wl,--disable-high-entropy-va -Wl,--image-base,0x140000000
[[ $(x86_64-w64-mingw32-objdump -p "$work/fixed.exe") =~ Entry\ 5\ 0+\ 0+ ]] || fail "fixed.exe has relocations"
baked fixed.exe
starts "$work/out/fixed.exe"

# As Microsoft's linker makes them, as far as LLVM's does
if command -v clang lld-link >/dev/null 2>&1 &&
	clang --target=x86_64-windows-msvc -w -O1 -ffreestanding -I "$framework" "${names[@]}" '-DSAMPLE_EXPORT=__declspec(dllexport)' -c -o "$work/msvc.obj" "$data" 2>/dev/null; then
	lld-link /dll /noentry /out:"$work/msvc.dll" "$work/msvc.obj" >/dev/null || fail "lld-link"
	baked msvc.dll
	loads msvc.dll
fi

# What other pointers lead to stays where it is.
cat >"$work/pointer.c" <<'C'
#include <stddef.h>
#include "sample_data.c"
const void *volatile pointer_to_solver = sample_solver_fatbin, *volatile pointer_to_network = &sample_network_fatbin[4];
C
sample -shared '-DSAMPLE_EXPORT=__declspec(dllexport)' -I "${data%/*}" -o "$work/pointer.dll" "$work/pointer.c"
stays pointer.dll "something other than its wrapper points to it"

# 32-bit files are not read.
python3 - "$work/stripped.dll" "$work/narrow.dll" <<'P'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<I", b, 60)
struct.pack_into("<H", b, at + 4, 0x14c)
struct.pack_into("<H", b, at + 24, 0x10b)
open(sys.argv[2], "wb").write(b)
P
run '2|3' bake -o "$work/out" "$work/narrow.dll"
out_has "32-bit PE: only 64-bit files are read"

# In place and back
cp "$work/plain.dll" "$work/here.dll"
run 0 bake --in-place "$work/here.dll"
cmp -s "$work/here.dll" "$work/out/plain.dll" || fail "in place it is another file"
run 0 bake --undo "$work/here.dll"
cmp -s "$work/here.dll" "$work/plain.dll" || fail "not the original again"
