# cache prune removes entries of former drivers and old entries as asked, and no others; cache verify --repair removes only understood
# damage.
has_command cache prune || skip "no such command yet"
. "$cases/../pack-entries.sh"

cache=$work/cache
count() { find "$cache" -type f -path '*/?/?/*' | wc -l; }
for n in 1 2 3; do pack_entry "$cache" $n "Apr  8 202512:10:18" 86; done
for n in 4 5; do pack_entry "$cache" $n "Mar 25 202615:25:13" 86; done
pack_entry "$cache" 6 "Apr  8 202512:10:18" 75
pack_entry "$cache" 7 "Jan  1 201901:02:03" 86
dir=$(native "$cache")
printf foreign >"$cache/notes.txt"

snapshot run 64 cache prune --cache "$dir"
snapshot run 1 cache prune --cache "$dir" --driver 535.309.01
[[ $(count) == 7 ]] || fail "a dry run has removed something"
snapshot run 0 cache prune --cache "$dir" --driver 535.309.01 --apply --json
json 'd["schema"] == "jitwarm.cache-prune/1" and d["removed"] == 2 and d["chosen_entries"] == 2 and d["longest_hold_seconds"] < 60'
run 0 cache verify --cache "$dir" --json
json 'd["sound"] == 5 and d["rows"] == 5 and d["rows_without_file"] == 0'
run 0 cache prune --cache "$dir" --older-than 2d --apply
out_has "nothing to prune"
[[ $(cat "$cache/notes.txt") == foreign ]] || fail "a foreign file was touched"

# The entries are torn, or the index would make a driver wipe the cache.
first=$(find "$cache" -type f -path '*/?/?/*' | sort | head -1)
truncate -s 40 "$first"
snapshot run 1 cache prune --cache "$dir" --older-than 200d --json
snapshot run 1 cache prune --cache "$dir" --older-than 200d
printf xx >"$cache/index"
snapshot run 1 cache verify --cache "$dir"
snapshot run 0 cache verify --cache "$dir" --repair
run 0 cache verify --cache "$dir" --json
json 'd["sound"] == 4 and d["rows"] == 4 and d["next_insert"] == "adds"'
# An entry of another version of the format is not removed.
first=$(find "$cache" -type f -path '*/?/?/*' | sort | head -1)
printf '\x42' | dd of="$first" bs=1 conv=notrunc status=none
snapshot run 1 cache verify --cache "$dir" --repair
[[ -e $first ]] || fail "an entry of another version was removed"
printf '\x41' | dd of="$first" bs=1 conv=notrunc status=none
snapshot run 64 cache prune --cache "$dir" --older-than 30
snapshot run 64 cache prune --cache "$dir" --older-than 0d
run 64 cache prune extra

# Entries of unknown drivers are removed only if their stamp is named, not by age.
rm -rf "$cache"
stay="Jan  1 201901:02:03"
pack_entry "$cache" 1 "$stay" 86
pack_entry "$cache" 2 "$stay" 75
pack_entry "$cache" 3 "Apr  8 202512:10:18" 86
find "$cache" -type f -exec touch -d '100 days ago' {} +
run 1 cache prune --cache "$dir" --older-than 30d --json
json 'd["chosen_entries"] == 1 and d["groups"][0]["driver"] == "Apr  8 202512:10:18"'
json 'sorted((u["arch"], u["driver"]) for u in d["staying"]) == [("sm_75", "'"$stay"'"), ("sm_86", "'"$stay"'")]'
run 0 cache prune --cache "$dir" --older-than 200d
snapshot run 0 cache prune --cache "$dir" --older-than 30d --apply
[[ $(count) == 2 ]] || fail "$(count) entries left"
snapshot run 0 cache prune --cache "$dir" --driver "$stay" --older-than 30d --apply
[[ $(count) == 0 ]] || fail "$(count) entries left"

# Former drivers are known drivers other than this machine's, and an unknown one that was seen here and whose library is gone; a driver
# whose library is still there is not a former one, nor is an unknown stamp.
if [[ -e $(dirname "$(dirname "${JITWARM##* }")")/tests/simdriver ]]; then
	rm -rf "$cache"
	gone="Feb  2 202002:02:02" there="Mar  3 202003:03:03"
	pack_entry "$cache" 1 "Apr  8 202512:10:18" 86
	pack_entry "$cache" 2 "$gone" 86
	pack_entry "$cache" 3 "$there" 86
	pack_entry "$cache" 4 "$stay" 86
	with_simdriver sm_86
	run 0 prime "$sample" --no-store
	run "0|2" status --json
	own=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["driver"]["stamp"])' "$out")
	before=$(count)
	mkdir -p "$work/state/drivers"
	library=$work/libcuda.so.1.2.3
	printf x >"$library"
	touch -d '2020-03-03 03:03:03' "$library"
	# profile STAMP MTIME: writes the remembered profile of such a driver
	profile() {
		printf '{"schema":"jitwarm.driver/1","library":"%s","size_bytes":1,"mtime_ns":"%016x","build_id":"","stamp":"%s","trust":"confirmed","cuda":12040,"release":[1,2,3]}' \
			"$(native "$library" | sed 's/\\/&&/g')" "$2" "$1" >"$work/state/drivers/$2.json"
	}
	profile "$gone" 1
	profile "$there" "$(stat -c %.9Y "$library" | tr -d .)"
	[[ $own == "Apr  8 202512:10:18" ]] && former=1 || former=2
	snapshot run 1 cache prune --driver former --json
	json 'd["chosen_entries"] == '$former' and "'"$own"'" not in [g["driver"] for g in d["groups"]]'
	run 0 cache prune --driver former --apply
	[[ $(count) == $((before - former)) ]] || fail "$(count) of $before left"
	run 0 check "$sample"
	run 0 cache verify
	# Entries made ahead for another machine with an older driver do not count as a former driver's.
	ahead=$work/ahead module=$work/module.ptx
	printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry made()\n{\n\tret;\n}\n' >"$module"
	JITWARM_STATE=$work/of-another SIMDRIVER_VERSION=535.309.01 SIMDRIVER_STAMP="Mar 25 202615:25:13" SIMDRIVER_CUDA=12020 \
		run 0 prime --no-store --cache "$ahead" "$module"
	snapshot run 1 cache prune --driver former --cache "$ahead"
	run 0 check --target sm_86 --driver 535.309.01 --cache "$ahead" "$module"
	run 1 cache prune --driver former --cache "$ahead"
	run 0 make -n --target sm_86 --driver 535.309.01 -o "$ahead/" "$module"
	run 0 cache prune --driver former --cache "$ahead"
fi
true
