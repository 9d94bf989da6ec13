# Root with a state directory that another account can write (HOME or JITWARM_STATE, without sudo), and a cache of root's: the two are
# not used together. Keys, packs of the store; and that account's settings, and names of pipes.
. "$cases/../lib.sh"
with_simdriver sm_86
roots=$work/cache theirs=$home/state
# As that account, whose places both are
as_theirs() { CUDA_CACHE_PATH=$home/cache JITWARM_STATE=$theirs "$@"; }
refused() { # COMMAND…
	JITWARM_STATE=$theirs run 2 "$@"
	err_has "JITWARM_STATE=$theirs belongs to #$mallory, and"
	err_one_line
	[[ $(cached "$roots") == 0 ]] || fail "another account filled a cache of root's"
}
empty() { rm -rf "$roots" && [[ $(cached "$roots") == 0 ]]; }
run 0 prime "$sample"
entries=$(cached "$roots")
((entries > 5)) || fail "nothing was compiled"

# A key, and a store: that account's
as_theirs run 0 key generate evil
JITWARM_STORE=1 as_theirs run 0 prime "$sample"
as_theirs run 0 export -o "$home/evil.jwpack" --sign --key evil
cp "$home"/evil.jwpack* "$open"
chmod 644 "$open"/evil.jwpack*

# Its key fills no cache of root's, nor those of all people, but its own
empty
refused import "$open/evil.jwpack"
refused import --cache "$work/other" "$open/evil.jwpack"
[[ ! -e $work/other ]] || fail "another account's key filled a cache of root's"
mkdir -p "$open/root/etc"
printf 'root:x:0:0::/root:/bin/sh\nmallory:x:%s:%s::%s:/bin/sh\n' $mallory $mallory "$home" >"$open/root/etc/passwd"
printf 'UID_MIN %s\nUID_MAX %s\n' $mallory $mallory >"$open/root/etc/login.defs"
JITWARM_SYSTEM_ROOT=$open/root JITWARM_STATE=$theirs run 2 import --all-users "$home/evil.jwpack"
err_has "JITWARM_STATE=$theirs belongs to mallory, and HOME=$HOME to root"
[[ ! -e $home/.nv ]] || fail "another account's key filled everybody's caches"
rm -rf "$home/cache"
as_mallory mkdir "$home/cache"
as_theirs run 0 import --cache "$home/cache" "$open/evil.jwpack"
[[ $(cached "$home/cache") == "$entries" ]] || fail "its own cache has $(cached "$home/cache") of $entries"
# The same file in a folder of root's
mkdir -p "$work/mixed/trusted"
cp "$theirs/trusted/evil.pub" "$work/mixed/trusted/"
JITWARM_STATE=$work/mixed run 0 import --dry-run "$open/evil.jwpack"
chown $mallory "$work/mixed/trusted/evil.pub"
JITWARM_STATE=$work/mixed run 3 import --dry-run "$open/evil.jwpack"
JITWARM_TRUSTED_KEYS=$work/mixed/trusted run 3 import --dry-run "$open/evil.jwpack"
err_has "root trusts no key"

# A shared place whose objects that key has signed: compiled here
mkdir "$open/place" && chown $mallory "$open/place"
as_mallory rm -rf "$home/cache"
JITWARM_KEY=evil as_theirs run 0 prime --no-store --share "$open/place" --sign "$sample"
[[ -n $(find "$open/place" -name '*.minisig') ]] || fail "nothing was signed: $(find "$open/place")"
empty
refused prime --no-store --share "$open/place" "$sample" --json
run 0 key generate own
run 0 prime --no-store --share "$open/place" "$sample" --json
json 'd["shared"]["fetched"] == 0 and d["compiled"] == '"$entries"
rm -rf "$home/cache"
as_mallory mkdir "$home/cache"
as_theirs run 0 prime --no-store --share "$open/place" "$sample" --json
json 'd["compiled"] == 0 and d["shared"]["fetched"] == '"$entries"

# Its store refills its own cache, and none of root's
empty
JITWARM_STORE=1 refused prime "$sample" --json
rm -rf "$home/cache"
as_mallory mkdir "$home/cache"
JITWARM_STORE=1 as_theirs run 0 prime "$sample" --json
json 'd["from_store"]["entries"] == '"$entries"

# As root with that account's home: only its own files lose their lines, and no link and no pipe in it is opened
block='export CUDA_CACHE_MAXSIZE=1000 # jitwarm tune --scope user'
printf 'mine\n%s\n' "$block" >"$treasure/.profile"
before=$(state_of)
mkfifo "$open/pipe"
as_mallory sh -c "cd '$home'; printf 'mine\n%s\n' '$block' >.profile; ln -s '$treasure/.profile' .bash_login; mkdir -p .config/fish/conf.d
	ln -s '$treasure/.profile' .config/fish/conf.d/jitwarm.fish; ln -s '$open/pipe' .zprofile"
(exec 2>/dev/null; echo opened >"$open/pipe"; : >"$open/opened") &
writer=$!
trap 'kill $writer 2>/dev/null || :; rm -rf "$open"' EXIT
(unset JITWARM_STATE CUDA_CACHE_PATH && HOME=$home JITWARM_SYSTEM_ROOT=$open/root run '0|3' tune --undo) || exit 1
[[ $(cat "$home/.profile") == mine ]] || fail "its own file stayed: $(cat "$home/.profile")"
untouched
# Nobody opens a pipe or a device to find out that it is none of our files: that has effects
run '1|2|3' scan "$open/pipe"
run '1|2|3' prime --recording "$open/pipe"
run '1|2|3' import "$open/pipe"
[[ ! -e $open/opened ]] || fail "the pipe was opened"
cat "$open/pipe" >/dev/null
wait $writer
untouched
