# Root bakes a library of another account into that account's folder, and that account attacks: links and a FIFO at the library's place, at the
# folder of the copies, and at the copy's name
. "$cases/../lib.sh"
with_simdriver sm_86
export JITWARM_STATE=$home/state CUDA_CACHE_PATH=$home/cache
library=$home/site/lib.so
fresh() {
	rm -rf "$home/site" "$home/state" "$home/baked"
	as_mallory mkdir -p "$home/site" "$home/state" "$home/baked"
	as_mallory cp "$open/lib.so" "$library"
}
cp "$sample" "$open/lib.so"
chmod 644 "$open/lib.so"
cp "$sample" "$treasure/lib.so"
before=$(state_of)

# Without an attack
fresh
run '0|1' bake -o "$home/baked" "$library"
[[ -s $home/baked/lib.so ]] || fail "not baked"
cmp -s "$sample" "$library" || fail "the library itself has changed"
untouched

# The library is a link to root's, or its folder is
fresh
as_mallory ln -sfn "$treasure/lib.so" "$library"
run '0|1|2|3' bake -o "$home/baked" "$library"
untouched
# The folder of the copies, or the copy's name, leads to root's
for target in file secret missing folder; do
	fresh
	as_mallory rmdir "$home/baked"
	as_mallory ln -s "$treasure/$target" "$home/baked"
	run '0|1|2|3|64' bake -o "$home/baked" "$library"
	untouched
	fresh
	as_mallory ln -s "$treasure/$target" "$home/baked/lib.so"
	run '0|1|2|3|64' bake -o "$home/baked" "$library"
	untouched
done
fresh
as_mallory mkfifo "$home/baked/lib.so"
run '0|1|2|3' bake -o "$home/baked" "$library"
untouched
