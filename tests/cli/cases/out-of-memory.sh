# If memory runs out at any place, the process ends with status 3 and one line.
is_wine && skip "no limit of memory"
is_emulated && skip "the emulator takes the memory"
! grep -qE '__[at]san_init' "${JITWARM##* }" || skip "sanitizers take the memory"
program=${JITWARM##* }
with_simdriver sm_86 # makes its library loadable
ended_for_memory=0 started=0
for kib in $(seq 4000 250 16000); do
	# A shell under the limit could lack memory itself.
	prlimit --as=$((kib * 1024)) "$program" scan --target sm_86 "$sample" >"$out" 2>"$err"
	status=$?
	[[ $status != 0 ]] || break
	# The loader prints its own message if it lacks memory, or crashes, with less than the memory with which jitwarm starts.
	[[ $status != 127 && ! ($status == 139 && $started == 0) ]] || continue
	started=1
	# If the system could not map a file for lack of memory, a line about that file comes first.
	[[ $status == 3 && $(grep -vc "Cannot allocate memory$" "$err") -le 1 && $(wc -l <"$err") -ge 1 ]] || fail "status $status, $(wc -l <"$err") lines ($kib KiB)"
	! grep -q '^jitwarm: out of memory' "$err" || ended_for_memory=1
done
((ended_for_memory)) || fail "no limit of memory was met"
[[ $status == 0 ]] || fail "no limit sufficed"
