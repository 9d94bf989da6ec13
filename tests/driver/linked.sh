#!/bin/bash
# linked.sh BUILD-FOLDER DRIVER-VERSION   what the CUDA runtime does with a linked container that has no code for the GPU
#
# docs/internals/compat.md has the rule that follows. Each row: the runtime, CUDA_MODULE_LOADING, the results of cudaFree(0), of requesting
# a kernel of another container, and of requesting one of the linked container; the linked container, and the inputs of its link.
# Exit status: 0; 1 if something does not hold; 77 if the driver, a runtime or ptxas is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
need_driver "$version"
ptxas=${JITWARM_PTXAS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ptxas}/11.8/ptxas
[ -x "$ptxas" ] || { echo "no ptxas of CUDA 11.8: jitwarm compiler fetch 11.8"; exit 77; }
declare -A runtimes
for cuda in 11.7 11.8 12.0; do
	runtimes[$cuda]=$("$root/scripts/get.sh" cudart --here $cuda) || { echo "scripts/get.sh cudart $cuda fetches that runtime"; exit 77; }
done

cd "$scratch" || exit 1
# The kernel call80 calls the function fun80.
PYTHONPATH=$root/tests/framework python3 - "$ptxas" <<'P'
import subprocess, sys
import fatbin

texts = {"linked": ".visible .entry k()\n{\n\tret;\n}\n", "input": ".visible .entry k()\n{\n\tret;\n}\n",
         "other": ".visible .entry o()\n{\n\tret;\n}\n", "fun": ".visible .func f()\n{\n\tret;\n}\n",
         "call": ".extern .func f();\n.visible .entry k()\n{\n\tcall.uni f, ();\n\tret;\n}\n"}
for name, text in texts.items():
    for sm in 80, 86, 90:
        open("t.ptx", "w").write(".version 7.8\n.target sm_%d\n.address_size 64\n%s" % (sm, text))
        subprocess.check_call([sys.argv[1], *(["-c"] if name != "linked" else []), "-arch", "sm_%d" % sm, "-o", "t.cubin", "t.ptx"])
        open("%s%d" % (name, sm), "wb").write(fatbin.container(fatbin.entry(fatbin.CUBIN, sm, open("t.cubin", "rb").read())))
open("t.ptx", "w").write(".version 7.8\n.target sm_90\n.address_size 64\n")
subprocess.check_call([sys.argv[1], "-arch", "sm_90", "-o", "t.cubin", "t.ptx"])
open("hollow90", "wb").write(fatbin.container(fatbin.entry(fatbin.CUBIN, 90, open("t.cubin", "rb").read())))
for name, isa, sm in ("empty", (6, 3), 52), ("empty-new", (9, 3), 80), ("empty-other", (8, 0), 90):
    text = b".version %d.%d\n.target sm_%d\n.address_size 64\n\0" % (*isa, sm)
    open(name, "wb").write(fatbin.container(fatbin.entry(fatbin.PTX, sm, text, options="-c ", isa=isa)))
P

while read -r cuda mode start other kernel linked inputs; do
	# shellcheck disable=SC2086
	got=$(CUDA_MODULE_LOADING=$mode under "$version" sm_86 "$build/tests/driver/linked" "${runtimes[$cuda]}" linked86 "$linked" $inputs 2>&1 | tail -1)
	[ "$got" = "$start $other $kernel" ] ||
		fail "runtime $cuda, $mode, $linked, inputs $inputs: cudaFree(0) and the kernels give $got, not $start $other $kernel"
done <<'ROWS'
11.7 LAZY 0 0 0 linked90 input80 other80
11.7 LAZY 0 0 500 linked90 input90 other90
11.7 LAZY 0 0 0 linked90 input80 other90
11.7 LAZY 300 0 98 linked90 call80 fun90
11.7 LAZY 200 0 98 linked90 zeros
11.7 LAZY 0 0 0 linked90 input80 empty
11.7 LAZY 222 0 98 linked90 input80 empty-new
11.7 LAZY 0 0 0 linked90 input80 empty-other
11.7 LAZY 222 0 98 hollow90 empty-new
11.7 LAZY 0 0 500 hollow90 empty
11.8 LAZY 0 0 200 linked90 zeros
11.8 LAZY 0 0 222 hollow90 empty-new
11.8 EAGER 222 0 98 hollow90 empty-new
12.0 LAZY 0 0 0 linked90 input80 other90
12.0 LAZY 0 0 500 linked90 input90 other90
12.0 LAZY 0 0 222 linked90 input80 empty-new
12.0 LAZY 0 0 0 linked90 input80 empty-other
12.0 LAZY 0 0 300 linked90 call80 fun90
12.0 LAZY 0 0 200 linked90 zeros
12.0 LAZY 0 0 222 hollow90 empty-new
12.0 EAGER 0 0 98 hollow90 empty-new
ROWS
