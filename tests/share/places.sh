# shellcheck shell=bash
# Sourced by tests that need a shared place of others' making; the caller ends ${servers[@]} by their ids.
#   start_dav FOLDER   Debian's nginx with WebDAV on FOLDER/data: sets $dav (http://HOST:PORT); 77 where it is not at hand
#   start_registry FOLDER   Debian's docker-registry: sets $registry (HOST:PORT); 77 where it is not at hand
#   start_s3 FOLDER    moto's server with an empty bucket “lab”: exports AWS_…; 77 where it is not at hand
servers=()
free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# python_with MODULE…: the first python3 of PATH that has them
python_with() {
	local python
	for python in $(type -ap python3); do
		"$python" -c 'import sys; from importlib.util import find_spec; exit(not all(map(find_spec, sys.argv[1:])))' "$@" && echo "$python" && return
	done
	return 1
}
# await_port PORT SERVER LOG
await_port() {
	local end=$((SECONDS + 60))
	until (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null; do
		[ $SECONDS -lt $end ] && kill -0 "$2" 2>/dev/null || { cat "$3"; return 1; }
		sleep 0.05
	done
}
start_dav() {
	local folder=$1 port user=
	PATH=$PATH:/usr/sbin
	command -v nginx >/dev/null && [[ $(nginx -V 2>&1) == *with-http_dav_module* ]] || return 77
	port=$(free_port)
	# Where root starts it, its workers are root too: the folder is open to nobody else.
	[ "$(id -u)" != 0 ] || user='user root;'
	mkdir -p "$folder"/{data,temp}
	cat >"$folder/nginx.conf" <<-END
		daemon off; worker_processes 2; pid $folder/pid; error_log $folder/error.log; $user
		events { worker_connections 4096; }
		http {
			access_log $folder/access.log;
			client_body_temp_path temp; fastcgi_temp_path temp; proxy_temp_path temp; scgi_temp_path temp; uwsgi_temp_path temp;
			client_max_body_size 64m;
			server { listen 127.0.0.1:$port backlog=4096; root $folder/data; dav_methods PUT; create_full_put_path on; }
		}
	END
	nginx -p "$folder" -c "$folder/nginx.conf" >"$folder/said" 2>&1 &
	servers+=($!)
	await_port "$port" $! "$folder/said" || return 1
	dav=http://127.0.0.1:$port
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
start_s3() {
	local folder=$1 port python
	command -v curl >/dev/null && python=$(python_with moto flask) || return 77
	port=$(free_port)
	mkdir -p "$folder"
	"$python" -m moto.server -H 127.0.0.1 -p "$port" >"$folder/said" 2>&1 &
	servers+=($!)
	await_port "$port" $! "$folder/said" || return 1
	export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=ann AWS_SECRET_ACCESS_KEY=secret
	curl -sfo "$folder/made" -X PUT "$AWS_ENDPOINT_URL/lab"
}
