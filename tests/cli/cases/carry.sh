# prime after a change of drivers: what goes over by itself, what with --carry-over, what never; and --recompile-carried
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=1

# ---- the same CUDA minor version: by itself
driver_535_216
run 0 prime "$sample" --no-store
driver_535_309
run 1 prime "$sample" --dry-run --no-store
out_has "8 modules for sm_86 would be carried over from driver 535.216.03 (CUDA 12.2), whose compiler is this driver's."
# Within a budget a part goes over; what is warm by then counts against it, so that the rest stays
cp -r "$work/cache" "$work/former"
for part in 1 0; do
	run 1 prime "$sample" --no-store --budget-size 10k --json
	json "0 < d['warm'] + d['restored'] < 8 and d['compiled'] == 0 and (d.get('carried_over', {'modules': 0})['modules'] > 0) == $part"
done
rm -rf "$work/cache"
mv "$work/former" "$work/cache"
run 0 prime "$sample" --no-store --json
json 'd["compiled"] == 0 and d["restored"] == 8 and d["carried"] == 0'
json 'd["carried_over"]["modules"] == 8 and d["carried_over"]["older"] == 0 and d["carried_over"]["groups"][0]["from"] == "cache"'
app_compiles 0
run 0 prime "$sample" --json
json '"carried_over" not in d'
run 0 cache verify --json
json 'd["damaged"] == 0 and d["files_without_row"] == 0 and d["rows_without_file"] == 0'

# ---- another one: with the option, and marked
driver_550
run 1 prime "$sample" --dry-run --no-store
out_has "8 modules for sm_86 that driver 535.309.01 (CUDA 12.2) has compiled are not carried over: that driver is older than this machine's 550.200.01 (CUDA 12.4); --carry-over takes its code."
out_lacks "stamp"
(cd "$work/cache" && find . -type f -exec sha256sum {} + | sort) >"$work/before"
run 1 prime "$sample" --dry-run --carry-over
out_has "8 modules for sm_86 would be carried over from driver 535.309.01 (CUDA 12.2)."
out_has "Cold: 8 of 8 modules; from earlier results at once: 8."
(cd "$work/cache" && find . -type f -exec sha256sum {} + | sort) | cmp - "$work/before" || fail "a dry run wrote into the cache"
run 1 prime "$sample" --dry-run --carry-over --json
json 'd["cold"] == 8 and d["carried_over"]["modules"] == 8'
run 0 prime "$sample" --carry-over --no-store
out_has "8 modules for sm_86 were carried over from driver 535.309.01 (CUDA 12.2)."
out_has "Warm: all 8"
out_has "8 of the warm modules were carried over from older drivers: “jitwarm prime --recompile-carried” replaces them."
app_compiles 0
run 0 check "$sample"
out_has "8 of the warm modules were carried over"
run 0 check "$sample" --json
json 'd["warm"] == d["carried"] == d["gpus"][0]["carried"] == 8'
run "0|2" status
out_has "8 of them were carried over from older drivers"
run "0|2" status --json
json 'd["cache"]["carried"] == 8'
run 0 prime "$sample" --json
json 'd["compiled"] == 0 and d["carried"] == 8'

# The store keeps none of it: it would come back without its mark
printf '.version 6.0\n.target sm_30\n.address_size 64\n' >"$work/other.ptx"
run 0 prime "$work/other.ptx" --json
json 'd["compiled"] == 1'
run 0 store list --json
json 'sum(pack["entries"] for pack in d["packs"]) == 1'

# Nor does a pack: where it comes to it would be taken for this driver's own
run 0 export -o "$work/own.jwpack"
out_has "left out: 8 entries that an older driver compiled"
run 0 export -o "$work/own.jwpack" --json
json 'd["entries"] == 1 and d["carried"] == 8'

# ---- and replaced
run 64 prime "$sample" --carry-over --recompile-carried
err_one_line
run 1 prime "$sample" --recompile-carried --dry-run
out_has "Why: 8 modules: carried over: made by the compiler of 535.309.01."
run 0 prime "$sample" --recompile-carried --json
json 'd["compiled"] == d["anew"] == 8 and d["predicted_cache_bytes"] == 0 and d["added_bytes"] < 1000 and d["failed"] == d["undone"] == d["met"] == d["lost"] == 0'
cp -r "$work/cache" "$work/recompiled"
run 0 check "$sample" --json
json 'd["warm"] == 8 and d["carried"] == 0'
run "0|2" status --json
json 'd["cache"]["carried"] == 0'
run 0 prime "$sample" --recompile-carried --json
json 'd["compiled"] == 0'
anew
driver_550
run 0 prime "$sample"
for entry in $(cd "$work/cache" && find . -path './?/?/*' -type f); do
	cmp "$work/cache/$entry" "$work/recompiled/$entry" || fail "$entry is not what the driver makes by itself"
done

# ---- a wiped cache: out of the store
rm -rf "$work/cache"
driver_555
run 0 prime "$sample" --carry-over --json
json 'd["compiled"] == 0 and d["carried"] == 8 and d["carried_over"]["older"] == 8'
json 'd["carried_over"]["groups"][0]["from"] == "store" and d["carried_over"]["groups"][0]["driver"] in ("550.200.01 (CUDA 12.4)", "551.61 (CUDA 12.4)")'
app_compiles 0
