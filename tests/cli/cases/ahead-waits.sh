# Entries for the next driver wait in the store, since the cache had no room before the boot. After the boot, a plain prime follows its own
# options about what it compiles, another directory is not the cache that the entries wait for, and another account's state is left alone.
is_wine && exit 0
with_simdriver sm_86
export JITWARM_SYSTEM_ROOT=$work/root
mkdir -p "$work/root/proc/driver/nvidia"
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.200.01  Mon Jan" >"$work/root/proc/driver/nvidia/version"
waits() { # STATE-FOLDER
	mkdir -p "$1"
	state "$1" put ahead '{"schema":"jitwarm.ahead/1","next":"550.200.01","stamp":"Apr  8 202512:10:18","modules":5,"ready":3,"stored":2,"state":"no-room"}'
}
still_waits() { grep -q '"stored":2' "$1/state.json" || fail "nothing waits any more: $(cat "$1/state.json")"; }
waits "$JITWARM_STATE"
run 0 prime --json --cache "$work/other" "$sample"
still_waits "$JITWARM_STATE"
run 0 prime --json "$sample"
json 'd["compiled"] == d["modules"] > 1'
if ((EUID == 0)) && id nobody >/dev/null 2>&1; then
	waits "$work/callers"
	chown -R nobody "$work/callers"
	SUDO_UID=$(id -u nobody) SUDO_GID=$(id -g nobody) SUDO_USER=nobody JITWARM_STATE=$work/callers snapshot run 2 prime "$sample"
	still_waits "$work/callers"
	[[ $(ls "$work/callers") == state.json ]] || fail "made there: $(ls "$work/callers")"
fi
# A module that the next driver's compiler refuses is not counted as ready, in the sentence and in the status.
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.309.01  Mon Jan" >"$work/root/proc/driver/nvidia/version"
failed() { # READY
	state "$JITWARM_STATE" put ahead "{\"schema\":\"jitwarm.ahead/1\",\"next\":\"550.200.01\",\"modules\":8,\"ready\":$1,\"why\":\"ptxas ended with status 255\",\"state\":\"failed\"}"
}
failed 7
snapshot run 1 ahead --dry-run
