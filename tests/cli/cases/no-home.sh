# HOME is missing or read-only, as in a container: no advice writes there, and the advice works.
is_wine && skip "an account of Windows always has its registry"
[[ -d /proc/self ]] || skip "no /proc"
with_simdriver sm_86
export JITWARM_SYSTEM_ROOT=$work/root SHELL=/bin/bash
unset CUDA_CACHE_PATH XDG_CONFIG_HOME ZDOTDIR
mkdir -p "$work/root"
advice="CUDA_CACHE_PATH=DIR"
# without: the advice of tune, status, doctor and prime without a usable HOME
without() {
	run 0 tune
	out_has "start your programs with $advice (“docker run -e $advice”); DIR is a writable local directory that survives a restart. To print the lines: jitwarm tune --print sh --path DIR"
	run "0|2" status
	out_has "can write to: jitwarm tune --print sh --path DIR"
	run 2 doctor --no-probe "$sample"
	out_has "or name another one: $advice where your programs are started"
	out_lacks "--apply"
	CUDA_CACHE_PATH=$work/cache CUDA_CACHE_MAXSIZE=200000 run 1 doctor --no-probe "$sample"
	out_has "set CUDA_CACHE_MAXSIZE=1073741824"
	out_lacks "jitwarm tune --apply"
	CUDA_CACHE_PATH=$work/cache CUDA_CACHE_MAXSIZE=100 run "0|2" status
	out_has "are started: jitwarm tune --print sh"
	(cd "$work" && CUDA_CACHE_PATH=some/where run 1 doctor --no-probe "$sample" && out_has "absolute path: $advice") || exit 1
	CUDA_CACHE_PATH=$work/cache CUDA_CACHE_MAXSIZE=200000 run "2|3" prime --tune "$sample"
	err_has "; “jitwarm tune --print sh” prints the lines instead, for where your programs are started"
	run 3 tune --apply --path "$work/cache"
	err_has "; “jitwarm tune --print sh” prints the lines instead, for where your programs are started"
	# the advice itself
	run 0 tune --print sh --path "$work/cache" "$sample"
	cp "$out" "$work/lines"
	(. "$work/lines" && run 0 prime --no-store "$sample" && run 0 check "$sample") || exit 1
	rm -rf "$work/cache"
}
(export HOME=/proc/none && without) || exit 1
# For a HOME that the account may not enter, nothing is reported file by file.
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
if open=$(folder_for_all); then
	trap 'jobs -p | xargs -r kill -9 2>/dev/null; rm -rf "$open"' EXIT
	home=$work/closed
	mkdir -m 700 "$home"
	chmod 755 "$work"
	copy_for_all "$build" "$open" src/jitwarm tests/simdriver/lib || fail "the program cannot be copied"
	(
		export HOME=$home JITWARM_STATE=$work/none
		export JITWARM="$cases/../../../scripts/with-simdriver.sh -B $open sm_86 -- ${as_other[*]} $open/src/jitwarm"
		snapshot run 0 tune && err_lacks "its settings are unknown"
	) || exit 1
fi
home=$work/fixed
mkdir -p "$home"
printf '#!/bin/sh\nmount -t tmpfs -o ro,mode=755 none "%s" && exec "$@"\n' "$home" >"$work/with-fixed"
chmod +x "$work/with-fixed"
if unshare -rm "$work/with-fixed" true 2>/dev/null; then
	(export HOME=$home JITWARM="unshare -rm $work/with-fixed $JITWARM" && without) || exit 1
fi
# An account with a HOME has its cache there.
run "0|2" status
CUDA_CACHE_PATH=/proc/none/cache run 0 tune
out_has "Next       name a writable local directory that survives a restart: jitwarm tune --path DIR --apply"
