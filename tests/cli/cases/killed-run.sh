# uninstall refuses while a run is in progress; the next run removes what a killed run has left.
is_wine && skip "untried on Windows: the folder of a run was not found there"
with_simdriver sm_86
# running: waits until $begun has staged or compiled something
running() {
	SIMDRIVER_COST=3000 begin prime -j 1 --no-store "$sample"
	await has_folder
	await test -e "$work/state/state.json"
}
has_folder() { compgen -G "$work/state/runs/*-*" >/dev/null; }
varies tree ^state/runs/ # depends on how far the run came
run 0 config jobs 2
running
snapshot run 1 uninstall
[[ -e $HOME/.config/jitwarm/config ]] || fail "the settings are gone, and the rest is not"
has_folder || fail "the folder of the run is gone"
run 0 uninstall -n
kill_begun
run 0 uninstall
out_has removed
has_folder && fail "left: $(ls "$work/state/runs")"

# In the cache, leftovers of an ended process are removed, and those of a living one are not.
if ! is_wine; then
	mkdir -p "$work/cache/.jitwarm-999999999-1" "$work/cache/.jitwarm-999999998-1"
	echo torn >"$work/cache/.jitwarm-999999999-1/0"
	: >"$work/cache/.jitwarm-999999999-1.lock"
	python3 -c 'import fcntl, os, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.01)' "$work/cache/.jitwarm-999999998-1.lock" "$work/held" &
	await test -e "$work/held"
	run 0 prime "$sample"
	[[ $(cd "$work/cache" && echo .jitwarm-*) == ".jitwarm-999999998-1 .jitwarm-999999998-1.lock" ]] || fail "left: $(ls -A "$work/cache")"
	rm "$work/held" && wait
	rm -rf "$work/cache"/?
	run 0 prime "$sample"
	[[ $(cd "$work/cache" && echo .jitwarm-*) == ".jitwarm-*" ]] || fail "left: $(ls -A "$work/cache")"
fi
