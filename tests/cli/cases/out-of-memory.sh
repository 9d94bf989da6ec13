# Without memory the process ends with status 3 and one line, wherever it is.
is_wine && skip "no limit of memory"
is_emulated && skip "the emulator takes the memory"
! grep -qE '__[at]san_init' "${JITWARM##* }" || skip "sanitizers take the memory"
program=${JITWARM##* }
with_simdriver sm_86 # for its library
ended_for_memory=0
for kib in $(seq 4000 250 16000); do
	(ulimit -v "$kib" && exec "$program" scan --target sm_86 "$sample") >"$out" 2>"$err"
	status=$?
	[[ $status != 0 ]] || break
	# The message of the loader of programs on its own lack of memory is not ours.
	[[ $status != 127 ]] || continue
	# A file that the system could not map for want of memory has its own line before.
	[[ $status == 3 && $(grep -vc "Cannot allocate memory$" "$err") -le 1 && $(wc -l <"$err") -ge 1 ]] || fail "status $status, $(wc -l <"$err") lines ($kib KiB)"
	! grep -q '^jitwarm: out of memory' "$err" || ended_for_memory=1
done
((ended_for_memory)) || fail "no limit of memory was met"
[[ $status == 0 ]] || fail "no limit sufficed"
