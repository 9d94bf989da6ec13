#!/bin/bash
# code.sh BUILD-FOLDER DRIVER-VERSION   compares the answers of `check` about code with what a real driver then does
#
# Files with machine code that the driver takes or refuses, PTX, neither, and a program with PTX as text. For each, `check` ends
# with 0 if the driver loads it and compiles nothing, with 1 if it compiles, with 2 if it refuses, or dies. Then they
# are primed, and checked again.
# Exit status: 0; 1 if something does not hold; 77 if the driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
export CUDA_CACHE_PATH=$scratch/cache JITWARM_STATE=$scratch/state JITWARM_STORE=0
mkdir "$scratch/files"

# The cubin comes from this driver's own compiler.
make_modules 1 1
load "$version" sm_86 1 1 1
PYTHONPATH=$root/tests/framework python3 - "$scratch" <<'P'
import glob, os, struct, sys
import fatbin

scratch = sys.argv[1]
entry = open(glob.glob(scratch + "/cache/?/?/*")[0], "rb").read()
own = entry[28 + struct.unpack_from("<Q", entry, 4)[0]:]
newer = bytearray(own)
newer[7:9], newer[48:52] = b"\x41\x08", struct.pack("<I", 0x06000004 | 86 << 8)
text = lambda version, target: b".version %s\n.target %s\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n" % (version, target)
ptx = lambda sm, version=b"6.3", **more: fatbin.entry(
    fatbin.PTX, sm, text(version, b"sm_%d" % sm) + b"\0", isa=tuple(int(n) for n in version.split(b".")), **more)
cubin = lambda code, sm=86, **more: fatbin.entry(fatbin.CUBIN, sm, bytes(code), **more)
files = {
    "own.cubin": own,
    "own.fatbin": fatbin.container(cubin(own)),
    "own-lz4.fatbin": fatbin.container(cubin(own, compression="lz4")),
    "own-zstd.fatbin": fatbin.container(cubin(own, compression="zstd"), ptx(52)),
    "newer.cubin": bytes(newer),
    "newer.fatbin": fatbin.container(cubin(newer)),
    "newer-lz4.fatbin": fatbin.container(cubin(newer, compression="lz4", isa=(1, 8))),
    "newer-before-ptx.fatbin": fatbin.container(cubin(newer), ptx(52)),
    "newer-before-own.fatbin": fatbin.container(cubin(newer), cubin(own)),
    "newer-behind-own.fatbin": fatbin.container(cubin(own), cubin(newer)),
    "newer-for-others.fatbin": fatbin.container(cubin(newer, 75), ptx(52)),
    "others.fatbin": fatbin.container(cubin(own, 75), cubin(own, 90)),
    "later.fatbin": fatbin.container(ptx(90, b"7.8")),
    "later.ptx": text(b"7.8", b"sm_90"),
    "too-new.fatbin": fatbin.container(ptx(52, b"9.9")),
    "ptx.fatbin": fatbin.container(ptx(52), ptx(70)),
    "no-gpu.fatbin": fatbin.container(ptx(54)),
    "no-gpu-beside.fatbin": fatbin.container(ptx(54), ptx(52), cubin(own, 84)),
    "too-large.fatbin": fatbin.container(cubin(own), ptx(8244)),
    "zero.fatbin": fatbin.container(cubin(own), ptx(0)),
    "zstd.fatbin": fatbin.container(ptx(60, compression="zstd")),
    "text.ptx": text(b"6.3", b"sm_61"),
}
# Tile IR, and a kind that nobody knows, each for this generation of GPUs and for another.
for kind in 0x80, 0x200:
    for sm in 80, 52:
        other = fatbin.entry(kind, sm, b"\x7fTileIR\0" + bytes(56))
        name = "kind-%x-%d" % (kind, sm)
        files[name + ".fatbin"] = fatbin.container(other)
        files[name + "-ptx.fatbin"] = fatbin.container(other, ptx(61))
        files["ptx-" + name + ".fatbin"] = fatbin.container(ptx(61), other)
        files["own-" + name + ".fatbin"] = fatbin.container(cubin(own), other)
for name, data in files.items():
    open(os.path.join(scratch, "files", name), "wb").write(data)
P
rm -r "$scratch/cache"

# One start of the driver loads all the code that it should accept; a cold start has no cache. Code that it should refuse may end the
# process, so each gets its own start.
verdicts='' no_cache=1
declare -A said
load_all() { CUDA_CACHE_DISABLE=$no_cache under "$version" sm_86 "$probe" load 0 "$@" >"$scratch/load.out" 2>&1; }
for round in cold primed; do
	taken=()
	for file in "$scratch"/files/*; do
		under "$version" sm_86 "$build/src/jitwarm" check "$file" >"$scratch/out" 2>&1
		said[$file]=$?
		case ${said[$file]} in
		2) grep -q 'will fail: ' "$scratch/out" || fail "$file: status 2 without a word: $(cat "$scratch/out")"
			load_all "$file" && fail "$round ${file##*/}: the driver loads it" ;;
		*) taken+=("$file") ;;
		esac
		verdicts+=" ${file##*/}=${said[$file]}"
	done
	load_all "${taken[@]}" || { cat "$scratch/load.out"; fail "$round: not all is loaded"; }
	for file in "${taken[@]}"; do
		grep -qF "$file result 0 ptxas $([ "${said[$file]}" = 1 ] && echo ran || echo -) " "$scratch/load.out" ||
			{ cat "$scratch/load.out"; fail "$round ${file##*/}: check says ${said[$file]}"; }
		[ "$round" = primed ] || [ "${said[$file]}" != 1 ] || wanted+=("$file")
	done
	echo "$round:$verdicts"
	[ "$round" = primed ] || jitwarm 0 prime "${wanted[@]}"
	no_cache=0
done
[[ $verdicts == *" ptx.fatbin=1 "*" ptx.fatbin=0 "* && $verdicts == *" newer.fatbin=2 "* && $verdicts == *" others.fatbin=2 "* ]] ||
	fail "not what was to be shown:$verdicts"

# A loose relocatable fat binary is assumed to be the input of a link.
PYTHONPATH=$root/tests/framework python3 - "$scratch/linked.fatbin" <<'P'
import sys
import fatbin
text = b".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry linked()\n{\n\tret;\n}\n"
open(sys.argv[1], "wb").write(fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(text), " --compile-only ")))
P
cat >"$scratch/link.py" <<'P'
import ctypes, sys
cu = ctypes.CDLL("libcuda.so.1")
context, state, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
data = open(sys.argv[1], "rb").read()
steps = [lambda: cu.cuInit(0), lambda: cu.cuDeviceGet(ctypes.byref(device), 0),
         lambda: cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), lambda: cu.cuCtxSetCurrent(context),
         lambda: cu.cuLinkCreate_v2(0, None, None, ctypes.byref(state)),
         lambda: cu.cuLinkAddData_v2(state, 2, ctypes.create_string_buffer(data, len(data)), len(data), b"x", 0, None, None)]
sys.exit(any(step() for step in steps))
P
entries() { find "$scratch/cache" -path '*/?/?/*' -type f | wc -l; }
jitwarm 1 check "$scratch/linked.fatbin"
so 'd["link"] == 1'
jitwarm 0 prime "$scratch/linked.fatbin"
jitwarm 0 check "$scratch/linked.fatbin"
before=$(entries)
under "$version" sm_86 python3 "$scratch/link.py" "$scratch/linked.fatbin" || fail "the driver does not link"
[ "$(entries)" = "$before" ] || fail "a link of what was primed has made entries"
rm -r "$scratch/cache"
under "$version" sm_86 python3 "$scratch/link.py" "$scratch/linked.fatbin" || fail "the driver does not link"
jitwarm 0 check "$scratch/linked.fatbin"

# PTX that is loaded with options, or passed to a linker, is recognised in its keys, whatever their tails are.
printf '.version 6.3\n.target sm_61\n.address_size 64\n.visible .entry told()\n{\n\tret;\n}\n' >"$scratch/told.ptx"
cat >"$scratch/options.py" <<'P'
import ctypes, sys
cu = ctypes.CDLL("libcuda.so.1")
context, state, device, module = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p()
text = open(sys.argv[1], "rb").read() + b"\0"
MAX_REGISTERS, INPUT_PTX = 0, 1
steps = [lambda: cu.cuInit(0), lambda: cu.cuDeviceGet(ctypes.byref(device), 0),
         lambda: cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), lambda: cu.cuCtxSetCurrent(context),
         lambda: cu.cuModuleLoadDataEx(ctypes.byref(module), text, 1, (ctypes.c_int * 1)(MAX_REGISTERS), (ctypes.c_void_p * 1)(32)),
         lambda: cu.cuLinkCreate_v2(0, None, None, ctypes.byref(state)),
         lambda: cu.cuLinkAddData_v2(state, INPUT_PTX, text, ctypes.c_size_t(len(text)), b"x", 0, None, None)]
sys.exit(any(step() for step in steps))
P
under "$version" sm_86 "$build/src/jitwarm" run --json --record "$scratch/told.json" "$scratch/told.ptx" -- python3 "$scratch/options.py" "$scratch/told.ptx" \
	>"$scratch/json" 2>"$scratch/err" || fail "record: $(cat "$scratch/err")"
keep_document "$scratch/json"
so 'd["modules"] == d["in_files"] == 2'
grep -q 'loads 2 PTX sources with options' "$scratch/err" || fail "$(cat "$scratch/err")"
jitwarm 1 check "$scratch/told.ptx"

# PTX as text in a program's data: the GPU uses one of several copies.
for gpu in sm_86 sm_75; do
	rm -rf "$scratch/cache"
	texts=$build/tests/framework/framework-texts
	program() { [[ $(under "$version" "$gpu" "$texts" | tail -1) == "compiled $1 of 3" ]] || fail "$gpu: the program did not compile $1"; }
	said() { under "$version" "$gpu" "$build/src/jitwarm" check "$texts" >/dev/null 2>&1; [ $? = "$1" ] || fail "$gpu: check does not say $1"; }
	said 1
	under "$version" "$gpu" "$build/src/jitwarm" prime "$texts" >"$scratch/out" 2>&1 || fail "$gpu: $(cat "$scratch/out")"
	said 0
	program 0
	rm -r "$scratch/cache"
	program 3
	said 0
done
