# shellcheck shell=bash disable=SC2154
# The cache's limit, budgets, and predictions. story.sh reads this file and defines its functions.

case_settings_that_make_it_useless_are_said() {
	local setting
	for setting in CUDA_CACHE_DISABLE=1 CUDA_FORCE_PTX_JIT=1 CUDA_FORCE_JIT=1; do
		export "${setting?}"
		expect_status 2 prime "$library" && grep -q "${setting%%=*}" "$err" || say "prime: $(cat "$err")" || return 1
		[ "$(entries)" = 0 ] || say "compiled all the same" || return 1
		expect_status 2 check "$library" --json && [[ $(number why_useless) = *${setting%%=*}* ]] || return 1
		unset "${setting%%=*}"
	done
	CUDA_CACHE_MAXSIZE=0 expect_status 1 prime "$library" && grep -q CUDA_CACHE_MAXSIZE "$err" || return 1
	# Another directory is for others, who have other settings.
	CUDA_CACHE_DISABLE=1 expect_status 0 prime --cache "$CUDA_CACHE_PATH" "$library"
}

# Sizes are predicted: modules whose entries turn out larger are left out.
case_a_full_cache_ends_the_run_with_a_line() {
	local limit
	run prime -n "$library" --json
	limit=$(($(number predicted_cache_bytes) + 1000))
	CUDA_CACHE_MAXSIZE=$limit expect_status 1 prime -j 1 "$library" --json || return 1
	[[ $(number stopped) = *"no space"*"tune --apply"* ]] || say "stopped: $(number stopped)" || return 1
	[ "$(number undone)" -gt 0 ] && [ "$(number compiled)" = "$(entries)" ] || say "$(number compiled) compiled, $(entries) entries" || return 1
	sound && expect_number damaged 0 && expect_number next_insert adds
}

# learnt FACTOR: pretends that this machine takes so many times as long as the model says
learnt() {
	printf '{"schema":"jitwarm.state/1","speed":{"schema":"jitwarm.speed/4","rows":[{"release":550,"cuda":12040,"model_ms":1e5,"real_ms":%se5}]}}' "$1" >"$JITWARM_STATE/state.json"
}
case_a_budget_of_time_takes_a_part() {
	local modules
	run prime -n "$library" --json
	modules=$(number modules)
	# The budget counts predicted times; the modules are compiled in a twentieth of them.
	learnt 19
	expect_status 1 prime "$library" -j 1 --budget-time 4s --json && [ "$(number over_budget)" -gt 0 ] || say "$(number over_budget) over the budget" || return 1
	[ $(($(number compiled) + $(number over_budget))) = "$modules" ] && expect_number out_of_time False || return 1
	# The driver is slower than predicted, and still the run ends when the time is up.
	rm -rf "$CUDA_CACHE_PATH"
	learnt 1
	SIMDRIVER_COST=8 expect_status 1 prime "$library" -j 1 --budget-time 1s --json && expect_number out_of_time True && expect_number over_budget 0 || return 1
	[ "$(number undone)" -gt 0 ] && [ $(($(number compiled) + $(number undone))) = "$modules" ] && sound || return 1
	expect_status 0 prime "$library" --budget-time 1h30m && no_leftovers
}

# The simulated driver uses up processor time, four times as much as the model says.
case_a_slow_machine_is_learnt() {
	local before factor round
	run prime -n "$library" --json
	before=$(number predicted_cpu_seconds)
	# Beside other programs, measured times count less; this test cannot say how much is learnt, nor from how many runs.
	for round in 1 2 3 4 5 6 7 8; do
		rm -rf "$CUDA_CACHE_PATH"
		SIMDRIVER_COST=8,busy expect_status 0 prime -j 1 "$library" || return 1
		rm -rf "$CUDA_CACHE_PATH"
		run prime -n "$library" --json
		factor=$(python3 -c "print($(number predicted_cpu_seconds) / $before)")
		! python3 -c "exit(not $factor > 1.001)" || break
		echo "    round $round: the factor is $factor"
	done
	# The modules are of the same program.
	python3 -c 'import json,sys; s = json.load(open(sys.argv[1]))["forecast"]["start_seconds"]; sys.exit(abs(s["high"] / s["likely"] / 2 - 1) > 0.02)' "$out" || say "another range"
	python3 -c "exit(not $factor > 1.001)" || say "the factor is $factor" || return 1
	# An unreadable state counts as none.
	echo '{"schema":"jitwarm.state/1","speed":{"schema":"jitwarm.speed/4","rows":[{"release":-1,"model_ms":1e999}]}}' >"$JITWARM_STATE/state.json"
	run prime -n "$library" --json
	expect_number predicted_cpu_seconds "$before"
}
