# Root bakes in another account's folder, and that account attacks: links at the library's place, at the journal, at the kept original, at RECORD, and
# a journal that would have root write a file of root's
. "$cases/../lib.sh"
with_simdriver sm_86
export JITWARM_STATE=$home/state
site=$home/site
library=$site/pkg/lib.so
fresh() {
	rm -rf "$site" "$home/state"
	as_mallory mkdir -p "$site/pkg" "$site/pkg-1.0.dist-info" "$home/state"
	as_mallory cp "$open/lib.so" "$library"
	as_mallory sh -c "echo pkg/lib.so,, >'$site/pkg-1.0.dist-info/RECORD'"
}
cp "$sample" "$open/lib.so"
chmod 644 "$open/lib.so"
original=$(sha256sum <"$sample")
cp "$sample" "$treasure/lib.so"
before=$(state_of)

# Without an attack: everything is that account's
fresh
run '0|1' bake --in-place "$library"
while read -r path; do is_theirs "$path"; done < <(find "$site" "$home/state" -mindepth 1)
[[ $(sha256sum <"$library") != "$original" ]] || fail "not baked"
run 0 bake --undo "$library"
[[ $(sha256sum <"$library") == "$original" ]] || fail "not undone"
while read -r path; do is_theirs "$path"; done < <(find "$site" "$home/state" -mindepth 1)
untouched

# The library is a link to root's, or its folder is
fresh
as_mallory ln -sfn "$treasure/lib.so" "$library"
run '1|2|3' bake --in-place "$library"
untouched
as_mallory rm -r "$site/pkg"
as_mallory ln -s "$treasure" "$site/pkg"
run '1|2|3' bake --in-place "$library"
untouched
# RECORD is
fresh
as_mallory ln -sfn "$treasure/file" "$site/pkg-1.0.dist-info/RECORD"
run '0|1|2|3' bake --in-place "$library"
untouched
run '0|1|2|3' bake --undo "$library"
untouched
# The folder of the journals, its lock, and the journal are
fresh
run '0|1' bake --in-place "$library"
journal=$(basename "$(ls "$home/state/baked/"*.journal)") kept=$(basename "$(ls "$home/state/baked/"*.original)")
for name in baked "baked/$journal" "baked/$kept" baked/lock; do
	for target in file secret missing folder; do
		fresh
		as_mallory mkdir -p "$home/state/baked"
		as_mallory rm -rf "$home/state/$name"
		as_mallory ln -s "$treasure/$target" "$home/state/$name"
		run '0|1|2|3' bake --in-place "$library"
		untouched
		run '0|1|2|3' bake --undo "$library"
		untouched
		run '0|1|2|3' bake list
		untouched
	done
done

# A journal names a file of root's as the package's RECORD.
fresh
printf 'sudo:x:27:alice,carol\n' >"$treasure/group"
before=$(state_of)
run '0|1' bake --in-place "$library"
python3 - "$(echo "$home/state/baked/"*.journal)" "$treasure/group" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
document.update(record=sys.argv[2], row_before="sudo:x:27:alice,mallory", row_after="sudo:x:27:alice,mallory")
json.dump(document, open(sys.argv[1], "w"))
PYTHON
run '0|1' bake --in-place "$library"
untouched
run 0 bake --undo "$library"
untouched
[[ $(sha256sum <"$library") == "$original" ]] || fail "not undone"

# RECORD cannot be written: nothing is replaced.
fresh
as_mallory chmod 555 "$site/pkg-1.0.dist-info"
run 3 bake --in-place "$library"
[[ $(sha256sum <"$library") == "$original" ]] || fail "baked, and RECORD is wrong"
as_mallory chmod 755 "$site/pkg-1.0.dist-info"

# A journal in that account's state decides nothing about a file of root's.
fresh
JITWARM_STATE=$work/roots run '0|1' bake --in-place "$treasure/lib.so"
before=$(state_of)
as_mallory mkdir -m 700 -p "$home/state/baked"
cp "$work/roots/baked/"*.[jo]* "$home/state/baked/"
chown $mallory "$home/state/baked/"*
run '2|3' bake --undo "$treasure/lib.so"
out_has "journals are not kept there for"
untouched
run '2|3' bake --in-place "$treasure/lib.so"
untouched
run '1|3' bake list
[[ $(cat "$out" "$err") == *"journals are not kept there for"* ]] || fail "bake list has read what another account's journal names"
JITWARM_STATE=$work/roots run 0 bake --undo "$treasure/lib.so"
[[ $(sha256sum <"$treasure/lib.so") == "$original" ]] || fail "root's own journal does not restore"
