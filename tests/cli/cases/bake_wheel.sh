# `jitwarm bake` makes new wheels that pip and uv install, whose libraries the driver loads without compiling; a faulty wheel leaves no
# file.
differs_for SANITIZERS # which make a larger library
! is_wine || skip "bake writes no Windows libraries"
with_simdriver sm_86
varies tree ^home/\\.rustup/ # pip asks rustc for its version
wheels=$cases/../../bake/wheels.py
python3 "$wheels" make "$sample" "$work/in" || fail "no wheels"
new=sample-1.0+jitwarm.sm86-py3-none-any.whl
old=$work/in/sample-1.0-py3-none-any.whl
before=$(sha256sum <"$old")
left() { [[ -z $(ls -A "$1" 2>/dev/null) ]] || fail "left behind: $(ls -A "$1")"; }

snapshot run 0 bake -n "$old"
run '0|1' bake --json -o "$work/out" "$old"
json 'len(d["files"]) == 2 and all(f["modules"] == 7 and f["baked"] + f["no_room"] == 7 for f in d["files"])'
json '[f["member"] for f in d["files"]] == ["sample/libsample_framework.so", "sample-1.0.data/platlib/sample/other.so"]'
json 'all(posix(f["output"]).endswith("/out/sample-1.0+jitwarm.sm86-py3-none-any.whl") for f in d["files"])'
json 'all(posix(f["path"]).endswith("/in/sample-1.0-py3-none-any.whl") for f in d["files"])'
[[ $(sha256sum <"$old") == "$before" ]] || fail "the wheel was changed"
[[ $(ls -A "$work/out") == "$new" ]] || fail "left behind: $(ls -A "$work/out")"
changed=$(python3 "$wheels" check "$old" "$work/out/$new" 1.0+jitwarm.sm86) || fail "another wheel than the old one"
[[ $changed == "sample/libsample_framework.so sample-1.0+jitwarm.sm86.data/platlib/sample/other.so" ]] || fail "changed: $changed"

# A second run makes the same bytes and replaces the first result.
first=$(sha256sum <"$work/out/$new")
echo text >"$work/out/$new"
run '0|1' bake -o "$work/out" "$old"
out_has "Next: install the new package"
[[ $(sha256sum <"$work/out/$new") == "$first" ]] || fail "not reproducible"

# A wheel that changes all the time is not baked. One try is enough, unless this machine is busy.
changing=$work/changing/${old##*/}
mkdir "$work/changing" && cp "$old" "$changing"
while [[ -e $changing ]]; do touch -c "$changing"; done &
for _ in 1 2 3 4 5; do
	snapshot run "0|1|3" bake -o "$work/changed" "$changing"
	! says "$out" "was changed while it was baked" || break
done
rm "$changing" && wait

# If the folder has the new wheel already, that wheel has nothing left to bake, and the new wheel is made from the old one again.
mkdir "$work/beside"
cp "$old" "$work/beside/"
run '0|1' bake -o "$work/beside" "$work/beside"
run '0|1' bake --json -o "$work/beside" "$work/beside"
json '{posix(f["output"]).rsplit("/", 1)[1] for f in d["files"] if f.get("output")} == {"'"$new"'"}'
json 'not any(f.get("failed") for f in d["files"])'
[[ $(sha256sum <"$work/beside/$new") == "$first" && $(ls -A "$work/beside" | wc -l) == 2 ]] || fail "not the same beside the old one"

# The wheel has jitwarm's label already and still something to bake, so its result would replace the wheel itself.
python3 - "$old" "$work/labelled" <<-'P' || fail "no labelled wheel"
	import base64, hashlib, os, re, sys, zipfile
	label, rows = "1.0+jitwarm.sm86", []
	os.mkdir(sys.argv[2])
	with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2] + "/sample-%s-py3-none-any.whl" % label, "w") as new:
	    for info in old.infolist():
	        data, name = old.read(info), info.filename.replace("sample-1.0.", "sample-%s." % label)
	        if name.endswith("/RECORD"):
	            record = name
	            continue
	        if name.endswith("/METADATA"):
	            data = re.sub(rb"(?im)^(version:\s*)1\.0\b", rb"\g<1>" + label.encode(), data)
	        new.writestr(name, data)
	        rows.append("%s,sha256=%s,%d" % (name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data)))
	    new.writestr(record, "\n".join(rows + [record + ",,", ""]))
P
labelled=$(sha256sum <"$work/labelled/$new")
snapshot run "2|3|64" bake -o "$work/labelled" "$work/labelled/$new"
says "$out" "name another folder" || err_has "name another folder"
[[ $(sha256sum <"$work/labelled/$new") == "$labelled" && $(ls -A "$work/labelled") == "$new" ]] || fail "the wheel was changed"
run '0|1' bake -o "$work/elsewhere" "$work/labelled/$new"

# The new wheel's library is the one that bake makes of the old wheel's library.
python3 -m zipfile -e "$old" "$work/unpacked" && python3 -m zipfile -e "$work/out/$new" "$work/again" || fail "no zip file"
run '0|1' bake -o "$work/copy" "$work/unpacked/sample/libsample_framework.so"
cmp "$work/copy/libsample_framework.so" "$work/again/sample/libsample_framework.so" || fail "two libraries"

# A second bake for one more GPU extends the new wheel's label; the next two targets have no label of their own.
(
	JITWARM=${JITWARM/ sm_86 / sm_86,sm_90 }
	runner=${runner/ sm_86 / sm_86,sm_90 }
	snapshot run '0|1' bake -o "$work/both" "$old" "$work/out/$new"
	python3 "$wheels" check "$old" "$work/both/in/sample-1.0+jitwarm.sm86.sm90-py3-none-any.whl" 1.0+jitwarm.sm86.sm90 >/dev/null || fail "two GPUs"
	python3 "$wheels" check "$work/out/$new" "$work/both/out/sample-1.0+jitwarm.sm86.sm90-py3-none-any.whl" 1.0+jitwarm.sm86.sm90 >/dev/null ||
		fail "one more GPU"
) || exit 1
run '0|1' bake -o "$work/out" "$work/in/local"
python3 "$wheels" check "$work/in/local/sample-2.0+CU121_x-1-py3-none-any.whl" \
	"$work/out/sample-2.0+cu121.x.jitwarm.sm86-1-py3-none-any.whl" 2.0+cu121.x.jitwarm.sm86 >/dev/null || fail "a label that is there"

# The signatures of RECORD are removed, and RECORD may come before the files that it lists.
run '0|1' bake --json -o "$work/signed" "$work/in/signed/${old##*/}"
python3 "$wheels" check "$work/in/signed/${old##*/}" "$work/signed/$new" 1.0+jitwarm.sm86 >/dev/null || fail "signed"

# NVIDIA's wheels are left alone, and so are its libraries in other wheels.
snapshot run 2 bake -o "$work/nvidia" "$work/in/nvidia/${old##*/}"
left "$work/nvidia"
run '0|1' bake --i-may -o "$work/nvidia" "$work/in/nvidia/${old##*/}"
[[ -e $work/nvidia/$new ]] || fail "--i-may does not bake"
snapshot run "1|2" bake --json -o "$work/toolkit" "$work/in/toolkit/${old##*/}"
changed=$(python3 "$wheels" check "$work/in/toolkit/${old##*/}" "$work/toolkit/$new" 1.0+jitwarm.sm86) || fail "not the others"
[[ $changed != *cublas* ]] || fail "NVIDIA's library was changed"
# Files that bake cannot change are left alone, too.
snapshot run "1|2|3" bake --json -o "$work/many" "$work/in/many/${old##*/}"
python3 "$wheels" check "$work/in/many/${old##*/}" "$work/many/$new" 1.0+jitwarm.sm86 >/dev/null || fail "not the others beside many.so"
run 0 bake -o "$work/nothing" "$work/in/nothing/${old##*/}"
out_has "nothing to bake"
[[ ! -e $work/nothing ]] || fail "a folder for nothing"

# Libraries that bake refuses, NVIDIA's included, are refused before anything is compiled; the others are still compiled.
nothing_compiled() { [[ ! -e $work/no-cache ]] || fail "compiled for nothing: $(find "$work/no-cache")"; }
mkdir "$work/refused"
CUDA_CACHE_PATH=$work/no-cache snapshot run 3 bake -o "$work/refused/out" "$work/in/bad/two-versions" "$work/in/bad/link" "$work/in/bad/name-version"
nothing_compiled
CUDA_CACHE_PATH=$work/no-cache run 2 bake -o "$work/refused/out" "$work/in/nvidia/${old##*/}"
nothing_compiled
cp "$sample" "$work/refused/libcublas.so.12"
CUDA_CACHE_PATH=$work/no-cache run 2 bake -o "$work/refused/out" "$work/refused/"*cublas*
nothing_compiled
: >"$work/refused/file"
CUDA_CACHE_PATH=$work/no-cache run 64 bake -o "$work/refused/file/out" "$old"
nothing_compiled
[[ ! -e $work/refused/out ]] || fail "a folder for nothing"
CUDA_CACHE_PATH=$work/no-cache run 3 bake -o "$work/refused/out" "$work/in/bad/two-versions" "$old"
[[ -e $work/refused/out/in/$new || -e $work/refused/out/$new ]] || fail "the sound one is not baked: $(find "$work/refused/out")"

# A faulty wheel is reported in one line, and leaves no files.
snapshot run 3 bake --json -o "$work/bad" "$work/in/bad"
[[ ! -e $work/bad ]] || fail "left behind: $(find "$work/bad")"
# NAME WORDS, which are in one line of the report
bad='
no-metadata it has no METADATA
no-record it has no RECORD
no-version its METADATA has no version
two-versions its METADATA has more than one version
other-version is not for the version
odd-version cannot take a local label
two-infos two metadata folders
twice two members are called sample/libsample_framework.so
up leads out of it: sample/../../x
absolute leads out of it: /x/y
backslash leads out of it
encrypted sample/libsample_framework.so: is encrypted
half-encrypted sample/libsample_framework.so: is encrypted
link sample/libsample_framework.so: is a link
longer sample/libsample_framework.so: is not as long as its header says
shorter sample/libsample_framework.so: is longer than its header says
checksum sample/libsample_framework.so: its checksum is wrong
far lies outside of the file
no-header has no local header
method its own header differs
overlap two members share bytes: x/a.py and x/b.py
elsewhere its own header differs
many claims 60000 members
cut is not a zip file
empty is not a zip file
hash its SHA-256 differs from the one in RECORD
other-hash sample/__init__.py: its SHA-256 differs from the one in RECORD
unlisted RECORD does not list sample/libsample_framework.so
others lists ../../etc/passwd, which is outside the wheel
listed-twice lists sample/libsample_framework.so twice
bomb cannot be a library
name is not named like a wheel
name-version has version
'
json 'all(any("/bad/%s/" % name in posix(f["path"]) and words in f["failed"] and "\n" not in f["failed"] for f in d["files"]) or print("not so:", name)
	for name, words in (line.split(" ", 1) for line in """'"$bad"'""".strip().split("\n")))'
run 2 bake -o "$work/bad" "$work/in/bad/link/"*
out_has "is a link"
snapshot run 2 bake -o "$work/bad" "$work/in/bad/old-conda/"*

# A run that cannot end or is killed leaves no wheel. The next run removes a killed run's leftovers, but nothing of a living run.
(ulimit -f 40; snapshot run 3 bake -o "$work/short" "$old") || exit 1
[[ ! -e $work/short ]] || fail "left behind: $(find "$work/short")"
mkdir "$work/killed"
varies tree ^state/runs/ # left by the killed runs
for _ in 1 2 3; do
	begin bake -o "$work/killed" "$old"
	sleep "$(moment 900)"
	kill_begun
	[[ ! -e $work/killed/$new || $(sha256sum <"$work/killed/$new") == "$first" ]] || fail "half a wheel"
	rm -f "$work/killed/$new"
done
: >"$work/killed/.$new.jitwarm-.abcdef"
find "$work/killed" -name '.*' -type f -exec touch -d '2 hours ago' {} +
run '0|1' bake -o "$work/killed" "$old"
[[ $(ls -A "$work/killed") == "$new" ]] || fail "in the folder: $(ls -A "$work/killed")"
[[ -z $(find "$JITWARM_STATE/runs" -mindepth 1 -type d) ]] || fail "unpacked members are left: $(find "$JITWARM_STATE/runs")"
mask=$(umask)
chmod 646 "$old"
umask 027
run '0|1' bake -o "$work/mode" "$old"
umask "$mask"
[[ $(stat -c %a "$work/mode/$new") == 640 ]] || fail "mode $(stat -c %a "$work/mode/$new")"

# pip and uv install the new wheel, and then the old one again. The test uses the pip at hand, since making an environment's own takes
# seconds.
if python3 -m venv --without-pip "$work/venv" >/dev/null 2>&1 && mkdir "$work/pip" &&
	ln -s "$(python3 -c 'import os, pip; print(os.path.dirname(pip.__file__))')" "$work/pip/pip"; then
	pip=(env PYTHONPATH="$work/pip" "$work/venv/bin/python" -m pip --disable-pip-version-check --isolated)
	site=$(echo "$work"/venv/lib/python3*/site-packages)
	installs() {
		local version=${1##*/sample-}
		"${pip[@]}" install --quiet --no-index --no-deps "$1" >"$out" 2>"$err" || fail "pip install"
		[[ $(cd "$site" && echo sample-*) == "sample-${version%%-*}.dist-info" ]] || fail "installed: $(ls "$site")"
	}
	installs "$old"
	installs "$work/out/$new"
	"${pip[@]}" check >"$out" 2>&1 || fail "pip check"
	cmp "$work/copy/libsample_framework.so" "$site/sample/libsample_framework.so" || fail "another library"
	installs "$old"
	if uv=$(command -v "${JITWARM_UV:-uv}"); then
		"$uv" pip install -q --offline --no-index --no-deps --reinstall --python "$work/venv/bin/python" "$work/out/$new" || fail "uv pip install"
		"$uv" pip check -q --python "$work/venv/bin/python" || fail "uv pip check"
	fi
fi

# The driver compiles some modules of the old wheel's libraries, and fewer of the new one's. Packing the wheel shows progress.
run 1 bake verify --json "$old"
json '[f["member"] for f in d["files"]] == ["sample/libsample_framework.so", "sample-1.0.data/platlib/sample/other.so"] and all(f["path"].endswith(".whl") and f["entries"] > 0 and "failed" not in f for f in d["files"])'
snapshot run "0|1" bake verify "$work/out/$new"
printf 'no zip' >"$work/bad.whl"
snapshot run 3 bake verify "$work/bad.whl"
python3 - "$old" "$work/large-1.0-py3-none-any.whl" "$sample" <<-'P'
	import base64, hashlib, os, sys, zipfile
	with zipfile.ZipFile(sys.argv[2], "w") as new:
	    rows = []
	    for name, data in (("l/lib.so", open(sys.argv[3], "rb").read()), ("l/data", os.urandom(3 << 20)), ("large-1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: large\nVersion: 1.0\n")):
	        new.writestr(name, data)
	        rows.append(name + ",sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() + ",%d" % len(data))
	    new.writestr("large-1.0.dist-info/RECORD", "\n".join(rows + ["large-1.0.dist-info/RECORD,,"]) + "\n")
P
snapshot run '0|1' bake --progress json -o "$work/large" "$work/large-1.0-py3-none-any.whl"
grep -q '"phase":"packing".*"unit":"MiB".*"fraction":1' "$err" || fail "no progress of packing"

# A wheel for Windows is refused before anything is compiled.
python3 - "$sample" "$work/win-1.0-py3-none-win_amd64.whl" <<-'P'
	import struct, subprocess, sys, zipfile
	elf = open(sys.argv[1], "rb").read()
	shoff, count, names = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 60)
	sections = [struct.unpack_from("<IIQQQQ", elf, shoff + 64 * i) for i in range(count)]
	table = sections[names][4]
	code = next(elf[s[4]:s[4] + s[5]] for s in sections if elf[table + s[0]:].split(b"\0", 1)[0] == b".nv_fatbin")
	pe = bytearray(b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 240, 0x2022))
	pe += struct.pack("<H", 0x20b) + bytes(238)
	pe += struct.pack("<8sIIIIIIHHI", b".nv_fatb", len(code), 4096, len(code), 1024, 0, 0, 0, 0, 0x40000040)
	pe += bytes(1024 - len(pe)) + code
	with zipfile.ZipFile(sys.argv[2], "w") as new:
	    new.writestr("w/lib.dll", bytes(pe))
	    new.writestr("win-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: win\nVersion: 1.0\n")
	    new.writestr("win-1.0.dist-info/RECORD", "w/lib.dll,,\nwin-1.0.dist-info/METADATA,,\nwin-1.0.dist-info/RECORD,,\n")
P
rm -rf "$work/cache"
snapshot run 2 bake -o "$work/windows" "$work/win-1.0-py3-none-win_amd64.whl"
[[ -z $(find "$work/cache" -path '*/?/?/*' -type f 2>/dev/null) ]] || fail "something was compiled first"
python3 - "$sample" "$work/bare-1.0-py3-none-any.whl" <<-'P'
	import sys, zipfile
	with zipfile.ZipFile(sys.argv[2], "w") as new:
	    new.write(sys.argv[1], "b/lib.so")
	    new.writestr("bare-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: bare\nVersion: 1.0\n")
	    new.writestr("bare-1.0.dist-info/RECORD", "b/lib.so,,\nbare-1.0.dist-info/METADATA,,\nbare-1.0.dist-info/RECORD,,\n")
P
snapshot run "2|3" bake -o "$work/bare" "$work/bare-1.0-py3-none-any.whl"
