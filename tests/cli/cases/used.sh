# The modules that `run` commands had compiled are noted, and primed first.
program=$JITWARM
with_simdriver sm_86
! is_emulated || skip "under an emulator no file is seen in a process that starts"
files() { find "$work/cache" -path "$work/cache/?/?/*" -type f | sort; }
forget() { rm -rf "$work/cache"; }

# Without a note, nothing can be selected by it.
snapshot run 3 prime --used-only "$sample"
run 1 check --json "$sample"
json 'd["used"] == d["used_cold"] == 0'

# The command compiles three of eight modules.
run 0 prime --no-store "$sample"
files | head -n 3 | xargs rm
snapshot run 0 run "$sample" -- "$app"
run 0 check "$sample"
out_has "  your runs used 3 of 8 modules; all of the used ones are warm"
forget
snapshot run 1 check "$sample"
run 1 check --json "$sample"
json 'd["used"] == d["used_cold"] == 3 and d["gpus"][0]["used"] == 3'

# --used-only primes these alone.
run 0 prime --no-store --used-only --json "$sample"
json 'd["compiled"] == 3 and d["cold"] == 8 and d["unused"] == 5 and d["used"] == 3 and d["over_budget"] == 0'
run 1 check "$sample"
out_has "  your runs used 3 of 8 modules; all of the used ones are warm"
snapshot run 0 prime --no-store --used-only "$sample"

# A plain prime compiles these first, and says so. Runs that compile nothing do not change the note.
forget
run 0 prime --no-store --jobs 1 "$sample"
err_has "the modules of your recorded runs are warm now (3 modules); the other 5 follow"
run 0 run --json "$sample" -- "$app"
json 'd["modules"] == 0'
run 0 check --json "$sample"
json 'd["used"] == 3 and d["used_cold"] == 0 and d["warm"] == 8'

# With a budget, too, these come first.
forget
run 1 check --json "$sample"
size=$(python3 -c "import json; print(json.load(open('$out'))['predicted_cache_bytes'] // 2)")
snapshot run 1 prime --no-store --budget-size "$size" "$sample"
run 1 check --json "$sample"
json 'd["used_cold"] == 0 and d["cold"] > 0'

# A recording notes what its command compiled in a private cache.
rm -rf "$work/state"
SIMDRIVER_COST=4 snapshot run 0 run --record r.json "$sample" -- "$app"
run 0 check --json "$sample"
json 'd["used"] == 8'

# A recording of another machine: once it is primed, its modules come first, also for another driver
forget
run 0 prime --no-store "$sample"
files | head -n 3 | xargs rm
snapshot run 0 run --record three.json "$sample" -- "$app"
python3 - <<'PYTHON'
import json
recording = json.load(open("three.json"))
recording["modules"] = recording["modules"][:3]
json.dump(recording, open("three.json", "w"))
PYTHON
rm -rf "$work/state" && forget
run 1 check --json "$sample"
json 'd["used"] == 0'
run 1 prime -n --used-only --recording three.json "$sample"
run 1 check --json "$sample"
json 'd["used"] == 0'
run 0 prime --no-store --recording three.json "$sample"
run 1 check "$sample"
out_has "  your runs used 3 of 8 modules; all of the used ones are warm"
forget
snapshot run 0 prime --no-store --used-only --json "$sample"
forget
snapshot run 0 prime --no-store --jobs 1 "$sample"
