#!/bin/bash
# bake_several.sh BUILD-FOLDER GPUS PTXAS LIBRARY...
#
# How much room libraries have for several GPUs at once (GPUS: sm_75,sm_86,sm_90): bakes a copy of each with that ptxas, and prints the
# containers that got machine code, the share of them that stay in their places, and by how much the copy is longer. Compiling takes
# its time; it is not what is measured.
set -euo pipefail

[ $# -ge 4 ] && [ -x "$1/src/jitwarm" ] || { echo "usage: bake_several.sh BUILD-FOLDER GPUS PTXAS LIBRARY..." >&2; exit 64; }
build=$(realpath "$1") gpus=$2 ptxas=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state
for library; do
	# 1: some containers are left, which the line says
	"$build/src/jitwarm" bake --json --target "$gpus" --driver 550.163.01 --ptxas "$ptxas" -o "$scratch/out" "$library" >"$scratch/json" || [ $? = 1 ]
	python3 - "$scratch/json" "$gpus" <<'PYTHON'
import json, os, sys
files = json.load(open(sys.argv[1]))["files"]
for file in files:
    containers = file["kept_ptx"] + file["without_ptx"]
    grown = file["size_after_bytes"] - file["size_before_bytes"]
    left = {name: file[name] for name in ("no_room", "uncompiled", "unknown", "unlinked", "texts") if file[name]}
    print("%s, %s: %d of %d baked (%s), %d of %d containers in place (%.1f %%), copy %.1f MB, longer by %.2f MB, %d cubins left out" % (
        os.path.basename(file["path"]), sys.argv[2], file["baked"], file["modules"], left or "nothing left", containers - file["moved"], containers,
        100 * (containers - file["moved"]) / max(1, containers), file["size_after_bytes"] / 1e6, grown / 1e6, file["dropped"]))
if not files:
    print("nothing to bake")
PYTHON
	rm -rf "$scratch/out"
done
