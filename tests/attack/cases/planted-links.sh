# Links in another account's cache: root is that account there, and writes through none of them that lead out of its reach
. "$cases/../lib.sh"
with_simdriver sm_86
cache=$home/.nv/ComputeCache
export CUDA_CACHE_PATH=$cache JITWARM_STATE=$home/state
fresh() {
	rm -rf "$home/.nv"
	as_mallory mkdir -p "$cache"
}
# every command that writes to a cache
attack() {
	run '0|1|2|3' prime "$sample"
	untouched
	run '0|1|2|3' cache verify --repair
	untouched
	run '0|1|2|3' import --allow-unsigned "$open/a.jwpack"
	err_lacks "works for one account"
	untouched
	run '0|1|2|3' import --allow-unsigned --cache "$cache" "$open/a.jwpack"
	untouched
	run '0|1|2|3' cache prune --apply --older-than 1s
	untouched
}

CUDA_CACHE_PATH=$work/cache JITWARM_STATE=$work/state run 0 prime "$sample"
CUDA_CACHE_PATH=$work/cache JITWARM_STATE=$work/state run 0 export -o "$open/a.jwpack"
chmod 644 "$open/a.jwpack"

# Without an attack: everything is that account's
fresh
run 0 prime "$sample"
(($(cached "$cache") > 5)) || fail "nothing was compiled"
# doctor's driver, which follows every link, has that account's rights
run '0|1' doctor --json
json 'd["probe"] != "unsafe"'
while read -r path; do is_theirs "$path"; done < <(find "$home/.nv")

# The index
for target in file secret empty missing folder; do
	fresh
	as_mallory ln -s "$treasure/$target" "$cache/index"
	attack
done
# A second name for root's file, where the system allows one
fresh
if as_mallory ln "$treasure/file" "$cache/index" 2>/dev/null; then
	attack
	rm "$cache/index"
	before=$(state_of)
fi
# The lock of a run, and the name of its holder
for name in .jitwarm-lock .jitwarm-holder; do
	fresh
	for target in file secret missing; do
		as_mallory ln -sfn "$treasure/$target" "$home/.nv/$name"
		as_mallory ln -sfn "$treasure/$target" "$cache/$name"
		as_mallory ln -sfn "$treasure/$target" "$cache$name"
		attack
	done
done
# The directory itself, one above it, and one of its parts
for target in folder empty missing; do
	fresh
	rmdir "$cache"
	as_mallory ln -s "$treasure/$target" "$cache"
	attack
	rm -rf "$home/.nv"
	as_mallory ln -s "$treasure/$target" "$home/.nv"
	attack
	fresh
	for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f jitwarm; do as_mallory ln -s "$treasure/$target" "$cache/$part"; done
	[[ $target != empty ]] || run '0|1|2|3' doctor
	untouched
	attack
done

# A directory that root has there is on that account's way, too, and it may not write to it
fresh
rmdir "$cache" && mkdir -m 755 "$cache"
run '1|2|3' prime "$sample"
[[ -z $(ls -A "$cache") ]] || fail "written to root's directory in another account's"

# Links that only root can have made are followed
fresh
mkdir "$open/elsewhere" && chown $mallory:$mallory "$open/elsewhere"
ln -s elsewhere "$open/link"
CUDA_CACHE_PATH=$open/link/cache run 0 prime "$sample"
is_theirs "$open/elsewhere/cache" "$open/elsewhere/cache/index"
untouched

# … and put there: without the sticky bit the account moves root's own link to where root will write
export JITWARM_STATE=$work/state
mkdir "$open/all" && chmod 777 "$open/all"
ln -s "$treasure/empty" "$open/all/roots"
as_mallory mv "$open/all/roots" "$open/all/cache"
for path in "$open/all/cache" "$open/all/cache/below"; do
	CUDA_CACHE_PATH=$path run '0|1|2|3' prime "$sample"
	CUDA_CACHE_PATH=$path run '0|1|2|3' import --allow-unsigned "$open/a.jwpack"
	untouched
done
chmod 1777 "$open/all"
CUDA_CACHE_PATH=$open/all/cache run 0 prime "$sample"
(($(cached "$treasure/empty") > 5)) || fail "a link of root's in a folder like /tmp is not followed"
