# cache clear and store clear remove everything after a confirmation, and touch nothing else.
. "$cases/../pack-entries.sh"

cache=$work/cache
count() { find "$cache" -path '*/?/?/*' ! -type d | wc -l; }
for n in 1 2 3; do pack_entry "$cache" $n "Apr  8 202512:10:18" 86; done
pack_entry "$cache" 4 "Jan  1 201901:02:03" 75
dir=$(native "$cache")
run 0 cache verify --repair --cache "$dir"
printf foreign >"$cache/notes.txt"
# A torn entry and an entry of another version are removed as well.
mkdir -p "$cache/0/1"
: >"$cache/0/1/23456789abcdef"
printf 'B%040d' 0 >"$cache/0/1/23456789abcdee"

# Without a terminal, clear removes only with --yes.
snapshot run 2 cache clear --cache "$dir"
snapshot run 0 cache clear -n --cache "$dir"
snapshot run 0 cache clear -n --yes --cache "$dir" --json
[[ $(count) == 6 ]] || fail "something was removed unasked"
snapshot run 3 cache clear --yes --cache "$work/nowhere"
mkdir "$work/other" && printf text >"$work/other/a-file"
run 3 cache clear --yes --cache "$work/other"
err_has "not a driver's cache"

if ! is_wine; then
	at_terminal() { TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" --answer "$@" >"$work/shown" 2>&1; }
	for answer in n "" maybe; do
		at_terminal "$answer" 60 $JITWARM cache clear --cache "$cache" && fail "status 0 of “$answer”"
		grep -qF "Remove 6 entries (" "$work/shown" || fail "no question: $(cat "$work/shown")"
		[[ $(count) == 6 ]] || fail "removed at “$answer”"
	done
	at_terminal $'\4' 60 $JITWARM cache clear --cache "$cache" && fail "status 0 at the end of input"
	! grep -qF "[y/N]" < <(grep -aF "nothing was removed" "$work/shown") || fail "the question's line goes on: $(cat "$work/shown")"
	# Symlinks are not entries of the cache, and their targets are not in it.
	mkdir -p "$work/outside/a/b" "$cache/c/d"
	pack_entry "$work/outside" 9 "Apr  8 202512:10:18" 86
	cp "$(find "$work/outside" -type f | sort | head -1)" "$work/kept"
	ln -s "$work/outside/a" "$cache/a"
	ln -s "$work/kept" "$cache/c/d/0123456789abcd"
	mkdir "$cache/c/d/0123456789abce"
	at_terminal y 60 $JITWARM cache clear --cache "$cache"
	[[ $? == 1 ]] || fail "no word of what stayed"
	[[ -s $work/kept && -d $cache/a && $(find "$work/outside" -type f | wc -l) == 1 ]] || fail "something outside was removed"
	rm -rf "$cache/a" "$cache/c"
else
	run 0 cache clear --yes --cache "$dir"
	out_has ": 6 entries ("
fi
[[ $(count) == 0 && $(cat "$cache/notes.txt") == foreign ]] || fail "not what was asked for: $(find "$cache")"
run 0 cache verify --cache "$dir" --json
json 'd["rows"] == 0 and d["next_insert"] == "adds" and d["foreign"] == 1'
snapshot run 0 cache clear --cache "$dir"

snapshot run "2|3" export -o "$work/none.jwpack" --cache "$dir"

# If it is killed at any moment, the cache is sound, and the next call continues.
for n in $(seq 60); do pack_entry "$work/all" "$n" "Apr  8 202512:10:18" 86; done
run 0 cache verify --repair --cache "$work/all"
varies run . && varies tree . # killed at any moment
for round in $(rounds 15); do
	rm -rf "$cache" && cp -r "$work/all" "$cache"
	begin cache clear --yes --cache "$cache"
	sleep "$(moment 60)"
	kill_begun
	run 0 cache verify --cache "$cache" --json
	json 'd["damaged"] == 0 and d["next_insert"] == "adds"'
done
run 0 cache clear --yes --cache "$cache"
fixed run . && fixed tree .
[[ $(count) == 0 ]] || fail "the next call left something"

# store clear removes packs, and leaves other files.
with_simdriver sm_86
export JITWARM_STORE=1
run 0 store clear --yes
out_has "store: nothing was removed"
[[ ! -e $work/state/store ]] || fail "a store was made"
run 0 prime --quiet "$sample"
# The driver that is here is named by its release, however new it is.
differs_for WINDOWS snapshot run 0 cache list
out_lacks "built"
printf mine >"$work/state/store/notes"
snapshot run 2 store clear
snapshot run 0 store clear -n
differs_for WINDOWS snapshot run 0 store list --json
json 'len(d["packs"]) == 1'
snapshot run 0 store clear --yes
[[ $(ls "$work/state/store") == $'lock\nnotes' ]] || fail "in the store: $(ls "$work/state/store")"
run 0 check --quiet "$sample"
snapshot run 0 cache clear --yes
snapshot run 2 export -o "$work/none.jwpack" "$sample"
