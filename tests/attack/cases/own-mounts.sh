# doctor --pid and watch, for a process whose account has made a user namespace and mounted its own programs over the system's there: no line
# that jitwarm prints enters these mounts, in which root would start the account's program.
. "$cases/../lib.sh"
as_mallory unshare -rm true 2>/dev/null || skip "an account can make no mount namespace"
as_mallory unshare -rm sh -c 'echo $$; exec sleep 600' >"$open/account" 2>/dev/null &
await [ -s "$open/account" ]
process=$(cat "$open/account")
for command in "doctor --pid" watch; do
	# shellcheck disable=SC2086
	run 2 $command $process
	grep -q "process $process sees other files, which an account may have chosen" "$err" && ! grep -q nsenter "$err" || fail "$command: $(cat "$err")"
done
kill "$process"
# An administrator's service with mounts of its own has no user namespace.
if unshare -m true 2>/dev/null; then
	unshare -m sh -c 'echo $$; exec sleep 600' >"$open/service" &
	await [ -s "$open/service" ]
	process=$(cat "$open/service")
	run 2 doctor --pid "$process"
	grep -q "nsenter -t $process -m" "$err" || fail "a service: $(cat "$err")"
	kill "$process"
fi
