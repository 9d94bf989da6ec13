# jitwarm bake --in-place, --undo, list: the library itself, and back to the byte.
with_simdriver sm_86
name=libsample_framework.so app=framework-app
if is_wine; then name=sample_framework.dll app=framework-app.exe; fi
export JITWARM_STATE=$work/state
site=$work/venv/lib/python3.11/site-packages
info=$site/sample_pkg-1.0.dist-info
library=$site/sample_pkg/lib/$name
hash_of() { sha256sum <"$1" | cut -d' ' -f1; }
row_of() { python3 - "$1" <<'PYTHON'
import base64, hashlib, sys
data = open(sys.argv[1], "rb").read()
print("sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() + "," + str(len(data)))
PYTHON
}
# What pip compares: every row's hash and size
record_holds() {
	python3 - "$site" "$info/RECORD" <<'PYTHON' || fail "RECORD does not hold"
import base64, csv, hashlib, os, sys
rows = list(csv.reader(open(sys.argv[2], newline="")))
assert len(rows) == 4, rows
for path, digest, size in rows:
    if not digest:
        continue
    data = open(os.path.join(sys.argv[1], path), "rb").read()
    assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() and int(size) == len(data), path
PYTHON
}
install() {
	rm -rf "$work/venv"
	mkdir -p "$site/sample_pkg/lib" "$info"
	cp "$build/tests/framework/$name" "$library"
	echo >"$site/sample_pkg/__init__.py"
	printf 'Metadata-Version: 2.1\nName: sample-pkg\nVersion: 1.0\n\nLicense: NVIDIA\n' >"$info/METADATA"
	printf 'sample_pkg/__init__.py,%s\n"sample_pkg/lib/%s",%s\nsample_pkg-1.0.dist-info/METADATA,%s\nsample_pkg-1.0.dist-info/RECORD,,\n' \
		"$(row_of "$site/sample_pkg/__init__.py")" "$name" "$(row_of "$library")" "$(row_of "$info/METADATA")" >"$info/RECORD"
	original=$(hash_of "$library") record=$(hash_of "$info/RECORD")
}
is_original() {
	[[ $(hash_of "$library") == "$original" ]] || fail "the library is not the original"
	[[ $(hash_of "$info/RECORD") == "$record" ]] || fail "RECORD is not the original"
}
nothing_left() {
	[[ $(ls -A "$(dirname "$library")") == "$name" ]] || fail "beside the library: $(ls -A "$(dirname "$library")")"
	[[ $(ls -A "$JITWARM_STATE/baked") == lock ]] || fail "journals: $(ls -A "$JITWARM_STATE/baked")"
}
install
is_wine || chmod 640 "$library"
user_attribute=
if ! is_wine && setfattr -n user.note -v kept "$library" 2>/dev/null; then user_attribute=yes; fi

run 64 bake --in-place -o "$work/out" "$library"
err_has "exclude each other"
run 64 bake --in-place --undo "$library"
run 64 bake --undo -n "$library"
run 64 bake --in-place --driver 550.163.01 --target native "$library"
run 0 bake --in-place -n "$library"
is_original
run 0 bake --undo "$library"
out_has "nothing to undo"
# What killed runs have left goes; JITWARM_STATE may name a folder with a “baked” of the user's.
for file in photo.original.jpg notes.journal.old 0123abcd.original 0123abcd.original.a1b2c3 01ab-23cd.journal.a1b2c3; do : >"$JITWARM_STATE/baked/$file"; done
run 0 bake --undo
[[ $(cd "$JITWARM_STATE/baked" && echo *) == "lock notes.journal.old photo.original.jpg" ]] || fail "baked: $(ls "$JITWARM_STATE/baked")"
rm "$JITWARM_STATE/baked"/*.*
run 0 bake --undo
out_has "nothing to undo"
run 0 bake list
out_has "no library was baked"

# Baked: what pip compares holds, the rights stay, nothing lies beside it.
exec 7<"$library"
run '0|1' bake --json --in-place --target native "$library"
json 'len(d["files"]) == 1 and d["files"][0]["baked"] >= 7 and posix(d["files"][0]["output"]).endswith("sample_pkg/lib/'"$name"'")'
left=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][0]["no_room"])' "$out")
[[ $(hash_of "$library") != "$original" ]] || fail "nothing was baked"
[[ $(sha256sum <&7 | cut -d' ' -f1) == "$original" ]] || fail "a program that has it open lost the original"
exec 7<&-
record_holds
[[ $(ls -A "$(dirname "$library")") == "$name" ]] || fail "left behind: $(ls -A "$(dirname "$library")")"
if ! is_wine; then
	[[ $(stat -c %a "$library") == 640 ]] || fail "mode $(stat -c %a "$library")"
	[[ $(stat -c %a "$JITWARM_STATE/baked") == 700 ]] || fail "others read the journals"
fi
[[ -z $user_attribute || $(getfattr --only-values -n user.note "$library") == kept ]] || fail "the attribute is lost"
baked=$(hash_of "$library")
run 0 bake list --json
json 'len(d["files"]) == 1 and d["files"][0]["state"] == "as_baked" and d["files"][0]["targets"] == "sm_86" and not d["files"][0]["undone"]'
run 0 bake list
out_has "as baked"
cp "$build/tests/framework/$app" "$(dirname "$library")"
rm -r "$CUDA_CACHE_PATH"
simulated "$(dirname "$library")/$app" >"$out" 2>"$err" || fail "the program ended with $?"
out_has "compiled $left of "
# What the driver compiles of it, without the program; the original is another matter.
run '0|1' bake verify --json
json 'len(d["files"]) == 1 and d["files"][0]["entries"] == '"$left"' and d["files"][0]["refused"] == 0'
json 'd["files"][0]["containers"] >= 7'
run 1 bake verify --json "$build/tests/framework/$name"
json 'd["files"][0]["entries"] >= 7 and not d["files"][0]["too_old"]'
# A driver of CUDA 11 loads none of that code, and none of it is handed to it; its objects, which a start would link, are.
JITWARM_STATE=$work/old-driver SIMDRIVER_CUDA=11040 run 1 bake verify --json "$library"
json 'd["files"][0]["too_old"] >= 7 and d["files"][0]["refused"] == 0 and d["files"][0]["entries"] == 2'
JITWARM_STATE=$work/old-driver SIMDRIVER_CUDA=11040 run 1 bake verify "$library"
out_has "(CUDA 11.4) is too old for their code: a program that loads them fails"
rm "$(dirname "$library")/$app"

# From here on sm_86's code comes from the cache, in a sixth of the time.
run '0|1' prime "$build/tests/framework/$name"

# Once and twice more, for other GPUs: the code for the first ones stays, and the way back leads to the first original. What is no GPU is passed over.
run '0|1' bake --in-place "$library"
[[ $(hash_of "$library") == "$baked" ]] || fail "a baked library was baked again"
sed -i 's/"targets":"sm_86"/"targets":" sm_86  nonsense sm_1234567890123456789012345678901234567890"/' "$JITWARM_STATE"/baked/*.journal
first=$JITWARM
for gpu in sm_75 sm_90; do
	JITWARM=${first/ sm_86 / $gpu }
	run '0|1' bake --in-place "$library"
	[[ $(hash_of "$library") != "$baked" ]] || fail "nothing was baked for $gpu"
	baked=$(hash_of "$library")
	record_holds
done
JITWARM=$first
run 0 bake list --json
json 'len(d["files"]) == 1 and d["files"][0]["targets"] == "sm_86 sm_75 sm_90"'
run 0 scan --json --target sm_86,sm_75,sm_90 "$library"
json 'all(verdict["jit"] == 0 for verdict in d["files"][0]["verdicts"].values())'
run 0 bake --json --undo "$library"
json 'len(d["files"]) == 1 and d["files"][0]["undone"] and d["files"][0]["state"] == "as_baked"'
is_original
nothing_left
[[ -z $user_attribute || $(getfattr --only-values -n user.note "$library") == kept ]] || fail "the attribute is lost"
run 0 bake --undo "$library"
out_has "nothing to undo"

# Without names: all that “bake list” shows, wherever it is. A journal that cannot be read is told of.
run '0|1' bake --in-place "$library"
out_has "“jitwarm bake --undo” restores"
echo damaged >"$JITWARM_STATE/baked/0123.journal"
run 3 bake --json --undo
json 'len(d["files"]) == 2 and d["files"][0]["undone"] and not d["files"][1]["undone"] and "0123.journal" in d["files"][1]["failed"]'
is_original
# It may lead to any original: they stay until it is gone.
[[ -e $(echo "$JITWARM_STATE"/baked/*.original) ]] || fail "an original is gone that a journal may need"
rm "$JITWARM_STATE/baked/0123.journal"
run 0 bake --undo
nothing_left

# A new file has the access list of the old one: none, whatever its folder gives to new files.
if ! is_wine && python3 - "$(dirname "$library")" <<'PYTHON'; then
import errno, os, struct, sys
entries = [(1, 7, -1), (2, 7, 12345), (4, 5, -1), (16, 7, -1), (32, 0, -1)]
value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
try:
    os.setxattr(sys.argv[1], "system.posix_acl_default", value)
except OSError as reason:
    if reason.errno not in (errno.ENOTSUP, errno.EPERM):
        raise
    sys.exit(1)
PYTHON
	list_of() { python3 -c 'import os, sys; print("system.posix_acl_access" in os.listxattr(sys.argv[1]))' "$library"; }
	run '0|1' bake --in-place "$library"
	[[ $(list_of) == False ]] || fail "the library got an access list"
	[[ $(stat -c %a "$library") == 640 ]] || fail "mode $(stat -c %a "$library")"
	run 0 bake --undo
	[[ $(list_of) == False ]] || fail "the original got an access list"
	# One of its own stays.
	python3 - "$library" <<'PYTHON'
import os, struct, sys
entries = [(1, 6, -1), (2, 4, 54321), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries))
PYTHON
	run '0|1' bake --in-place "$library"
	python3 - "$library" <<'PYTHON' || fail "the library lost its access list"
import os, sys
assert b"\x31\xd4\x00\x00" in os.getxattr(sys.argv[1], "system.posix_acl_access")
PYTHON
	run 0 bake --undo
	is_original
	nothing_left
	python3 -c 'import os, sys; os.removexattr(sys.argv[1], "system.posix_acl_default")' "$(dirname "$library")"
fi

# By the package's name
VIRTUAL_ENV=$work/venv
export VIRTUAL_ENV
printf 'home = /usr/bin\n' >"$VIRTUAL_ENV/pyvenv.cfg"
if ! is_wine; then
	run '0|1' bake --in-place sample-pkg
	record_holds
	run 0 bake --undo sample-pkg
	is_original
	nothing_left
fi
unset VIRTUAL_ENV

# Changed since: refused, and left as it is.
run '0|1' bake --in-place "$library"
printf x >>"$library"
changed=$(hash_of "$library")
run 1 bake list
out_has "changed since"
run 3 bake --undo "$library"
out_has "was changed since it was baked"
[[ $(hash_of "$library") == "$changed" ]] || fail "a changed library was written"
# Installed again, as pip does: the journal is dropped with a word.
install
printf 'newer' >>"$library"
python3 - "$info/RECORD" "$(row_of "$library")" "$name" <<'PYTHON'
import sys
rows = open(sys.argv[1]).read().split("\n")
rows[1] = '"sample_pkg/lib/%s",%s' % (sys.argv[3], sys.argv[2])
rows.insert(0, "sample_pkg/new.py,,")
open(sys.argv[1], "w").write("\n".join(rows))
PYTHON
newer=$(hash_of "$library")
run 1 bake list
out_has "replaced by its package"
run 0 bake --undo "$library"
out_has "its journal was dropped"
[[ $(hash_of "$library") == "$newer" ]] || fail "a newer library was written"
nothing_left
# Gone
install
run '0|1' bake --in-place "$library"
for gone in "$library" "$(dirname "$library")"; do
	mv "$gone" "$work/kept"
	run 1 bake list
	out_has "gone"
	# Its disk may be away: only who names it drops the way back
	run 1 bake --undo
	out_has "its journal stays"
	run 1 bake --undo --json
	json '[(f["state"], f["undone"]) for f in d["files"]] == [("gone", False)]'
	mv "$work/kept" "$gone"
	run 0 bake list
	mv "$gone" "$work/kept"
	run 0 bake --undo "$library"
	out_has "its journal was dropped"
	mv "$work/kept" "$gone"
	install
	run '0|1' bake --in-place "$library"
done
if ! is_wine; then # The way back stays where all else is removed, and that is said
	export JITWARM_SYSTEM_ROOT=$work/root
	run 1 uninstall
	err_has "still baked: 1 library"
	out_lacks "can be deleted now"
	mv "$JITWARM_STATE/baked" "$work/kept"
	ln -s baked "$JITWARM_STATE/baked" # nobody knows what is baked
	run 3 uninstall
	err_has "baked: "
	out_lacks "can be deleted now"
	rm "$JITWARM_STATE/baked"
	mv "$work/kept" "$JITWARM_STATE/baked"
fi
run 0 bake --undo "$library"
is_original
if ! is_wine; then
	run 0 uninstall
	out_has "can be deleted now"
	unset JITWARM_SYSTEM_ROOT
fi
[[ $(ls -A "$JITWARM_STATE/baked") == lock ]] || fail "a journal is left"

# What is left is about journals and packages, not about the system.
if is_wine; then exit 0; fi

# A damaged journal, or original, restores nothing.
install
run '0|1' bake --in-place "$library"
baked=$(hash_of "$library")
journal=$(echo "$JITWARM_STATE"/baked/*.journal) kept=$(echo "$JITWARM_STATE"/baked/*.original)
[[ $(hash_of "$kept") == "$original" && $(stat -c %a "$kept") == 600 ]] || fail "the original is not kept"
cp "$journal" "$work/journal"
for change in "s/^{/[/" 's/"hash_before":"[0-9a-f]*/&0/' 's/"path":"/&x/' 's/"schema":"/&x/' 's/"size_before":/&0,"x":/' "s/}$//" \
	's/"row_before":"/&x\\n/' 's/"row_after":"/&x\\n/'; do
	sed -i "$change" "$journal"
	cmp -s "$work/journal" "$journal" && fail "the journal is the same ($change)"
	run 3 bake --undo "$library"
	[[ $(hash_of "$library") == "$baked" ]] || fail "a damaged journal was used ($change)"
	cp "$work/journal" "$journal"
done
# Nor does a sound one of another original.
sed -i 's/"hash_before":"0/&\n/; t; s/"hash_before":"./"hash_before":"0/; s/\n/1/' "$journal"
run 3 bake --undo "$library"
out_has ".original: No such file or directory"
[[ $(hash_of "$library") == "$baked" ]] || fail "a wrong original was restored"
cp "$work/journal" "$journal"
printf x | dd of="$kept" bs=1 seek=4000 conv=notrunc status=none
run 3 bake --undo "$library"
out_has "the kept original is damaged"
[[ $(hash_of "$library") == "$baked" ]] || fail "a damaged original was restored"
# It is no way back from another bake, either; what another place of the same original keeps is mended.
first=$JITWARM
JITWARM=${JITWARM/ sm_86 / sm_75 }
run 3 bake --in-place "$library"
out_has "the kept original is damaged"
JITWARM=$first
[[ $(hash_of "$library") == "$baked" ]] || fail "baked again without a way back"
mkdir "$work/other"
cp "$build/tests/framework/$name" "$work/other"
run '0|1' bake --in-place "$work/other/$name"
[[ $(hash_of "$kept") == "$original" ]] || fail "not mended"
run 0 bake --undo "$work/other/$name"
[[ -e $kept ]] || fail "the original that another library needs is gone"
rm -r "$work/other"

# Killed before the library is replaced: it is the original, or as it was baked before.
cp "$library" "$work/baked"
cp "$kept" "$library"
run '0|1' bake list --json
json '[f["state"] for f in d["files"]] == ["original"]'
cp "$work/baked" "$library"
sed 's/"hash_after":"[0-9a-f]*/"hash_after":"'"$(printf '0%.0s' {1..64})"'/; s/"when":/&9/' "$journal" >"${journal%-*}-0000000000000000.journal"
run 0 bake list --json
json '[f["state"] for f in d["files"]] == ["as_baked"]'
: >"$kept.abcdef"
: >"$journal.abcdef"
run '0|1' bake --in-place "$library"
[[ $(ls -A "$JITWARM_STATE/baked" | wc -l) == 3 ]] || fail "left: $(ls -A "$JITWARM_STATE/baked")"
run 0 bake --undo "$library"
is_original
nothing_left

# Killed between the restored library and RECORD: the next bake restores RECORD first.
run '0|1' bake --in-place "$library"
cp -r "$JITWARM_STATE/baked" "$work/kept"
cp "$info/RECORD" "$work/RECORD"
run 0 bake --undo "$library"
rm -r "$JITWARM_STATE/baked"
mv "$work/kept" "$JITWARM_STATE/baked"
cp "$work/RECORD" "$info/RECORD"
run '0|1' bake --in-place "$library"
run 0 bake --undo "$library"
is_original
nothing_left

# Baked again by a jitwarm that knows nothing of the first: what was changed since is not taken for the package's own.
run '0|1' bake --in-place "$library"
first=$JITWARM
JITWARM=${JITWARM/ sm_86 / sm_75 }
JITWARM_STATE=$work/second run '0|1' bake --in-place "$library"
JITWARM=$first
run 1 bake list
out_has "changed since"
run 3 bake --undo "$library"
run 2 bake --in-place "$library"
out_has "was changed since it was baked: to bake it again, remove its journal"
JITWARM_STATE=$work/second run 0 bake --undo "$library"
run 0 bake --undo "$library"
is_original
nothing_left

# A link to another folder is not followed, one in the folder is.
mkdir "$work/elsewhere"
ln -s "$library" "$work/elsewhere/linked.so"
run 2 bake --in-place "$work/elsewhere/linked.so"
out_has "is a link to"
is_original
run 0 bake --undo "$work/elsewhere/linked.so"
out_has "nothing to undo"
# One whose file was baked, or that has replaced a baked library, is told of.
run '0|1' bake --in-place "$library"
ln -s elsewhere "$work/elsewhere-too"
for linked in "$work/elsewhere/linked.so" "$work/elsewhere-too/linked.so"; do
	run 3 bake --undo "$linked"
	out_has "is a link to"
done
mv "$library" "$work/elsewhere/kept.so"
ln -s "$work/elsewhere/kept.so" "$library"
ln -s "$(dirname "$library")" "$work/lib-too"
for linked in "$library" "$work/lib-too/$name"; do
	run 3 bake --undo "$linked"
	out_has "is a link to"
done
run 1 bake --undo
out_has "gone"
mv "$work/elsewhere/kept.so" "$library"
run 0 bake --undo "$library"
is_original
nothing_left
ln -s "$name" "$(dirname "$library")/libalias.so"
run '0|1' bake --in-place "$(dirname "$library")/libalias.so"
[[ -L $(dirname "$library")/libalias.so ]] || fail "the link was replaced"
run 0 bake --undo "$(dirname "$library")/libalias.so"
rm "$(dirname "$library")/libalias.so"
is_original
nothing_left

# A library that was moved is gone, also where a link leads to it: it is undone where it was baked.
folder=$(dirname "$library")
for change in "mv $folder $work/moved" "mv $folder $work/moved && ln -s $work/moved $folder" "mv $library $folder/real.so && ln -s real.so $library"; do
	install
	run '0|1' bake --in-place "$library"
	eval "$change" || fail "$change"
	run 1 bake list
	out_has "gone"
	run 1 bake --undo
	out_has "gone"
	[[ -L $folder ]] && rm "$folder"
	[[ -d $work/moved ]] && mv "$work/moved" "$folder"
	[[ -e $folder/real.so ]] && mv "$folder/real.so" "$library"
	run 0 bake --undo "$library"
	is_original
	nothing_left
done

# Whose it is: NVIDIA's by its metadata, conda's by its record
sed -i 's/^Version: 1.0/&\nLicense: NVIDIA Proprietary Software/' "$info/METADATA"
run 2 bake --in-place "$library"
out_has "is NVIDIA's, whose licence does not let anyone modify it"
is_original
install
mkdir -p "$work/venv/conda-meta"
printf '{"name": "sample", "files": ["bin/x", "lib/python3.11/site-packages/sample_pkg/lib/%s"]}' "$name" >"$work/venv/conda-meta/sample-1.0-0.json"
run 2 bake --in-place "$library"
out_has "belongs to the conda package sample-1.0-0"
is_original
run '0|1' bake --in-place --i-may "$library"
run 0 bake --undo "$library"
is_original
rm -r "$work/venv/conda-meta"

# One at a time
command python3 - "$JITWARM_STATE/baked/lock" >"$work/locked" <<'PYTHON' &
import fcntl, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(600)
PYTHON
holder=$!
await grep -q locked "$work/locked"
run 3 bake --in-place "$library"
err_has "another jitwarm bakes in place"
kill $holder
wait $holder 2>/dev/null
is_original
