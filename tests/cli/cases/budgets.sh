# prime keeps to its budgets and to the cache limit, names wrong values, and says what it needs and what it has.
for value in 5x 1h30 m "5 m" -1 1.5h; do
	snapshot run 64 prime "--budget-time=$value" x.so
done
for value in G 1Q 1.5G -1; do
	snapshot run 64 prime "--budget-size=$value" x.so
done
snapshot run 64 prime --budget-size
snapshot run 0 prime --help --all

varies names "^cache/" # the driver evicts in the order in which two workers compiled
with_simdriver sm_86
for option in --budget-time=0 --budget-time=0s --budget-size=0 --budget-size=0G; do
	snapshot run 64 prime "$option" "$sample"
done

# The plan says how much space it needs and how much there is; beyond the limit, prime does not begin.
CUDA_CACHE_MAXSIZE=200000 snapshot run 1 prime "$sample"
[[ -z $(find "$work/cache" -type f 2>/dev/null) ]] || fail "something was compiled"
CUDA_CACHE_MAXSIZE=200000 snapshot run 1 check "$sample"
[[ $(head -1 "$out") == "The limit of 195 KiB is too small, 500 KiB are needed." ]] || fail "not in the first line"
out_has "Next: jitwarm prime --tune $(native "$sample")"
CUDA_CACHE_MAXSIZE=200000 snapshot run 1 prime --json --quiet "$sample"
json 'd["limit_bytes"] == 200000 and d["predicted_cache_bytes"] > 200000 and d["predicted_seconds"] > 0 and "the limit of 195 KiB is too small, 500 KiB are needed" in d["stopped"] and "prime --tune" in d["stopped"] and d["compiled"] == 0'

run 1 prime --budget-size 40K "$sample"
out_has "The budget leaves"
out_has "the same command with a larger --budget-size compiles them"
# -n prints both the chosen part and the whole.
run 1 prime -n --budget-size 100K "$sample"
out_has " of 8 modules to compile ("
out_has "of lower priority to the next run ("
read -r chosen left whole < <(tr '\n' ' ' <"$out" | sed -E 's/^([0-9]+) of .* leaves ([0-9]+) .*without a budget: ([0-9]+) .*/\1 \2 \3/')
((chosen + left == whole)) || fail "$chosen chosen and $left left, of $whole"
snapshot run 1 prime --budget-time 1ms "$sample"
snapshot run 0 prime --help
# Machines that share no first start have no sum.
snapshot run 1 make -n --target rtx3070,rtx4090 --driver 550.163.01 "$sample"
run 1 prime --budget-size 40K --json --quiet "$sample"
json 'd["over_budget"] == d["cold"] > 0 and d["modules"] == d["cold"] + d["warm"] and d["compiled"] == 0 and d["over_budget_cache_bytes"] > 0 and d["over_budget_cpu_seconds"] > 0'
run 0 prime --budget-size 1G --budget-time 10m "$sample"
out_lacks "budget"
err_lacks "CUDA_CACHE_MAXSIZE"

# scan predicts from earlier compiles of this machine's driver for its GPUs, and by the usual ratio for others.
run "0|2" status
state "$work/state" remove speed
cost() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["files"][0]["verdicts"]["sm_86"]["estimate"]["cpu_seconds"])' "$out"; }
run 0 scan --json "$sample"
usual=$(cost)
state "$work/state" put speed '{"schema":"jitwarm.speed/4","rows":[{"release":1,"cuda":1,"model_ms":1e5,"real_ms":8e5}]}'
run 0 scan --json "$sample"
python3 -c "import sys; sys.exit(not 3.9 < $(cost) / $usual < 4.1)" || fail "$(cost) s, and $usual s before"
run 0 scan --json --target sm_86 "$sample"
[[ $(cost) == "$usual" ]] || fail "$(cost) s for another machine, not $usual"

# Warm modules are not evicted for cold ones; others' entries are, though they are younger.
unset CUDA_CACHE_MAXSIZE
rm -rf "$work/cache"
run 0 prime --no-store "$sample"
smallest=$(find "$work/cache" -path '*/?/?/*' -type f -printf '%s %p\n' | sort -n | head -1)
rm "${smallest#* }"
for n in {1..24}; do
	printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other_%s()\n{\n\tret;\n}\n' $n >"$work/other$n.ptx"
done
run 0 prime --no-store "$work"/other*.ptx
rows=$(find "$work/cache" -path '*/?/?/*' -type f -printf '%s\n' | awk '{ sum += $1 - 28 } END { print sum }')
CUDA_CACHE_MAXSIZE=$rows snapshot run 1 prime --no-store "$sample"
CUDA_CACHE_MAXSIZE=$rows run 0 check "$sample"
CUDA_CACHE_MAXSIZE=$rows snapshot run 1 check "$work"/other*.ptx

# A unit in a word of its own is not the name of a package.
snapshot run 64 prime --budget-time 5 min torch
err_has "--budget-time 5 min: write the number and its unit as one word: --budget-time 5min"
snapshot run 64 prime --budget-size 2 GiB
