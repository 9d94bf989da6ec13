# store gc: many small packs become one, and killed at any moment it loses none of what they hold
. "$cases/../pack-entries.sh"

store=$work/state/store
# pack N…: a pack of the store with these entries
pack() {
	local n
	rm -rf "$work/cache"
	for n; do pack_entry "$work/cache" "$n" "${stamp:-Apr  8 202512:10:18}" 86; done
	run 0 export --all --cache "$(native "$work/cache")" -o "$(native "$work/one.jwpack")"
	mv "$work/one.jwpack" "$store/sm_86-000000000000$(printf %04d "$1").jwpack"
}
packs() { find "$store" -name '*.jwpack' | wc -l; }
# holds COUNT: every pack is sound, and together they hold so many entries
holds() {
	run 0 store verify
	rm -rf "$work/copy"
	for p in "$store"/*.jwpack; do run 0 import -q --allow-unsigned --as-is --cache "$(native "$work/copy")" "$(native "$p")"; done
	run 0 cache verify --cache "$(native "$work/copy")" --json
	json 'd["sound"] == '"$1"' and d["damaged"] == 0'
}

run 0 store gc
[[ ! -e $store ]] || fail "made a store to clean"
mkdir -p "$store"
pack 1 2
touch -d '2026-01-02 03:04:05' "$store"/*.jwpack
pack 2 3 4
touch -d '2026-02-03 04:05:06' "$store"/*0002.jwpack
stamp="Oct 17 201820:07:28" pack 5
run 0 store gc
out_has "2 small packs became 1"
[[ $(packs) == 2 ]] || fail "$(packs) packs"
[[ -n $(find "$store" -name '*.jwpack' ! -newermt '2026-02-03 04:05:07' -newermt '2026-02-03 04:05:05') ]] || fail "is younger than what it is made of"
holds 5
run 0 store gc
out_lacks "became"
# A damaged pack is removed, and so are the others
pack 6
printf x | dd of="$(find "$store" -name '*0006.jwpack')" bs=1 seek=100 conv=notrunc status=none
pack 7
run 0 store gc
out_has "1 pack removed"
out_has "2 small packs became 1"
holds 6

for n in 11 12 13 14; do pack "$n"; done
cp -r "$store" "$work/before"
for round in 1 2 3 4 5 6 7 8; do
	begin store gc
	sleep "$(moment 70)"
	kill_begun
	[[ $round != [48] ]] || holds 10
	[[ $round != 4 ]] || { rm -rf "$store"; cp -r "$work/before" "$store"; }
done
run 0 store gc
[[ $(packs) == 2 && -z $(find "$store" -name 'new*') ]] || fail "$(ls "$store")"
holds 10
