# The folder of an opaque import is swapped for a link to root's files, at the very moment when it is given to the account
. "$cases/../lib.sh"
with_simdriver sm_86
run 0 prime "$sample"
run 0 export --opaque -o o.jwpack
# What is swapped in has the same names
cp -r "$work/cache" "$treasure/tree" && chmod -R go= "$treasure/tree"
before=$(state_of)

cache=$home/.nv/ComputeCache
for mode in 755 700; do
	rm -rf "$home/.nv"
	as_mallory mkdir -p -m "$mode" "$cache"
	as_mallory chmod 755 "$home" "$home/.nv"
	JITWARM="env LD_PRELOAD=$build/tests/attack/swap.so SWAP_PREFIX=$cache.jitwarm- SWAP_ACCOUNT=$mallory \
		SWAP_TARGET=$treasure/tree SWAP_DONE=$open/struck-$mode ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 $JITWARM" \
		run '0|3' import --allow-unsigned --cache "$cache" o.jwpack
	untouched
done
# It is made by the account's rights: in mode 700 there is nothing to be given
[[ -e $open/struck-755 ]] || fail "nothing was swapped"

# Without an attack
rm -rf "$home/.nv"
as_mallory mkdir -p "$cache"
run 0 import --allow-unsigned --cache "$cache" o.jwpack
while read -r path; do is_theirs "$path"; done < <(find "$home/.nv")

# A driver whose form of names jitwarm does not know would write into the account's folder itself, with root's rights
unset CUDA_CACHE_PATH
run 0 prime --cache "$work/confirmed" "$sample"
rm -rf "$home/.nv"
as_mallory mkdir -p "$cache"
export SIMDRIVER_STAMP='Jan  1 2031 00:00:00'
run 2 prime --cache "$cache" "$sample"
err_has "another account could replace it"
[[ $(cached "$cache") == 0 ]] || fail "root's driver has written: $(find "$cache" -type f)"
while read -r path; do is_theirs "$path"; done < <(find "$home/.nv")
untouched
