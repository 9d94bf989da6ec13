#!/bin/bash
# Workers crash, hang or fail: the run continues, the module is named, and sound results are kept.
. "$(dirname "$0")/lib.sh"
has_command prime || exit 77
dll=$(windows_path "$sample_dll")

for fault in crash abort exit overflow error sticky oom; do
	fresh_user
	export SIMDRIVER_FAULT=$fault:sample_filter
	jitwarm prime --json "$dll"
	unset SIMDRIVER_FAULT
	# A module that the driver itself refuses fails in programs, too.
	exits "$([ "$fault" = error ] && echo 2 || echo 1)" "prime with the fault $fault"
	json_is 'd["compiled"], d["failed"]' '(7, 1)'
	json_is 'len(d["failures"]), d["failures"][0]["path"] != ""' '(1, True)'
	[ "$(app)" = 1 ] || fail "after the fault $fault the application does not have one module compiled"
done

# A fault that strikes once is no failure, since a new worker tries again.
fresh_user
export SIMDRIVER_FAULT=crash:sample_filter:once SIMDRIVER_STATE=$work/struck
jitwarm prime --json "$dll"
unset SIMDRIVER_FAULT SIMDRIVER_STATE
exits 0 'prime with a fault that strikes once'
json_is 'd["compiled"], d["failed"]' '(8, 0)'

# There are two GPUs of one architecture, and one of another.
fresh_user
gpus=sm_86,sm_86,sm_89
jitwarm prime --json "$dll"
exits 0 'prime for three GPUs'
json_is 'd["compiled"]' 16
