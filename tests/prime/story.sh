#!/bin/bash
# story.sh BUILD-FOLDER DRIVER [GROUP|CASE...]   the main job as a user meets it, whole commands on the sample framework
#
# DRIVER: "sim" for the simulated driver, else the version of a real one on the phantom GPU. GROUP: common, which any driver can
# play (the default), or for the simulated one ended, places, struck, limits (cases-*.sh). Exit status 1 if a case fails, 77 if
# the driver is not at hand. Last line: "N passed, N failed".
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) driver=$2
shift 2
jitwarm=$build/src/jitwarm
framework=$build/tests/framework
library=$framework/libsample_framework.so
drivers=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
gpus=sm_86

# shellcheck source=/dev/null
. "$here/../documents/keep.sh"
[ -e "$library" ] || { echo "skipped: $library is not built"; exit 77; }
[ "$driver" = sim ] || [ -d "$drivers/$driver" ] || { echo "skipped: driver $driver is not in $drivers"; exit 77; }

scratch=$(mktemp -d) open= # open: a case's folder for all accounts
gate=$scratch/gate log=$scratch/driver.log
# shellcheck disable=SC2046
trap 'kill -KILL $(jobs -p) 2>/dev/null; rm -rf "$scratch" ${open:+"$open"}' EXIT
export NO_COLOR=1
# This machine's free memory and its battery must not decide the number of workers.
export JITWARM_SYSTEM_ROOT=$scratch/machine
mkdir -p "$JITWARM_SYSTEM_ROOT/proc"
printf 'MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n' >"$JITWARM_SYSTEM_ROOT/proc/meminfo"

# Each case has a user of its own, with a state and a cache. No other case's settings are in the environment.
begin() {
	unset CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_VISIBLE_DEVICES
	unset "${!SIMDRIVER_@}" 2>/dev/null
	export JITWARM_STATE=$scratch/$1/state CUDA_CACHE_PATH=$scratch/$1/cache
	out=$scratch/$1/out err=$scratch/$1/err
	mkdir -p "$scratch/$1"
	: >"$log"
}
# Limits only stop hangs: they are ten times what anything takes on a slow machine.
under() {
	if [ "$driver" = sim ]; then
		timeout 600 "$root/scripts/with-simdriver.sh" -B "$build" "$gpus" -- "$@"
	else
		timeout 600 "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpus" -- "$@"
	fi
}
export -f under # and what it reads, for scripts of a case's own
export root build driver gpus
run() {
	local status=0
	under "$jitwarm" "$@" >"$out" 2>"$err" || status=$?
	keep_document "$out"
	return $status
}
entries() { find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f 2>/dev/null | wc -l; }
number() { ask "$out" "d['$1']" && echo "$answer"; }
say() { echo "    $*"; said=$*; return 1; }
expect_status() { local wanted=$1 got=0; shift; run "$@" || got=$?; [ "$got" = "$wanted" ] || say "jitwarm $*: status $got, not $wanted: $(tail -3 "$err")"; }
expect_number() { ask "$out" "d['$1']" && [ "$answer" = "$2" ] || say "$1 is $answer, not $2"; }
sound() {
	"$jitwarm" cache verify --cache "$CUDA_CACHE_PATH" --json >"$out" 2>"$err" || say "the cache is not sound: $(cat "$err")" || return 1
	keep_document "$out"
}
# The next run removes the leftovers of a killed run, unless another process has its number by now.
no_leftovers() {
	local run
	for run in $(ls -A "$JITWARM_STATE/runs" 2>/dev/null); do
		kill -0 "${run%%-*}" 2>/dev/null || say "left in the state directory: $run" || return 1
	done
}

# workers: those of this script's own runs, since other tests run at the same time
workers() {
	local pid
	for pid in $(pgrep -f "^$jitwarm worker"); do
		grep -qz "^JITWARM_STATE=$scratch/" "/proc/$pid/environ" 2>/dev/null && echo "$pid"
	done
}
no_worker() { [ -z "$(workers)" ]; }

# await waits for steps whose time depends on the machine, for three minutes at most.
await() {
	local end=$((SECONDS + 180))
	until "$@"; do
		[ $SECONDS -lt $end ] || say "in vain: $*" || return 1
		sleep 0.05
	done
}
entries_at_least() { [ "$(entries)" -ge "$1" ]; }
stands_still() { grep -q '^State:[[:space:]]T' "/proc/$1/status"; }
# start ARGUMENT...: runs jitwarm in the background, under the simulated driver; its process is $pid
start() {
	: >"$err" # output of the former run must not count
	"$root/scripts/with-simdriver.sh" -B "$build" "$gpus" -- "$jitwarm" "$@" >"$out" 2>"$err" &
	pid=$!
}
# start_gated MATCH ARGUMENT...: as start, but the worker that compiles the module with MATCH waits there until open_gate
start_gated() {
	: >"$gate"
	: >"$log"
	SIMDRIVER_GATE=$gate SIMDRIVER_FAULT=wait:$1 SIMDRIVER_LOG=$log start "${@:2}"
	await grep -q ' fault wait ' "$log"
}
open_gate() { rm "$gate"; }

# ---- cases for any driver

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
	expect_status 0 prime "$library" || return 1
	before=$(entries)
	under "$framework/framework-app" >"$out" 2>"$err" || say "the application failed: $(cat "$out" "$err")" || return 1
	[[ $(tail -1 "$out") == "compiled 0 of "* ]] || say "$(tail -1 "$out")" || return 1
	[ "$(entries)" = "$before" ] || say "the application added entries: $(entries), not $before"
}

case_entries_are_the_applications_own() {
	begin "$1-app"
	mkdir -p "$CUDA_CACHE_PATH"
	under "$framework/framework-app" >"$out" 2>&1 || return 1
	local app; app=$(cd "$CUDA_CACHE_PATH" && find . -path './?/?/*' -type f | sort)
	begin "$1"
	expect_status 0 prime "$library" || return 1
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

case_recorded_primed_and_warm() {
	local recording=$scratch/$1/recording.json
	run run --record "$recording" --json -- "$framework/framework-app" || say "record: $(cat "$err")" || return 1
	local modules; modules=$(number modules)
	[ "$modules" -gt 4 ] && expect_number in_files "$modules" && expect_number added "$modules" || return 1
	rm -rf "$CUDA_CACHE_PATH"
	expect_status 0 prime --recording "$recording" --json && expect_number compiled "$modules" || return 1
	under "$framework/framework-app" >"$out" 2>"$err" || return 1
	[[ $(tail -1 "$out") == "compiled 0 of "* ]] || say "$(tail -1 "$out")" || return 1
	[ "$(entries)" = "$modules" ] && sound && no_leftovers
}

case_a_lost_entry_is_compiled_again() {
	expect_status 0 prime "$library" || return 1
	rm "$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f | head -1)"
	: >"$(find "$CUDA_CACHE_PATH" -path "$CUDA_CACHE_PATH/?/?/*" -type f | tail -1)"
	expect_status 1 check "$library" --json && expect_number cold 2 || return 1
	expect_status 0 prime "$library" --json && expect_number compiled 2 && sound
}

case_dry_run_changes_nothing() {
	expect_status 1 prime --dry-run "$library" && [ "$(entries)" = 0 ] || say "entries after a dry run"
}

# Raw PTX that fills its last eight bytes has no NUL in the file, and none in the driver's key.
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

# ---- which cases run

common=(cold_primed_warm first_start_compiles_nothing entries_are_the_applications_own two_gpus_two_architectures
	recorded_primed_and_warm a_lost_entry_is_compiled_again dry_run_changes_nothing raw_text_without_nul_is_predicted no_gpu_is_said)
# cases_of GROUP: its cases in the order of the file
cases_of() { sed -nE 's/^case_(\w+)\(\) \{$/\1/p' "$here/cases-$1.sh"; }

cases=()
for wanted in "${@:-common}"; do
	case $wanted in
	common) cases+=("${common[@]}") ;;
	ended | places | struck | limits) mapfile -t -O ${#cases[@]} cases < <(cases_of "$wanted") ;;
	*) cases+=("$wanted") ;;
	esac
done
for file in "$here/../accounts.sh" "$here"/cases-*.sh; do
	# shellcheck source=/dev/null
	. "$file"
done

passed=0 failed=0 why=
for name in "${cases[@]}"; do
	begin "$name"
	began=$SECONDS
	said=
	if "case_$name" "$name"; then
		echo "ok   $driver: $name ($((SECONDS - began)) s)"
		passed=$((passed + 1))
	else
		echo "FAIL $driver: $name ($((SECONDS - began)) s)"
		failed=$((failed + 1)) why+="; $name: ${said:-see above}"
	fi
done
echo "$passed passed, $failed failed$why"
[ "$failed" = 0 ]
