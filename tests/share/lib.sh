# Sourced by the cases about shared places: start_objects FOLDER [CERTIFICATE] runs $server_program and sets $site (HOST:PORT) and
# $foreign (its second port); machine NAME begins another machine of the same kind, with a state and a cache of its own.
command -v python3 >/dev/null || skip "no python3"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null' EXIT
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|CURL_CA_BUNDLE|SSL_CERT_FILE|SSL_CERT_DIR|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_[A-Z]*)=' | tr -d =)
export no_proxy='*'

registry_answers() { [[ -s $1/port ]] || ! kill -0 "$2" 2>/dev/null; }
start_objects() {
	mkdir -p "$1"
	command python3 "$cases/../../share/$server_program" "$@" >"$1/said" 2>&1 &
	servers+=($!)
	await registry_answers "$1" "$!"
	[[ -s $1/port ]] || fail "no registry: $(cat "$1/said")"
	site=127.0.0.1:$(cat "$1/port")
	foreign=127.0.0.1:$(cat "$1/foreign")
	log=$1/log
}
machine() {
	mkdir -p "$work/machines/$1"
	export CUDA_CACHE_PATH=$work/machines/$1/cache JITWARM_STATE=$work/machines/$1/state
}
# The credentials of ann
docker_file() { # AUTH-MEMBER
	mkdir -p "$work/docker"
	printf '{"auths": {"%s": %s}}\n' "$site" "$1" >"$work/docker/config.json"
	DOCKER_CONFIG=$(native "$work/docker")
	export DOCKER_CONFIG
}
ann='{"auth": "YW5uOnNlOmNyZXQ="}'
requests() { grep -cE "$1" "$log" || true; }
nothing_imported() { [[ -z $(find "$CUDA_CACHE_PATH" -type f ! -name index 2>/dev/null) ]] || fail "something was imported"; }
nothing_left() { [[ -z $(find "$JITWARM_STATE/runs" -mindepth 1 2>/dev/null) ]] || fail "something of the download is left: $(find "$JITWARM_STATE/runs")"; }
# Those that wait for their limits do so beside the others: `beside MACHINE COMMAND…` runs the command as a copy of that machine, in a folder
# of its own; `together` waits for all of them.
waiting=()
beside() {
	local name=$1 place=$work/beside/${#waiting[@]} from=$work/machines/$1
	shift
	mkdir -p "$place/machines"
	[[ ! -e $from ]] || cp -r "$from" "$place/machines/"
	(
		work=$place out=$place/stdout err=$place/stderr
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
