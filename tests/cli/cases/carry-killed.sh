# prime --carry-over and --recompile-carried killed at any moment: every entry whole, none of an older compiler's without its mark
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=0

driver_550
run 0 prime "$sample"
own=$(cd "$work/cache" && find . -path './?/?/*' -type f | sort)
cp -r "$work/cache" "$work/own"
anew
driver_535_309
run 0 prime "$sample"
driver_550
run "0|2" status
cp -r "$work/cache" "$work/former"

# Entries under this driver's names that are not its own bytes
older() {
	local entry
	for entry in $own; do
		[[ ! -e $work/cache/$entry ]] || cmp -s "$work/cache/$entry" "$work/own/$entry" || echo "$entry"
	done | wc -l
}
killed_after() {
	begin prime "$sample" "$2"
	sleep "$1"
	kill_begun
	run 0 cache verify --cache "$work/cache" --json
	json 'd["damaged"] == 0'
	run "0|1" check "$sample" --json
	json 'd["carried"] == '"$(older)"
}

for round in $(seq 4); do
	rm -rf "$work/cache" && cp -r "$work/former" "$work/cache"
	find "$work/state" -name 'ledger-*' -delete
	killed_after "$(moment 250)" --carry-over
	run 0 prime "$sample" --carry-over --json
	json 'd["compiled"] == 0'
	[[ $(older) == 8 ]] || fail "$(older) of 8 carried over"
	killed_after "$(moment 500)" --recompile-carried
	json 'd["cold"] == 0'
	run 0 prime "$sample" --recompile-carried
	[[ $(older) == 0 ]] || fail "$(older) of 8 are not the driver's own"
done
