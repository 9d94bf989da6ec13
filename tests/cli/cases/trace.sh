# prime --trace: Chrome trace events, whole JSON at every moment.
run 64 prime --trace
with_simdriver sm_86
events() { python3 -c "
import json, sys
d = json.load(open('$1'))
x = [e for e in d if e['ph'] == 'X']
modules = [e for e in x if 'args' in e]
sys.exit(0 if ($2) else 1)" || fail "$1: not so: $2"; }

# The first worker waits at a module until the second one has started.
: >"$work/gate"
# shellcheck disable=SC2086
SIMDRIVER_GATE=$work/gate SIMDRIVER_FAULT=wait:sample_ $JITWARM prime -j 2 --trace t.json "$(native "$sample")" >"$out" 2>"$err" &
await grep -qs 'worker 2' t.json
rm "$work/gate"
wait $! || fail "status $?"
events t.json 'len(modules) == 8 and all(e["args"]["result"] == "compiled" for e in modules)'
events t.json 'all(e["args"]["library"].endswith("'"$(basename "$sample")"'") and e["args"]["bytes"] > 0 and e["args"]["predicted_ms"] > 0 for e in modules)'
events t.json 'all(e["dur"] >= 0 and e["ts"] >= 0 and e["pid"] == 1 for e in x) and {e["tid"] for e in modules} <= {1, 2}'
events t.json '{e["args"]["name"] for e in d if e["ph"] == "M"} == {"jitwarm prime", "jitwarm", "worker 1", "worker 2"}'
events t.json '[e["name"] for e in x if e["tid"] == 0] == ["reading files"]'
# Slices of a row do not overlap.
events t.json 'all(a["ts"] + a["dur"] <= b["ts"] + 1 for t in {e["tid"] for e in x} for a, b in zip(*(lambda s: (s, s[1:]))(sorted((e for e in x if e["tid"] == t), key=lambda e: e["ts"]))))'

# Nothing to do; a longer file before; a module that kills its worker; a file that cannot be made.
run 0 prime --trace t.json "$sample"
events t.json 'modules == []'
rm -rf "$work/cache"
SIMDRIVER_FAULT=crash:sample_small run 1 prime --trace t.json "$sample"
events t.json 'len([e for e in modules if "ended" in e["args"]["result"]]) == 2'
rm -rf "$work/cache"
run 3 prime --trace "$work/nosuch/t.json" "$sample"
err_one_line
[[ ! -e $work/cache/index ]] || fail "compiled all the same"
run 1 prime --dry-run --trace t.json "$sample"
events t.json 'modules == []'

# Killed at any moment, it is whole.
for turn in 1 2 3 4 5 6; do
	rm -rf "$work/cache"
	SIMDRIVER_COST=20 begin prime -j 2 --trace killed.json "$sample"
	await test -s killed.json
	sleep "0.$((turn * 12 + 10))"
	kill_begun
	events killed.json 'len(d) >= 1'
	mv killed.json last.json
done
