# prime --share: links of another account below the shared place, on each level; root writes, reads and removes nothing through them
. "$cases/../lib.sh"
with_simdriver sm_86
place=$open/place
# A machine that has compiled nothing
count=0
fresh_machine() {
	count=$((count + 1))
	export CUDA_CACHE_PATH=$work/$count/cache JITWARM_STATE=$work/$count/state
	mkdir "$work/$count"
}
fresh_machine
mkdir "$work/good"
run 0 prime --share "$work/good" --share-unsigned "$sample"
# The folders of a place, the deepest last, and an object
mapfile -t folders < <(cd "$work/good" && find . -mindepth 1 -type d -printf '%d %P\n' | sort -n | cut -d ' ' -f 2- | awk -F/ '!seen[NF]++')
object=$(cd "$work/good" && find . -name '*.jwpack' -printf '%P\n' | sort | head -n 1)
((${#folders[@]} == 4)) || fail "another layout: ${folders[*]}"
has_objects() { [[ -n $(find "$treasure" -name '*.jwpack*' -o -name '*.claim*') ]]; }

# As far as the folder above `$1`, everyone may write
make_place() { # OWNER MODE FOLDER
	rm -rf "$place"
	mkdir "$place"
	[[ $(dirname "$3") == . ]] || (umask 0; mkdir -p "$place/$(dirname "$3")")
	chown -R "$1:$1" "$place"
	find "$place" -type d -exec chmod "$2" {} +
}
attack() { # what was planted
	run '0|1|2|3' prime --share "$place" --share-unsigned "$sample"
	untouched
	has_objects && fail "an object was placed through a link: $1"
	[[ $(cached "$CUDA_CACHE_PATH") == 8 ]] || fail "what the place refuses is not compiled here: $1"
}

# Folders: of a place for all as /tmp is, without the sticky bit, and of that account's own
targets=(empty missing folder)
for folder in "${folders[@]}"; do
	for kind in "0 1777" "0 0777" "$mallory 0755"; do
		target=${targets[0]} targets=("${targets[@]:1}" "${targets[0]}")
		# shellcheck disable=SC2086
		make_place $kind "$folder"
		as_mallory ln -s "$treasure/$target" "$place/$folder"
		fresh_machine
		attack "$folder -> $target in a place of $kind"
	done
	targets=("${targets[@]:1}" "${targets[0]}") # the next level has other pairs
done

# The objects themselves, and the claims beside them: read, replaced and removed
for target in file secret missing folder; do
	rm -rf "$place"
	cp -r "$work/good" "$place"
	find "$place" -type d -exec chmod 1777 {} +
	find "$place" -name '*.jwpack' | while read -r path; do
		rm "$path"
		as_mallory ln -s "$treasure/$target" "$path"
		as_mallory ln -s "$treasure/$target" "${path%.jwpack}.claim"
	done
	fresh_machine
	attack "objects and claims -> $target"
done

# Without an attack the objects are put, and taken
make_place 0 1777 "$object"
fresh_machine
run 0 prime --share "$place" --share-unsigned "$sample"
[[ -e $place/$object ]] || fail "nothing was put into a place for all"
fresh_machine
run 0 prime --share "$place" --share-unsigned "$sample" --json
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'
