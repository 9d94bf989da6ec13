#!/bin/bash
# A killed supervisor takes its workers with it, and the next run goes on where it stopped.
. "$(dirname "$0")/lib.sh"
has_command prime || exit 77
fresh_user
dll=$(windows_path "$sample_dll")

# Wine's processes are Unix processes with the Windows command line: this test's have its own copy of the program.
mkdir "$work/bin"
cp "$build/src/jitwarm.exe" "$work/bin/"
ours() { pgrep -f "시험-test_killed.*jitwarm.exe" || true; }

export SIMDRIVER_FAULT=hang:sample_network SIMDRIVER_LOG=$work/driver.log
"$root/scripts/with-simdriver.sh" -B "$build" -w -u "$user" sm_86 -- "$work/bin/jitwarm.exe" prime "$dll" > "$out" 2> "$err" < /dev/null &
supervisor=$!
for _ in $(seq 1800); do
	! grep -q ' fault hang ' "$SIMDRIVER_LOG" 2> /dev/null || break
	sleep 0.1
done
grep -q ' fault hang ' "$SIMDRIVER_LOG" || fail 'no worker was started'
[ "$(ours | wc -l)" -ge 2 ] || fail 'no two processes are ours'
kill -9 "$supervisor"
{ wait "$supervisor" || true; } 2> /dev/null
for _ in $(seq 1800); do
	[ -n "$(ours)" ] || break
	sleep 0.1
done
[ -z "$(ours)" ] || fail "still running: $(ours | tr '\n' ' ')"
unset SIMDRIVER_FAULT SIMDRIVER_LOG

jitwarm prime --json "$dll"
exits 0 'prime after a run that was killed'
json_is 'd["failed"], d["undone"]' '(0, 0)'
[ "$(app)" = 0 ] || fail 'the application has modules compiled'
[ -z "$(find "$home/AppData/Local/jitwarm/runs" -mindepth 1 2> /dev/null)" ] || fail 'folders of runs are left behind'
