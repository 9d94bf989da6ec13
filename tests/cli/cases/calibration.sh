# The first estimate: the driver's compiler is measured once, before anything was learnt of it.
with_simdriver sm_86
cost() { python3 -c 'import json,sys; print("%.9g" % json.load(open(sys.argv[1]))["forecast"]["start_seconds"]["likely"])' "$out"; }
gauges() { python3 -c 'import json,sys; print([(r["slope"], r["module_ms"]) for r in json.load(open(sys.argv[1]))["rows"] if r["slope"]])' "$work/state/speed.json"; }

# A driver that takes eight times as long has a longer estimate, by how much depends on the machine's other work.
export SIMDRIVER_COST=0.5,busy
run 1 prime --dry-run --json "$sample"
quick=$(cost)
json 'd["forecast"]["measured"] is True'
rm -rf "$work/state" "$work/cache"
export SIMDRIVER_COST=4,busy
run 1 prime --dry-run --json "$sample"
python3 -c "import sys; sys.exit(not $(cost) / $quick > 1.5)" || fail "$(cost) s, and $quick s where the driver is eight times as fast"

# It is remembered, and measured once.
before=$(gauges)
[[ $before == \[\(* ]] || fail "no gauge in speed.json"
slow=$(cost)
SIMDRIVER_COST=0.1,busy run 1 prime --dry-run --json "$sample"
[[ $(gauges) == "$before" && $(cost) == "$slow" ]] || fail "measured again"
SIMDRIVER_COST=0.1,busy run 0 scan --json "$sample"
json 'd["totals"][0]["forecast"]["measured"] is True'
# Nor is any of it left in the driver's cache.
[[ -z $(find "$work/cache" -type f 2>/dev/null) ]] || fail "something is in the cache"

# For another machine nothing of it counts.
run 0 scan --json --target sm_86 "$sample"
json 'd["totals"][0]["forecast"]["measured"] is False'
elsewhere=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["totals"][0]["forecast"]["start_seconds"])' "$out")
rm -rf "$work/state"
run 0 scan --json --target sm_86 "$sample"
[[ $(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["totals"][0]["forecast"]["start_seconds"])' "$out") == "$elsewhere" ]] ||
	fail "what was learnt here is said of another machine"
run 0 scan --target sm_86 "$sample"
out_has "Times assume a typical machine"

# A driver that fails at all but the probe has no speed, and that is no failure.
rm -rf "$work/state" "$work/cache"
SIMDRIVER_FAULT=error:jitwarm_gauge run 1 prime --dry-run --json "$sample"
json 'd["forecast"]["measured"] is False'
SIMDRIVER_FAULT=crash:jitwarm_gauge run 1 prime --dry-run --json "$sample"
json 'd["forecast"]["measured"] is False'
