# Root's own cache and state, where everybody may write, as on a volume of a container whose accounts all count as root. jitwarm follows
# nothing that another account has put there, whatever name it has and however deep it lies. A chmod leaves such links in place, too.
. "$cases/../lib.sh"
with_simdriver sm_86
CUDA_CACHE_PATH=$work/first JITWARM_STORE=1 run 0 prime "$sample"
CUDA_CACHE_PATH=$work/first run 0 export -o "$open/a.jwpack"
mapfile -t names < <(find "$work/state" -mindepth 1 -maxdepth 1 -printf '%f\n')
((${#names[@]} > 5)) || fail "few names: ${names[*]}"
volume=$open/volume
export JITWARM_TRUST_ACCOUNTS='*' CUDA_CACHE_PATH=$volume/cache JITWARM_STATE=$volume/state JITWARM_STORE=1
# fresh MODE: makes the volume, the cache and the state with that mode
fresh() {
	rm -rf "$volume"
	mkdir -m "$1" "$volume" "$volume/cache" "$volume/state"
}
attack() {
	for command in "prime --quiet $sample" "cache verify --repair" "import --allow-unsigned $open/a.jwpack" "cache prune --apply --older-than 1s" \
		"tune --apply --max-size 2GiB --scope user" "key generate"; do
		# shellcheck disable=SC2086
		run '0|1|2|3' $command
		untouched
	done
}
while read -r mode target; do
	fresh $mode
	run 0 prime --quiet "$sample"
	(($(cached "$volume/cache") > 5)) || fail "a volume of mode $mode is not used"
	fresh $mode
	as_mallory ln -s "$treasure/$target" "$volume/cache/index"
	attack
	fresh $mode
	for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do as_mallory ln -s "$treasure/$target" "$volume/cache/$part"; done
	attack
	# The link lies in a folder that the account made.
	fresh $mode
	for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		as_mallory mkdir "$volume/cache/$part"
		(cd "$volume/cache/$part" && as_mallory ln -s "$treasure/$target" . && as_mallory sh -c "for below in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do ln -s '$treasure/$target' \$below; done")
	done
	attack
	fresh $mode
	for name in "${names[@]}" runs store trusted keys; do as_mallory ln -s "$treasure/$target" "$volume/state/$name" 2>/dev/null || :; done
	attack
	for name in .jitwarm-lock .jitwarm-holder cache.jitwarm-lock; do
		fresh $mode
		as_mallory ln -s "$treasure/$target" "$volume/$name"
		as_mallory ln -s "$treasure/$target" "$volume/cache/$name"
		run '0|1|2|3' prime --quiet "$sample"
		untouched
	done
done <<<"1777 file
0777 empty
1777 folder
0777 missing"
# A pipe
fresh 1777
as_mallory mkfifo "$volume/cache/index" "$volume/state/ledger-lock"
limit=60 attack
# a hard link to root's file, if the system allows one
fresh 0777
if as_mallory ln "$treasure/file" "$volume/cache/index" 2>/dev/null; then
	attack
fi
