#!/bin/bash
# loading.sh BUILD-FOLDER DRIVER-VERSION   each kind of CUDA runtime treats code that the driver refuses as jitwarm predicts
#
# docs/internals/compat.md has the rule that follows; tests/conformance/cases_loading.c says when each runtime loads. A program has a
# good container, the bad one, and another good one. Each row: the runtime, CUDA_MODULE_LOADING, the bad container, and the results of
# cudaFree(0) and of requesting each kernel. "static" is the archive of 12.9, linked into the program: it ends the program
# if a kernel is requested that it has not loaded.
# Exit status: 0; 1 if something does not hold; 77 if the driver, a runtime or ptxas is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
ptxas=${JITWARM_PTXAS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ptxas}/11.8/ptxas
[ -x "$ptxas" ] || { echo "no ptxas of CUDA 11.8: jitwarm compiler fetch 11.8"; exit 77; }
declare -A runtimes
for cuda in 11.7 11.8 12.0 12.4 12.9; do
	runtimes[$cuda]=$("$root/scripts/get.sh" cudart --here $cuda) || { echo "scripts/get.sh cudart $cuda fetches that runtime"; exit 77; }
done

cd "$scratch" || exit 1
PYTHONPATH=$root/tests/framework python3 - "$ptxas" <<'P'
import subprocess, sys
import fatbin

def ptx(number, version="6.3", sm=52, line="mov.u32 %r1, {};"):
    return (".version %s\n.target sm_%d\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %%r<2>;\n\t%s\n\tret;\n}\n"
            % (version, sm, line.format(number))).encode()

def write(name, kind, sm, payload, isa=(6, 3)):
    open(name, "wb").write(fatbin.container(fatbin.entry(kind, sm, payload, isa=isa)))

for number in 1, 2:
    write("good%d" % number, fatbin.PTX, 52, ptx(number) + b"\0")
write("new", fatbin.PTX, 80, ptx(3, "9.3", 80) + b"\0", (9, 3))
write("wrong", fatbin.PTX, 52, ptx(4, line="bogus;") + b"\0")
write("gpu1000", fatbin.PTX, 1000, ptx(5) + b"\0")
write("invalid", fatbin.CUBIN, 86, b"\x7fELF" + b"\0" * 200)
open("zstd", "wb").write(fatbin.container(fatbin.entry(fatbin.PTX, 52, ptx(7) + b"\0", compression="zstd")))
for name, version, sm in ("empty", "6.3", 52), ("empty-new", "9.3", 80), ("empty-other", "8.0", 90):
    isa = tuple(map(int, version.split(".")))
    write(name, fatbin.PTX, sm, b".version %s\n.target sm_%d\n.address_size 64\n\0" % (version.encode(), sm), isa)
open("t.ptx", "wb").write(ptx(6, "7.8", 90))
subprocess.check_call([sys.argv[1], "-arch", "sm_90", "-o", "t.cubin", "t.ptx"])
write("other", fatbin.CUBIN, 90, open("t.cubin", "rb").read())

# Code without a kernel beside code with one: machine code for the GPU or PTX, with a variable or with nothing
def machine(sm, text):
    open("t.ptx", "wb").write(text)
    subprocess.check_call([sys.argv[1], "-arch", "sm_%d" % sm, "-o", "t.cubin", "t.ptx"])
    return fatbin.entry(fatbin.CUBIN, sm, open("t.cubin", "rb").read())

def head(sm, rest=b""):
    return b".version 7.8\n.target sm_%d\n.address_size 64\n%s" % (sm, rest)

variable = b".visible .global .u32 v;\n"
text = lambda sm, payload: fatbin.entry(fatbin.PTX, sm, payload + b"\0", isa=(7, 8))
for name, entries in {
    "none-here": [machine(86, head(86)), machine(90, ptx(6, "7.8", 90))],
    "none-older": [machine(80, head(80)), machine(90, ptx(6, "7.8", 90))],
    "none-beside-text": [machine(86, head(86)), text(80, ptx(6, "7.8", 80))],
    "variable-here": [machine(86, head(86, variable)), machine(90, ptx(6, "7.8", 90))],
    "none-in-text": [machine(90, ptx(6, "7.8", 90)), text(80, head(80))],
    "none-in-text-not-taken": [machine(80, ptx(6, "7.8", 80)), text(80, head(80))],
    "none-elsewhere": [machine(90, head(90))],
}.items():
    open(name, "wb").write(fatbin.container(*entries))
P
archive=$(dirname "${runtimes[12.9]}")/libcudart_static.a
cc -w -DSTATIC_RUNTIME -o static "$root/tests/driver/loading.c" "$archive" -ldl -lrt -lpthread || fail "the static runtime cannot be linked"

while read -r cuda mode bad start first refused second; do
	export CUDA_MODULE_LOADING=$mode CUDA_CACHE_PATH=$scratch/cache
	program=$build/tests/driver/loading
	[ "$cuda" != static ] || program=./static
	got=$(under "$version" sm_86 "$program" "${runtimes[$cuda]-none}" good1 "$bad" good2 2>/dev/null | tail -1 | sed -E 's/:[0-9]+//g; s/ *$//')
	case $refused in
	ends) [ "${got%% 400*}" = "$start $first" ] ;;
	*) [ "$got" = "$start $first $refused $second" ] ;;
	esac || fail "runtime $cuda, $mode, $bad: $got, not $start $first $refused $second"
done < <([[ $version != 535* ]] || printf '%s EAGER zstd 0 0 98 0\n' 11.8 12.0 12.4 # newer drivers read zstd
	cat <<'ROWS'
11.7 EAGER new 222 0 98 0
11.7 LAZY new 222 0 98 0
11.7 EAGER wrong 0 0 98 0
11.7 EAGER gpu1000 999 0 98 0
11.7 EAGER other 0 0 98 0
11.7 EAGER empty 0 0 500 0
11.7 EAGER empty-new 222 0 98 0
11.7 EAGER empty-other 0 0 98 0
11.7 EAGER none-here 0 0 500 0
11.8 EAGER new 222 0 98 0
11.8 EAGER gpu1000 999 0 98 0
11.8 LAZY new 0 0 222 0
11.8 LAZY other 0 0 209 0
11.8 LAZY gpu1000 0 0 999 0
11.8 EAGER empty-new 222 0 98 0
11.8 LAZY empty-new 0 0 222 0
11.8 LAZY none-here 0 0 500 0
12.0 EAGER new 0 0 98 0
12.0 EAGER wrong 0 0 98 0
12.0 EAGER gpu1000 0 0 98 0
12.0 EAGER invalid 200 200 200 200
12.0 EAGER empty-new 0 0 98 0
12.0 EAGER empty-other 0 0 98 0
12.0 LAZY empty-new 0 0 222 0
12.0 LAZY new 0 0 222 0
12.0 LAZY wrong 0 0 218 0
12.0 LAZY invalid 0 0 200 0
12.4 EAGER new 0 0 98 0
12.4 EAGER other 0 0 98 0
12.4 EAGER invalid 200 200 200 200
12.4 LAZY new 0 0 222 0
12.4 LAZY other 0 0 209 0
12.4 LAZY invalid 0 0 200 0
12.4 EAGER none-here 0 0 500 0
12.4 LAZY none-here 0 0 500 0
12.4 EAGER none-older 0 0 500 0
12.4 LAZY none-older 0 0 500 0
12.4 EAGER none-beside-text 0 0 500 0
12.4 LAZY none-beside-text 0 0 500 0
12.4 EAGER variable-here 0 0 500 0
12.4 LAZY variable-here 0 0 500 0
12.4 EAGER none-in-text 0 0 500 0
12.4 LAZY none-in-text 0 0 500 0
12.4 EAGER none-in-text-not-taken 0 0 0 0
12.4 LAZY none-in-text-not-taken 0 0 0 0
12.4 EAGER none-elsewhere 0 0 98 0
12.4 LAZY none-elsewhere 0 0 209 0
static LAZY new 0 0 222 0
static EAGER new 0 0 ends
ROWS
)

# After prime, a start compiles nothing, eager or not: containers of variables alone are modules, and so are those that declare nothing,
# which a start compiles if it loads all code.
PYTHONPATH=$root/tests/framework python3 - <<'P'
import fatbin

def container(body):
    text = b".version 6.3\n.target sm_52\n.address_size 64\n%s\n\0" % body
    return fatbin.container(fatbin.entry(fatbin.PTX, 52, text, isa=(6, 3)))

kernel = container(b".visible .entry k()\n{\n\tret;\n}")
for name, body in (("variables", b".visible .global .align 4 .b8 table[64];\n.visible .const .align 4 .b8 c[256];"),
                   ("managed", b".visible .global .attribute(.managed) .align 4 .u32 counter = 5;"), ("nothing", b"")):
    open(name, "wb").write(container(body))
    open(name + ".so", "wb").write(fatbin.library(kernel, container(body)))
open("kernel", "wb").write(kernel)
P
for name in variables managed nothing; do
	export CUDA_CACHE_PATH=$scratch/cache-$name CUDA_MODULE_LOADING=
	jitwarm 0 prime "$name.so"
	for mode in EAGER LAZY; do
		for cuda in 11.8 12.4; do
			got=$(CUDA_MODULE_LOADING=$mode under "$version" sm_86 "$build/tests/driver/loading" "${runtimes[$cuda]}" kernel $name 2>/dev/null | tail -1)
			[[ $got == "0:2 0:2 "* ]] || fail "runtime $cuda, $mode, $name: $got"
		done
	done
	jitwarm 0 check "$name.so"
	so "d['verdict'] == 'warm' and d['gpus'][0]['modules'] == 2"
done
