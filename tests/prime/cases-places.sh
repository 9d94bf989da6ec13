# shellcheck shell=bash disable=SC2154
# Caches and state directories that others change, that are full, locked, missing or somebody else's. story.sh reads this file and defines its functions.

case_the_cache_is_removed_meanwhile() {
	local status=0
	run status
	start_gated sample_small prime "$library" --json -j 2 && await entries_at_least 5 || return 1
	rm -rf "$CUDA_CACHE_PATH"
	open_gate
	while kill -0 $pid 2>/dev/null; do rm -rf "$CUDA_CACHE_PATH"; sleep 0.05; done 2>/dev/null
	wait $pid || status=$?
	[ $status = 1 ] || say "status $status: $(cat "$err")" || return 1
	expect_number failed 0 && [ "$(number lost)" -gt 0 ] && grep -q 'no longer in the cache' "$err" || say "$(cat "$err")" || return 1
	expect_status 0 prime "$library" && sound && expect_status 0 check "$library" && no_leftovers
}

# This case needs a small file system. First the workers' place is full, then the cache's.
case_a_full_disk_ends_the_run_with_a_line() {
	local place
	unshare -rm mount -t tmpfs -o size=100k tmpfs "$scratch/$1" 2>/dev/null || { echo "    (needs a name space of one's own: left out)"; return 0; }
	run status
	for place in state cache; do
		mkdir -p "$scratch/$1/small" "$scratch/$1/keep"
		cat >"$scratch/$1/small.sh" <<-S
			# prime notices before it compiles if the cache's disk has too few bytes; here it has too few files.
			[ $place = state ] && size=size=100k || size=size=2m,nr_inodes=16
			mount -t tmpfs -o \$size tmpfs "$scratch/$1/small" || exit 99
			[ $place = state ] && export JITWARM_STATE="$scratch/$1/small/state" || export CUDA_CACHE_PATH="$scratch/$1/small/cache"
			under "$jitwarm" prime "$library" --json >"$out" 2>"$err"
			status=\$?
			[ $place = state ] || "$jitwarm" cache verify --json >"$scratch/$1/report" 2>&1 || exit 98
			exit \$status
		S
		unshare -rm bash "$scratch/$1/small.sh"
		status=$?
		keep_document "$out"
		# One module after the other may have space where two at once did not.
		[ $status = 3 ] && grep -qi 'disk is full\|no space' "$err" || { [ $place = state ] && [ $status = 0 ]; } || say "$place: status $status: $(cat "$err")" || return 1
	done
	expect_status 0 prime "$library"
}

# A program with a small limit evicts entries while prime writes: each entry is whole or missing, and the next run adds the missing ones.
evicts() { CUDA_CACHE_MAXSIZE=60000 SIMDRIVER_STAMP="Jan  1 20$((RANDOM % 90 + 10)) 00:00:00" under "$framework/framework-app" >/dev/null 2>&1; }
case_a_driver_evicts_meanwhile() {
	run status
	start_gated sample_small prime "$library" --json -j 2 && await entries_at_least 3 || return 1
	evicts
	open_gate
	while kill -0 $pid 2>/dev/null; do evicts; done
	wait $pid || [ "$(number lost)" -gt 0 ] || say "$(cat "$err")" || return 1
	expect_number failed 0 && sound && expect_number damaged 0 || return 1
	expect_status 0 prime "$library" --json && expect_status 0 check "$library" && sound && no_leftovers
}

# Another process holds the index until everything is compiled.
case_a_locked_cache_is_waited_for() {
	local holder modules
	expect_status 1 check "$library" --json; modules=$(number modules)
	mkdir -p "$CUDA_CACHE_PATH"
	python3 -c 'import fcntl, os, sys, time
index = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o666)
fcntl.lockf(index, fcntl.LOCK_EX)
print("held", flush=True)
while os.path.exists(sys.argv[2]):
    time.sleep(0.01)' "$CUDA_CACHE_PATH/index" "$gate" >"$scratch/$1/held" &
	holder=$!
	: >"$gate"
	await test -s "$scratch/$1/held" || return 1
	SIMDRIVER_LOG=$log start prime "$library" --json
	compiled() { [ "$(grep -c ' insert ' "$log")" -ge "$modules" ]; }
	await compiled || { open_gate; return 1; }
	open_gate
	wait $holder
	wait $pid && expect_number undone 0 && [ "$(entries)" = "$modules" ] || say "$(cat "$err")" || return 1
	sound
}

case_no_state_directory() {
	: >"$scratch/$1/file"
	export TMPDIR=$scratch/$1/tmp
	mkdir "$TMPDIR"
	JITWARM_STATE=$scratch/$1/file/state expect_status 0 prime "$library" || { unset TMPDIR; return 1; }
	JITWARM_STATE=$scratch/$1/file/state expect_status 0 check "$library" || { unset TMPDIR; return 1; }
	[ -z "$(ls -A "$TMPDIR")" ] || say "left behind: $(ls "$TMPDIR")" || { unset TMPDIR; return 1; }
	unset TMPDIR
}

case_sudo_leaves_its_callers_folders_alone() {
	local build=$build jitwarm library
	open=$(folder_for_all) && getent passwd nobody >/dev/null || { echo "    (needs root: left out)"; return 0; }
	copy_for_all "$build" "$open" src/jitwarm tests/framework/libsample_framework.so tests/simdriver/lib || return 1
	copy_for_all "$scratch" "$open" machine || return 1
	build=$open jitwarm=$open/src/jitwarm library=$open/tests/framework/libsample_framework.so
	local -x CUDA_CACHE_PATH=$open/cache JITWARM_STATE=$open/state JITWARM_SYSTEM_ROOT=$open/machine
	mkdir -p "$CUDA_CACHE_PATH" "$JITWARM_STATE"
	chown nobody "$CUDA_CACHE_PATH" "$JITWARM_STATE"
	# Under sudo -E, root would write files into the caller's folders that the caller could not change any more.
	SUDO_USER=nobody expect_status 2 prime "$library" || return 1
	grep -q "belongs to nobody, so root does not use it: type “sudo -u nobody jitwarm prime" "$err" || say "no word about the account: $(cat "$err")" || return 1
	[ -z "$(find "$CUDA_CACHE_PATH" "$JITWARM_STATE" -mindepth 1)" ] || say "root wrote: $(find "$CUDA_CACHE_PATH" "$JITWARM_STATE" -mindepth 1 | head -3)" || return 1
}

case_an_unknown_form_is_noticed() {
	# The simulated driver's library contains one stamp. After jitwarm has confirmed it, the driver is told to use another, so it makes
	# entries under names that jitwarm does not expect, as a driver with a changed form would.
	run prime "$library" || return 1
	# A failure before that is reported once.
	rm -rf "$CUDA_CACHE_PATH"
	SIMDRIVER_STAMP='Jan  1 2032 00:00:00' SIMDRIVER_FAULT="error:sample_network" expect_status 2 prime "$library" --json --jobs 1 || return 1
	expect_number opaque True && expect_number failed 1 || return 1
	rm -rf "$CUDA_CACHE_PATH"
	SIMDRIVER_STAMP='Jan  1 2031 00:00:00' expect_status 0 prime "$library" --json || return 1
	expect_number opaque True && [ "$(entries)" -gt 4 ] || say "opaque $(number opaque), $(entries) entries" || return 1
	# The driver was asked again, so the next run knows its stamp.
	rm -rf "$CUDA_CACHE_PATH"
	SIMDRIVER_STAMP='Jan  1 2031 00:00:00' expect_status 0 prime "$library" --json && expect_number opaque False
}
