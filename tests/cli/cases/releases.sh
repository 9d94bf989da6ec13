# One scan names the drivers for which its answer holds, and what newer ones change.
with_simdriver sm_86
# text FILE VERSION KERNEL [TARGET]: writes PTX
text() {
	printf '.version %s\n.target %s\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n' "$2" "${4:-sm_70}" "$3" >"$1"
}
mkdir texts mixed empty
text texts/a.ptx 8.5 a
text texts/b.ptx 8.7 b
text texts/c.ptx 7.5 c
# The containers have PTX that only some drivers read beside code that others refuse, in a folder and twice.
python3 - "$cases/../../framework" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
def text(version, kernel, target=b"sm_70"):
    return fatbin.ptx_payload(b".version %s\n.target %s\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n" % (version, target, kernel))
def ptx(version, kernel, **more):
    return fatbin.entry(fatbin.PTX, 70, text(version, kernel), **more)
def cubin(sm, new=False):
    code = bytearray(fatbin.old_cubin(sm, "k", 64))
    if new:  # as CUDA 13 writes it
        code[7:9], code[48:52] = (0x41, 8), (sm << 8 | 0x6000004).to_bytes(4, "little")
    else:  # as CUDA 12.2 writes it
        code[20:24] = (122).to_bytes(4, "little")
    return fatbin.entry(fatbin.CUBIN, sm, bytes(code), isa=(1, 8 if new else 7))
for name, entries in {
    "zstd": [ptx(b"7.0", b"z", compression="zstd", isa=(7, 0))],
    "old": [cubin(86), ptx(b"8.2", b"o", isa=(8, 2))],
    "new": [cubin(80, True), ptx(b"7.8", b"n", isa=(7, 8))],
    "same": [ptx(b"8.7", b"o", isa=(8, 7)), ptx(b"8.2", b"o", isa=(8, 2))],
}.items():
    open("mixed/%s.fatbin" % name, "wb").write(fatbin.container(*entries))
parts = fatbin.container(cubin(86)) + fatbin.container(ptx(b"7.0", b"r", isa=(7, 0)))
open("mixed/twelve.fatbin", "wb").write(parts)
open("mixed/thirteen.fatbin", "wb").write(parts + fatbin.container(cubin(90, True)))
nothing = fatbin.ptx_payload(b".version 8.5\n.target sm_70\n.address_size 64\n")  # the driver makes an entry for it
open("empty/empty.fatbin", "wb").write(fatbin.container(cubin(86)) * 3 + fatbin.container(fatbin.entry(fatbin.PTX, 70, nothing, isa=(8, 5))))
open("parts", "wb").write(fatbin.container(ptx(b"8.0", b"p", isa=(8, 0))) + fatbin.container(cubin(90)))
PYTHON
cp mixed/same.fatbin mixed/again.fatbin
is_wine || is_emulated || # objcopy has no section of that name in a DLL, and knows this machine's programs alone
	for name in mixed/{old,new,zstd,twelve,thirteen} empty/empty; do
		objcopy --remove-section __nv_relfatbin --remove-section .nvFatBinSegment --remove-section .nv_fatbin \
			--add-section ".nv_fatbin=$name.fatbin" --set-section-flags .nv_fatbin=alloc,readonly \
			--change-section-address .nv_fatbin=0x1000000 "$sample" "${name%/*}/lib${name#*/}.so" 2>/dev/null
	done
is_wine || cp "$sample" mixed/libsample.so

# The line says what changes with a newer driver.
snapshot run 2 scan --target sm_86 --driver 550 texts
rm texts/b.ptx
snapshot run 2 scan --target sm_86 --driver 550 texts
run 0 scan --target sm_86 --driver 560 texts
out_has "sm_86 (RTX 30): this holds for driver 555 and newer ones; programs fail with driver 455 to 550"
snapshot run 0 scan --target sm_86 --driver 550 parts
run 0 scan --target sm_86 --driver 550 empty/empty.fatbin
out_has "this holds for driver 525 and newer ones; programs fail with driver 455 to 520"
is_wine || is_emulated || {
	run 0 scan --target sm_86 --driver 550 empty/libempty.so
	out_has "with driver 555: up to 1 module to compile when used"
	run 0 scan --target sm_86 --driver 555 empty/libempty.so
	out_has "up to 1 module"
	out_has "programs fail with driver 455 to 520"
}

# The CUDA runtime refuses older drivers for every GPU. What counts is the compiler of any of the library's code, and the runtime that the
# library is linked to. A file without a runtime is judged by its code.
is_wine || is_emulated || {
	snapshot run 2 scan --target sm_86 --driver 550 mixed/libthirteen.so
	run 2 check --target sm_86 --driver 550 mixed/libthirteen.so
	run 0 scan --target sm_86 --driver 580 mixed/libthirteen.so
	out_has "this holds for driver 580 and newer ones; programs fail with driver 455 to 575"
	run 0 scan --target sm_86 --driver 550 mixed/libtwelve.so
	out_has "this holds for driver 525 and newer ones; programs fail with driver 455 to 520"
	objcopy -O binary --only-section=.dynstr mixed/libtwelve.so names
	python3 - <<'PYTHON'
name = b"\0libcudart-d0da41ae.so.13\0"
library, names = open("mixed/libtwelve.so", "rb").read(), open("names", "rb").read()
at = library.index(names) + next(i for i in range(len(names)) if not names[i] and names[i + 1 : i + 25].count(b"\0") == 0)
open("linked.so", "wb").write(library[:at] + name + library[at + len(name) :])
PYTHON
	snapshot run 2 scan --target sm_86 --driver 550 linked.so
}
run 0 scan --target sm_86 --driver 550 mixed/thirteen.fatbin
