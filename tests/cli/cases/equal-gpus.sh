# Two GPUs of one architecture share each module's entry, and --gpu primes for one of two different GPUs.
. "$cases/../lib.sh"
with_simdriver sm_86,sm_86
run 1 check "$sample" --json
json 'len(d["gpus"]) == 1 and d["gpus"][0]["cold"] == 8'
run 0 scan "$sample" --json
json 'len(d["totals"]) == 1 and d["totals"][0]["modules"] == 8'
run 0 prime "$sample" --json
json 'len(d["gpus"]) == 1 and d["compiled"] == 8'
[[ $(find "$CUDA_CACHE_PATH" -type f | grep -cE '/[0-9a-f]/[0-9a-f]/[0-9a-f]{14}$') == 8 ]] || fail "not eight entries"
run 0 check "$sample" --target sm_86 --target sm_86 --json
json 'len(d["gpus"]) == 1 and d["gpus"][0]["warm"] == 8'

# With GPUs of two architectures, --gpu primes for one alone.
with_simdriver sm_86,sm_90
export CUDA_CACHE_PATH=$work/two
snapshot run 64 prime --gpu sm_75 "$sample"
snapshot run 64 prime --gpu nonsense "$sample"
snapshot run 64 prime --if-changed --gpu sm_86 "$sample"
snapshot run 64 prime --gpu rtx5090 "$sample"
run 0 prime --gpu rtx3070 "$sample" --json
json '[(g["target"], g["cold"]) for g in d["gpus"]] == [("sm_86", 8)] and d["compiled"] == 8'
run 1 check "$sample" --json
json '[(g["target"], g["cold"] > 0) for g in d["gpus"]] == [("sm_86", False), ("sm_90", True)]'
# The other GPU's entries are not carried over from any driver, and that GPU is not warm yet.
snapshot run 0 prime --gpu h100 "$sample"
run 0 prime --gpu h100 --gpu rtx3070 --quiet "$sample"
snapshot run 0 check "$sample"

# The store restores the modules of both GPUs, and the counts are their sums (tests/documents/validate.py).
export JITWARM_STORE=1
rm -rf "$work/two"
run 0 prime "$sample"
rm -rf "$work/two"
run 1 check "$sample" --json
json '[gpu["restored"] for gpu in d["gpus"]] == [8, 8] and d["restored"] == 16'
