# In tmux at 60, 80 and 200 columns, the terminal has to fold no row of any command, and no colour would vanish on a light or a dark
# background. JITWARM_CAPTURES=FOLDER keeps the captures.
is_wine && skip "tmux shows no programs of Windows"
command -v tmux >/dev/null || skip "tmux is not installed"
with_simdriver sm_86
environment "$work/env" 1.2
export VIRTUAL_ENV=$work/env
cat >check.py <<'PYTHON'
"""check.py COLUMNS ROWS WHOLE STYLED: the rows, the rows with those joined that the terminal continued, and the rows with their colours"""
import re, sys
columns = int(sys.argv[1])
rows, whole, styled = (open(name, encoding="utf-8").read().rstrip("\n").split("\n") for name in sys.argv[2:])
rows = [row.rstrip() for row in rows]
continued = [line for line in (line.rstrip() for line in whole) if line not in rows]
# A command to be copied is on one line, whatever the width.
long = [line for line in continued if not re.search(r"^Next +jitwarm|: jitwarm |^ *\S+$", line)]
assert not long, f"at {columns} columns the terminal continued these: {long}"
assert max(map(len, rows)) <= columns
styles = set(re.findall(r"\x1b\[([0-9;]*)m", "\n".join(styled)))
strange = {part for style in styles for part in style.split(";")} - {"", "0", "1", "2", "31", "32", "33", "39", "49", "22"}
assert not strange, f"these styles are not for every background: {strange}"
PYTHON
in_tmux() { env -u TMUX tmux -f /dev/null -S "$work/tmux" "$@"; }
trap 'in_tmux kill-server 2>/dev/null || true' EXIT
# captured NAME STATUS COMMAND…: runs it at each width
captured() {
	local name=$1 wanted=$2 columns
	shift 2
	for columns in 60 80 200; do
		rm -rf ended cache
		# shellcheck disable=SC2086
		in_tmux new-session -d -x "$columns" -y 200 "$(printf '%q ' env TERM=screen $JITWARM "$@"); echo \$? >ended.new; mv ended.new ended; sleep 100"
		await test -e ended
		[ "$(cat ended)" = "$wanted" ] || fail "$name at $columns columns: status $(cat ended), not $wanted"
		in_tmux capture-pane -p >rows
		in_tmux capture-pane -p -J >whole
		in_tmux capture-pane -p -e >styled
		in_tmux kill-server
		cat styled >>every
		[ -z "${JITWARM_CAPTURES-}" ] || { mkdir -p "$JITWARM_CAPTURES" && sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' styled >"$JITWARM_CAPTURES/$name-$columns.txt"; }
		python3 -I -S check.py "$columns" rows whole styled || fail "$name: $(cat rows)"
	done
}
captured status 1
captured check 1 check frame
captured doctor 1 doctor --no-probe frame
captured help 0 prime --help
captured prime 0 prime frame
grep -q "Compiled 8 modules" rows || fail "prime has not ended as it must: $(cat rows)"
! grep -q "compiling \[" rows || fail "the bar stays behind: $(cat rows)"
grep -q $'\e\[1m' every && grep -q $'\e\[33m' every || fail "nothing is set off"
