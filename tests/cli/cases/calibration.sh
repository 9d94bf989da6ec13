# The first estimate is that of a usual machine; each run teaches jitwarm this machine's speed.
with_simdriver sm_86
export CUDA_MODULE_LOADING=EAGER # so that the whole start is predicted
cost() { python3 -c 'import json,sys; print("%.9g" % json.load(open(sys.argv[1]))["forecast"]["start_seconds"]["likely"])' "$out"; }

# An estimate compiles nothing.
run 1 prime --dry-run --json "$sample"
json 'd["forecast"]["measured"] is False'
usual=$(cost)
SIMDRIVER_COST=8,busy run 1 prime --dry-run --json "$sample"
[[ $(cost) == "$usual" ]] && ! state "$work/state" get speed >/dev/null || fail "something was measured"
snapshot run 1 prime --dry-run "$sample"
out_has "Times assume a typical machine"

# After a run, the range is this machine's, and as wide as before.
SIMDRIVER_COST=8,busy CUDA_CACHE_PATH=$work/elsewhere run 0 prime --no-store "$sample"
out_has " if nothing else runs, took "
run 1 prime --dry-run --json "$sample"
json 'd["forecast"]["measured"] is True'
json 'all(abs(d["forecast"]["start_seconds"]["high"] / d["forecast"]["start_seconds"][k] / n - 1) < 0.02 for k, n in (("likely", 2), ("low", 4)))'
# The run's times count less, the busier the machine was; the usual factor has the weight of half a second of compiling.
python3 - "$work/state/state.json" "$(cost)" "$usual" <<'END' || fail "$(cost) s, and $usual s before: $(cat "$work/state/state.json")"
import json, sys
[row] = json.load(open(sys.argv[1]))["speed"]["rows"]
factor = (row["real_ms"] + 1000) / (row["model_ms"] + 500)
sys.exit(not (row["real_ms"] > 2 * row["model_ms"] and abs(float(sys.argv[2]) / float(sys.argv[3]) * 2 / factor - 1) < 0.01))
END
run 1 prime --dry-run "$sample"
out_lacks "Times assume"

# For another machine's target, this machine's times do not count.
run 0 scan --json --target sm_86 "$sample"
json 'd["totals"][0]["forecast"]["measured"] is False'
run 0 scan --target sm_86 "$sample"
out_has "Times assume a typical machine"
