# prime --share: another account has put symlinks below the shared folder, on each level. Neither root nor another account writes, reads or
# removes anything through them.
. "$cases/../lib.sh"
with_simdriver sm_86
place=$open/place
# machine: begins a machine that has compiled nothing
count=0
fresh_machine() {
	count=$((count + 1))
	export CUDA_CACHE_PATH=$work/$count/cache JITWARM_STATE=$work/$count/state
	mkdir "$work/$count"
}
fresh_machine
mkdir "$work/good"
run 0 prime --share "$work/good" --share-unsigned "$sample"
# Lists the folders of a place, the deepest last, and one object.
mapfile -t folders < <(cd "$work/good" && find . -mindepth 1 -type d -printf '%d %P\n' | sort -n | cut -d ' ' -f 2- | awk -F/ '!seen[NF]++')
object=$(cd "$work/good" && find . -name '*.jwpack' -printf '%P\n' | sort | head -n 1)
((${#folders[@]} == 4)) || fail "another layout: ${folders[*]}"
has_objects() { [[ -n $(find "$treasure" -name '*.jwpack*' -o -name '*.claim*') ]]; }

# Makes the place; up to the folder above `$1`, everyone may write.
make_place() { # OWNER MODE FOLDER
	rm -rf "$place"
	mkdir "$place"
	[[ $(dirname "$3") == . ]] || (umask 0; mkdir -p "$place/$(dirname "$3")")
	chown -R "$1:$1" "$place"
	find "$place" -type d -exec chmod "$2" {} +
}
attack() { # PLANTED: the kind of link
	run '0|1|2|3' prime --share "$place" --share-unsigned "$sample"
	untouched
	has_objects && fail "an object was placed through a link: $1"
	[[ $(cached "$CUDA_CACHE_PATH") == 8 ]] || fail "what the place refuses is not compiled here: $1"
}

# The folders of the place are attacked: one for all without the sticky bit, as /tmp would be, and one of that account's own.
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
	targets=("${targets[@]:1}" "${targets[0]}") # The next level has other pairs.
done

# The place itself is exchanged for a symlink and back, as fast as the account can.
mkdir -p "$open/theirs/place" && ln -s "$treasure/empty" "$open/theirs/link" && chown -hR $mallory "$open/theirs"
cat >"$open/exchange.py" <<'PYTHON'
import ctypes, sys
paths = [path.encode() for path in sys.argv[1:]]
while ctypes.CDLL(None).renameat2(-100, paths[0], -100, paths[1], 2) == 0:
    pass
PYTHON
setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all /usr/bin/python3 "$open/exchange.py" "$open/theirs/place" "$open/theirs/link" &
exchanger=$! place=$open/theirs/place
for _ in {1..30}; do
	fresh_machine
	attack "the place itself"
done
kill $exchanger || fail "nothing was exchanged"
wait $exchanger 2>/dev/null
place=$open/place

# The objects and the claims beside them are attacked: they are read, replaced and removed.
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

# Without an attack, objects are put there and taken from there.
make_place 0 1777 "$object"
fresh_machine
run 0 prime --share "$place" --share-unsigned "$sample"
[[ -e $place/$object ]] || fail "nothing was put into a place for all"
fresh_machine
run 0 prime --share "$place" --share-unsigned "$sample" --json
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'

# An account that is not root, with folders of its own
# shellcheck disable=SC2154 # accounts.sh
copy_for_all "$build" "$open" src/jitwarm tests/framework/libsample_framework.so tests/simdriver/lib && mkdir "$open/machine" || fail "copying for another account"
mkdir -p "$open/ann/own/folder"
chown -R 65534:65534 "$open/ann"
# ann_primes PLANTED: ann's cache has 8 modules afterwards
ann_primes() {
	rm -rf "$open/ann/cache" "$open/ann/state"
	$runner "${as_other[@]}" env HOME="$open/ann" SIMDRIVER_STATE="$open/ann/driver" LD_LIBRARY_PATH="$open/tests/simdriver/lib" CUDA_CACHE_PATH="$open/ann/cache" JITWARM_STATE="$open/ann/state" \
		JITWARM_SYSTEM_ROOT="$open/machine" "$open/src/jitwarm" prime --share "$place" --share-unsigned "$open/tests/framework/libsample_framework.so" >"$out" 2>"$err" || true
	[[ $(cached "$open/ann/cache") == 8 ]] || fail "what the place refuses is not compiled here: $1: $(cat "$out" "$err")"
	[[ -z $(find "$open/ann/own" -type f -o -type l) ]] || fail "written through a link: $1: $(find "$open/ann/own")"
}
targets=(own own/missing own/folder)
for folder in "${folders[@]}"; do
	make_place $mallory 0777 "$folder"
	as_mallory ln -s "$open/ann/${targets[0]}" "$place/$folder"
	ann_primes "$folder -> ${targets[0]}"
	grep -q "a symlink, which jitwarm does not follow in this folder" "$out" "$err" || fail "not said: $(cat "$out" "$err")"
	targets=("${targets[@]:1}" "${targets[0]}")
done
# Objects and claims that are symlinks to files of ann are not read, replaced or removed.
rm -rf "$place"
cp -r "$work/good" "$place"
find "$place" -type d -exec chmod 1777 {} +
(umask 077; printf 'own' >"$open/ann/file")
chown 65534 "$open/ann/file"
find "$place" -name '*.jwpack' | while read -r path; do
	rm "$path"
	as_mallory ln -s "$open/ann/file" "$path"
	as_mallory ln -s "$open/ann/file" "${path%.jwpack}.claim"
done
ann_primes "objects and claims"
[[ $(cat "$open/ann/file") == own ]] || fail "a file was changed"
# A symlink to the place itself is followed, since the user named it.
make_place 0 1777 "$object"
mv "$place" "$open/real" && ln -s real "$place"
ann_primes "none"
[[ -e $place/$object && $(stat -c %u "$place/$object") == 65534 ]] || fail "nothing was put: $(cat "$out" "$err")"
ann_primes "none"
! grep -q "Compiled" "$out" "$err" || fail "what is there was compiled: $(cat "$out" "$err")"
