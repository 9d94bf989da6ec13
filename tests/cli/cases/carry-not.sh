# prime --carry-over where something does not go over, or not by itself: newer drivers, other GPUs, damage, unknown drivers, limits
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=1

driver_550
run 0 prime "$sample" --no-store
# ---- newer to older: compiled, and said why
driver_535_309
run 0 prime "$sample" --carry-over --no-store --json
json 'd["compiled"] == 8 and d["carried_over"]["modules"] == 0 and d["carried_over"]["refused"] == 8'
json 'd["carried_over"]["groups"][0]["why"].startswith("that driver is newer than this machine") and d["carried_over"]["groups"][0]["why"].endswith("(CUDA 12.2), which cannot load its code")'

# ---- another architecture
with_simdriver sm_89
rm -f "$work/state/devices.json"
run 1 prime "$sample" --carry-over --dry-run --no-store --json
json 'd["carried_over"]["modules"] == 0 and any("architecture sm_86 (this machine has sm_89)" in g["why"] for g in d["carried_over"]["groups"])'
with_simdriver sm_86
rm -f "$work/state/devices.json"

# ---- what a damaged entry, a foreign one or another program's has under a former stamp stays where it is
anew
driver_535_309
run 0 prime "$sample" --no-store
entry=$(find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | head -1)
printf x | dd of="$entry" bs=1 seek=$(($(stat -c %s "$entry") - 1)) conv=notrunc status=none
driver_550
run 0 prime "$sample" --carry-over --no-store --json
json 'd["compiled"] == 1 and d["carried_over"]["modules"] == 7 and d["carried"] == 7'
# What is compiled again by anybody is no longer a carried one
run 0 check "$sample" --json
json 'd["carried"] == 7'
find "$work/cache" -type f -newer "$entry" -path "$work/cache/?/?/*" -size +1k -delete
run "0|1" check "$sample" --json
json 'd["carried"] == 0'

# ---- a driver that no table knows is remembered
anew
driver_is A 12020 'Jan  1 202101:02:03'
run 0 prime "$sample" --no-store
profile=$(find "$work/state/drivers" -name '*.json')
cp "$profile" "${profile%.json}-former.json"
driver_is B 12020 'Feb  2 202104:05:06'
run 0 prime "$sample" --no-store --json
json 'd["compiled"] == 0 and d["carried_over"]["modules"] == 8'
rm -rf "$work/state/drivers" "$work/state/devices.json"
driver_is C 12040 'Mar  3 202107:08:09'
run 0 prime "$sample" --carry-over --no-store --json
json 'd["compiled"] == 8 and "version is not known (built " in d["carried_over"]["groups"][0]["why"]'

# ---- import marks as well, and replaces nothing
anew
driver_535_309
run 0 prime "$sample" --no-store
run 0 export -o "$work/535.jwpack"
rm -rf "$work/cache"
driver_550
run 1 prime "$sample" --no-store --budget-size 40K --json
compiled=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["compiled"])' "$out")
[[ $compiled -gt 0 ]] || fail "nothing was compiled first"
run 0 import --allow-unsigned --carry-over "$work/535.jwpack" --json
json "d['added'] == 8 - $compiled and d['replaced'] == 0 and d['there'] == $compiled"
run 0 check "$sample" --json
json "d['warm'] == 8 and d['carried'] == 8 - $compiled"
run 0 prime "$sample" --recompile-carried --json
json "d['compiled'] == 8 - $compiled"

# ---- the limit: the oldest entries make room, never the requested ones
anew
driver_535_309
run 0 prime "$sample" --no-store
limit=$(find "$work/cache" -path "$work/cache/?/?/*" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 20000 }')
driver_550
CUDA_CACHE_MAXSIZE=$limit run 0 prime "$sample" --carry-over --no-store --json
json 'd["compiled"] == 0 and d["carried"] == 8 and d["carried_over"]["evicted"] > 0'
run 0 cache verify
