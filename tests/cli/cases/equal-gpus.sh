# Two GPUs of one architecture: its modules are there once
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
