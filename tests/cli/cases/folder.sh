# prime --store takes packs from a folder that machines share, and puts a pack there: signed, complete, and only what fits.
differs_for WINDOWS
with_simdriver sm_86
folder=$work/folder
mkdir "$folder"
# machine NAME: begins another machine of the same kind, with its own state and cache
machine() {
	mkdir -p "$work/machines/$1"
	export CUDA_CACHE_PATH=$work/machines/$1/cache JITWARM_STATE=$work/machines/$1/state
}
trusting() { # NAME: a machine that trusts the maker's key
	machine "$1"
	run 0 key trust "$public"
}
nothing_left() { [[ -z $(find "$JITWARM_STATE/runs" -mindepth 1 2>/dev/null) ]] || fail "something of the run is left: $(find "$JITWARM_STATE/runs")"; }
packs_in() { find "$1" -name '*.jwpack' | wc -l; }
# takes COUNT [ARGUMENT…]: prime takes so many of the eight entries from the folder, and compiles the others
takes() {
	run 0 prime --json --store "$folder" "$sample" "${@:2}"
	json 'd["compiled"] == 8 - '"$1"' and d["folder"]["placed"] == d["compiled"] and "trouble" not in d["folder"]'
	json 'd.get("from_folder", {}).get("entries", 0) == '"$1"
	json '(d["folder"]["packs"] > 0) == ('"$1"' > 0)'
	nothing_left
}
# fresh: the folder again as the maker has left it
fresh() { rm -rf "$folder" && cp -r "$work/good" "$folder"; }

# The names of signed packs depend on the key, which is another one in each run.
varies text 'jwpack'
varies json 'refused_why|name'

# ---- what is wrong with the command line, and a missing folder
machine maker
snapshot run 64 prime --allow-unsigned "$sample"
snapshot run 64 prime --no-store --store "$folder" "$sample"
snapshot run 64 prime --store "$folder" "$sample"
err_one_line
run 0 key generate --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")
snapshot run 3 prime --store "$work/none" "$sample"
JITWARM_STORE=relative snapshot run 64 prime "$sample"
machine settings
JITWARM_STORE=$(native "$work/none") snapshot run 0 prime "$sample"
[[ $(grep -c "the folder of packs is not used" "$err") == 1 ]] || fail "not one line"
[[ ! -e $work/none ]] || fail "a folder was made"

# ---- one machine compiles, the others take its pack
machine maker
run 1 prime -n --store "$folder" "$sample"
[[ -z $(ls "$folder") ]] || fail "a dry run writes"
takes 0
name=$(basename "$folder"/*.jwpack)
[[ $name =~ ^sm_86-55(0\.200\.01|1\.61)-[0-9a-f]{16}\.jwpack$ && $(ls "$folder" | wc -l) == 2 && -s $folder/$name.minisig ]] || fail "the folder has $(ls "$folder")"
cp -r "$folder" "$work/good"
trusting second
snapshot run 1 prime -n --store "$folder" "$sample"
[[ ! -e $CUDA_CACHE_PATH ]] || fail "a dry run fills the cache"
takes 8
[[ $(packs_in "$folder") == 1 ]] || fail "a machine that compiled nothing has put a pack"
app_compiles 0
# A pack has what the run has compiled, and nothing else of the cache.
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other() { ret; }\n' >"$work/other.ptx"
mkdir "$work/new" && mv "$folder" "$work/aside" && mv "$work/new" "$folder"
trusting more
run 0 prime "$work/other.ptx"
takes 0
rm -r "$folder" && mv "$work/aside" "$folder"
# Warm modules are not put there, and a folder of the settings is not worth a line then.
mkdir "$work/warm"
run 0 prime --store "$work/warm" "$sample"
out_has "Nothing was put into the folder, because this run compiled nothing"
[[ -z $(ls "$work/warm") ]] || fail "warm modules were put there"
JITWARM_STORE=$(native "$work/warm") run 0 prime "$sample"
out_lacks "folder"
# The local store keeps what the folder gave.
trusting both
JITWARM_STORE=$(native "$folder") snapshot run 0 prime "$sample"
[[ $(packs_in "$JITWARM_STATE/store") == 1 ]] || fail "the store has nothing"
rm -rf "$CUDA_CACHE_PATH"
JITWARM_STORE=$(native "$work/none") snapshot run 0 prime --json "$sample"
# A budget limits what is taken.
trusting budget
snapshot run 1 prime --json --store "$folder" --budget-size 40K "$sample"

# ---- signatures; from here on, the outputs are those of above but for what is compared
varies run '.'
machine stranger
run 0 key generate
fresh
takes 0
err_has "1 pack in the folder not used"
err_has "is not trusted on this machine"
# The stranger's pack has the same bytes and another name, so that it takes nobody's signature away.
[[ $(packs_in "$folder") == 2 ]] || fail "the folder has $(ls "$folder")"
trusting second-again
takes 8
trusting unsigned
fresh && rm "$folder"/*.minisig
takes 0
err_has "is not signed"
machine open
fresh && rm "$folder"/*.minisig
takes 8 --allow-unsigned
machine unsigned-maker
rm -rf "$folder" && mkdir "$folder"
takes 0 --allow-unsigned
[[ $(ls "$folder" | wc -l) == 1 ]] || fail "not one pack: $(ls "$folder")"
! command -v b2sum >/dev/null || [[ $(b2sum <"$(echo "$folder"/*.jwpack)") == "$(ls "$folder" | sed 's/.*-//; s/\..*//')"* ]] || fail "the name is not that of the bytes"
# A trusted key's signature of other bytes is refused with any options.
trusting changed
cp "$work/good/$name.minisig" "$(echo "$folder"/*.jwpack).minisig"
cmp -s "$folder"/*.jwpack "$work/good/$name" || {
	takes 0 --allow-unsigned
	err_has "is not the signature of this file"
}

# ---- packs that are torn, of another GPU, or of another driver
trusting torn
fresh && truncate -s -100 "$folder/$name"
takes 0
err_has "$name: not a pack, or damaged"
fresh && truncate -s -100 "$folder/$name" && rm "$folder"/*.minisig
machine torn-unsigned
takes 0 --allow-unsigned
trusting other-gpu
fresh
with_simdriver sm_90
takes 0
mv "$folder/$name" "$folder/a.jwpack" && mv "$folder/$name.minisig" "$folder/a.jwpack.minisig"
machine renamed
run 0 key trust "$public"
find "$folder" -name 'sm_90*' -delete
takes 0
with_simdriver sm_86
if ! is_real; then
	. "$cases/../drivers.sh"
	rm -rf "$folder" && mkdir "$folder"
	machine former
	mkdir -p "$JITWARM_STATE" && cp -r "$work"/machines/maker/state/{keys,trusted} "$JITWARM_STATE"
	driver_535_216
	takes 0
	# Another driver of the CUDA version takes the entries under its own names; a driver of another CUDA version takes none.
	trusting same-cuda
	driver_535_309
	run 0 prime --json --store "$folder" "$sample"
	json 'd["compiled"] == 0 and d["carried_over"]["modules"] == 8'
	trusting other-cuda
	driver_550
	takes 0
	unset SIMDRIVER_CUDA SIMDRIVER_STAMP
fi

# ---- the folder fails: one line, and everything is compiled here
# fails_with WORDS [ARGUMENT…]
fails_with() {
	run 0 prime --json --store "$folder" --allow-unsigned "$sample" "${@:2}"
	json 'd["compiled"] == 8 and d["folder"]["trouble"] and d["folder"]["placed"] == 0'
	[[ $(grep -c "folder of packs is not used" "$err") == 1 ]] || fail "not one line"
	err_has "$1"
	nothing_left
}
fresh
if ! is_wine && ! is_emulated; then # the preloaded library is for another processor than the tools that start jitwarm
	preloaded=$build/tests/cli/libhung-folder.so
	hung() { FAKE_HUNG_FOLDER=$folder LD_PRELOAD=$preloaded ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 "$@"; }
	machine silent
	FAKE_HUNG_MARK=$work/hangs snapshot hung fails_with "$folder: no answer within 10 seconds"
	[[ $(wc -c <"$work/hangs") == 1 ]] || fail "the folder was tried again"
	machine crashed
	FAKE_CRASHED_FOLDER=1 hung fails_with "its process"
	# Ctrl-C ends the wait.
	machine interrupted
	# shellcheck disable=SC2086
	FAKE_HUNG_MARK=$work/asked FAKE_HUNG_FOLDER=$folder LD_PRELOAD=$preloaded ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 timeout --foreground -s KILL 200 $JITWARM prime --store "$folder" --allow-unsigned "$sample" >"$out" 2>"$err" </dev/null &
	begun=$! ended=0
	await test -e "$work/asked"
	kill -INT $begun
	wait $begun || ended=$?
	[[ $ended == 130 ]] || fail "ended with $ended: $(cat "$err")"
	nothing_left
fi
if [[ $(id -u) == 0 ]] && ! is_wine && mkdir "$work/small" && mount -t tmpfs -o "size=64K,mode=755" none "$work/small" 2>/dev/null; then
	trap 'umount "$work/small"' EXIT
	folder=$work/small
	machine full
	run 0 key generate
	fails_with "No space left"
	[[ -z $(ls -A "$folder") ]] || fail "a part of a pack is left: $(ls -A "$folder")"
	machine read-only
	mount -o remount,ro "$work/small"
	fails_with "Read-only"
elif ! is_wine && [[ $(id -u) != 0 ]]; then
	rm -rf "$folder"/* && chmod a-w "$folder"
	machine read-only
	fails_with "Permission denied"
fi

# ---- list and clear
fixed run '.'
folder=$work/folder
fresh
machine maker
snapshot run 0 store list --store "$folder" --json
run 3 store list --store "$work/none"
run 0 store clear --yes --store "$folder"
out_has "1 pack"
[[ -z $(ls "$folder") ]] || fail "something is left: $(ls "$folder")"
