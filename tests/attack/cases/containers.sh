# Root meets folders of other accounts without any attack: a volume of the host's account, an emptyDir, a CI job's home and clone,
# Windows' drive in WSL, sudo. Each gets a useful answer: the work is done, or the message names the setting with which it is.
. "$cases/../lib.sh"
unshare -m true 2>/dev/null || skip "needs mounts of its own"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
outside=$JITWARM
cat >"$open/mounted" <<'S'
#!/bin/bash
# mounted FROM|OPTIONS TO COMMAND…: runs the command with FROM, or a file system in memory with these options, mounted at TO
if [[ $1 == /* ]]; then mount --bind "$1" "$2"; else mount -t tmpfs -o "$1" none "$2"; fi || exit 77
shift 2
exec "$@"
S
chmod 755 "$open/mounted"
# in_mount FROM TO
in_mount() { JITWARM="unshare -m $open/mounted $1 $2 $outside"; }
fresh() { rm -rf "${HOME:?}"/.[a-z]* && JITWARM=$outside; }

# docker run -v ~/.nv:/root/.nv
mkdir -p "$HOME/.nv" "$home/.nv" && chown $mallory:$mallory "$home/.nv"
in_mount "$home/.nv" "$HOME/.nv"
run 2 prime "$sample"
err_has "HOME=$HOME: $HOME/.nv belongs to account $mallory"
err_has "JITWARM_TRUST_ACCOUNTS=$mallory"
run 1 check "$sample"
out_has "8 modules"
run '0|1|2' status
JITWARM_TRUST_ACCOUNTS=$mallory run 0 prime "$sample"
(($(cached "$home/.nv/ComputeCache") > 5)) || fail "the host's cache is not filled"
JITWARM_TRUST_ACCOUNTS=$mallory run 0 check "$sample"
fresh

# A pod with an emptyDir
mkdir -m 777 "$open/volume" && mkdir "$open/cache"
in_mount "$open/volume" "$open/cache"
export CUDA_CACHE_PATH=$open/cache/nv
run 2 prime "$sample"
err_has "CUDA_CACHE_PATH=$open/cache/nv: other accounts may write to $open/cache"
err_has "JITWARM_TRUST_ACCOUNTS='*'"
run 1 check "$sample"
JITWARM_TRUST_ACCOUNTS='*' run 0 prime "$sample"
JITWARM_TRUST_ACCOUNTS='*' run 0 check "$sample"
unset CUDA_CACHE_PATH
fresh

# A CI job: root in a container whose HOME and clone belong to account 1001
mkdir -p "$home/clone" && cp "$sample" "$home/clone/lib.so" && environment "$home/clone/.venv" 1.0 && chown -R $mallory "$home/clone"
cd "$home/clone" || fail "no clone"
run 0 prime lib.so
(($(cached "$HOME/.nv/ComputeCache") > 5)) || fail "root's cache is not filled"
fresh
for command in "" "check lib.so" "scan --target sm_86 lib.so" "lint lib.so" status doctor; do
	# shellcheck disable=SC2086
	HOME=$home run '0|1' $command
	err_lacks "changes nothing"
done
# Doctor, the last one, names no command that root's tune refuses.
out_lacks "tune --path DIR --apply"
HOME=$home run 2 prime lib.so
err_has "HOME=$home belongs to account $mallory"
err_has "JITWARM_TRUST_ACCOUNTS=$mallory"
HOME=$home JITWARM_TRUST_ACCOUNTS=$mallory run 0 prime lib.so
HOME=$home JITWARM_TRUST_ACCOUNTS=$mallory run 0 check lib.so
cd "$work" || fail "no folder"
rm -rf "$home"/.[a-z]*

# quickstart.sh in that job, without what it installs and builds: its commands work, and leave nothing of root's in the clone.
mkdir "$home/clone/scripts" "$home/clone/build" && ln -s "$open/build" "$home/clone/build/release"
sed 's/^has_gpu() {/&\n\treturn 1/' "$cases/../../../scripts/quickstart.sh" >"$home/clone/scripts/quickstart.sh"
echo 'build_preset() { :; }' >"$home/clone/scripts/lib.sh"
printf '#!/bin/bash\nexit 0\n' >"$home/clone/scripts/setup.sh"
printf '#!/bin/bash\necho none here >&2\nexit 1\n' >"$home/clone/scripts/get.sh"
printf '#!/bin/bash\nwhile [[ $1 != -- ]]; do shift; done\nshift\nexec %s "$@"\n' "$runner" >"$home/clone/scripts/with-simdriver.sh"
chmod 755 "$home/clone/scripts/"*.sh && chown -hR $mallory "$home/clone"
(export HOME=$home PIP_INDEX_URL=http://127.0.0.1:1/ PIP_RETRIES=0 && unset JITWARM_TRUST_ACCOUNTS && bash "$home/clone/scripts/quickstart.sh") >"$out" 2>"$err" </dev/null ||
	fail "quickstart.sh ended with $?: $(cat "$out" "$err")"
out_has "compiled 0 of 8"
out_has "warm, all 8 modules in the cache"
[[ -z $(find "$home/clone" -user 0) ]] || fail "root's in the clone: $(find "$home/clone" -user 0)"
rm -rf "$home"/.[a-z]*

# A drive of Windows in WSL: every file is root's, or the default account's, and open to all.
for owner in 0 $mallory; do
	mkdir -p "$open/c"
	cat >"$open/inside" <<S
#!/bin/bash
mkdir -m 777 "$open/c/project" && cp "$sample" "$open/c/project/lib.so" && chmod 777 "$open/c/project/lib.so" && chown -R $owner "$open/c/project" && cd "$open/c/project" && exec "\$@"
S
	chmod 755 "$open/inside"
	JITWARM="unshare -m $open/mounted mode=777,uid=$owner $open/c $open/inside $outside"
	run 0 prime lib.so
	run 0 check lib.so
	run 2 export -o warm.jwpack
	err_has "root changes nothing there. Name another file or folder."
	err_has "JITWARM_TRUST_ACCOUNTS="
	JITWARM_TRUST_ACCOUNTS='*' run 0 export -o warm.jwpack
	run 0 export -o "$work/warm-$owner.jwpack"
	fresh
done

# A container whose root folder others can change, since it was unpacked so
mkdir "$open/top"
cat >"$open/inside" <<S
#!/bin/bash
cd "$open/top" || exit 77
for path in /*; do
	if [[ -L \$path ]]; then cp -P "\$path" . ; elif [[ -d \$path ]]; then mkdir ".\$path" && mount --rbind "\$path" ".\$path"; fi || exit 77
done
exec chroot . "\$@"
S
JITWARM="unshare -m $open/mounted mode=777 $open/top $open/inside $outside"
run 2 prime "$sample"
err_has "HOME=$HOME: other accounts may write to /; root changes nothing there"
fresh

# sudo jitwarm prime: with root's HOME, and with the caller's (sudo -E)
if id nobody >/dev/null 2>&1; then
	SUDO_USER=nobody run 0 prime "$sample"
	err_has "under sudo, jitwarm warms root's cache, not the cache of nobody: run jitwarm without sudo"
	err_has "without sudo: jitwarm prime $sample"
	chown -R nobody "$home"
	SUDO_USER=nobody HOME=$home run 2 prime "$sample"
	err_has "HOME=$home belongs to nobody; root changes nothing there. Type “"
fi
