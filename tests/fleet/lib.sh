# Sourced by the cases about registries and shared folders. machine NAME: begins another machine of the same kind, with its own state and
# cache.
command -v python3 >/dev/null || skip "no python3"
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|SSL_CERT_FILE|SSL_CERT_DIR|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_[A-Z]*)=' | tr -d =)
export no_proxy='*'

machine() {
	mkdir -p "$work/machines/$1"
	export CUDA_CACHE_PATH=$work/machines/$1/cache JITWARM_STATE=$work/machines/$1/state
}
nothing_imported() { [[ -z $(find "$CUDA_CACHE_PATH" -type f ! -name index 2>/dev/null) ]] || fail "something was imported"; }
nothing_left() { [[ -z $(find "$JITWARM_STATE/runs" -mindepth 1 2>/dev/null) ]] || fail "something of the download is left: $(find "$JITWARM_STATE/runs")"; }
# Tests that wait for their limits run at the same time: `beside MACHINE COMMAND…` runs the command as a copy of that machine, in a folder
# of its own; `together` waits for all of them.
waiting=()
beside() {
	local name=$1 place=$work/beside/${#waiting[@]} from=$work/machines/$1
	shift
	mkdir -p "$place/machines"
	[[ ! -e $from ]] || cp -r "$from" "$place/machines/"
	(
		work=$place out=$place/stdout err=$place/stderr pipes= # the order in which they end varies, so no snapshot has them
		machine "$name"
		"$@"
	) &
	waiting+=($!)
}
together() {
	local one
	for one in "${waiting[@]}"; do wait "$one" || fail "one of those beside the others"; done
	waiting=()
}
