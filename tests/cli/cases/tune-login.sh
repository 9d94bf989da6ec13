# tune, jitwarm, doctor and prime tell the settings of this login's programs from those of the next login, and use one limit everywhere.
is_wine && skip "tests/windows/test_tune.sh has the registry's"
with_simdriver sm_86
# doctor would report a folder for temporary files.
place=$(mktemp -d /var/tmp/jitwarm-login.XXXXXX) || skip "no /var/tmp"
trap 'rm -rf "$place"' EXIT
export HOME=$place/home JITWARM_SYSTEM_ROOT=$work/root SHELL=/bin/bash
unset CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE XDG_CONFIG_HOME ZDOTDIR CONDA_PREFIX
mkdir -p "$HOME" "$work/root"
now=$HOME/.nv/ComputeCache
nothing_is_written() { [[ -z $(find "$HOME" -name '*jitwarm*' -o -name .profile) ]] || fail "$(find "$HOME")"; }

# Nothing is needed, so nothing is written; a limit that is large enough is left alone.
run 0 prime --tune --no-store "$sample"
out_has "Start your program again: it has nothing left to compile."
nothing_is_written
rm -rf "$now"
CUDA_CACHE_MAXSIZE=5000000 run 0 prime --tune --no-store "$sample"
nothing_is_written
CUDA_CACHE_MAXSIZE=5000000 snapshot run 0 tune "$sample"
CUDA_CACHE_MAXSIZE=5000000 run 0 doctor --no-probe "$sample"

# The new limit is larger: this login's programs do not have it, and do not need it for these modules.
run 0 tune --apply --max-size 3GiB
run 0 tune "$sample"
out_has "In force   $now, limit 1 GiB (the driver's default)"
out_has "Next login $now, limit 3 GiB"
out_has "Next       log out and in again: $HOME/.config/environment.d/60-jitwarm.conf sets CUDA_CACHE_MAXSIZE=3221225472"
out_lacks "process"
out_lacks "--apply"
run 0 tune --json
json 'd["in_force"] == {"path": d["in_force"]["path"], "limit_bytes": 2**30, "limit_set": False} and d["next_login"]["limit_bytes"] == 3 * 2**30 and d["next_login"]["limit_set"]'
run "0|2" status
out_has "        from the next login on; until then: $now, limit 1 GiB, the driver's default"
run 0 doctor --no-probe "$sample"
rm -rf "$now"
run 0 prime --no-store "$sample"
out_has "Start your program again"
# the environment of the next login
CUDA_CACHE_MAXSIZE=3221225472 snapshot run 0 tune "$sample"
out_has "In force   $now, limit 3 GiB"
CUDA_CACHE_MAXSIZE=3221225472 run "0|2" status
out_lacks "until then"

# Pending means a limit from before, or from an earlier tune; overridden, one of a login that has read the file. --apply is never advised
# again.
for before in "" "CUDA_CACHE_MAXSIZE=1000000" "CUDA_CACHE_MAXSIZE=1000000 JITWARM_TUNED=1000000:"; do
	JITWARM="env $before $JITWARM" run 0 tune --json "$sample"
	json 'd["limit_state"] == "pending" and d["path_state"] == "not-set"'
	JITWARM="env $before $JITWARM" run 0 tune "$sample"
	out_has "Next       log out and in again: $HOME/.config/environment.d/60-jitwarm.conf sets CUDA_CACHE_MAXSIZE=3221225472"
	out_lacks "--apply"
	JITWARM="env $before $JITWARM" snapshot run "0|1" doctor --no-probe "$sample"
	[[ -z $before ]] || out_has "log out and in again: "
done
printf 'export CUDA_CACHE_MAXSIZE=1000000\n' >"$HOME/.bashrc"
printf '. "$HOME/.bashrc"\n' >>"$HOME/.profile"
cat >"$work/login" <<END
#!/bin/bash
env -u CUDA_CACHE_MAXSIZE bash -lc 'exec "\$@"' bash "\$@"
END
chmod +x "$work/login"
JITWARM="$work/login $JITWARM" snapshot run 0 tune "$sample"
err_has "CUDA_CACHE_MAXSIZE: $HOME/.config/environment.d/60-jitwarm.conf sets 3221225472, and a file that is read later overrides the setting"
found=$(sh -c "$(sed -n 's/.*and remove it: //p' "$out")")
[[ $found == *"$HOME/.bashrc:1:export CUDA_CACHE_MAXSIZE=1000000"* ]] || fail "the command found: $found"
JITWARM="$work/login $JITWARM" snapshot run 1 doctor --json --no-probe "$sample"
rm "$HOME/.bashrc"
run 0 tune --apply --max-size 3GiB
JITWARM="$work/login $JITWARM" snapshot run 0 tune --json
rm "$HOME/.profile"
run 0 tune --undo
run 0 tune --apply --max-size 3GiB

# The directory is another one: entries there are useless before the next login.
run 0 tune --apply --path "$place/other"
snapshot run 0 prime --no-store "$sample"
out_has "Log out and in again, then start your program: until then the driver uses $now."
snapshot run 0 tune "$sample"
out_has "In force   $now, "
out_has "Next login $place/other, limit 3 GiB"
snapshot run "0|2" status
out_has "Cache   $place/other "
out_has "        from the next login on; until then: $now, "
snapshot run 1 doctor --no-probe "$sample"
out_has "before-login: this login uses $now, and the next one $place/other"
CUDA_CACHE_PATH=$place/other run 0 doctor --no-probe "$sample"
run 0 check "$sample"
# They are useful if the process names that directory.
CUDA_CACHE_PATH=$place/mine run 0 prime --no-store "$sample"
out_has "Start your program again"
run 0 tune --undo
nothing_is_written

# A limit that is too small is raised: the advice to prime again is for after the next login.
rm -rf "$now"
CUDA_CACHE_MAXSIZE=300000 snapshot run 0 prime --tune --no-store "$sample"
run 0 tune --undo

# A faulty value and the driver's maximum give one number everywhere.
for each in 8G:4294967296 2G:2147483648; do
	export CUDA_CACHE_MAXSIZE=${each%:*} number=${each#*:}
	rm -rf "$now"
	snapshot run "0|2" status
	snapshot run 0 tune "$sample"
	snapshot run 1 doctor --no-probe "$sample"
	[[ $CUDA_CACHE_MAXSIZE == 2G ]] || out_has "4 GiB, the most that a driver keeps"
	[[ $(grep -o '[0-9]\{9,\}' "$out" | sort -u) == "$number" ]] || fail "several numbers"
	snapshot run 1 prime "$sample"
	snapshot run 0 prime --tune --no-store "$sample"
	grep -q "CUDA_CACHE_MAXSIZE=\"$number\"" "$HOME/.config/environment.d/60-jitwarm.conf" || fail "another number was written"
	run 0 tune --undo
done
unset CUDA_CACHE_MAXSIZE

# The disk is small: all commands judge it alike, and modules without space are not begun.
small=$place/small
mkdir "$small"
printf '#!/bin/sh\nmount -t tmpfs -o size=$SMALL,mode=755 none "%s" && exec "$@"\n' "$small" >"$work/with-small"
chmod +x "$work/with-small"
SMALL=1m unshare -rm "$work/with-small" true 2>/dev/null || exit 0
export CUDA_CACHE_PATH=$small/cache
JITWARM="unshare -rm $work/with-small $JITWARM"
SMALL=300k run 1 prime "$sample"
err_has "only 300 KiB are free at $small/cache, and 500 KiB are needed: free some space"
out_lacks "Compiled"
SMALL=300k run 1 prime -n "$sample"
SMALL=300k snapshot run 1 check "$sample"
out_has "Only 300 KiB are free at $small/cache, and 500 KiB are needed: free some space"
SMALL=300k snapshot run 1 doctor --no-probe "$sample"
environment "$work/env" 1.0
SMALL=300k VIRTUAL_ENV=$work/env snapshot run 1 status
for size in 300k 20m 90m; do
	wanted="$small/cache: only "
	SMALL=$size snapshot run "1|2" doctor --no-probe "$sample"
	[[ $(grep -o "$wanted[0-9.]* [KM]iB" "$out" >"$work/doctor"; wc -l <"$work/doctor") == $([[ $size == 90m ]] && echo 0 || echo 1) ]] || fail "doctor at $size"
	SMALL=$size run 0 tune "$sample"
	{ grep -o "$wanted[0-9.]* [KM]iB" "$err" || true; } | diff - "$work/doctor" || fail "tune at $size"
done
# No setting helps if the home is lost at a restart.
unset CUDA_CACHE_PATH
HOME=$small SMALL=90m run 0 tune --apply
out_has "Next       name a writable local directory that survives a restart: jitwarm tune --path DIR --apply"
out_lacks "nothing was written"
