# shellcheck shell=bash disable=SC2154
# Runs that are killed, interrupted, stopped, and that meet others. story.sh reads this file and defines its functions.

# The kills come while the first module is compiled, and while the last one is.
case_killed_and_run_again() {
	local match done=0
	for match in sample_ sample_small; do
		rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
		run status
		start_gated "$match" prime "$library" -j 2 && await entries_at_least $done || return 1
		kill -KILL $pid
		{ wait $pid; } 2>/dev/null
		await no_worker || return 1
		[ "$(entries)" -lt 8 ] || say "it was done already" || return 1
		expect_status 0 prime "$library" && sound && expect_status 0 check "$library" && no_leftovers || return 1
		done=5
	done
}

case_interrupted_and_continued() {
	local status=0
	run status
	start_gated sample_ prime "$library" --json -j 1 || return 1
	kill -INT $pid
	wait $pid || status=$?
	[ "$status" = 130 ] && expect_number interrupted True || say "status $status after Ctrl-C: $(cat "$err")" || return 1
	no_leftovers && expect_status 0 prime "$library" && sound
}

case_ctrl_c_ends_in_time() {
	local began
	local -x JITWARM_STORE=1
	run status
	SIMDRIVER_FAULT=hang:sample_small SIMDRIVER_LOG=$log start prime "$library" --json -j 2
	await grep -q ' fault hang ' "$log" && await entries_at_least 1 || return 1
	began=$(date +%s%N)
	kill -INT $pid
	wait $pid
	echo "    $((($(date +%s%N) - began) / 1000000)) ms after Ctrl-C"
	expect_number interrupted True && [ -z "$(workers)" ] && no_leftovers || return 1
	# Nobody waits for the store after a kill: the next run keeps everything in it.
	[ -z "$(find "$JITWARM_STATE/store" -name '*.jwpack' 2>/dev/null)" ] || say "the store was filled after Ctrl-C" || return 1
	expect_status 0 prime "$library" --json || return 1
	rm -r "$CUDA_CACHE_PATH"
	expect_status 0 prime "$library" --json && expect_number compiled 0
}

# stopped_for_longer_than SECONDS: a run that is stopped for longer than a module may take pauses as a whole, and then continues normally.
# Work that is not stopped must not take that long, so on a slow machine modules get more time.
stopped_for_longer_than() {
	local status=0 process
	rm -rf "$CUDA_CACHE_PATH"
	JITWARM_MODULE_TIMEOUT=$1s start_gated sample_ prime "$library" --json -j 2 || return 1
	kill -TSTP $pid
	for process in $pid $(workers); do
		await stands_still "$process" || { kill -CONT $pid; open_gate; return 1; }
	done
	sleep "$1.2"
	open_gate
	kill -CONT $pid
	wait $pid || status=$?
	[ "$status" = 0 ] && expect_number failed 0 && expect_number undone 0 || say "$1 s: status $status: $(cat "$err")"
}
case_stopped_and_continued() {
	run status
	stopped_for_longer_than 2 || stopped_for_longer_than 10 || stopped_for_longer_than 30 || return 1
	sound && no_leftovers
}

is_in_the_background() { # its priority, and the real-time class's place for idle
	local worker
	worker=$(workers | head -1)
	[ -n "$worker" ] && [ "$(awk '{ print $19, $41 }' "/proc/$worker/stat" 2>/dev/null)" = "19 5" ]
}
case_in_the_background() {
	local machine=$scratch/$1/machine
	mkdir -p "$machine/sys/class/power_supply/BAT0"
	echo Battery >"$machine/sys/class/power_supply/BAT0/type"
	echo Discharging >"$machine/sys/class/power_supply/BAT0/status"
	run status
	JITWARM_SYSTEM_ROOT=$machine SIMDRIVER_COST=4 start prime "$library" --background --json -j 1
	await grep -q battery "$err" && await is_in_the_background || { kill $pid; return 1; }
	sleep 1
	[ "$(entries)" -lt 8 ] || say "all was compiled on battery" || return 1
	echo Charging >"$machine/sys/class/power_supply/BAT0/status"
	wait $pid || say "$(cat "$err")" || return 1
	expect_number undone 0 && expect_number failed 0 && sound
}

# Several runs at once compile each module once, and a waiting run says for whom it waits. A killed run does not delay the next.
all_wait() { [ "$(grep -cE 'jitwarm on .* [(]process [0-9]*, (for .*|started just now)[)] primes the same cache: waiting' "$err.others")" = "$1" ]; }
case_two_at_once() {
	local pids modules other failed=0
	expect_status 1 check "$library" --json; modules=$(number modules)
	run status
	start_gated sample_ prime "$library" || return 1
	pids=("$pid")
	: >"$err.others"
	for _ in 1 2; do
		SIMDRIVER_LOG=$log under "$jitwarm" prime "$library" >/dev/null 2>>"$err.others" &
		pids+=($!)
	done
	await all_wait 2 || say "$(cat "$err.others")" || return 1
	open_gate
	for other in "${pids[@]}"; do wait "$other" || failed=1; done
	[ $failed = 0 ] || say "one of three failed: $(cat "$err" "$err.others")" || return 1
	# Each of the three runs may have asked an unknown driver to compile one module of jitwarm's own.
	[ "$(grep ' compile ' "$log" | grep -vc jitwarm_probe)" = "$modules" ] || say "$(grep -c ' compile ' "$log") compiles for $modules modules" || return 1
	expect_status 0 check "$library" && sound && expect_number files_without_row 0 && expect_number rows_without_file 0 && expect_number foreign 0 && no_leftovers || return 1
	[ -z "$(ls -A "$CUDA_CACHE_PATH" | grep '^\.')" ] || say "left: $(ls -A "$CUDA_CACHE_PATH")"
}

case_a_dead_holder_is_not_waited_for() {
	local holder
	run status
	start_gated sample_ prime "$library" -j 1 || return 1
	holder=$pid
	start prime "$library" --json
	await grep -q 'primes the same cache' "$err" || return 1
	kill -KILL "$holder"
	{ wait "$holder"; } 2>/dev/null
	wait $pid || say "$(cat "$err")" || return 1
	expect_number failed 0 && expect_number undone 0 || say "$(cat "$err")" || return 1
	expect_status 0 check "$library" && sound && expect_number foreign 0
}
