# An account that may read root's cache may write to its index, as NVIDIA's driver requires, so Linux lets it give the index a second name.
# root takes an index of its own, and keeps all entries; the account's name leads nowhere any more.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE
export HOME=$work/home CUDA_CACHE_PATH=$open/cache
mkdir -p "$HOME" "$open/cache"
run 0 prime --quiet "$sample"
entries=$(cached "$open/cache")
chmod 666 "$open/cache/index" && chmod 755 "$open" "$open/cache" "$open/cache"/?
for command in "prime --quiet $cases/../../../ptx/sample_small.ptx" "cache verify --repair"; do
	as_mallory ln "$open/cache/index" "$home/index" || skip "the account cannot make a second name"
	# shellcheck disable=SC2086
	run 0 $command
	[[ $(stat -c '%h %u' "$open/cache/index") == "1 0" ]] || fail "$command: the index has a second name"
	as_mallory truncate -s 0 "$home/index"
	(($(cached "$open/cache") >= entries)) || fail "$command: entries are lost"
	run 0 check "$sample"
	rm "$home/index"
done
# doctor mends it, too, or names a command that does; it never has root remove the index, without which a driver wipes the cache.
as_mallory ln "$open/cache/index" "$home/index"
run '0|1' doctor "$sample"
out_lacks "rm -r"
[[ $(stat -c %h "$open/cache/index") == 1 ]] || { out_has "jitwarm cache verify --repair" && run 0 cache verify --repair; }
[[ $(stat -c %h "$open/cache/index") == 1 ]] || fail "the index still has a second name"
run 0 check "$sample"
untouched
