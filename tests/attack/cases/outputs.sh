# -o onto what is not a regular file: a device and a pipe stay what they are and get nothing, the target of a link is written
. "$cases/../lib.sh"
with_simdriver sm_86
run 0 prime "$sample"
mknod "$open/null" c 1 3 2>/dev/null || skip "no device can be made here"
mkfifo "$open/pipe"
kind() { stat -c %F "$1"; }
for name in null pipe; do
	was=$(kind "$open/$name")
	for command in export run; do
		arguments=(export -o "$open/$name")
		[[ $command == export ]] || arguments=(run --record "$open/$name" -- true)
		run 64 "${arguments[@]}"
		err_has "$open/$name: is not a regular file: not replaced"
		[[ $(kind "$open/$name") == "$was" ]] || fail "$name is a $(kind "$open/$name") now"
	done
done
ln -s target "$open/link"
: >"$open/target"
run 0 export -o "$open/link"
[[ -L $open/link && -s $open/target ]] || fail "the link was replaced"

# The symlink of another account is not followed, even to a pack, which -o would replace.
cp "$open/target" "$treasure/pack" && before=$(state_of)
as_mallory ln -s "$treasure/pack" "$home/pack"
run 2 export -o "$home/pack"
untouched
# It is not followed either if the account counts as root.
JITWARM_TRUST_ACCOUNTS=$mallory run 3 export -o "$home/pack"
err_has "is a symlink, which root does not follow"
untouched

# The number of “nobody” is no exception, though a user namespace shows it for the accounts that the namespace lacks.
mkdir "$open/of-nobody"
ln -s "$treasure/folder" "$open/of-nobody/link"
chown -h 65534:65534 "$open/of-nobody" "$open/of-nobody/link"
run 2 export -o "$open/of-nobody/link/planted"
err_has "$open/of-nobody belongs to"
untouched
if unshare -r true 2>/dev/null; then
	chmod 777 "$open/of-nobody"
	JITWARM="unshare -r $JITWARM" run 2 export -o "$open/of-nobody/written"
	err_has "other accounts may write to"
	JITWARM_TRUST_ACCOUNTS='*' JITWARM="unshare -r $JITWARM" run 0 export -o "$open/of-nobody/written"
	# The namespace lacks the group; the number that it shows is the own group of accounts (sync, _apt).
	mkdir -m 775 "$open/lacking" && chgrp $mallory "$open/lacking"
	JITWARM="unshare -r $JITWARM" run 0 export -o "$open/lacking/written"
fi

# For every kind of output: a device and a pipe stay what they are, and root's file behind another account's symlink is not written.
run 0 key generate outputs
as_mallory ln -s "$treasure/pack" "$home/out"
kinds() { # kinds COMMAND: runs it with each of the three
	local path was
	for path in "$open/null" "$open/pipe" "$home/out"; do
		was=$(kind "$path")
		limit=20 run '0|1|2|3|64|124' "${@//OUT/$path}"
		[[ $(kind "$path") == "$was" ]] || fail "$* made it a $(kind "$path")"
	done
	untouched
}
kinds prime "$sample" --json-log OUT
kinds run --record OUT -- true
kinds export -o OUT

# A log is checked before the work too, and root's own link to one is followed.
ln -s "$open/log" "$open/link-to-log"
: >"$open/log"
for path in "$open/null" "$open/pipe"; do
	CUDA_CACHE_PATH=$open/unused run 64 prime "$sample" --json-log "$path"
	err_has "$path: is not a regular file"
	[[ ! -e $open/unused ]] || fail "primed before $path was refused"
done
run 0 prime "$sample" --json-log "$open/link-to-log"
[[ -L $open/link-to-log && -s $open/log ]] || fail "the link to a log was not followed"

# A baked copy of a library that everyone may write to, and that would run with its owner's rights, gets neither right.
cp "$sample" "$home/library.so" && chown $mallory:$mallory "$home/library.so" && chmod 4777 "$home/library.so"
umask 022
run '0|1' bake -o "$open/baked" "$home/library.so"
[[ $(stat -c '%u %a' "$open/baked/library.so") == '0 755' ]] || fail "the copy is $(stat -c '%u %a' "$open/baked/library.so")"

# In a folder like /tmp, a name is taken after root has examined it: while the driver compiles, the account makes it a file or a link.
sticky=$open/sticky
mkdir -m 1777 "$sticky"
export SIMDRIVER_GATE=$open/gate SIMDRIVER_LOG=$open/compiled SIMDRIVER_FAULT=wait:.version
chmod 755 "$open"
# taken COMMAND… -- ACCOUNT'S COMMAND…
taken() {
	local command=()
	while [[ $1 != -- ]]; do command+=("$1") && shift; done
	shift
	rm -rf "$open/cold" "$SIMDRIVER_LOG" "${sticky:?}"/*
	: >"$SIMDRIVER_GATE"
	# shellcheck disable=SC2086
	CUDA_CACHE_PATH=$open/cold timeout 60 $JITWARM "${command[@]}" >"$open/said" 2>&1 </dev/null &
	await grep -qs ' fault wait ' "$SIMDRIVER_LOG"
	as_mallory "$@" 2>/dev/null
	rm "$SIMDRIVER_GATE"
	wait $! || :
	untouched
	[[ -z $(find "$home" -user 0) ]] || fail "${command[*]}: root wrote to the account's folder: $(cat "$open/said")"
	[[ -z $(find "$sticky" -user $mallory -size +0) ]] || fail "${command[*]}: root wrote to the account's file: $(cat "$open/said")"
}
taken prime "$sample" --json-log "$sticky/log" -- touch "$sticky/log"
grep -q "$sticky/log: belongs to another account" "$open/said" || fail "$(cat "$open/said")"
# A finished file does not replace one that the account has made under its name meanwhile.
name=$sticky/$(basename "$sample")
taken bake -o "$sticky" "$sample" -- touch "$name"
grep -q "$name: belongs to another account: name another file" "$open/said" || fail "$(cat "$open/said")"
[[ $(stat -c %u "$name") == "$mallory" && $(ls -A "$sticky") == "${name##*/}" ]] || fail "the account's file: $(ls -lA "$sticky")"
for planted in "mkdir -m 777 $sticky/new" "ln -s $home $sticky/new" "ln -s $treasure/folder $sticky/new"; do
	# shellcheck disable=SC2086
	taken bake -o "$sticky/new" "$sample" -- $planted
	[[ ! -d $sticky/new || $(stat -c %u "$sticky/new") == 0 ]] || fail "${planted%% *}: root used the account's folder: $(cat "$open/said")"
done
unset SIMDRIVER_GATE SIMDRIVER_LOG SIMDRIVER_FAULT
# A folder whose name an account takes whenever root makes the folder, and gives back in between, would be the account's later.
preload=$build/tests/attack/libtaken-name.so
for into in "$sticky/taken" "$sticky/taken/below"; do
	TAKEN_NAME=$sticky/taken JITWARM="env LD_PRELOAD=$preload ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 $JITWARM" run 2 bake -o "$into" "$sample"
	err_has "other accounts may write to $sticky/taken; root changes nothing there: name another file or folder"
done
# Who could change the current folder is unknown once the folder is gone.
mkdir "$open/gone"
(cd "$open/gone" && rmdir "$open/gone" && run 2 export -o pack && err_has "pack cannot be examined; root changes nothing there") || exit 1
# Without work, root makes no folder.
run 0 bake -n -o "$sticky/none/there" "$sample"
[[ ! -e $sticky/none ]] || fail "a dry run made a folder"
