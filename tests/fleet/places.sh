# shellcheck shell=bash
# Sourced by tests that need a server; the caller ends ${servers[@]} by their ids.
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
