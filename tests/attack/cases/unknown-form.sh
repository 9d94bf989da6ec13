# A driver whose form of names jitwarm does not know writes into the account's folder itself: with that account's rights
. "$cases/../lib.sh"
with_simdriver sm_86
cache=$home/.nv/ComputeCache
unset CUDA_CACHE_PATH JITWARM_STATE
run 0 prime --cache "$work/confirmed" "$sample"
rm -rf "$home/.nv"
as_mallory mkdir -p "$cache"
export SIMDRIVER_STAMP='Jan  1 2031 00:00:00'
run '0|1' prime --cache "$cache" "$sample"
(($(cached "$cache"))) || fail "its driver has not written"
while read -r path; do is_theirs "$path"; done < <(find "$home/.nv")
# Through links that lead to root's, nothing
rm -rf "$home/.nv"
as_mallory mkdir -p "$cache"
for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f index; do as_mallory ln -s "$treasure/empty" "$cache/$part"; done
run '0|1|2|3' prime --cache "$cache" "$sample"
untouched
