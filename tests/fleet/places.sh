# shellcheck shell=bash
# Sourced by tests that need a registry; the caller ends ${servers[@]} by their ids.
#   start_registry FOLDER   Debian's docker-registry: sets $registry (HOST:PORT); 77 if it is not at hand
servers=()
free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# await_port PORT SERVER LOG: waits until the server listens
await_port() {
	local end=$((SECONDS + 60))
	until (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null; do
		[ $SECONDS -lt $end ] && kill -0 "$2" 2>/dev/null || { cat "$3"; return 1; }
		sleep 0.05
	done
}
start_registry() {
	local folder=$1 port
	command -v docker-registry >/dev/null || return 77
	port=$(free_port)
	mkdir -p "$folder"
	printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$folder/data" "$port" >"$folder/config.yml"
	docker-registry serve "$folder/config.yml" >"$folder/said" 2>&1 &
	servers+=($!)
	await_port "$port" $! "$folder/said" || return 1
	registry=127.0.0.1:$port
}
