# What is known of a library that was baked in its place: check, status and prime name it, also after an upgrade, and bake --in-place
# bakes it again.
with_simdriver sm_86
name=libsample_framework.so
if is_wine; then name=sample_framework.dll; fi
export JITWARM_STATE=$work/state
site=$work/venv/lib/python3.11/site-packages
if is_wine; then site=$work/venv/Lib/site-packages; fi
library=$site/sample_pkg/lib/$name
hash_of() { sha256sum <"$1" | cut -d' ' -f1; }
# As pip does: another version's files and RECORD. $2: what this version's library ends with; $3: its name
install() {
	local version=$1 end=${2-} file=${3-$name}
	rm -rf "$work/venv"
	mkdir -p "$site/sample_pkg/lib" "$site/sample_pkg-$version.dist-info"
	cp "$build/tests/framework/$name" "$site/sample_pkg/lib/$file"
	printf %s "$end" >>"$site/sample_pkg/lib/$file"
	printf 'Metadata-Version: 2.1\nName: sample-pkg\nVersion: %s\n' "$version" >"$site/sample_pkg-$version.dist-info/METADATA"
	python3 - "$site" "$version" "sample_pkg/lib/$file" <<'PYTHON'
import base64, hashlib, sys
site, version, library = sys.argv[1:]
info = f"sample_pkg-{version}.dist-info"
with open(f"{site}/{info}/RECORD", "w", newline="") as record:
    for path in (library, info + "/METADATA"):
        data = open(f"{site}/{path}", "rb").read()
        record.write("%s,sha256=%s,%d\n" % (path, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data)))
    record.write(info + "/RECORD,,\n")
PYTHON
}
state_is() { # STATE: of the one library, for check, status and prime
	run '0|1' check --json "$site"
	json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "'"$1"'" and d["baked"][0]["targets"] == "sm_86"'
	run "0|2" status --json
	json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "'"$1"'"'
	run '0|1' prime --json -n "$site"
	json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "'"$1"'"'
}

run 64 prime --rebake "$work"
err_has "--rebake is no longer there: “jitwarm bake --in-place” bakes again what “jitwarm bake list” calls replaced"
run 64 startup enable --print --rebake "$work"
err_has "; “jitwarm startup enable” writes a unit that has it anew"
install 1.0
run '0|1' check --json "$site"
json 'd["baked"] == []'
run 0 prime --json "$site"
json 'd["baked"] == [] and d["compiled"] > 0'
run '0|1' bake --in-place "$library"
baked=$(hash_of "$library")
state_is as_baked
for command in check status prime; do
	operand=$site
	if [[ $command == status ]]; then operand=; fi
	run '0|1|2' "$command" ${operand:+"$operand"}
	out_has "1 library with baked machine code for sm_86"
done
# What a second bake adds loads with older drivers; the first one's code does not.
cp "$sample" "$work/parts.so"
SIMDRIVER_FAULT=error:sample_small CUDA_CACHE_PATH=$work/parts-cache run 1 bake --in-place --json "$work/parts.so"
json 'd["files"][0]["baked"] == 6 and d["files"][0]["drivers"]["from"] == "550.54.14 (CUDA 12.4)"'
run 0 bake --in-place --json "$work/parts.so"
json 'd["files"][0]["baked"] == 1 and d["files"][0]["drivers"]["from"] == "550.54.14 (CUDA 12.4)"'
run 0 bake --undo "$work/parts.so"
# Another library of the same folder was not baked.
cp "$sample" "$work/other.so"
run '0|1' check --json "$work/other.so"
json 'd["baked"] == []'


# prime has nothing to do with it, and says so, whatever the cache has lost.
run 0 bake --undo
run 0 bake --in-place "$library"
rm -r "$CUDA_CACHE_PATH"
run 0 prime "$site"
out_has "There is nothing here that the driver would compile"
out_has "1 library with baked machine code for sm_86"
run 0 check "$site"
out_has ": nothing to compile"
[[ ! -d $CUDA_CACHE_PATH ]] || fail "something was compiled"
run 0 bake --undo
run '0|1' bake --in-place "$library"

# Upgraded: told, and left alone until it is baked again.
install 1.1 newer
newer=$(hash_of "$library")
state_is replaced
run 0 prime "$site"
out_has "its package has replaced it"
run 1 bake list
out_has "replaced by its package"
[[ $(hash_of "$library") == "$newer" ]] || fail "baked without being asked to"
run '0|1' bake --in-place "$library"
[[ $(hash_of "$library") != "$newer" && $(hash_of "$library") != "$baked" ]] || fail "not baked again"
state_is as_baked
run 0 bake --undo
[[ $(hash_of "$library") == "$newer" ]] || fail "the way back leads elsewhere"

# What a user has changed
run '0|1' bake --in-place "$library"
printf x >>"$library"
changed=$(hash_of "$library")
state_is changed
run 0 prime "$site"
[[ $(hash_of "$library") == "$changed" ]] || fail "a changed library was baked"
out_has "was baked for sm_86: changed since"
# A file of the same size and time is taken for the baked one; bake list reads it.
install 1.1 newer
rm "$JITWARM_STATE"/baked/*.journal
run '0|1' bake --in-place "$library"
python3 - "$library" <<'PYTHON'
import os, sys
stat = os.stat(sys.argv[1])
with open(sys.argv[1], "r+b") as file:
    file.seek(-1, 2)
    file.write(b"X")
os.utime(sys.argv[1], ns=(stat.st_atime_ns, stat.st_mtime_ns))
PYTHON
state_is as_baked
run 1 bake list
out_has "changed since"

# An account without a state directory has baked nothing; a journal that cannot be read is told.
if ! is_wine; then (unset HOME XDG_STATE_HOME JITWARM_STATE && run '0|1' check --json "$site" && json 'd["baked"] == []') || exit 1; fi
journal=$(echo "$JITWARM_STATE"/baked/*.journal)
echo damaged >"$journal"
run '0|1' check "$site"
err_has "$(basename "$journal")"

# Renamed by the upgrade: the former name is gone, and the other file is one that was never baked.
rm -f "$JITWARM_STATE"/baked/*.journal
install 2.0
run '0|1' bake --in-place "$library"
install 2.1 newer "2-$name"
run '0|1' check --json "$site"
json 'd["baked"] == []'
run "0|2" status --json
json '[b["state"] for b in d["baked"]] == ["gone"]'
run "0|2" status
out_has "was baked for sm_86: gone"
run 1 bake list
out_has gone
run '0|1' bake --in-place "$site/sample_pkg/lib/2-$name"
run 1 bake list --json
json 'sorted(f["state"] for f in d["files"]) == ["as_baked", "gone"]'
run 0 bake --undo "$library"
run 0 bake list --json
json '[f["state"] for f in d["files"]] == ["as_baked"]'
