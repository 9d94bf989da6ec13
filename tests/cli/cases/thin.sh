# export --thin, import: packs without the PTX that the same framework elsewhere holds already
has_command export || skip "no such command yet"
with_simdriver sm_86
environment "$work/a" 1.2
environment "$work/elsewhere/b" 1.2
export VIRTUAL_ENV=$work/a
site=$(site_of "$work/elsewhere/b")
library=$site/$frame_library
same_entries() { (cd "$work/cache" && find . -type f -not -name index -exec cmp {} "$1/{}" \;) | grep -q . && fail "entries differ"; return 0; }

run 0 prime frame
run 0 export -o full.jwpack
run 0 export --thin -o thin.jwpack --json
json 'd["thin_modules"] == d["modules"] > 4 and d["thin_bytes"] > 100000'
modules=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["modules"])' "$out")
[[ $(stat -c %s thin.jwpack) -lt $(stat -c %s full.jwpack) ]] || fail "thin is not smaller"
cp thin.jwpack first.jwpack
run 0 export --thin -o thin.jwpack --package frame
out_has "thin: $modules of its $modules modules"
cmp thin.jwpack first.jwpack || fail "the same entries and files, other bytes"
if command -v zstd >/dev/null; then
	[[ $(tar --zstd -tf thin.jwpack | grep -c ptx/) == 0 ]] || fail "PTX is in it"
	tar --zstd -xOf thin.jwpack manifest.json | grep -qF '"files":[{"path":"'"$frame_library"'","package":"frame","version":"1.2"}]' || fail "the manifest does not name the file"
	tar --zstd -xOf thin.jwpack manifest.json | grep -qF "$work" && fail "the manifest names a folder of this machine"
fi

# The same package elsewhere: every byte is the driver's
export VIRTUAL_ENV=$work/elsewhere/b CUDA_CACHE_PATH=$work/b
run 0 import --allow-unsigned thin.jwpack
out_has "$modules entries added"
same_entries "$work/b"
run 0 check frame
run 0 import --allow-unsigned thin.jwpack "$library" --json
json 'd["there"] == d["entries"] and d["missing"] == 0 and "missing_files" not in d'
run 0 import --allow-unsigned full.jwpack frame
err_has "were not searched"

# Without it, then with a file named, whatever its name; the pack through standard input
export VIRTUAL_ENV=$work/elsewhere CUDA_CACHE_PATH=$work/c
empty_environment "$work/elsewhere"
run 2 import --allow-unsigned thin.jwpack
out_has "not complete"
out_has "PTX not found: frame 1.2, $frame_library: $modules modules for $modules entries: no file was searched"
[[ ! -e $work/c ]] || fail "something was written"
run 2 import --allow-unsigned thin.jwpack --json --dry-run
json 'd["missing"] == d["entries"] and [(m["package"], m["version"], m["path"], m["entries"]) for m in d["missing_files"]] == [("frame", "1.2", "'"$frame_library"'", d["entries"])]'
cp "$library" other.so
$JITWARM import --allow-unsigned --quiet - other.so <thin.jwpack 2>"$err" || fail "import - other.so"
same_entries "$work/c"

# Out of a wheel, which is named; and a pack of what is in one
python3 - "$library" "$frame_library" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile("frame-1.2-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
    wheel.write(sys.argv[1], sys.argv[2])
PYTHON
export CUDA_CACHE_PATH=$work/d
run 0 import --allow-unsigned thin.jwpack frame-1.2-py3-none-any.whl
same_entries "$work/d"
run 0 export --thin -o wheel.jwpack --package frame-1.2-py3-none-any.whl
out_has "thin: $modules of"
export VIRTUAL_ENV=$work/elsewhere/b CUDA_CACHE_PATH=$work/e
run 0 import --allow-unsigned wheel.jwpack
same_entries "$work/e"

# Another version with a part of it: that goes in, and the rest when the old one is there again
cp "$library" whole.so
mv "$site/frame-1.2.dist-info" "$site/frame-1.3.dist-info"
sed -i 's/1\.2/1.3/' "$site/frame-1.3.dist-info/METADATA"
python3 - "$library" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
# The payload of the first container's entry: the container is there, and is another
at = data.index(b"\x50\xed\x55\xba")
size = int.from_bytes(data[at + 8:at + 16], "little")
data[at + 16 + size // 2] ^= 1
open(sys.argv[1], "wb").write(data)
PYTHON
export CUDA_CACHE_PATH=$work/f
run 1 import --allow-unsigned thin.jwpack --json
json '0 < d["missing"] < d["entries"] and d["added"] == d["accepted"] == d["entries"] - d["missing"] and "version 1.3 is installed here" in d["missing_files"][0]["why"]'
run 0 cache verify --cache "$work/f"
cp whole.so "$library"
run 0 import --allow-unsigned thin.jwpack --json
json '0 < d["there"] and d["accepted"] and d["missing"] == 0'
same_entries "$work/f"

# Nothing that a file has: an ordinary pack, and a warning
rm -rf "$site"/frame*
cp /bin/true "$site/libnone.so"
run 0 export --thin -o plain.jwpack
err_has "the pack holds all of its PTX"
cmp plain.jwpack full.jwpack || fail "not the ordinary pack"

# Damage is found as in any other
printf 'x' | dd of=thin.jwpack bs=1 seek=3000 conv=notrunc status=none
run 3 import --allow-unsigned thin.jwpack
err_has "or damaged"
