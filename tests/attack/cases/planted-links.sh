# Another account has put symlinks, pipes and hard links where root works. While the account could do so, root refuses. A chmod and a chown
# leave the links in place; then root follows none below its cache and its state.
. "$cases/../lib.sh"
with_simdriver sm_86
cache=$open/own/cache
CUDA_CACHE_PATH=$work/cache JITWARM_STATE=$work/state run 0 prime "$sample"
CUDA_CACHE_PATH=$work/cache JITWARM_STATE=$work/state run 0 export -o "$open/a.jwpack"
mapfile -t names < <(find "$work/state" -mindepth 1 -maxdepth 1 -printf '%f\n')
((${#names[@]} > 3)) || fail "few names: ${names[*]}"
export CUDA_CACHE_PATH=$cache JITWARM_STATE=$open/own/state
fresh() {
	rm -rf "$open/own"
	mkdir "$open/own" && chown $mallory "$open/own"
	as_mallory mkdir "$cache" "$JITWARM_STATE"
}
# attack: runs every command that writes to a cache or to the state, first while the places are the account's, then when they are root's
attack() {
	local command whose
	for whose in theirs roots; do
		for command in "prime --quiet $sample" "cache verify --repair" "import --allow-unsigned $open/a.jwpack" "import --allow-unsigned --cache $cache $open/a.jwpack" \
			"cache prune --apply --older-than 1s" "key generate" "cache clear --yes" "store clear --yes"; do
			# shellcheck disable=SC2086
			if [[ $whose == theirs ]]; then
				limit=60 run '2|64' $command
			else
				limit=60 run '0|1|2|3|64' $command
			fi
			untouched
		done
		find "$open/own" -type d -exec chown root {} + -exec chmod 755 {} +
	done
}

# Without an attack, every command works.
fresh
chown -R root "$open/own"
run 0 prime --quiet "$sample"
(($(cached "$cache") > 5)) || fail "nothing was compiled"

for target in file empty missing folder; do
	fresh
	as_mallory ln -s "$treasure/$target" "$cache/index"
	attack
	fresh
	for name in "${names[@]}" runs store trusted keys; do as_mallory ln -sfn "$treasure/$target" "$JITWARM_STATE/$name"; done
	attack
	fresh
	for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f jitwarm; do as_mallory ln -s "$treasure/$target" "$cache/$part"; done
	attack
done
# one symlink at a time, which a chown has made root's
for name in "${names[@]}"; do
	fresh
	chown -R root "$open/own"
	ln -s "$treasure/file" "$JITWARM_STATE/$name"
	run '0|1|2|3' prime --quiet "$sample"
	run '0|1|2|3' status
	untouched
done
# symlinks in the place of the folders themselves
for place in "$cache" "$JITWARM_STATE"; do
	fresh
	rmdir "$place"
	as_mallory ln -s "$treasure/empty" "$place"
	run 2 prime --quiet "$sample"
	chown root "$open/own"
	run 2 prime --quiet "$sample"
	untouched
done
# the lock of a run, and the file with its holder's name
fresh
for name in .jitwarm-lock .jitwarm-holder; do
	as_mallory ln -sfn "$treasure/file" "$open/own/$name"
	as_mallory ln -sfn "$treasure/missing" "$cache/$name"
	as_mallory ln -sfn "$treasure/secret" "$cache$name"
done
attack
# a pipe, and a hard link to root's file, if the system allows one
fresh
as_mallory mkfifo "$cache/index" "$JITWARM_STATE/ledger-lock"
attack
fresh
if as_mallory ln "$treasure/file" "$cache/index" 2>/dev/null; then
	attack
	rm "$cache/index"
	before=$(state_of)
fi

# uninstall removes no file through a link, however the state directory is written.
touch "$treasure/folder/a.txt" "$treasure/folder/a.json"
before=$(state_of)
for state in "$JITWARM_STATE" "$JITWARM_STATE/" "/$JITWARM_STATE" "$open/to-own/state"; do
	fresh
	for name in wheels drivers keys runs; do as_mallory ln -sfn "$treasure/folder" "$JITWARM_STATE/$name"; done
	chown -R -h root "$open/own" && chmod 755 "$open/own" "$JITWARM_STATE"
	chown -h $mallory "$JITWARM_STATE"/*
	ln -sfn own "$open/to-own"
	JITWARM_STATE=$state run "0|1|2|3" uninstall
	untouched
done

# Symlinks that only root can have made are followed.
mkdir "$open/elsewhere"
ln -s elsewhere "$open/link"
CUDA_CACHE_PATH=$open/link/cache JITWARM_STATE=$work/state run 0 prime "$sample"
[[ -e $open/elsewhere/cache/index ]] || fail "not followed"
untouched
# Without the sticky bit the account can move root's own symlink to where root will write.
export JITWARM_STATE=$work/state
mkdir "$open/all" && chmod 777 "$open/all"
ln -s "$treasure/empty" "$open/all/roots"
as_mallory mv "$open/all/roots" "$open/all/cache"
for path in "$open/all/cache" "$open/all/cache/below"; do
	CUDA_CACHE_PATH=$path run 2 prime "$sample"
	CUDA_CACHE_PATH=$path run 2 import --allow-unsigned "$open/a.jwpack"
	untouched
done
chmod 1777 "$open/all"
CUDA_CACHE_PATH=$open/all/cache run 0 prime "$sample"
(($(cached "$treasure/empty") > 5)) || fail "a link of root's in a folder like /tmp is not followed"
