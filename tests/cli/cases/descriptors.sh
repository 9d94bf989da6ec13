# The caller has closed standard descriptors, or left too few: jitwarm dies of no signal, opens no file of its own in their place, and
# prints a line if it could not do something.
is_wine && skip "Windows' C runtime keeps 0 to 2 by itself, and has no such limit"
with_simdriver sm_86
varies tree ^state/runs/ # what a command leaves that ran out of descriptors

# A closed descriptor stays closed for reading and writing; its number goes to no other file.
for closed in '<&-' '2>&-' '<&- >&- 2>&-'; do
	for command in tune "startup status" status "check $sample" "prime $sample" "run -- true"; do
		rm -rf "$work/cache" "$JITWARM_STATE" && mkdir "$work/cache" "$JITWARM_STATE"
		last=("$command" "$closed") ended=0
		(cd "$work" && exec $runner bash -c "exec ${JITWARM##* } $command $closed") >"$out" 2>"$err" </dev/null || ended=$?
		((ended < 126)) || fail "exit status $ended"
	done
done
# shellcheck disable=SC2016
$runner "${JITWARM##* }" run -- bash -c 'readlink /proc/$PPID/fd/{0,1,2} >held' <&- >&- 2>&- || fail "run with closed descriptors"
[[ $(sort -u held) == /dev/null ]] || fail "0 to 2 are $(tr '\n' ' ' <held)"
last=("status >&-") ended=0
(exec $JITWARM status >&- 2>"$err") || ended=$?
[[ $ended == 3 ]] || fail "exit status $ended"
err_has "standard output: Bad file descriptor"

# libuv would abort if it found no descriptors for its own pipes.
for files in $(seq 5 20); do
	for command in tune status "check $sample" "prime $sample" "run -- true" "doctor $sample"; do
		rm -rf "$work/cache" && mkdir "$work/cache"
		last=("$command" "with $files descriptors") ended=0
		$runner bash -c "ulimit -n $files && exec ${JITWARM##* } $command" >"$out" 2>"$err" </dev/null || ended=$?
		((ended <= 127)) || fail "exit status $ended"
		# status says that files could not be read, and leaves the reason to check.
		[[ $ended != 3 && $ended != 126 ]] || [[ $command == status && $(<"$out") == *"could not be read"* ]] ||
			err_has "oo many open files"
	done
done

# If a run begins but runs out of descriptors, it says how many modules are left, wherever it stopped.
rm -rf "$work/cache" && mkdir "$work/cache" # how far the last command above came depends on the caller's descriptors
run 0 prime --no-store "$sample"
stopped=0
for files in $(seq 5 20); do
	rm -rf "$work/cache" && mkdir "$work/cache"
	last=("prime" "with $files descriptors") ended=0
	$runner bash -c "ulimit -n $files && exec ${JITWARM##* } prime --no-store $sample" >"$out" 2>"$err" </dev/null || ended=$?
	grep -q "stopped with" "$err" || continue
	err_has "stopped with 8 modules left: "
	stopped=$((stopped + 1))
done
((stopped)) || fail "no run stopped: this case tests nothing"
