#!/bin/bash
# story.sh BUILD-FOLDER DRIVER [CASE...]   the main job as a user meets it, whole commands on the sample framework
#
# DRIVER: "sim" for the simulated driver, else the version of a real one on the phantom GPU. Without CASE all that the driver
# can play are run. Exit status 1 if a case fails, 77 where the driver is not at hand. Last line: "N passed, N failed".
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) driver=$2
shift 2
jitwarm=$build/src/jitwarm
framework=$build/tests/framework
library=$framework/libsample_framework.so
drivers=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
gpus=sm_86

[ -e "$library" ] || { echo "skipped: $library is not built"; exit 77; }
[ "$driver" = sim ] || [ -d "$drivers/$driver" ] || { echo "skipped: driver $driver is not in $drivers"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_VISIBLE_DEVICES
unset "${!SIMDRIVER_@}" 2>/dev/null
export NO_COLOR=1

# A user of their own for each case: state, cache.
begin() {
	export JITWARM_STATE=$scratch/$1/state CUDA_CACHE_PATH=$scratch/$1/cache
	out=$scratch/$1/out err=$scratch/$1/err
	mkdir -p "$scratch/$1"
}
under() {
	if [ "$driver" = sim ]; then
		timeout 120 "$root/scripts/with-simdriver.sh" -B "$build" "$gpus" -- "$@"
	else
		timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpus" -- "$@"
	fi
}
run() { under "$jitwarm" "$@" >"$out" 2>"$err"; }
entries() { find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f 2>/dev/null | wc -l; }
number() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d[sys.argv[2]])' "$out" "$1"; }
say() { echo "    $*"; return 1; }
expect_status() { local wanted=$1 got=0; shift; run "$@" || got=$?; [ "$got" = "$wanted" ] || say "jitwarm $*: status $got, not $wanted: $(tail -3 "$err")"; }
expect_number() { [ "$(number "$1")" = "$2" ] || say "$1 is $(number "$1"), not $2"; }
sound() { "$jitwarm" cache verify --cache "$CUDA_CACHE_PATH" --json >"$out" 2>"$err" || say "the cache is not sound: $(cat "$err")"; }
# What a killed run leaves is swept by the next one, unless another process has its number by now.
no_leftovers() {
	local run
	for run in $(ls -A "$JITWARM_STATE/runs" 2>/dev/null); do
		kill -0 "${run%%-*}" 2>/dev/null || say "left in the state directory: $run" || return 1
	done
}

# Workers of this script's own runs: other tests have theirs beside us.
workers() {
	local pid
	for pid in $(pgrep -f "^$jitwarm worker"); do
		tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -q "^JITWARM_STATE=$scratch/" && echo "$pid"
	done
}

# ---- the cases

case_cold_primed_warm() {
	expect_status 1 check "$library" --json || return 1
	local modules; modules=$(number modules)
	[ "$modules" -gt 4 ] && expect_number cold "$modules" && expect_number warm 0 || return 1
	expect_status 0 prime "$library" --json && expect_number compiled "$modules" && expect_number failed 0 && expect_number opaque False || return 1
	[ "$(entries)" = "$modules" ] || say "$(entries) entries for $modules modules" || return 1
	expect_status 0 check "$library" --json && expect_number warm "$modules" && expect_number cold 0 || return 1
	expect_status 0 prime "$library" --json && expect_number compiled 0 && expect_number cold 0 || return 1
	sound && expect_number damaged 0 && expect_number files_without_row 0 && expect_number rows_without_file 0 && no_leftovers
}

case_first_start_compiles_nothing() {
	local before
	run prime "$library" || return 1
	before=$(entries)
	under "$framework/framework-app" >"$out" 2>"$err" || say "the application failed: $(cat "$out" "$err")" || return 1
	tail -1 "$out" | grep -q '^compiled 0 of ' || say "$(tail -1 "$out")" || return 1
	[ "$(entries)" = "$before" ] || say "the application added entries: $(entries), not $before"
}

case_entries_are_the_applications_own() {
	begin "$1-app"
	mkdir -p "$CUDA_CACHE_PATH"
	under "$framework/framework-app" >"$out" 2>&1 || return 1
	local app; app=$(cd "$CUDA_CACHE_PATH" && find . -path './?/?/*' -type f | sort)
	begin "$1"
	run prime "$library" || return 1
	[ "$app" = "$(cd "$CUDA_CACHE_PATH" && find . -path './?/?/*' -type f | sort)" ] || say "the application makes other entries than prime"
}

case_two_gpus_two_architectures() {
	local gpus=sm_86,sm_89,sm_86 one
	expect_status 0 prime "$library" --json || return 1
	one=$(number compiled)
	[ $((one % 2)) = 0 ] && [ "$(entries)" = "$one" ] || say "$one compiled, $(entries) entries" || return 1
	gpus=sm_89
	expect_status 0 check "$library" --json && expect_number warm $((one / 2))
}

case_a_lost_entry_is_compiled_again() {
	run prime "$library" || return 1
	rm "$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f | head -1)"
	: >"$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f | tail -1)"
	expect_status 1 check "$library" --json && expect_number cold 2 || return 1
	expect_status 0 prime "$library" --json && expect_number compiled 2 && sound
}

case_dry_run_changes_nothing() {
	expect_status 1 prime --dry-run "$library" && [ "$(entries)" = 0 ] || say "entries after a dry run"
}

# Raw PTX that fills its eight bytes to the last has no NUL in the file, and none in the driver's key.
case_raw_text_without_nul_is_predicted() {
	local container=$scratch/$1/bare.fatbin
	python3 - "$container" <<-'P'
		import struct, sys
		text = b".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry bare(.param .u64 p)\n{\n\tret;\n}\n"
		text += b"\n" * (-len(text) % 8)
		entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 72, len(text), 0, 64, 3, 6, 52, 0, 0, 0x11, 0, 0) + bytes(8) + text
		open(sys.argv[1], "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)
	P
	expect_status 0 prime "$container" --json && expect_number compiled 1 && expect_number opaque False &&
		expect_status 0 check "$container" --json && expect_number warm 1
}

case_no_gpu_is_said() {
	local status=0
	JITWARM_PCI_DEVICES='' "$jitwarm" prime "$library" >"$out" 2>"$err" || status=$?
	[ "$status" = 2 ] && grep -q 'GPU\|driver' "$err" || say "status $status: $(cat "$err")"
}

case_killed_and_run_again() {
	local turn library=$scratch/$1/library.so
	cp "$framework/libsample_framework.so" "$library"
	for turn in 1 2 3 4 5; do
		rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
		run status
		SIMDRIVER_COST=0.3 under "$jitwarm" prime "$library" >/dev/null 2>&1 &
		sleep "0.$((RANDOM % 9))5"
		pkill -9 -f "^$jitwarm prime $library"
		wait
		sleep 0.3
		[ -z "$(workers)" ] || say "a worker outlived its supervisor" || return 1
		expect_status 0 prime "$library" && sound || return 1
		expect_status 0 check "$library" || return 1
		# A worker that was still being killed may keep a run from sweeping; the next one does, though all is warm.
		expect_status 0 prime "$library" && no_leftovers || return 1
	done
}

case_interrupted_and_continued() {
	local status=0 library=$scratch/$1/library.so
	cp "$framework/libsample_framework.so" "$library"
	run status
	SIMDRIVER_COST=40 under "$jitwarm" prime "$library" --json -j 1 >"$out" 2>"$err" &
	sleep 2
	pkill -INT -f "^$jitwarm prime $library"
	wait $! || status=$?
	[ "$status" = 1 ] && expect_number interrupted True || say "status $status after Ctrl-C" || return 1
	no_leftovers && expect_status 0 prime "$library" && sound
}

# Faults, as only the simulated driver has them. The sample framework's module with the entry named "sample_small" is struck.
fault() { SIMDRIVER_FAULT=$1 run prime "$library" --json; }

case_a_crashing_module_is_set_aside() {
	local kind status
	for kind in crash abort exit overflow; do
		rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
		status=0; fault "$kind:sample_small" || status=$?
		[ "$status" = 1 ] && expect_number failed 1 || say "$kind: status $status: $(cat "$err")" || return 1
		sound && no_leftovers || return 1
		expect_status 0 prime "$library" --json && expect_number compiled 1 || return 1
	done
}

case_a_crash_once_is_made_up_for() {
	local kind
	for kind in crash sticky; do
		rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
		fault "$kind:sample_small:once" || say "$kind: $(cat "$err")" || return 1
		expect_number failed 0 && sound || return 1
	done
}

case_a_compile_error_comes_with_its_log() {
	local status=0
	SIMDRIVER_FAULT=error:sample_small run prime "$library" || status=$?
	[ "$status" = 1 ] && grep -q libsample_framework "$err" && grep -q ptxas "$err" || say "status $status: $(cat "$err")" || return 1
	expect_status 0 prime "$library"
}

case_an_unknown_form_is_noticed() {
	# The simulated driver's library holds one stamp; told to use another after jitwarm has confirmed the first, it makes
	# entries under names that jitwarm does not expect: as a driver would whose form has changed.
	run prime "$library" || return 1
	rm -rf "$CUDA_CACHE_PATH"
	SIMDRIVER_STAMP='Jan  1 2031 00:00:00' expect_status 0 prime "$library" --json || return 1
	expect_number opaque True && [ "$(entries)" -gt 4 ] || say "opaque $(number opaque), $(entries) entries" || return 1
	# It was asked again, so that the next run knows.
	rm -rf "$CUDA_CACHE_PATH"
	SIMDRIVER_STAMP='Jan  1 2031 00:00:00' expect_status 0 prime "$library" --json && expect_number opaque False
}

case_sudo_warms_the_callers_cache() {
	[ "$(id -u)" = 0 ] && getent passwd nobody >/dev/null || { echo "    (needs root: left out)"; return 0; }
	chmod 755 "$scratch" "$scratch/$1"
	mkdir -p "$CUDA_CACHE_PATH" "$JITWARM_STATE"
	chown nobody "$CUDA_CACHE_PATH" "$JITWARM_STATE"
	SUDO_USER=nobody expect_status 0 prime --sudo-user "$library" || return 1
	[ "$(entries)" -gt 4 ] && [ -z "$(find "$CUDA_CACHE_PATH" "$JITWARM_STATE" ! -user nobody)" ] ||
		say "not the caller's: $(find "$CUDA_CACHE_PATH" "$JITWARM_STATE" ! -user nobody | head -3)" || return 1
	SUDO_USER=nobody run prime "$library"
	grep -q "root's cache, not that of nobody" "$err" || say "no word about sudo: $(cat "$err")" || return 1
	# sudo -E: what root keeps in the caller's folders, the caller could not write any more.
	[ -z "$(find "$CUDA_CACHE_PATH" "$JITWARM_STATE" ! -user nobody)" ] || say "root's: $(find "$CUDA_CACHE_PATH" "$JITWARM_STATE" ! -user nobody | head -3)" || return 1
	expect_status 64 prime --sudo-user "$library"
}

case_settings_that_make_it_useless_are_said() {
	local setting
	for setting in CUDA_CACHE_DISABLE=1 CUDA_FORCE_PTX_JIT=1 CUDA_FORCE_JIT=1; do
		export "${setting?}"
		expect_status 2 prime "$library" && grep -q "${setting%%=*}" "$err" || say "prime: $(cat "$err")" || return 1
		[ "$(entries)" = 0 ] || say "compiled all the same" || return 1
		expect_status 2 check "$library" --json && [[ $(number why_useless) = *${setting%%=*}* ]] || return 1
		unset "${setting%%=*}"
	done
	CUDA_CACHE_MAXSIZE=0 expect_status 2 prime "$library" && grep -q CUDA_CACHE_MAXSIZE "$err" || return 1
	# Another directory is for others, whose settings are other.
	CUDA_CACHE_DISABLE=1 expect_status 0 prime --cache "$CUDA_CACHE_PATH" "$library"
}

case_a_full_cache_ends_the_run_with_a_line() {
	CUDA_CACHE_MAXSIZE=100000 expect_status 1 prime -j 1 "$library" --json || return 1
	[[ $(number stopped) = *"no room"*CUDA_CACHE_MAXSIZE* ]] || say "stopped: $(number stopped)" || return 1
	[ "$(number undone)" -gt 0 ] && [ "$(number compiled)" = "$(entries)" ] || say "$(number compiled) compiled, $(entries) entries" || return 1
	grep -q 'set CUDA_CACHE_MAXSIZE=' "$err" || CUDA_CACHE_MAXSIZE=100000 expect_status 1 prime -n "$library" || return 1
	grep -q 'set CUDA_CACHE_MAXSIZE=' "$err" || say "no word about the limit: $(cat "$err")" || return 1
	sound && expect_number damaged 0 && expect_number next_insert adds
}

case_what_is_warm_does_not_make_room() {
	run prime "$library" || return 1
	local one limit
	one=$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f -printf '%s %p\n' | sort -n | tail -1)
	limit=$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum - 1000 }')
	rm "${one#* }"
	CUDA_CACHE_MAXSIZE=$limit expect_status 1 prime "$library" --json && expect_number compiled 0 || return 1
	expect_status 1 check "$library" --json && expect_number cold 1
}

case_the_oldest_make_room() {
	# Another driver's entries fill the cache: they go, and prime says so.
	SIMDRIVER_STAMP='Jan  1 2021 00:00:00' run prime "$library" || return 1
	local limit
	limit=$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
	rm -rf "$JITWARM_STATE"
	CUDA_CACHE_MAXSIZE=$limit expect_status 0 prime "$library" --json && [ "$(number evicted)" -gt 0 ] || say "evicted $(number evicted)" || return 1
	CUDA_CACHE_MAXSIZE=$limit expect_status 0 check "$library" && sound && expect_number next_insert adds
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

case_two_at_once() {
	local pids=() pid failed=0
	run status
	for _ in 1 2 3; do
		SIMDRIVER_COST=1 under "$jitwarm" prime "$library" >/dev/null 2>>"$err" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
	[ $failed = 0 ] || say "one of three failed: $(cat "$err")" || return 1
	expect_status 0 check "$library" && sound && expect_number files_without_row 0 && expect_number rows_without_file 0 && no_leftovers
}

case_a_locked_cache_is_waited_for() {
	mkdir -p "$CUDA_CACHE_PATH"
	python3 -c 'import fcntl, os, sys, time
index = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o666)
fcntl.lockf(index, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(2)' "$CUDA_CACHE_PATH/index" >"$scratch/$1/held" &
	local holder=$!
	until [ -s "$scratch/$1/held" ]; do sleep 0.05; done
	expect_status 0 prime "$library" --json && expect_number undone 0 || { wait $holder; return 1; }
	wait $holder
	sound
}

# ---- which

common=(cold_primed_warm first_start_compiles_nothing entries_are_the_applications_own two_gpus_two_architectures
	a_lost_entry_is_compiled_again dry_run_changes_nothing raw_text_without_nul_is_predicted no_gpu_is_said)
simulated=(killed_and_run_again interrupted_and_continued a_crashing_module_is_set_aside a_crash_once_is_made_up_for
	a_compile_error_comes_with_its_log sudo_warms_the_callers_cache an_unknown_form_is_noticed
	settings_that_make_it_useless_are_said a_full_cache_ends_the_run_with_a_line what_is_warm_does_not_make_room
	the_oldest_make_room no_state_directory two_at_once a_locked_cache_is_waited_for)
cases=("$@")
if [ ${#cases[@]} = 0 ]; then
	cases=("${common[@]}")
	[ "$driver" = sim ] && cases+=("${simulated[@]}")
fi

passed=0 failed=0
for name in "${cases[@]}"; do
	begin "$name"
	if "case_$name" "$name"; then
		echo "ok   $driver: $name"
		passed=$((passed + 1))
	else
		echo "FAIL $driver: $name"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
