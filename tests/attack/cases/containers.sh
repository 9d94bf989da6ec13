# Root without any attack: a container in which everything is root's, a volume of the host's account, an emptyDir, a CI job's clone, a user
# namespace, a package's post-install script. The work is done, or one line names the setting with which it is.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
fresh() { rm -rf "${HOME:?}"/.[a-z]* "$home"/.[a-z]*; }
# Everything is root's: no variable is needed, with HOME=/tmp neither.
for command in "prime $sample" "check $sample" status "export -o $work/a.jwpack" "import --allow-unsigned --cache $work/into $work/a.jwpack" "run -- true" "run --record $work/x.json -- true"; do
	# shellcheck disable=SC2086
	run '0|1' $command
	err_lacks TRUST
done
[[ $(stat -c %a "$HOME/.nv/ComputeCache" "$HOME/.local/state/jitwarm" "$work/into" | tr '\n' ' ') == "700 700 755 " ]] || fail "modes: $(stat -c %a "$HOME/.nv/ComputeCache" "$HOME/.local/state/jitwarm" "$work/into")"
fresh
mkdir -m 1777 "$open/tmp" && HOME=$open/tmp run 0 prime "$sample"
# docker run -v ~/.nv:/root/.nv, an emptyDir, a CI job whose HOME belongs to account 1001: the boolean lifts the door, other values are an error.
mkdir -m 777 "$open/volume"
for place in "HOME=$home" "CUDA_CACHE_PATH=$home/cache" "CUDA_CACHE_PATH=$open/volume/cache" "JITWARM_STATE=$home/state"; do
	(export "${place?}" && run 2 prime "$sample" && err_has JITWARM_TRUST_ACCOUNTS=1 && run '0|1' check "$sample" && out_has "8 modules" &&
		JITWARM_TRUST_ACCOUNTS=0 run 2 prime "$sample" && JITWARM_TRUST_ACCOUNTS=1 run 0 prime "$sample" && JITWARM_TRUST_ACCOUNTS=yes run 0 check "$sample") || exit 1
	(($(cached "$home/.nv/ComputeCache") + $(cached "$home/cache") + $(cached "$open/volume/cache") + $(cached "$HOME/.nv/ComputeCache") > 5)) || fail "$place: not filled"
	fresh && rm -rf "$home/cache" "$home/state" "$open/volume/cache"
done
for value in "*" $mallory "1,2" everyone -1 " "; do
	HOME=$home JITWARM_TRUST_ACCOUNTS=$value run 64 prime "$sample"
	err_has "takes yes or no, not “$value”"
done
# The setting does the same, in the machine's file and in root's own.
mkdir -p "$open/system/etc/jitwarm" "$HOME/.config/jitwarm"
for file in "$open/system/etc/jitwarm/config" "$HOME/.config/jitwarm/config"; do
	echo "trust-accounts = yes" >"$file"
	(export JITWARM_SYSTEM_ROOT=$open/system && CUDA_CACHE_PATH=$home/cache run 0 prime "$sample" && CUDA_CACHE_PATH=$home/cache JITWARM_TRUST_ACCOUNTS=no run 2 prime "$sample") || exit 1
	rm -rf "$file" "$home/cache"
done
fresh
# sudo jitwarm tune for all accounts; a package's script, as dpkg runs it
(export JITWARM_SYSTEM_ROOT=$open/system && run 0 tune --scope system --apply --max-size 2GiB && SUDO_USER=nobody HOME=$home run '0|2' tune --scope system --apply --max-size 2GiB) || exit 1
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DPKG_MAINTSCRIPT_NAME=postinst HOME="$HOME" LD_LIBRARY_PATH="${LD_LIBRARY_PATH-}" sh -c "cd / && umask 022 && $open/build/src/jitwarm import --allow-unsigned --cache $open/packaged $work/a.jwpack" >"$out" 2>"$err" || fail "a package's script: $(cat "$err")"
[[ $(find "$open/packaged" ! -perm -004 | wc -l) == 0 ]] || fail "not for all: $(ls -lR "$open/packaged")"
# Root in an ordinary account's user namespace is that account; in one of root's it owns root's files, and stays root.
mkdir -m 777 "$open/lacking"
export CUDA_CACHE_PATH=$open/lacking/cache
inside() { (export HOME="$open/lacking" && JITWARM="$1 $JITWARM" && run "$2" "${@:3}") || exit 1; }
if unshare -r true 2>/dev/null; then
	inside "unshare -r" 2 prime "$sample"
	[[ ! -e $CUDA_CACHE_PATH ]] || fail "root's user namespace wrote for all"
fi
as_account="setpriv --reuid=$mallory --regid=$mallory --clear-groups unshare -r"
if $as_account true 2>/dev/null; then
	inside "$as_account" 0 prime "$sample"
	inside "$as_account" 0 export -o "$open/lacking/pack"
fi
# In a namespace with many ids (unprivileged LXC, userns-remap) other accounts live beside its root, which does not use their links.
shifted=1000000
unshare -U sleep 300 &
namespace=$!
many="nsenter -t $namespace -U -S 0 -G 0"
sleep 0.2
for map in uid_map gid_map; do echo "0 $shifted 65536" >"/proc/$namespace/$map"; done 2>/dev/null
if [[ $($many id -u 2>/dev/null) == 0 ]]; then
	mkdir -m 777 "$open/shifted" && mkdir "$open/shifted/roots" "$open/shifted/theirs" && chown $shifted:$shifted "$open/shifted/roots"
	ln -s "$open/shifted/roots" "$open/shifted/theirs/cache" && chown -hR $((shifted + 1000)):$((shifted + 1000)) "$open/shifted/theirs"
	(export HOME=$open/shifted/roots JITWARM_STATE=$open/shifted/roots/state CUDA_CACHE_PATH=$open/shifted/theirs/cache && JITWARM="$many $JITWARM" && run 2 prime "$sample") || exit 1
	[[ -z $(find "$open/shifted/roots" -path '*/state' -prune -o -type f -print) ]] || fail "written through an account's link: $(find "$open/shifted/roots")"
fi
kill $namespace 2>/dev/null
unset CUDA_CACHE_PATH
fresh
# quickstart.sh as root in somebody's clone, without what it installs and builds: its commands work.
mkdir -p "$home/clone/scripts" "$home/clone/build" && ln -s "$open/build" "$home/clone/build/release"
sed 's/^has_gpu() {/&\n\treturn 1/' "$cases/../../../scripts/quickstart.sh" >"$home/clone/scripts/quickstart.sh"
echo 'build_preset() { :; }' >"$home/clone/scripts/lib.sh"
printf '#!/bin/bash\nexit 0\n' >"$home/clone/scripts/setup.sh"
printf '#!/bin/bash\necho none here >&2\nexit 1\n' >"$home/clone/scripts/get.sh"
printf '#!/bin/bash\nwhile [[ $1 != -- ]]; do shift; done\nshift\necho "${JITWARM_TRUST_ACCOUNTS-} $HOME" >>%s\nexec %s "$@"\n' "$open/seen" "$runner" >"$home/clone/scripts/with-simdriver.sh"
chmod 755 "$home/clone/scripts/"*.sh && chown -hR $mallory "$home/clone"
quickstart() {
	(export HOME=$home PIP_INDEX_URL=http://127.0.0.1:1/ PIP_RETRIES=0 && bash "$home/clone/scripts/quickstart.sh") >"$out" 2>"$err" </dev/null || fail "quickstart.sh ended with $?: $(cat "$out" "$err")"
	out_has "warm, all 8 modules in the cache"
	! grep -v "^$1 /" "$open/seen" && ! grep "$home" "$open/seen" || fail "quickstart.sh: $(cat "$open/seen")"
	rm "$open/seen"
}
quickstart 1
# In root's own clone, another account's home lifts nothing, and is not used.
chown -hR 0 "$home/clone" && quickstart ""
# cache-action.sh lifts it only in folders of the runner's account.
printf '#!/bin/sh\necho "trusts ${JITWARM_TRUST_ACCOUNTS-}" >%s\nexit 3\n' "$open/seen" >"$open/say" && chmod 755 "$open/say"
action() { RUNNER_TEMP=$work CACHE_JITWARM=$open/say HOME=$1 bash "$cases/../../../scripts/cache-action.sh" key >/dev/null 2>&1 || [[ $(cat "$open/seen") == "trusts $2" ]] || fail "cache-action.sh: $(cat "$open/seen")"; }
action "$home" 1
action "$HOME" ""
