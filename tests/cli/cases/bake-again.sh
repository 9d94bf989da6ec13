# What is known of a library that was baked in its place: check, status and prime name it, and prime --rebake bakes it again after
# an upgrade.
with_simdriver sm_86
name=libsample_framework.so
if is_wine; then name=sample_framework.dll; fi
export JITWARM_STATE=$work/state
site=$work/venv/lib/python3.11/site-packages
if is_wine; then site=$work/venv/Lib/site-packages; fi
library=$site/sample_pkg/lib/$name
hash_of() { sha256sum <"$1" | cut -d' ' -f1; }
# As pip does: another version's files and RECORD. $2: what this version's libraries end with; $3…: their names
install() {
	local each version=$1 end=${2-}
	shift $(($# > 1 ? 2 : 1))
	(($#)) || set -- "$name"
	rm -rf "$work/venv"
	mkdir -p "$site/sample_pkg/lib" "$site/sample_pkg-$version.dist-info"
	for each; do
		cp "$build/tests/framework/$name" "$site/sample_pkg/lib/$each"
		printf %s "$end" >>"$site/sample_pkg/lib/$each"
	done
	printf 'Metadata-Version: 2.1\nName: sample-pkg\nVersion: %s\n%s' "$version" "${licence-}" >"$site/sample_pkg-$version.dist-info/METADATA"
	python3 - "$site" "$version" "${@/#/sample_pkg/lib/}" <<'PYTHON'
import base64, hashlib, sys
site, version, *libraries = sys.argv[1:]
info = f"sample_pkg-{version}.dist-info"
with open(f"{site}/{info}/RECORD", "w", newline="") as record:
    for path in (*libraries, info + "/METADATA"):
        data = open(f"{site}/{path}", "rb").read()
        record.write("%s,sha256=%s,%d\n" % (path, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data)))
    record.write(info + "/RECORD,,\n")
PYTHON
}
state_is() { # STATE: of the one library, for check, status and prime
	run '0|1' check --json "$site"
	json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "'"$1"'" and d["baked"][0]["targets"] == "sm_86"'
	run 0 status --json
	json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "'"$1"'"'
	run '0|1' prime --json -n "$site"
	json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "'"$1"'"'
}

run 64 prime --rebake -n "$work"
run 64 prime --rebake --target sm_86 "$work"
install 1.0
run '0|1' check --json "$site"
json 'd["baked"] == []'
run 0 prime --json --rebake "$site"
json 'd["baked"] == [] and d["compiled"] > 0'
run '0|1' bake --in-place "$library"
baked=$(hash_of "$library")
state_is as_baked
for command in check status prime; do
	operand=$site
	if [[ $command == status ]]; then operand=; fi
	run '0|1' "$command" ${operand:+"$operand"}
	out_has "1 library with baked machine code for sm_86"
done
# What a second bake adds loads with older drivers; the first one's code does not.
cp "$sample" "$work/parts.so"
SIMDRIVER_FAULT=error:sample_small CUDA_CACHE_PATH=$work/parts-cache run 1 bake --in-place --json "$work/parts.so"
json 'd["files"][0]["baked"] == 8 and d["files"][0]["drivers"]["from"] == "550.54.14 (CUDA 12.4)"'
run 0 bake --in-place --json "$work/parts.so"
json 'd["files"][0]["baked"] == 1 and d["files"][0]["drivers"]["from"] == "550.54.14 (CUDA 12.4)"'
run 0 bake --undo "$work/parts.so"
# Another library of the same folder was not baked.
cp "$sample" "$work/other.so"
run '0|1' check --json "$work/other.so"
json 'd["baked"] == []'


# prime has nothing to do with it, and says so, whatever the cache has lost.
run 0 bake --undo
run 0 bake --in-place --drop-ptx "$library"
rm -r "$CUDA_CACHE_PATH"
run 0 prime "$site"
out_has "There is nothing here that the driver would compile"
out_has "1 library with baked machine code for sm_86"
run 0 check "$site"
out_has ": nothing to compile"
[[ ! -d $CUDA_CACHE_PATH ]] || fail "something was compiled"
run 0 bake --undo
run '0|1' bake --in-place "$library"

# Upgraded: told, and left alone unless that is asked for.
install 1.1 newer
newer=$(hash_of "$library")
state_is replaced
run 0 prime "$site"
out_has "its package has replaced it"
[[ $(hash_of "$library") == "$newer" ]] || fail "baked without being asked to"
# Not for other GPUs than those here
first=$JITWARM
JITWARM=${JITWARM/ sm_86 / sm_75 }
run 0 prime --rebake "$site"
err_has "not baked again: it was baked for GPUs that are not here"
[[ $(hash_of "$library") == "$newer" ]] || fail "baked for another GPU"
JITWARM=$first
# While another process bakes: told, and tried again by the next run.
if ! is_wine; then
	command python3 - "$JITWARM_STATE/baked/lock" "$work/held" <<'PYTHON' &
import fcntl, os, sys, time
lock = open(sys.argv[1], "r+")
fcntl.flock(lock, fcntl.LOCK_EX)
fcntl.lockf(lock, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.05)
PYTHON
	until [[ -e $work/held ]]; do sleep 0.05; done
	run 1 prime --if-changed --rebake "$site"
	err_has "another jitwarm bakes in place"
	rm "$work/held"
	wait
fi
run '0|1' prime --if-changed --rebake --json --json-log "$work/log" "$site"
json 'len(d["baked"]) == 1 and d["baked"][0]["state"] == "as_baked"'
python3 - "$work/log" <<'PYTHON' || fail "the log: $(cat "$work/log")"
import json, sys
run, = map(json.loads, open(sys.argv[1]))
assert run["rebaked"] == 1 and run["problem"] == "" and not run["skipped"]
PYTHON
[[ $(hash_of "$library") != "$newer" && $(hash_of "$library") != "$baked" ]] || fail "not baked again"
state_is as_baked
# What the run itself has changed is no reason for another one.
run 0 prime --if-changed --rebake --json "$site"
json 'd["skipped"]'
run 0 bake --undo
[[ $(hash_of "$library") == "$newer" ]] || fail "the way back leads elsewhere"

# Neither what a user has changed, nor what is the original again.
run '0|1' bake --in-place "$library"
printf x >>"$library"
changed=$(hash_of "$library")
state_is changed
run 0 prime --rebake "$site"
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

# As it was baked the first time. A copy of the new version shows what that makes of it.
as_first=(--i-may --drop-ptx --keep sm_70 --keep sm_80)
rm -f "$JITWARM_STATE"/baked/*.journal
licence=$'License: NVIDIA Proprietary Software\n'
install 2.0
run '0|1' bake --in-place "${as_first[@]}" "$library"
install 2.1 newer
run '0|1' bake -o "$work/like" "${as_first[@]}" "$library"
run '0|1' prime --rebake "$site"
out_has "Baked again: "
[[ $(hash_of "$library") == "$(hash_of "$work/like/$name")" ]] || fail "--drop-ptx: forgotten"
run 0 bake list --json
json 'd["files"][0]["any_owner"] and d["files"][0]["drop_ptx"] and d["files"][0]["kept"] == "sm_70,sm_80"'

# Renamed by the upgrade, as auditwheel and delvewheel do: found by what the names share, if the same package has it and
# only one can be meant.
rm -f "$JITWARM_STATE"/baked/*.journal
licence=
renamed=${name/./-0123abcd.} successor=${name/./-89ef4567.}
library=$site/sample_pkg/lib/$successor
install 3.0 "" "$renamed"
run '0|1' bake --in-place "$site/sample_pkg/lib/$renamed"
install 3.1 newer "$successor" "${name/./-76543210.}"
newer=$(hash_of "$library")
run '0|1' prime --rebake "$site"
err_has "which of them took the place of"
install 3.1 newer "$successor"
mv "$site/sample_pkg-3.1.dist-info" "$site/other_pkg-3.1.dist-info"
sed -i s/sample_pkg-3.1/other_pkg-3.1/ "$site/other_pkg-3.1.dist-info/RECORD"
run '0|1' prime --rebake "$site"
[[ $(hash_of "$library") == "$newer" ]] || fail "one of two, or another package's library was baked"
install 3.1 newer "$successor"
run '0|1' check "$site"
out_has "its package has replaced it by"
run '0|1' prime --rebake --json "$site"
json 'len(d["baked"]) == 1 and posix(d["baked"][0]["path"]).endswith("'"$successor"'") and d["baked"][0]["state"] == "as_baked"'
run 0 bake list --json
json 'len(d["files"]) == 1'
run 0 bake --undo
[[ $(hash_of "$library") == "$newer" ]] || fail "the way back leads elsewhere"

if ! is_wine; then
	unset XDG_CONFIG_HOME
	run 0 startup enable --print --rebake "$site"
	out_has "prime --background --quiet --if-changed --rebake --"
	run 0 startup enable --print "$site"
	out_lacks "--rebake"
fi
