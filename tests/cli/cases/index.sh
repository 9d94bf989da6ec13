# With these indexes the driver would delete or ignore warm entries: check, status and cache verify say so, and prime repairs the index.
differs_for WINDOWS
with_simdriver sm_86
varies json '^(rows_bytes|evicted|evicted_bytes)$' # the order in which the workers end is the order of the rows
cache=$work/cache
run 0 prime "$sample"
cp -a "$cache" "$work/warm"
# harmed NEXT STATE COMMAND: after COMMAND, the reports of the cache are NEXT and STATE, and prime repairs it if it can
harmed() {
	rm -rf "$cache" && cp -a "$work/warm" "$cache"
	eval "$3"
	run 1 check --json "$sample"
	json 'd["cold"] == 0 and d["cache"]["harmful"] and d["cache"]["next_insert"] == "'"$1"'" and d["cache"]["index"] == "'"$2"'"'
	run 1 check "$sample"
	out_has "all 8 modules in the cache"
	out_lacks "warm, all"
	err_has "“jitwarm prime” repairs the index"
	run "0|1|2" status --json # 2 without a Python, as under Wine
	json 'd["cache"]["exists"] and d["cache"]["entries"] == 8 and d["cache"]["next_insert"] == "'"$1"'"'
	run "0|1|2" status
	out_has "(8 entries, "
	run 1 cache verify --json
	json 'd["sound"] == 8 and d["next_insert"] == "'"$1"'"'
	run 1 prime --dry-run --json "$sample"
	json 'not d["repaired"]'
	err_has "the cache's index"
	run 1 check "$sample" # a dry run repairs nothing
	if [[ -z ${4-} ]]; then run 0 prime "$sample"; else run 0 cache verify --repair; fi
	run 0 check --json "$sample"
	json 'd["cache"]["next_insert"] == "adds" and "text" not in d["cache"]'
	app_compiles 0
	rm "$(find "$cache" -path "$cache/?/?/*" -type f | sort | head -1)"
	app_compiles 1
	app_compiles 0
}
snapshot harmed wipes missing 'rm "$cache/index"'
harmed wipes missing 'rm "$cache/index"' repair
snapshot harmed wipes empty ': >"$cache/index"'
snapshot harmed wipes "not an index" 'printf garbage >"$cache/index"'
snapshot harmed wipes truncated 'truncate -s -20 "$cache/index"'
snapshot harmed nothing "not a file" 'rm "$cache/index" && mkdir "$cache/index"'
is_wine || snapshot harmed hangs "a pipe" 'rm "$cache/index" && mkfifo "$cache/index"' repair
is_wine || snapshot harmed wipes "a device" 'rm "$cache/index" && ln -s /dev/zero "$cache/index"'

# jitwarm changes no index of a version that it does not know, and says what ends this instead of advising its own commands.
rm -rf "$cache" && cp -a "$work/warm" "$cache"
printf '\x42' | dd of="$cache/index" bs=1 conv=notrunc status=none
find "$cache" -path "$cache/?/?/*" -type f | sort | head -1 | xargs truncate -s -1
for command in "check $sample" status "cache verify" "doctor --no-probe $sample"; do
	# shellcheck disable=SC2086
	snapshot run "0|1|2" $command
	cat "$err" >>"$out"
	out_has "the index has unknown version 0x42: old drivers delete every entry"
	out_has "unless a newer "
	out_lacks "repair"
done
snapshot run 1 doctor --no-probe --json "$sample"
json '{f["id"]: f["fix"] for f in d["findings"] if f["id"] in ("index", "damaged", "cold")} == dict.fromkeys(("index", "damaged", "cold"), "delete '"$(native "$cache/index" | sed 's/\\/\\\\/g')"' unless a newer driver uses it")'
for command in "prime $sample" "cache verify --repair"; do
	# shellcheck disable=SC2086
	snapshot run "2|3" $command
done
rm "$cache/index"
run 0 prime "$sample"

# The index is sound but lacks the rows of some entries, as a killed run leaves it: the next run adds them, unless the limit leaves no
# space.
rm -rf "$cache" && cp -a "$work/warm" "$cache"
printf 'A\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$cache/index"
run 0 check "$sample"
run 0 cache verify --json
json 'd["files_without_row"] == 8'
run 0 prime --dry-run "$sample"
CUDA_CACHE_MAXSIZE=9000 run 0 prime --json "$sample"
json 'not d["repaired"]'
run 0 cache verify --json
json 'd["files_without_row"] == 8'
snapshot run 0 prime --json "$sample"
run 0 cache verify --json
json 'd["files_without_row"] == 0 and d["sound"] == 8'
run 0 prime --json "$sample"
json 'not d["repaired"]'

# The cache is larger than its limit: nothing is cold, and the message has the number.
varies text 'evicts \d+ entries or more' # entries of one moment are in any order
export CUDA_CACHE_MAXSIZE=9000
run 0 check "$sample"
out_has "warm, all 8 modules in the cache"
err_has ": the next compile evicts"
err_has "“jitwarm tune --apply” raises the limit"
snapshot run 0 prime --json "$sample"
json 'd["cache"]["next_insert"] == "evicts" and d["cache"]["evicted"] > 0 and not d["repaired"]'
snapshot run "0|2" status
