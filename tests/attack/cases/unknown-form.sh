# A driver whose form of names jitwarm does not know would write into the account's folder itself, with root's rights
. "$cases/../lib.sh"
with_simdriver sm_86
cache=$home/.nv/ComputeCache
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
