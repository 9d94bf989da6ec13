# The cache is missing, unreadable, read-only, full or not a cache: each command prints one line, ends with the right status, and writes and
# loses nothing. Only prime writes.
with_simdriver sm_86
cache=$work/cache

# The first prime makes a missing cache.
rmdir "$cache"
run 0 prime --quiet "$sample"
snapshot run 0 cache verify --cache "$cache" --json
full=$(find "$cache" -type f | wc -l)

# A folder that is not a driver's cache is left as it is.
mkdir "$work/other" && cp "$sample" "$work/other/"
find "$work/other" -type f -exec md5sum {} + >"$work/before"
CUDA_CACHE_PATH=$work/other run 3 prime "$sample"
err_has "$work/other"
CUDA_CACHE_PATH=$work/other run 3 cache list
err_one_line
find "$work/other" -type f -exec md5sum {} + | cmp -s - "$work/before" || fail "a foreign folder was changed"

# Another program's file `index` (Git's begins like this) is no damaged index.
mkdir "$work/git" && printf 'DIRC\0\0\0\2\0\0\0\0 and more' >"$work/git/index"
cp "$work/git/index" "$work/before"
for command in "prime $sample" "cache verify --repair" "cache clear --yes" doctor; do
	# shellcheck disable=SC2086
	CUDA_CACHE_PATH=$work/git differs_for WINDOWS snapshot run '0|1|2|3' $command
	cmp -s "$work/git/index" "$work/before" || fail "$command: another program's index was changed"
	[[ $(ls "$work/git") == index ]] || fail "$command made files beside it"
done

# A file lies where the folder should be.
: >"$work/file"
CUDA_CACHE_PATH=$work/file snapshot run 2 prime "$sample"
[[ ! -s $work/file ]] || fail "the file was written"

# The cache is switched off: prime cannot help.
CUDA_CACHE_DISABLE=1 snapshot run 2 prime "$sample"

if [[ $(id -u) != 0 ]]; then
	mkdir "$work/locked" && chmod 0555 "$work/locked"
	CUDA_CACHE_PATH=$work/locked run 2 prime "$sample"
	err_has "$work/locked"
	chmod 0000 "$work/locked"
	CUDA_CACHE_PATH=$work/locked run 3 cache verify
	err_one_line
	chmod 0755 "$work/locked"
	[[ -z $(ls "$work/locked") ]] || fail "something was written"
elif mkdir "$work/small" && mount -t tmpfs -o size=96k,mode=700 none "$work/small" 2>/dev/null; then
	trap 'umount "$work/small"' EXIT
	# The cache limit is too small: prime does not begin.
	CUDA_CACHE_PATH=$work/small snapshot run 1 prime "$sample"
	[[ -z $(find "$work/small" -type f) ]] || fail "something was written"
	# The disk fills up during the run: jitwarm says what it could not insert, and the existing entries stay sound.
	varies names '^small/' # how many entries fit depends on their order
	varies json '^(bytes|index|entries|rows)$'
	varies text '; the cache grew by|^jitwarm: compiling|No space left on device'
	mount -o remount,size=2m,nr_inodes=16 "$work/small"
	CUDA_CACHE_PATH=$work/small run 3 prime "$sample"
	err_has "$work/small"
	run 0 cache verify --cache "$work/small" --json
	json 'd["damaged"] == 0 and d["next_insert"] == "adds"'
	mount -o remount,ro "$work/small"
	find "$work/small" | sort >"$work/before"
	CUDA_CACHE_PATH=$work/small differs_for WINDOWS snapshot run 2 prime "$sample"
	err_has "$work/small"
	find "$work/small" | sort | cmp -s - "$work/before" || fail "something was written"
	umount "$work/small"
	trap - EXIT
fi

# The first cache has lost no entries.
[[ $(find "$cache" -type f | wc -l) == "$full" ]] || fail "entries were lost"
