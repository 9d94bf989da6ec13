# prime --share compiles each module once for all machines, and takes nothing that a stranger could have changed in the directory.
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
place=$work/place
object() { find "$place" -name "$1" | sort | head -n 1; }
# messed HOW: makes the folders of a stranger, with one object for each module, as `mess FILE` leaves it
messed() {
	rm -rf "$place" && cp -r "$work/good" "$place"
	find "$place" -name '*.jwpack' | while read -r file; do mess "$file"; done
	machine "after-$1"
	run 0 prime --share "$place" --share-unsigned "$sample" --json
	json 'd["compiled"] == 8 and d["shared"]["fetched"] == 0 and d["shared"]["placed"] == 8'
	app_compiles 0
	nothing_left
}

machine first
mkdir "$place"
run 64 prime --share-unsigned "$sample"
run 64 prime --sign "$sample"
for wrong in https://host/x s3://bucket/x; do
	run 64 prime --share "$wrong" --share-unsigned "$sample"
	err_has "not a folder"
done
run 64 prime --share "$place" --sign "$sample"
err_has "key generate"
# A dry run touches nothing, and does not make a missing place.
run 1 prime -n --share "$place" --share-unsigned "$sample"
[[ -z $(ls "$place") ]] || fail "a dry run writes"
machine without
run 3 prime --share "$work/none" "$sample"
err_has "none: no such folder: create it, or correct --share"
JITWARM_SHARE=$(native "$work/none") run 0 prime "$sample"
err_has "the shared folder is no longer used"
[[ $(grep -c "no longer used" "$err") == 1 ]] || fail "not one line"
[[ ! -e $work/none ]] || fail "a directory was made"
app_compiles 0

# The first machine compiles and adds the entries; the next ones take them if they trust everyone who can write there, or the key.
machine first
run 0 prime --share "$place" --share-unsigned "$sample" --json
json 'd["compiled"] == 8 and d["shared"] == dict(fetched=0, fetched_bytes=0, saved_seconds=0, placed=8, placed_bytes=d["shared"]["placed_bytes"], refused=0) and d["shared"]["placed_bytes"] > 1000'
[[ $(find "$place" -type f | grep -cE '/v1/[A-Za-z0-9-]+/sm_86/[0-9a-f]{2}/[0-9a-f]{14}\.jwpack$') == 8 ]] || fail "another layout: $(find "$place" -type f)"
[[ $(find "$place" -type f | wc -l) == 8 ]] || fail "something else is there: $(find "$place" -type f)"
run 0 import --dry-run --allow-unsigned "$(object '*.jwpack')"
out_has "1 entry"
nothing_left
machine second
export JITWARM_STORE=1
run 0 prime --share "$place" --share-unsigned "$sample" --json
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8 and d["shared"]["placed"] == 0 and d["shared"]["saved_seconds"] > 0'
app_compiles 0
nothing_left
# prime puts nothing into the folder if all modules are warm, and says so; a folder of the settings is not worth a line.
mkdir "$work/warm"
run 0 prime --share "$work/warm" --share-unsigned "$sample"
out_has "Nothing was put into the shared folder, because this run compiled nothing; to share warm modules, use “jitwarm export” or “jitwarm push”."
[[ -z $(ls "$work/warm") ]] || fail "warm modules were shared"
JITWARM_SHARE=$(native "$work/warm") run 0 prime "$sample"
out_lacks "shared folder"
run 0 prime -n --share "$work/warm" --share-unsigned "$sample"
out_lacks "shared folder"
# Entries taken from the place are kept in the store, and a warm module is not looked up.
rm -rf "$CUDA_CACHE_PATH" && mv "$place" "$work/good"
JITWARM_SHARE=$(native "$place") run 0 prime "$sample" --json
json 'd["compiled"] == 0 and d["from_store"]["entries"] == 8 and d["shared"]["fetched"] == 0 and "trouble" not in d["shared"]'
cp -r "$work/good" "$place"
unset JITWARM_STORE
# Without a trusted key, jitwarm takes and adds nothing there, and says so before anything is compiled.
machine third
run 64 prime --share "$place" "$sample"
err_has "jitwarm key generate" && err_has "--share-unsigned"
[[ ! -e $CUDA_CACHE_PATH ]] || fail "compiled all the same"
run 0 key generate other
run 0 prime --share "$place" "$sample"
err_has "8 modules in the shared folder not used"
err_has "no trusted key has signed it"
err_has "the results in the shared folder are not signed"
app_compiles 0

# Entries are signed by this account's key unasked.
rm -rf "$place" && mkdir "$place"
machine signer
run 0 key generate --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")
run 0 prime --share "$place" "$sample" --json
json 'd["shared"]["placed"] == 8'
err_lacks "not signed"
[[ $(find "$place" -name '*.jwpack.minisig' | wc -l) == 8 ]] || fail "not signed: $(find "$place")"
machine trusting
run 0 key trust "$public"
run 0 prime --share "$place" "$sample" --json
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8 and d["shared"]["refused"] == 0'
app_compiles 0
machine distrusting
run 0 key generate other
run 0 prime --share "$place" "$sample" --json
json 'd["compiled"] == 8 and d["shared"]["refused"] == 8'
# A pack in another pack's place, with its own valid signature, does not count as the entry of that name.
cp -r "$place" "$work/swapped"
one=$(object '*.jwpack') other=$(find "$place" -name '*.jwpack' | sort | tail -n 1)
cp "$other" "$one" && cp "$other.minisig" "$one.minisig"
machine swapped
run 0 key trust "$public"
run 0 prime --share "$place" "$sample" --json
json 'd["compiled"] == 1 and d["shared"]["fetched"] == 7 and "does not hold the entry" in d["shared"]["refused_why"]'
app_compiles 0
# Another pack's signature, or a changed byte, makes the signature invalid.
cp "$other.minisig" "$one.minisig"
printf X | dd of="$other" bs=1 seek=300 conv=notrunc 2>/dev/null
machine changed
varies text 'refused_why: |modules in the shared folder not used' # either may be named first
run 0 key trust "$public"
run 0 prime --share "$place" "$sample" --json
json 'd["compiled"] == 2 and d["shared"]["fetched"] == 6 and d["shared"]["refused"] == 2'
fixed text 'refused_why: |modules in the shared folder not used'
app_compiles 0

rm -rf "$place" && mkdir "$place"

# Whatever strangers leave there, the module is compiled, and the place is repaired.
mess() { head -c 100 "$1" >"$1.short" && mv "$1.short" "$1"; }
messed short
mess() { : >"$1"; }
messed empty
mess() { truncate -s 40G "$1"; }
messed huge
if ! is_wine; then
	mess() { rm "$1" && mkfifo "$1"; }
	messed pipe
	mess() { ln -sf /dev/zero "$1"; }
	messed device
	printf 'keep me\n' >"$work/mine"
	mess() { ln -sf "$work/mine" "$1"; }
	messed link
	[[ $(cat "$work/mine") == "keep me" ]] || fail "a link was followed"
	mess() { rm "$1" && mkfifo "${1%.jwpack}.claim"; }
	messed claim-pipe
fi
mess() { rm "$1" && printf '{"claim": "zzz", "seconds": 1e300}' >"${1%.jwpack}.claim"; }
messed claim-nonsense
# A folder in a pack's place stays; the other entries are added.
rm -rf "$place" && cp -r "$work/good" "$place"
one=$(object '*.jwpack')
rm "$one" && mkdir "$one"
machine folder
run 0 prime --share "$place" --share-unsigned "$sample" --json
json 'd["compiled"] == 1 and d["shared"]["fetched"] == 7 and d["shared"]["placed"] == 0 and "trouble" not in d["shared"] and "is not a file" in d["shared"]["refused_why"]'
app_compiles 0
# So does a folder that cannot be read.
if ! is_wine; then
	rm -rf "$place" && cp -r "$work/good" "$place"
	one=$(dirname "$(object '*.jwpack')")
	rm -r "$one" && ln -s "$(basename "$one")" "$one"
	machine loop
	run 0 prime --share "$place" --share-unsigned "$sample" --json
	json '0 < d["compiled"] == d["shared"]["refused"] and d["shared"]["fetched"] == 8 - d["compiled"] and "trouble" not in d["shared"]'
	app_compiles 0
fi

# jitwarm waits for a claim as long as the claim says, or three times the predicted compile, and no longer.
rm -rf "$place" && cp -r "$work/good" "$place"
one=$(object '*.jwpack')
rm "$one" && printf '{"claim": "00000000000000aa", "seconds": 99999999}\n' >"${one%.jwpack}.claim"
machine claimed
run 0 prime --share "$place" --share-unsigned "$sample" --json
json 'd["compiled"] == 1 and d["shared"]["fetched"] == 7 and d["shared"]["placed"] == 1'
app_compiles 0
