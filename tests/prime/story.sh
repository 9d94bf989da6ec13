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
		tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -q "^JITWARM_STATE=$scratch/" && echo "$pid"
	done
}

# What takes as long as the machine is busy is waited for, half a minute at most.
await() {
	local tries
	for tries in $(seq 300); do
		"$@" && return 0
		sleep 0.1
	done
	say "in vain: $*"
}
stands_still() { grep -q '^State:[[:space:]]T' "/proc/$1/status"; }
works() { [ -n "$(workers)" ]; }
no_worker() { [ -z "$(workers)" ]; }

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

case_recorded_primed_and_warm() {
	local recording=$scratch/$1/recording.json
	run record -o "$recording" --json -- "$framework/framework-app" || say "record: $(cat "$err")" || return 1
	local modules; modules=$(number modules)
	[ "$modules" -gt 4 ] && expect_number in_files "$modules" && expect_number added "$modules" || return 1
	rm -rf "$CUDA_CACHE_PATH"
	expect_status 0 prime --recording "$recording" --json && expect_number compiled "$modules" || return 1
	under "$framework/framework-app" >"$out" 2>"$err" || return 1
	tail -1 "$out" | grep -q '^compiled 0 of ' || say "$(tail -1 "$out")" || return 1
	[ "$(entries)" = "$modules" ] && sound && no_leftovers
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
		await no_worker || return 1
		expect_status 0 prime "$library" && sound || return 1
		expect_status 0 check "$library" || return 1
		# A worker that was still being killed may keep a run from sweeping; the next one does, though all is warm.
		expect_status 0 prime "$library" && no_leftovers || return 1
	done
}

# SIGKILL of the supervisor at a hundred random moments: never a cache that a driver would wipe, never a torn entry, and the next
# run completes it. A third of the rounds begin with nothing, the others where the last one was killed.
case_killed_a_hundred_times() {
	local killed
	run status
	cat >"$scratch/$1/rounds.sh" <<-'S'
		set -u
		killed=0
		for round in $(seq 100); do
			[ $((round % 3)) != 0 ] || rm -rf "$CUDA_CACHE_PATH"
			"$1" prime "$2" -j 2 >/dev/null 2>&1 &
			pid=$!
			sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
			kill -9 $pid 2>/dev/null && killed=$((killed + 1))
			wait $pid 2>/dev/null
			[ ! -d "$CUDA_CACHE_PATH" ] || "$1" cache verify --json >"$3" 2>&1 || { cat "$3"; exit 1; }
			[ ! -d "$CUDA_CACHE_PATH" ] || grep -q '"next_insert":.*"adds"' "$3" || { cat "$3"; exit 1; }
		done
		echo $killed
	S
	killed=$(SIMDRIVER_COST=0.5 under bash "$scratch/$1/rounds.sh" "$jitwarm" "$library" "$scratch/$1/report") || say "after a kill: $killed" || return 1
	[ "$killed" -ge 30 ] || say "only $killed were killed" || return 1
	await no_worker || return 1
	expect_status 0 prime "$library" && sound && expect_status 0 check "$library" && expect_status 0 prime "$library" || return 1
	# The lock of a run that was killed before it had a folder is left for an hour.
	rm -f "$JITWARM_STATE"/runs/*.lock
	no_leftovers
}

case_the_cache_is_removed_meanwhile() {
	local pid
	run status
	SIMDRIVER_COST=10 under "$jitwarm" prime "$library" --json -j 2 >"$out" 2>"$err" &
	pid=$!
	sleep 0.5
	while kill -0 $pid 2>/dev/null; do rm -rf "$CUDA_CACHE_PATH"; sleep 0.05; done 2>/dev/null
	wait $pid
	[ $? = 1 ] || say "$(cat "$err")" || return 1
	expect_number failed 0 && [ "$(number lost)" -gt 0 ] && grep -q 'gone again' "$err" || say "$(cat "$err")" || return 1
	expect_status 0 prime "$library" && sound && expect_status 0 check "$library" && no_leftovers
}

# Where a small file system can be had: first the workers' place is full, then the cache's.
case_a_full_disk_ends_the_run_with_a_line() {
	local place
	unshare -rm mount -t tmpfs -o size=100k tmpfs "$scratch/$1" 2>/dev/null || { echo "    (needs a name space of one's own: left out)"; return 0; }
	run status
	for place in state cache; do
		mkdir -p "$scratch/$1/small" "$scratch/$1/keep"
		cat >"$scratch/$1/small.sh" <<-S
			mount -t tmpfs -o size=100k tmpfs "$scratch/$1/small" || exit 99
			[ $place = state ] && export JITWARM_STATE="$scratch/$1/small/state" || export CUDA_CACHE_PATH="$scratch/$1/small/cache"
			timeout 60 "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$jitwarm" prime "$library" --json >"$out" 2>"$err"
			status=\$?
			[ $place = state ] || "$jitwarm" cache verify --json >"$scratch/$1/report" 2>&1 || exit 98
			exit \$status
		S
		unshare -rm bash "$scratch/$1/small.sh"
		status=$?
		# One module after the other may find room where two did not.
		[ $status = 3 ] && grep -qi 'disk is full\|no space' "$err" || { [ $place = state ] && [ $status = 0 ]; } || say "$place: status $status: $(cat "$err")" || return 1
	done
	expect_status 0 prime "$library"
}

# A program with a small limit evicts while prime writes: each entry is there or is not, and the next run has what is missing.
case_a_driver_evicts_meanwhile() {
	local pid limit
	run status
	SIMDRIVER_COST=8 under "$jitwarm" prime "$library" --json -j 2 >"$out" 2>"$err" &
	pid=$!
	mkdir -p "$scratch/$1/other"
	while kill -0 $pid 2>/dev/null; do
		CUDA_CACHE_MAXSIZE=60000 SIMDRIVER_STAMP="Jan  1 20$((RANDOM % 90 + 10)) 00:00:00" under "$framework/framework-app" >/dev/null 2>&1
	done
	wait $pid || [ "$(number lost)" -gt 0 ] || say "$(cat "$err")" || return 1
	expect_number failed 0 && sound && expect_number damaged 0 || return 1
	expect_status 0 prime "$library" --json && expect_status 0 check "$library" && sound && no_leftovers
}

case_interrupted_and_continued() {
	local status=0 library=$scratch/$1/library.so
	cp "$framework/libsample_framework.so" "$library"
	run status
	SIMDRIVER_COST=40 under "$jitwarm" prime "$library" --json -j 1 >"$out" 2>"$err" &
	await works || return 1
	sleep 0.5
	pkill -INT -f "^$jitwarm prime $library"
	wait $! || status=$?
	[ "$status" = 1 ] && expect_number interrupted True || say "status $status after Ctrl-C" || return 1
	no_leftovers && expect_status 0 prime "$library" && sound
}

case_ctrl_c_ends_in_time() {
	local began library=$scratch/$1/library.so
	cp "$framework/libsample_framework.so" "$library"
	run status
	SIMDRIVER_FAULT=hang:sample_small under "$jitwarm" prime "$library" --json -j 2 >"$out" 2>"$err" &
	await works || return 1
	sleep 0.5
	began=$(date +%s%N)
	pkill -INT -f "^$jitwarm prime $library"
	wait $!
	echo "    $((($(date +%s%N) - began) / 1000000)) ms after Ctrl-C"
	expect_number interrupted True && [ -z "$(workers)" ] && no_leftovers
}

# Stopped for longer than a module may take, all of it stands still, and then goes on as if nothing had been.
case_stopped_and_continued() {
	local pid status=0 library=$scratch/$1/library.so
	cp "$framework/libsample_framework.so" "$library"
	run status
	SIMDRIVER_COST=25 under "$jitwarm" prime "$library" --module-timeout 4s --json -j 2 >"$out" 2>"$err" &
	until pid=$(pgrep -f "^$jitwarm prime $library") && [ "$(workers | wc -l)" = 2 ]; do sleep 0.1; done
	sleep 0.2
	kill -TSTP "$pid"
	for process in $pid $(workers); do
		await stands_still "$process" || say "$process does not stand still: $(grep State "/proc/$process/status")" || { kill -CONT "$pid"; return 1; }
	done
	sleep 4.5
	kill -CONT "$pid"
	wait $! || status=$?
	[ "$status" = 0 ] && expect_number failed 0 && expect_number undone 0 || say "status $status: $(cat "$err")" || return 1
	sound && no_leftovers
}

case_in_the_background() {
	local pid machine=$scratch/$1/machine worker
	mkdir -p "$machine/sys/class/power_supply/BAT0"
	echo Battery >"$machine/sys/class/power_supply/BAT0/type"
	echo Discharging >"$machine/sys/class/power_supply/BAT0/status"
	run status
	JITWARM_SYSTEM_ROOT=$machine SIMDRIVER_COST=20 under "$jitwarm" prime "$library" --background --json -j 1 >"$out" 2>"$err" &
	pid=$!
	until grep -q battery "$err" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 1
	worker=$(workers | head -1)
	[ "$(awk '{ print $19 }' "/proc/$worker/stat")" = 19 ] && [ "$(awk '{ print $41 }' "/proc/$worker/stat")" = 5 ] ||
		say "the worker's priority: $(cat "/proc/$worker/stat")" || { kill $pid; return 1; }
	[ "$(entries)" -lt 9 ] || say "all was compiled on battery" || return 1
	echo Charging >"$machine/sys/class/power_supply/BAT0/status"
	wait $pid || say "$(cat "$err")" || return 1
	expect_number undone 0 && expect_number failed 0 && sound
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

# The command that a failure comes with shows it again, and once the cause is gone makes up for it.
case_a_failure_comes_with_its_command() {
	local command library=$scratch/$1/"lib rary's.so"
	cp "$framework/libsample_framework.so" "$library"
	SIMDRIVER_FAULT=crash:sample_small run prime "$library"
	# Under the sanitizers it ends with a status.
	grep -Eq ' at 0x[0-9a-f]* [(]sm_86[)]: .*(segmentation fault|ended with status 1).*twice' "$err" && grep -q 'to see it again: jitwarm prime --only 0x' "$err" ||
		say "not said: $(cat "$err")" || return 1
	SIMDRIVER_FAULT=crash:sample_small run prime "$library" --json --cache "$CUDA_CACHE_PATH"
	command=$(python3 -c 'import json,sys; f,=json.load(open(sys.argv[1]))["failures"]; print(f["command"])' "$out") || return 1
	[[ $command = "jitwarm prime --only 0x"* ]] || say "$command" || return 1
	mkdir -p "$scratch/bin" && ln -sf "$jitwarm" "$scratch/bin/jitwarm"
	PATH=$scratch/bin:$PATH SIMDRIVER_FAULT=crash:sample_small under bash -c "$command --json" >"$out" 2>"$err" && say "no failure" && return 1
	expect_number failed 1 && expect_number cold 1 || return 1
	PATH=$scratch/bin:$PATH under bash -c "$command --json" >"$out" 2>"$err" || say "$command: $(cat "$err")" || return 1
	expect_number compiled 1 && expect_status 0 check "$library" || return 1
	expect_status 3 prime --only 12345 "$library" && grep -q 0x3039 "$err" || say "$(cat "$err")" || return 1
	expect_status 64 prime --only 0xg "$library"
}

case_a_hanging_module_is_set_aside() {
	local status=0
	SIMDRIVER_FAULT=hang:sample_small run prime "$library" --json --module-timeout 400ms || status=$?
	[ "$status" = 1 ] && expect_number failed 1 || say "status $status: $(cat "$err")" || return 1
	grep -q 'within 0.4 s, twice' "$out" || say "$(cat "$out")" || return 1
	sound && no_leftovers && expect_status 0 prime "$library" --json && expect_number compiled 1
}

case_an_exclusive_gpu_takes_one_worker() {
	export SIMDRIVER_COMPUTE_MODE=3 SIMDRIVER_COST=1
	expect_status 0 prime "$library" -j 4 --json && expect_number failed 0 && expect_number workers 1 && grep -q 'exclusive-process mode' "$err" ||
		say "$(cat "$err")" || { unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST; return 1; }
	[ "$(wc -l <"$err")" -lt 6 ] && ! grep -q 'no room' "$err" || say "$(cat "$err")" || { unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST; return 1; }
	# Another GPU of the kind takes all that come.
	rm -rf "$CUDA_CACHE_PATH"
	local gpus=sm_86,sm_86
	SIMDRIVER_COMPUTE_MODE=3,0 expect_status 0 prime "$library" -j 4 --json && ! grep -q exclusive "$err" || say "$(cat "$err")" || { unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST; return 1; }
	unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST
}

case_a_prohibited_gpu_is_said() {
	run status
	SIMDRIVER_COMPUTE_MODE=2 expect_status 3 prime "$library" && grep -q 'prohibited' "$err" || say "$(cat "$err")" || return 1
	[ "$(entries)" = 0 ] && no_leftovers
}

case_slices_are_gpus_of_their_own() {
	local gpus=sm_80,sm_80
	SIMDRIVER_MIG=1 expect_status 0 status --json || return 1
	python3 - "$out" <<-'P' || say "$(cat "$out")" || return 1
		import json, sys
		a, b = json.load(open(sys.argv[1]))["gpus"]
		assert a["uuid"].startswith("MIG-") and b["uuid"].startswith("MIG-") and a["uuid"] != b["uuid"] and a["bus"] == b["bus"]
	P
	SIMDRIVER_MIG=1 expect_status 0 prime "$library" --json && expect_number failed 0
}

case_a_full_gpu_takes_few_workers() {
	SIMDRIVER_COST=2 SIMDRIVER_GPU_FREE=100 expect_status 0 prime "$library" -j 3 --json && expect_number failed 0 && grep -q "GPU's memory" "$err" || say "$(cat "$err")"
}

# A machine that says it is short of memory has one worker at work at a time; a budget for less than one module still has one.
case_memory_is_shared() {
	local machine=$scratch/$1/root
	mkdir -p "$machine/proc/pressure"
	printf 'MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n' >"$machine/proc/meminfo"
	echo 'some avg10=25.00 avg60=0.00 avg300=0.00 total=0' >"$machine/proc/pressure/memory"
	JITWARM_SYSTEM_ROOT=$machine SIMDRIVER_COST=30 expect_status 0 prime "$library" -j 3 --json && expect_number failed 0 && grep -q 'memory is getting short' "$err" ||
		say "$(cat "$err")" || return 1
	rm -rf "$CUDA_CACHE_PATH"
	expect_status 0 prime "$library" -j 3 --max-mem 100M --json && expect_number failed 0 && expect_number workers 1
}

# 39.5 MB of PTX in one module, the largest ever seen in a framework's library, beside ordinary ones.
case_a_huge_module() {
	local container=$scratch/$1/huge.fatbin
	python3 - "$container" <<-'P'
		import struct, sys
		line = "\tadd.s32 %r1, %r1, 1;\n\tmad.lo.s32 %r2, %r1, %r2, 7;\n\txor.b32 %r1, %r2, %r1;\n"
		text = ".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry huge(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n"
		text = (text + line * ((39500000 - len(text)) // len(line)) + "\tret;\n}\n").encode()
		text += bytes(-len(text) % 8 or 8)
		entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 72, len(text), 0, 64, 3, 6, 52, 0, 0, 0x11, 0, 0) + bytes(8) + text
		open(sys.argv[1], "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)
	P
	SIMDRIVER_COST=0.01 expect_status 0 prime "$container" "$library" -j 2 --max-mem 1G --json && expect_number failed 0 && expect_number undone 0 || return 1
	# The supervisor never holds it: a worker reads it from the file.
	[ "$(number cold_bytes)" -gt 39000000 ] && [ "$(number peak_supervisor_bytes)" -lt 120000000 ] || say "$(cat "$out")" || return 1
	expect_status 0 check "$container" "$library" && sound
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

case_more_than_the_cache_keeps_is_refused() {
	local how
	for how in "" --dry-run; do
		# shellcheck disable=SC2086
		CUDA_CACHE_MAXSIZE=100000 expect_status 2 prime $how "$library" --json || return 1
		[[ $(number stopped) = *"Set CUDA_CACHE_MAXSIZE="*"--budget-size 100000"* ]] || say "stopped: $(number stopped)" || return 1
		[ "$(wc -l <"$err")" = 1 ] && [ "$(entries)" = 0 ] && expect_number compiled 0 && expect_number limit_bytes 100000 || return 1
	done
}

# Sizes are predicted: what turns out larger than was thought is left undone.
case_a_full_cache_ends_the_run_with_a_line() {
	local limit
	run prime -n "$library" --json
	limit=$(($(number predicted_cache_bytes) + 1000))
	CUDA_CACHE_MAXSIZE=$limit expect_status 1 prime -j 1 "$library" --json || return 1
	[[ $(number stopped) = *"no room"*CUDA_CACHE_MAXSIZE* ]] || say "stopped: $(number stopped)" || return 1
	[ "$(number undone)" -gt 0 ] && [ "$(number compiled)" = "$(entries)" ] || say "$(number compiled) compiled, $(entries) entries" || return 1
	sound && expect_number damaged 0 && expect_number next_insert adds
}

case_a_budget_of_size_takes_a_part() {
	local modules left
	run prime -n "$library" --json
	modules=$(number modules)
	expect_status 1 prime "$library" --budget-size 40K --json || return 1
	left=$(number over_budget)
	[ "$left" -gt 0 ] && expect_number cold "$modules" && expect_number compiled $((modules - left)) && expect_number undone 0 || return 1
	[ "$(entries)" = $((modules - left)) ] || say "$(entries) entries" || return 1
	# What is warm counts: the same budget again has nothing to do.
	expect_status 1 prime "$library" --budget-size 40K && grep -q 'a larger --budget-size goes on' "$out" || say "how to go on: $(cat "$out")" || return 1
	[ "$(entries)" = $((modules - left)) ] || say "$(entries) entries after the same budget" || return 1
	# In a cache that is too small for all of it the budget is a way.
	CUDA_CACHE_MAXSIZE=100000 expect_status 1 prime "$library" --budget-size 100000 --json && expect_number evicted 0 || return 1
	expect_status 0 prime "$library" --budget-size 1G --json && expect_number over_budget 0
}

case_a_budget_of_time_takes_a_part() {
	local modules
	run prime -n "$library" --json
	modules=$(number modules)
	expect_status 1 prime "$library" -j 1 --budget-time 20ms --json && [ "$(number over_budget)" -gt 0 ] || say "$(number over_budget) over the budget" || return 1
	[ $(($(number compiled) + $(number over_budget))) = "$modules" ] && expect_number out_of_time False || return 1
	# A driver that is slower than was thought: the time is up nevertheless.
	rm -rf "$CUDA_CACHE_PATH"
	SIMDRIVER_COST=8 expect_status 1 prime "$library" -j 1 --budget-time 1s --json && expect_number out_of_time True && expect_number over_budget 0 || return 1
	[ "$(number undone)" -gt 0 ] && [ $(($(number compiled) + $(number undone))) = "$modules" ] && sound || return 1
	expect_status 0 prime "$library" --budget-time 1h30m && no_leftovers
}

case_predicted_stands_beside_what_it_took() {
	expect_status 0 prime "$library" && grep -Eq 'predicted [0-9.]+ s, took [0-9.]+ s; the cache grew by .* \(predicted ' "$out" || say "$(cat "$out")"
	grep -q 'The driver keeps at most 1.07 GB of cache, of which' "$out" || say "no word about the limit: $(cat "$out")"
}

# The simulated driver uses up processor time and takes four times as long as the model says.
case_a_slow_machine_is_learnt() {
	local before factor
	run prime -n "$library" --json
	before=$(number predicted_cpu_seconds)
	SIMDRIVER_COST=8,busy expect_status 0 prime -j 1 "$library" || return 1
	rm -rf "$CUDA_CACHE_PATH"
	run prime -n "$library" --json
	factor=$(python3 -c "print($(number predicted_cpu_seconds) / $before)")
	# Beside other programs what was measured counts the less: how much is learnt is not ours to say.
	python3 -c "exit(not $factor > 1.001)" || say "the factor is $factor" || return 1
	# Garbage in its place is as good as nothing.
	echo '{"schema":"jitwarm.speed/1","rows":[{"release":-1,"form":7,"model_ms":1e999}]}' >"$JITWARM_STATE/speed.json"
	run prime -n "$library" --json
	expect_number predicted_cpu_seconds "$before"
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

# Several at once: each module is compiled once, and who waits says for whom. One that is killed does not keep the next waiting.
case_two_at_once() {
	local pids=() pid failed=0 modules
	expect_status 1 check "$library" --json; modules=$(number modules)
	run status
	for _ in 1 2 3; do
		SIMDRIVER_LOG=$scratch/$1/log SIMDRIVER_COST=10 under "$jitwarm" prime "$library" >/dev/null 2>>"$err" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
	[ $failed = 0 ] || say "one of three failed: $(cat "$err")" || return 1
	# Each of the three may have asked an unknown driver for one module of its own.
	[ "$(grep ' compile ' "$scratch/$1/log" | grep -vc jitwarm_probe)" = "$modules" ] || say "$(grep -c ' compile ' "$scratch/$1/log") compiles for $modules modules" || return 1
	grep -q 'jitwarm on .* (process [0-9]*, for .*) primes the same cache: waiting' "$err" || say "$(cat "$err")" || return 1
	expect_status 0 check "$library" && sound && expect_number files_without_row 0 && expect_number rows_without_file 0 && expect_number foreign 0 && no_leftovers || return 1
	[ -z "$(ls -A "$CUDA_CACHE_PATH" | grep '^\.')" ] || say "left: $(ls -A "$CUDA_CACHE_PATH")"
}

case_a_dead_holder_is_not_waited_for() {
	local copy=$scratch/$1/library.so
	cp "$library" "$copy"
	run status
	SIMDRIVER_COST=40 under "$jitwarm" prime "$copy" -j 1 >/dev/null 2>&1 &
	await test -s "$CUDA_CACHE_PATH/.jitwarm-holder" || return 1
	timeout 60 "$root/scripts/with-simdriver.sh" -B "$build" "$gpus" -- "$jitwarm" prime "$library" --json >"$out" 2>"$err" &
	await grep -q 'primes the same cache' "$err" || return 1
	pkill -9 -f "^$jitwarm prime $copy"
	wait -n; wait
	grep -q 'primes the same cache' "$err" && expect_number failed 0 && expect_number undone 0 || say "$(cat "$err")" || return 1
	expect_status 0 check "$library" && sound && expect_number foreign 0
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
	recorded_primed_and_warm a_lost_entry_is_compiled_again dry_run_changes_nothing raw_text_without_nul_is_predicted no_gpu_is_said)
simulated=(killed_and_run_again killed_a_hundred_times the_cache_is_removed_meanwhile a_full_disk_ends_the_run_with_a_line
	a_driver_evicts_meanwhile interrupted_and_continued ctrl_c_ends_in_time stopped_and_continued in_the_background a_crashing_module_is_set_aside a_crash_once_is_made_up_for
	a_failure_comes_with_its_command a_hanging_module_is_set_aside
	an_exclusive_gpu_takes_one_worker a_prohibited_gpu_is_said slices_are_gpus_of_their_own a_full_gpu_takes_few_workers
	memory_is_shared a_huge_module a_compile_error_comes_with_its_log sudo_warms_the_callers_cache an_unknown_form_is_noticed
	settings_that_make_it_useless_are_said more_than_the_cache_keeps_is_refused a_full_cache_ends_the_run_with_a_line
	a_budget_of_size_takes_a_part a_budget_of_time_takes_a_part predicted_stands_beside_what_it_took a_slow_machine_is_learnt what_is_warm_does_not_make_room
	the_oldest_make_room no_state_directory two_at_once a_dead_holder_is_not_waited_for a_locked_cache_is_waited_for)
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
