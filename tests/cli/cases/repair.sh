# cache verify --repair removes only understood damage, and makes the index agree with the files.
. "$cases/../pack-entries.sh"

cache=$work/cache
for n in 1 2 3; do pack_entry "$cache" $n "Apr  8 202512:10:18" 86; done
pack_entry "$cache" 4 "Apr  8 202512:10:18" 75
pack_entry "$cache" 5 "Jan  1 201901:02:03" 86
dir=$(native "$cache")
printf foreign >"$cache/notes.txt"

# An entry is torn, and the index would make a driver wipe the cache.
first=$(find "$cache" -type f -path '*/?/?/*' | sort | head -1)
truncate -s 40 "$first"
printf xx >"$cache/index"
snapshot run 1 cache verify --cache "$dir"
snapshot run 0 cache verify --cache "$dir" --repair
[[ $(cat "$cache/notes.txt") == foreign ]] || fail "a foreign file was touched"
run 0 cache verify --cache "$dir" --json
json 'd["sound"] == 4 and d["rows"] == 4 and d["next_insert"] == "adds"'
# An entry of another version of the format is not removed.
first=$(find "$cache" -type f -path '*/?/?/*' | sort | head -1)
printf '\x42' | dd of="$first" bs=1 conv=notrunc status=none
snapshot run 1 cache verify --cache "$dir" --repair
[[ -e $first ]] || fail "an entry of another version was removed"
