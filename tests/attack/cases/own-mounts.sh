# doctor --pid and watch, for a process that sees other files: no line that jitwarm prints enters its mounts, in which root would start the
# account's program. A process of an account can leave the mounts that it has for its own at any time.
. "$cases/../lib.sh"
examined() {
	await [ -s "$open/process" ]
	process=$(cat "$open/process")
	for command in "doctor --pid" watch; do
		# shellcheck disable=SC2086
		run 2 $command "$process"
		err_has "process $process sees other files: run jitwarm where the process runs"
		err_lacks nsenter
	done
	kill "$process" && rm "$open/process"
}
if as_mallory unshare -rm true 2>/dev/null; then
	(as_mallory unshare -rm sh -c 'echo $$; exec sleep 600' >"$open/process" 2>/dev/null) &
	examined
fi
unshare -m true 2>/dev/null || skip "no mount namespace can be made"
unshare -m sh -c 'echo $$; exec sleep 600' >"$open/process" &
examined
