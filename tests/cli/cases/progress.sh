# On a terminal, progress is one line that is redrawn and fits, also after a change of width; elsewhere it is plain lines. The numbers never
# go back, and the denominator never changes.
with_simdriver sm_86
# bar COLUMNS: runs prime at a terminal with a cold cache, and puts its output into $err
bar() {
	rm -rf "$work/cache"
	# shellcheck disable=SC2086
	timeout 200 python3 "$cases/../on-terminal.py" "$1" $JITWARM prime -j 1 "$sample" >"$err" 2>&1
}
# check_shares: checks the numbers in $err, split at carriage returns
check_shares() {
	tr '\r' '\n' <"$err" | grep -oE '[0-9]+ %' | tr -d ' %' >"$work/shares"
	[[ $(wc -l <"$work/shares") -ge $1 ]] || fail "shown too seldom: $(wc -l <"$work/shares") times"
	sort -n -c "$work/shares" 2>/dev/null || fail "the share goes back"
	[[ $(grep -oE '[0-9]+/[0-9]+ modules' "$err" | sed 's|.*/||' | sort -u | wc -l) == 1 ]] || fail "the denominator changes"
}

terminal() {
	SIMDRIVER_COST=40 TERM=xterm bar 90 || fail "status $?"
	err_has $'\x1b[K'
	err_has 'compiling [..'
	check_shares 5
	tr '\r' '\n' <"$err" | sed 's/\x1b\[K//g' | awk 'length($0) > 89 { exit 1 }' || fail "a line is too wide"
	# After the width was halved, there is space only for the words, not for the bar.
	grep -qE '^ *[0-9]+ %' < <(tr '\r' '\n' <"$err" | sed 's/\x1b\[K//g') || fail "the bar did not follow the terminal's width"
	TERM=dumb bar 90 || fail "status $?"
	err_lacks $'\x1b'
	check_shares 1
}
is_wine || terminal # Wine's console redraws what has changed on its screen, whatever was written

rm -rf "$work/cache"
run 0 prime -j 1 "$sample"
err_lacks $'\x1b'
check_shares 1
rm -rf "$work/cache"
run 0 prime -q "$sample"
err_empty
out_empty

# For programs, each line is an object, also with -q, from none done to all, and never back.
rm -rf "$work/cache"
SIMDRIVER_COST=12 run 0 prime -q -j 1 --progress json "$sample"
out_empty
python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) > 2 and all(list(line)[:6] == ["phase", "done", "total", "unit", "failed", "fraction"] for line in lines), lines
assert {(line["phase"], line["total"], line["unit"], line["failed"]) for line in lines} == {("compiling", lines[0]["total"], "modules", 0)}, lines
for member in ("done", "fraction"):
    values = [line[member] for line in lines]
    assert values == sorted(values), values
assert lines[0]["done"] < lines[-1]["done"] == lines[-1]["total"] and lines[-1]["fraction"] == 1 and not lines[-1]["seconds_left"], lines
assert any(line.get("seconds_left", 0) > 0 for line in lines) and any("framework" in line.get("current", "") for line in lines), lines
' "$err" || fail "the lines of --progress json"
# Messages between the progress lines are lines of their own.
rm -rf "$work/cache"
SIMDRIVER_COST=40 run 0 prime -j 1 --progress json "$sample"
err_lacks $'\x1b'
! grep -q '^[^{].*{' "$err" || fail "an object begins within a line: $(grep '^[^{].*{' "$err" | head -n 3)"
snapshot run 64 prime --progress xml "$sample"

# These programs of docs/programs.md show progress.
block() { awk -v begin="\`\`\`$1" '$0 == begin { inside = 1; next } inside && /^```$/ { exit } inside' "$cases/../../../docs/programs.md"; }
if ! is_wine; then
	block c | diff - "$cases/../../../examples/installer_step.c" >"$out" || fail "docs/programs.md and examples/installer_step.c differ"
	block python >"$work/step.py"
	shows() { # PROGRAM ARGUMENT…
		rm -rf "$work/cache"
		SIMDRIVER_COST=12 "$@" >"$out" 2>"$err" || fail "$1: status $?"
		out_has $'\rcompiling: 0 of 8\rcompiling: '
		out_has $'\rcompiling: 8 of 8'
	}
	shows "$build/tests/cli/installer_step" "$JITWARM prime --quiet $sample"
	# shellcheck disable=SC2086
	shows python3 "$work/step.py" $JITWARM prime --quiet "$sample"
	CUDA_CACHE_DISABLE=1 "$build/tests/cli/installer_step" "$JITWARM prime -q $sample" >"$out" 2>"$err" && fail "no status of failure"
	out_has "CUDA_CACHE_DISABLE"
fi

# A caller of jw_prime_progress sees it go from 0 to 1 and never back, though each module takes many times as long as predicted.
measured=$build/tests/bench/bench_progress
if ! is_wine && [[ -x $measured ]]; then
	for jobs in 1 3; do
		rm -rf "$work/cache" "$work/state"
		SIMDRIVER_COST=12 JITWARM_STORE=0 simulated "$measured" "${JITWARM##* }" $jobs "$sample" >"$out" 2>"$err" || fail "$jobs workers: status $?"
		out_has "modules, "
	done
fi

# hold_turn: holds the turn until let_go. A run that waits for another one shows no progress, and Ctrl-C ends the wait.
hold_turn() {
	rm -rf "$work/cache" "$work/held"
	mkdir "$work/cache"
	python3 -c 'import fcntl, os, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.01)' "$work/cache/.jitwarm-lock" "$work/held" &
	holder=$!
	await test -e "$work/held"
	: >"$err" # output of the former run must not count
}
let_go() { rm "$work/held" && wait $holder; }
hold_turn
if is_wine; then # without a terminal it waits, too, in plain lines
	# shellcheck disable=SC2086
	$JITWARM prime "$(native "$sample")" >"$out" 2>"$err" </dev/null &
	pid=$!
	await grep -q 'waiting for it' "$err"
	let_go
	wait $pid || fail "status $?"
	exit 0
fi
# shellcheck disable=SC2086
TERM=xterm python3 "$cases/../on-terminal.py" 90 $JITWARM prime "$sample" >"$err" 2>&1 &
pid=$!
await grep -q 'waiting for it' "$err"
sleep 0.3
err_lacks ' %'
let_go
wait $pid || fail "status $?"
err_has 'compiling ['
hold_turn
# shellcheck disable=SC2086
$JITWARM prime "$sample" >"$out" 2>"$err" </dev/null &
pid=$!
await grep -q 'waiting for it' "$err"
kill -INT $pid
ended=0
wait $pid || ended=$?
[[ $ended == 130 ]] || fail "the wait ended with $ended"
let_go
err_has 'interrupted'
err_lacks ' %'
