# prime fills the store, and refills a wiped cache from it with the requested entries and no others.
differs_for WINDOWS
has_command store list || skip "no such command yet"
with_simdriver sm_86
export JITWARM_STORE=1
packs() { find "$work/state/store" -name '*.jwpack' 2>/dev/null | wc -l; }

run 0 store list
out_has "0 packs"
err_empty
JITWARM_STORE=0 snapshot run 0 store list
run 0 prime "$sample" --no-store
[[ $(packs) == 0 ]] || fail "--no-store kept something"
rm -rf "$work/cache"
run 0 prime "$sample" --json
json 'd["compiled"] >= 7'
compiled=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["compiled"])' "$out")
[[ $(packs) == 1 ]] || fail "$(packs) packs"
run 0 store list --json
json 'd["schema"] == "jitwarm.store/1" and d["packs"][0]["entries"] == '"$compiled"' and d["packs"][0]["targets"] == "sm_86"'
run 0 prime "$sample"
[[ $(packs) == 1 ]] || fail "a warm run kept something"

# These commands need no cache, whether there is one or not.
printf 'no code' >"$work/none.so"
for there in yes no; do
	snapshot run 2 export -o "$work/none.jwpack" "$work/none.so"
	[[ $there == no ]] || mv "$work/cache" "$work/moved"
done
mv "$work/moved" "$work/cache"

# one package's entries
snapshot run 0 export -o "$work/one.jwpack" "$sample" --json
json 'd["entries"] == '"$compiled"
run 64 export -o "$work/none.jwpack" "$cases/../lib.sh"
run 3 export -o "$work/none.jwpack" no-such-package
snapshot run 1 export -o "$work/one.jwpack" "$sample" no-such-package

# After a wipe, nothing is compiled again, and only requested entries come back.
rm -rf "$work/cache"
printf '.version 6.0\n.target sm_30\n.address_size 64\n.visible .entry o()\n{ ret; }\n' >"$work/other.ptx"
run 0 prime "$work/other.ptx"
out_lacks "Restored from the store"
find "$work/state/store" -name '*.jwpack' -size -8k -delete
run 0 prime "$sample"
out_has "Restored from the store"
out_has "Warm"
run 0 check "$sample"
run 0 cache verify --cache "$work/cache"
# A budget also limits what comes back.
rm -rf "$work/cache"
snapshot run 1 prime --budget-size 40K "$sample"
(($(du -sb --exclude=index "$work/cache" | cut -f1) < 120000)) || fail "the cache has $(du -sb "$work/cache")"
run 0 prime "$sample"
# A named cache is for somebody else: it gets nothing from the store, and adds nothing to it.
kept=$(packs)
(umask 077 && run 0 prime --cache "$work/named" "$sample") || exit 1
[[ $(id -u) != 0 || $(stat -c %a "$work/named") == 755 ]] || fail "no other account may read it: $(stat -c %a "$work/named")"
out_lacks "from the store"
[[ $(packs) == "$kept" ]] || fail "a named cache was kept"
# one entry is lost
rm -f "$(find "$work/cache" -type f ! -name index | sort | head -1)"
run 0 prime "$sample" --json
json 'd["compiled"] == 0 and d["cold"] == d["restored"] == 1 and d["warm"] == d["modules"] - 1'
# --dry-run says what would come back, and writes nothing; with --no-store it says nothing of the kind.
rm -rf "$work/cache"
snapshot run 1 prime "$sample" --dry-run
out_has "$compiled entries ("
[[ ! -e $work/cache/index ]] || fail "--dry-run has filled the cache"
run 1 prime "$sample" --dry-run --json
json 'd["from_store"]["entries"] == '"$compiled"' and d["from_store"]["bytes"] > 0 and d["from_store"]["notes"] == []'
run 1 prime "$sample" --dry-run --no-store
out_lacks "from the store"
run 0 prime "$sample" --no-store --json
json 'd["compiled"] == '"$compiled"

# alike MODULES RESTORED: check, prime -n and prime count alike the cold modules of the named files and those that the store gives back
alike() {
	local module_counts='[d["modules"], d["cold"], d["restored"], d["warm"], d["gpus"][0]["cold"], d["gpus"][0]["restored"]] == ['$1', '$1', '$2', 0, '$1', '$2']'
	shift 2
	rm -rf "$work/cache"
	run 1 check "$@"
	out_has "“jitwarm prime” restores $compiled of the modules from the store at once"
	run 1 check --json "$@"
	json "$module_counts"' and d["forecast"]["start_seconds"]["likely"] > 0'
	json '(d["forecast"]["prime_seconds"]["likely"] > 0) == (d["cold"] > d["restored"])'
	start=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["forecast"]["start_seconds"])' "$out")
	run 1 prime -n --json "$@"
	json "$module_counts"' and str(d["forecast"]["start_seconds"]) == "'"$start"'"'
	json '(d["forecast"]["prime_seconds"]["likely"] > 0) == (d["cold"] > d["restored"])'
	[[ ! -e $work/cache/index ]] || fail "--dry-run has filled the cache"
	run 1 prime -n "$@"
	cold=$(grep -aF "Cold: " "$out")
	run 0 prime --json "$@"
	json "$module_counts"' and d["compiled"] == d["cold"] - d["restored"]'
	rm -rf "$work/cache"
	run 0 prime "$@"
	out_has "$cold"
	run 0 check "$@"
}
printf '.version 6.0\n.target sm_30\n.address_size 64\n.visible .entry e()\n{ ret; }\n' >"$work/not-kept.ptx"
alike "$compiled" "$compiled" "$sample"
rm -rf "$work/cache"
snapshot run 1 check --json "$sample" "$work/not-kept.ptx"
json 'd["cold"] == '"$compiled"' + 1 and d["restored"] == '"$compiled"' and 0 < d["forecast"]["prime_seconds"]["likely"] < d["forecast"]["start_seconds"]["likely"]'
snapshot run 1 prime -n --json "$sample" "$work/not-kept.ptx"
json 'd["cold"] == '"$compiled"' + 1 and d["restored"] == '"$compiled"' and d["undone"] == 1 and d["modules"] == d["cold"]'
run 1 prime -n "$sample" "$work/not-kept.ptx"
out_has "Cold: $((compiled + 1)) of $((compiled + 1)) modules; jitwarm restores $compiled of them from earlier results."
out_has "1 of $((compiled + 1)) modules to compile ("
run 0 prime --json "$sample" "$work/not-kept.ptx"
json 'd["cold"] == '"$compiled"' + 1 and d["restored"] == '"$compiled"' and d["compiled"] == 1 and d["warm"] == 0'
JITWARM_STORE=0 run 0 check "$sample"
rm -rf "$work/cache"
JITWARM_STORE=0 run 1 check "$sample"
out_lacks "the store"
snapshot run 1 check --cache "$work/cache" "$sample"
out_lacks "the store"
run 0 prime --no-store "$sample"
find "$work/state/store" -name '*.jwpack' -size -8k -delete

# A damaged pack is passed over, reported, and removed.
pack=$(find "$work/state/store" -name '*.jwpack')
printf x | dd of="$pack" bs=1 seek=100 conv=notrunc status=none
snapshot run 1 store list
rm -rf "$work/cache"
snapshot run 1 prime "$sample" --dry-run
out_lacks "restored from the store"
run 0 prime "$sample" --json
err_has "from the store: $(native "$pack"): not a pack, or damaged"
json 'd["compiled"] == '"$compiled"' and len(d["from_store"]["notes"]) == 1'
[[ $(packs) == 1 ]] || fail "$(packs) packs after a damaged one"
snapshot run 0 store list
run 0 cache verify --cache "$work/cache"

# A budget also limits what is carried over from the store.
. "$cases/../drivers.sh"
anew
driver_535_216
run 0 prime "$sample"
rm -rf "$work/cache"
driver_535_309
run 1 prime --budget-size 40K "$sample"
(($(du -sb --exclude=index "$work/cache" | cut -f1) < 120000)) || fail "the cache has $(du -sb "$work/cache")"
