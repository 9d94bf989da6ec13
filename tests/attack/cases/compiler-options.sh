# The options in an account's library make no compiler of root's read or write a file: neither the driver's nor ptxas, also if the entry that
# names the file is not the one that the GPU uses.
. "$cases/../lib.sh"
with_simdriver sm_86
export SIMDRIVER_LOG=$work/events
# with OPTIONS: writes $home/lib.so, the sample with these options, of at most 20 bytes, in place of --generate-line-info
with() {
	python3 - "$sample" "$home/lib.so" "$1" <<'P'
import sys
content, old = open(sys.argv[1], "rb").read(), b"--generate-line-info"
assert old in content
open(sys.argv[2], "wb").write(content.replace(old, sys.argv[3].encode().ljust(len(old))[: len(old)]))
P
	rm -rf "$CUDA_CACHE_PATH" "$SIMDRIVER_LOG"
}
compiled() { grep -c ' compile ' "$SIMDRIVER_LOG"; }
# The first run also compiles a module of jitwarm's own.
for _ in 1 2; do
	with --generate-line-info
	run 0 prime --quiet "$home/lib.so"
done
all=$(compiled)
for options in "-optf /etc/o" "--options-file=o" "-O words -v" "-v words" "-unknown-to-us"; do
	with "$options"
	run 1 prime "$home/lib.so"
	[[ $(cat "$out" "$err") == *"the module's options may name files: "* ]] || fail "$options: $(cat "$out" "$err")"
	(($(compiled) < all)) || fail "$options: the driver got them"
done
with "-v -lineinfo"
run 0 prime --quiet "$home/lib.so"
[[ $(compiled) == "$all" ]] || fail "harmless options: $(compiled) of $all"
# ptxas gets none of them either, and runs in no folder of the account.
cat >"$open/ptxas" <<END
#!/bin/sh
echo "\$(pwd -P) \$*" >>"$work/ran"
echo "ptxas: NVIDIA (R) Ptx optimizing assembler, release 12.4"
[ "\$1" = --version ]
END
chmod 755 "$open/ptxas"
with "-O words -v"
(cd "$home" && run '1|2|3' make --target sm_86 --driver 550.163.01 --ptxas "$open/ptxas" -o "$work/made/" lib.so) || exit 1
grep -q 'arch=sm_86' "$work/ran" || fail "ptxas compiled nothing"
! grep -e "^$home" -e words "$work/ran" || fail "ptxas got the account's files"
# An entry whose field of options is 0 has none, but libcuda reads on from the entry's first bytes: the text is 0x01010001 behind the entry.
python3 - "$sample" "$home/far.fatbin" <<'P'
import struct, sys
def entry(kind, arch, payload):
    payload += bytes(-len(payload) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(payload), 0, 0, 0, 7, arch, 0, 0, 0x75, 0, 0) + payload
ptx = entry(1, 52, b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n\0")
other = bytearray(b"\x7fELF".ljust(0x1020000, b" "))
at = 0x01010001 - len(ptx) - 64
other[at:at + 14] = b"-optf /etc/o \0"
entries = ptx + entry(2, 70, bytes(other))
open(sys.argv[2], "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries)
P
rm -rf "$CUDA_CACHE_PATH" "$SIMDRIVER_LOG"
run '1|2' prime "$home/far.fatbin"
[[ $(cat "$out" "$err") == *"the module's options may name files: -optf"* ]] || fail "far options: $(cat "$out" "$err")"
