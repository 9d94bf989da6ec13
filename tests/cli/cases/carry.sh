# After a change of drivers, prime reuses results of one CUDA minor version unasked; for another version the driver compiles, and back under
# the former driver nothing is compiled again.
differs_for WINDOWS
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=1

# ---- the same CUDA minor version
driver_535_216
run 0 prime "$sample" --no-store
driver_535_309
snapshot run 1 prime "$sample" --dry-run --no-store
(cd "$work/cache" && find . -type f -exec sha256sum {} + | sort) >"$work/before"
run 1 prime "$sample" --dry-run --no-store --json
json 'd["cold"] == d["restored"] == d["carried_over"]["modules"] == 8'
(cd "$work/cache" && find . -type f -exec sha256sum {} + | sort) | cmp - "$work/before" || fail "a dry run wrote into the cache"
# Within a budget, some entries are carried over; modules that are then warm count against the budget, so the rest stays.
cp -r "$work/cache" "$work/former"
for part in 1 0; do
	run 1 prime "$sample" --no-store --budget-size 10k --json
	json "0 < d['warm'] + d['restored'] < 8 and d['compiled'] == 0 and (d.get('carried_over', {'modules': 0})['modules'] > 0) == $part"
done
rm -rf "$work/cache"
mv "$work/former" "$work/cache"
run 0 prime "$sample" --no-store --json
json 'd["compiled"] == 0 and d["restored"] == 8'
json 'd["carried_over"]["modules"] == 8 and d["carried_over"]["groups"] == [{"driver": "535.216.03 (CUDA 12.2)", "target": "sm_86", "from": "cache", "modules": 8}]'
app_compiles 0
run 0 prime "$sample" --json
json '"carried_over" not in d'
run 0 cache verify --json
json 'd["damaged"] == 0 and d["files_without_row"] == 0 and d["rows_without_file"] == 0'

# ---- another one: compiled, and the former driver's entries stay
own=$(cd "$work/cache" && find . -path './?/?/*' -type f | sort)
driver_550
snapshot run 1 prime "$sample" --dry-run
out_lacks "carried over"
run 0 prime "$sample" --json
json 'd["compiled"] == 8 and d["restored"] == 0 and "carried_over" not in d'
app_compiles 0
[[ -z $(comm -23 <(echo "$own") <(cd "$work/cache" && find . -path './?/?/*' -type f | sort)) ]] || fail "entries of the former driver are gone"

# ---- the former driver again, also with a wiped cache: the store has what each driver has made
driver_535_309
run 0 prime "$sample" --json
json 'd["compiled"] == d["restored"] == 0 and d["warm"] == 8'
app_compiles 0
driver_550
rm -rf "$work/cache"
run 0 prime "$sample" --json
json 'd["compiled"] == 0 and d["from_store"]["entries"] == 8'
app_compiles 0

# ---- a wiped cache and another driver of that version: the store has the entries
rm -rf "$work/cache"
driver_is 551.61 12040 'Feb  7 202409:00:00'
snapshot run 0 prime "$sample" --json
app_compiles 0

# ---- import: the same rule
snapshot run 0 export --all -o "$work/550.jwpack"
driver_555
run "0|2" status
rm -rf "$work/cache"
snapshot run 2 import --allow-unsigned "$work/550.jwpack"

# ---- entries in use that make room for those carried over are counted, although nothing is compiled
is_real && exit 0
rm -rf "$work/cache"
for number in 1 2 3 4 5 6; do printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other%d()\n{\n\tret;\n}\n' "$number" >"$work/other$number.ptx"; done
driver_535_216
snapshot run 0 prime --no-store "$sample"
size=$(rows "$work/cache") || exit 1
driver_535_309
run 0 prime --no-store "$work"/other?.ptx
CUDA_CACHE_MAXSIZE=$((size + 100)) snapshot run 1 prime --no-store --json "$sample"
