# Only what the system says does not exist is taken as absent. If the system cannot tell (a symlink to itself), the command ends with that
# reason.
is_wine && skip "such links are POSIX's"
with_simdriver sm_86
# loop PATH COMMAND…: no command takes a place at PATH, a symlink to itself, for empty
loop() {
	local place=$1
	shift
	mkdir -p "$(dirname "$place")"
	[[ ! -e $place ]] || mv "$place" "$place.aside"
	ln -s "$(basename "$place")" "$place"
	run 3 "$@"
	err_one_line
	err_has "$place"
	[[ -L $place ]] || fail "$place: the link is gone"
	rm "$place"
	[[ ! -e $place.aside ]] || mv "$place.aside" "$place"
}
run 0 key generate
run 0 prime "$sample"
snapshot run 0 export --sign -o "$work/a.jwpack"
for folder in keys trusted; do
	loop "$JITWARM_STATE/$folder" key list
done
snapshot loop "$JITWARM_STATE/keys/default.key" key list
snapshot loop "$JITWARM_STATE/store" store list
loop "$work/none" cache list --cache "$work/none"
loop "$JITWARM_STATE/trusted" import --dry-run "$work/a.jwpack"
