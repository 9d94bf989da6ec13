# An entry that was carried over, and whose own compile has the same bytes: it is compiled once, and no longer carried then
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=0

# The simulated compiler goes by the CUDA version, jitwarm by the stamp: it takes that for 12.2's
driver_is 535.216.03 12040 'Oct 25 202422:46:11'
run 0 prime "$sample"
rm -r "$work/state/drivers"
driver_550
run 0 prime "$sample" --carry-over --json
json 'd["compiled"] == 0 and d["carried"] == 8'
(cd "$work/cache" && find . -path './?/?/*' -type f -exec sha256sum {} + | sort) >"$work/carried"
run 0 prime "$sample" --recompile-carried --json
json 'd["compiled"] == d["anew"] == 8 and d["added_bytes"] == 0'
(cd "$work/cache" && find . -path './?/?/*' -type f -exec sha256sum {} + | sort) | cmp - "$work/carried" || fail "other bytes: this case tests nothing"
run 0 check "$sample" --json
json 'd["warm"] == 8 and d["carried"] == 0'
run 0 prime "$sample" --recompile-carried --json
json 'd["compiled"] == 0'
