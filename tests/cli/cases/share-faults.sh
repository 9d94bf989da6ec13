# The way to a shared folder fails: a server that never answers, a crashing process, full disks. Each failure takes a bounded time, is
# reported in one line, and the modules are compiled here.
! is_wine || skip "the system's own calls"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
folder=$work/folder
mkdir "$folder"
# shares_nothing WORDS ARGUMENT…: prime succeeds without sharing, and its message has WORDS
shares_nothing() {
	run 0 prime --share-unsigned "$sample" --json "${@:2}"
	json 'd["compiled"] == 8 and d["shared"]["trouble"]'
	[[ $(grep -c "shared folder" "$err") == 1 ]] || fail "not one line"
	err_has "$1"
	nothing_left
}

# no_server COMMAND…: the server of the shared folder does not answer
no_server() {
	export LD_PRELOAD=$build/tests/cli/libhung-folder.so ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0
	"$@"
}
crashes() { # COMMAND…
	export FAKE_CRASHED_FOLDER=1
	"$@"
}
# interrupted ARGUMENT…: Ctrl-C while nobody answers
interrupted() {
	local begun ended=0
	export FAKE_HUNG_FOLDER=$work/asked SIMDRIVER_COST=30
	# shellcheck disable=SC2086
	timeout --foreground -s KILL 200 $JITWARM "$@" >"$out" 2>"$err" </dev/null &
	begun=$!
	await test -e "$FAKE_HUNG_FOLDER"
	kill -INT $begun
	wait $begun || ended=$?
	[[ $ended == 130 ]] || fail "ended with $ended: $(cat "$err")"
	err_has "interrupted"
	nothing_imported
	nothing_left
}
if ! is_emulated; then # the preloaded library is for another processor than the tools that start jitwarm
	beside nobody no_server shares_nothing "no answer within 10 seconds" --share "$folder"
	beside nobody no_server crashes shares_nothing "its process" --share "$folder"
	beside nobody no_server interrupted prime --share "$folder" --share-unsigned "$sample"
fi

# on_small_disk SIZE COMMAND…: the shared folder is on a disk of that size
on_small_disk() {
	mkdir "$work/small"
	mount -t tmpfs -o "size=$1,mode=700" none "$work/small" 2>/dev/null || { echo "no disk can be mounted"; return; }
	trap 'umount "$work/small"' EXIT
	"${@:2}"
}
# Existing objects are used, although none can be added.
place_ends() {
	run 0 prime --share "$work/small" --share-unsigned "$sample"
	rm -rf "$CUDA_CACHE_PATH"
	find "$work/small" -name '*.jwpack' | sort | sed -n '1,4p' | xargs rm
	head -c 10M /dev/zero >"$work/small/filled" 2>/dev/null || true
	run 0 prime --share "$work/small" --share-unsigned "$sample" --json
	json 'd["compiled"] == d["shared"]["unplaced"] == 4 and d["shared"]["fetched"] == 4 and "No space left" in d["shared"]["trouble"]'
	err_has "4 modules could not be put into the shared folder: "
	app_compiles 0
}
if [[ $(id -u) == 0 ]]; then
	beside nobody on_small_disk 4M place_ends
fi
together
