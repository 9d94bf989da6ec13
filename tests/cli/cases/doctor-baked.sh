# doctor: libraries that were baked in their places; what they need is no prime
# shellcheck source=/dev/null
. "$cases/../doctors.sh"
fresh
export JITWARM_STATE=$place/state
site=$place/site
library=$site/pkg/lib.so
if is_wine; then library=$site/pkg/lib.dll; fi
install() { # VERSION: as pip does
	rm -rf "$site"
	mkdir -p "$site/pkg" "$site/pkg-$1.dist-info"
	cp "$sample" "$library"
	# In a DLL in the text of its DOS program: what lies behind its sections would be in the way.
	if is_wine; then printf %s "$1" | dd of="$library" bs=1 seek=80 conv=notrunc status=none; else printf %s "$1" >>"$library"; fi
	printf 'Metadata-Version: 2.1\nName: pkg\nVersion: %s\n' "$1" >"$site/pkg-$1.dist-info/METADATA"
	python3 - "$site" "pkg/$(basename "$library")" "pkg-$1.dist-info" <<'PYTHON'
import base64, hashlib, sys
site, library, info = sys.argv[1:]
data = open(f"{site}/{library}", "rb").read()
with open(f"{site}/{info}/RECORD", "w", newline="") as record:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.write(f"{library},sha256={digest},{len(data)}\n{info}/METADATA,,\n{info}/RECORD,,\n")
PYTHON
}

# As baked: nothing is to do, whatever the cache lacks.
install 1.0
run '0|1' bake --in-place "$library"
fresh
found 0 "" "$library"
json 'd["cold"] == 0'
# They need no cache; what was not baked does.
CUDA_CACHE_DISABLE=1 found 0 "" "$library"
CUDA_CACHE_DISABLE=1 found 2 "cache-disabled cold" "$library" "$sample"
says_of cache-disabled evidence "neither reads nor writes its cache, and compiles 8 modules of these files at every start"
CUDA_CACHE_DISABLE=1 found '1|2' cache-disabled # 2 where there is no Python to look at, as under Wine
says_of cache-disabled evidence "and compiles at every start what has no machine code"

# Under a driver that its code is too new for, only the way back helps. The journal says which drivers load it.
run 0 bake list --json
json 'd["files"][0]["drivers_from"] == "550.54.14 (CUDA 12.4)"'
python3 - "$JITWARM_STATE"/baked/*.journal <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    text = file.read()
    newer = text.replace(b'"from_cuda":12040,"from_branch":550', b'"from_cuda":13000,"from_branch":580')
    assert text != newer
    file.seek(0)
    file.write(newer)
PYTHON
found 1 baked-driver "$library"
says_of baked-driver evidence "for drivers from 580.54.14 (CUDA 13.0) on, and this is 55"
json 'd["findings"][0]["command"][:2] == ["bake", "--undo"] and posix(d["findings"][0]["command"][2]).endswith("'"${library##*/}"'")'
run '0|1' doctor --no-probe --fix --quiet "$library"
run 0 bake list --json
json 'd["files"] == []'
run '0|1' bake --in-place "$library"

# Replaced by an upgrade: primed as what was never baked.
install 1.1
fresh
found 1 cold "$site"
json 'd["findings"][0]["command"][0] == "prime"'
