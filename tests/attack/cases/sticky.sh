# A folder like /tmp may be on the way, but holds no cache and no state; outputs there are new files, which root makes before another account can.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE
export CUDA_CACHE_PATH=$work/cache
run 0 prime --quiet "$sample"
sticky=$open/sticky
mkdir -m 1777 "$sticky"
for name in CUDA_CACHE_PATH JITWARM_STATE; do
	(export $name="$sticky" && run 2 prime "$sample" && err_has "other accounts may write to $sticky, so root does not use it: name another file or folder") || exit 1
done
run 2 prime --cache "$sticky" "$sample"
(CUDA_CACHE_PATH=$sticky run "0|1|2" doctor "$sample") || exit 1 # nor does its probe write there
[[ -z $(ls -A "$sticky") ]] || fail "made: $(ls -A "$sticky")"
# Root's new folders there are root's alone, also one on the way.
(export CUDA_CACHE_PATH=$sticky/new/cache JITWARM_STATE=$sticky/state && run 0 prime "$sample" && [[ $(stat -c '%u %a' "$sticky/new" "$sticky/state" | sort -u) == "0 700" ]]) || fail "not root's alone: $(ls -l "$sticky")"
run 0 export -o "$sticky/own.jwpack"
# An output is no file that is there: the account's, a link of the account to root's file, root's own file of before, a link of root's.
as_mallory touch "$sticky/theirs" && as_mallory mkdir "$sticky/folder"
as_mallory ln -s "$treasure/file" "$sticky/link" && as_mallory ln -s "$treasure/new" "$sticky/dangling" && ln -s "$treasure/file" "$sticky/roots"
for name in theirs folder/x link dangling own.jwpack roots; do
	run '2|3|64' export -o "$sticky/$name"
	run '2|3|64' prime --json-log "$sticky/$name" "$sample"
	run '2|3|64' run --record "$sticky/$name" -- touch "$work/started"
	untouched
done
[[ ! -e $work/started && ! -s $sticky/theirs && -s $sticky/own.jwpack ]] || fail "$(ls -l "$sticky")"
for name in folder dangling; do run 2 prime --cache "$sticky/$name" "$sample"; done
# The name is root's from the beginning, and gone if nothing was written; a dry run makes nothing.
export SIMDRIVER_GATE=$open/gate SIMDRIVER_LOG=$open/compiled SIMDRIVER_FAULT=wait:.version
: >"$SIMDRIVER_GATE"
# shellcheck disable=SC2086
CUDA_CACHE_PATH=$open/cold timeout 60 $JITWARM prime "$sample" --json-log "$sticky/log" >"$open/said" 2>&1 </dev/null &
await grep -qs ' fault wait ' "$SIMDRIVER_LOG"
[[ $(stat -c %u "$sticky/log") == 0 ]] || fail "the account could take the name"
as_mallory rm "$sticky/log" 2>/dev/null && fail "the account could remove root's name"
rm "$SIMDRIVER_GATE" && wait $!
[[ -s $sticky/log ]] || fail "nothing was logged: $(cat "$open/said")"
unset SIMDRIVER_GATE SIMDRIVER_LOG SIMDRIVER_FAULT
run '2|3|64' export --cache "$work/none" -o "$sticky/nothing"
[[ ! -e $sticky/nothing ]] || fail "left: $(ls "$sticky")"
# A name that is missing there is any account's to take: root takes it itself, or does not use it. A dry run takes none.
missing="$sticky/none is missing, and other accounts can make it"
for name in HOME PYTHONPATH PYTHONUSERBASE PYTHONHOME PIP_CONFIG_FILE PIP_CERT NETRC SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS; do
	(export JITWARM_STATE=$work/state $name="$sticky/none/it" && run 2 scan --index torch && err_has "$missing") || exit 1
done
(export JITWARM_STATE=$work/state XDG_CONFIG_HOME=$sticky/none && run 2 config jobs 2 && err_has "$missing") || exit 1
mkdir -m 1777 "$sticky/packs" && run 0 prime --allow-unsigned --store "$sticky/packs" "$sample"
run 2 prime --allow-unsigned --store "$sticky/none" "$sample"
for name in TMPDIR XDG_RUNTIME_DIR CUDA_HOME; do (export $name="$sticky/none" && run 0 run -- sh -c "echo is \$$name" && [[ $(cat "$out") == is ]]) || fail "$name was kept"; done
TMPDIR=$sticky run 0 run -- sh -c 'echo "is $TMPDIR"' && out_has "is $sticky"
JITWARM_STATE=$sticky/none run 0 prime -n "$sample"
err_has "$missing; jitwarm remembers nothing of this run"
[[ ! -e $sticky/none ]] || fail "made: $(find "$sticky/none")"
(export HOME=$sticky/none XDG_CACHE_HOME=$sticky/compilers PIP_INDEX_URL=http://127.0.0.1:1/ PIP_RETRIES=0 && run '2|3' compiler fetch 12.4 && err_lacks "does not use")
[[ $(stat -c '%u %a' "$sticky/none" "$sticky/compilers" | sort -u) == "0 700" ]] || fail "not root's alone: $(ls -l "$sticky")"
# The names of export without -o, and of a signature, are outputs, too.
cp "$sticky/own.jwpack" "$sticky/jitwarm.jwpack"
(cd "$sticky" && run 2 export && err_has "jitwarm.jwpack exists" && rm jitwarm.jwpack && run 0 export && [[ -s jitwarm.jwpack ]]) || exit 1
ln -s "$treasure/file" "$sticky/signed.jwpack.minisig"
(export JITWARM_STATE=$work/state && run 0 key generate && run '2|3' export --sign -o "$sticky/signed.jwpack") || exit 1
untouched
