# Progress: on a terminal one line that is drawn anew and fits, through a change of its width; elsewhere plain lines. What it
# says never goes back, and the denominator never changes.
with_simdriver sm_86
export SIMDRIVER_COST=12
bar() { # COLUMNS: prime at a terminal, with a cold cache; what it wrote is in $err
	rm -rf "$work/cache"
	# shellcheck disable=SC2086
	timeout 100 python3 "$cases/../on-terminal.py" "$1" $JITWARM prime -j 1 "$sample" >"$err" 2>&1
}
check_shares() { # in $err, split at carriage returns
	tr '\r' '\n' <"$err" | grep -oE '[0-9]+ %' | tr -d ' %' >"$work/shares"
	[[ $(wc -l <"$work/shares") -ge $1 ]] || fail "shown too seldom: $(wc -l <"$work/shares") times"
	sort -n -c "$work/shares" 2>/dev/null || fail "the share goes back"
	[[ $(grep -oE '[0-9]+/[0-9]+ modules' "$err" | sed 's|.*/||' | sort -u | wc -l) == 1 ]] || fail "the denominator changes"
}

TERM=xterm bar 90 || fail "status $?"
err_has $'\x1b[K'
err_has 'compiling [..'
check_shares 5
tr '\r' '\n' <"$err" | sed 's/\x1b\[K//g' | awk 'length($0) > 89 { exit 1 }' || fail "a line is too wide"
# After the width was halved there is no room for the bar, only for its words.
tr '\r' '\n' <"$err" | sed 's/\x1b\[K//g' | grep -qE '^ *[0-9]+ %' || fail "the bar did not follow the terminal's width"

TERM=dumb bar 90 || fail "status $?"
err_lacks $'\x1b'
check_shares 1

rm -rf "$work/cache"
run 0 prime -j 1 "$sample"
err_lacks $'\x1b'
check_shares 1
rm -rf "$work/cache"
run 0 prime -q "$sample"
err_empty
out_empty

# Who waits for another run shows no progress of nothing, and Ctrl-C ends the wait.
hold_turn() { # SECONDS
	rm -rf "$work/cache" "$work/held"
	mkdir "$work/cache"
	python3 -c 'import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(float(sys.argv[3]))' "$work/cache/.jitwarm-lock" "$work/held" "$1" &
	holder=$!
	until [[ -e $work/held ]]; do sleep 0.05; done
}
hold_turn 3
# shellcheck disable=SC2086
TERM=xterm timeout 100 python3 "$cases/../on-terminal.py" 90 $JITWARM prime "$sample" >"$err" 2>&1 || fail "status $?"
wait $holder
tr '\r' '\n' <"$err" | awk '/ %/ && !waited { exit 1 } /waiting for it/ { waited = 1 } END { exit !waited }' || fail "progress while it waits"
err_has 'compiling ['
hold_turn 60
# shellcheck disable=SC2086
timeout -s INT 3 $JITWARM prime "$sample" >"$out" 2>"$err" </dev/null && fail "the wait did not end"
kill $holder
err_has 'waiting for it'
err_has 'interrupted'
err_lacks ' %'
